#!/bin/sh
# nginx in front of everything, in the foreground.
#   INFERSCALE_ENGINE_URLS  http://host:port of the engines, comma-separated; a name with several addresses is as many
#   WEB_URLS                the same of the web processes
#   LISTEN                  address:port or port
#   RUN                     a folder to write to
# With the argument "test" it only says whether the configuration is right.
set -eu

SOURCE=$(cd "$(dirname "$0")" && pwd)
ENGINES=${INFERSCALE_ENGINE_URLS:?names no engine}
WEB=${WEB_URLS:?names no web process}
LISTEN=${LISTEN:-8000}
RUN=${RUN:-/tmp/proxy}

hosts() {
    echo "$1" | tr ',' '\n' | sed -e 's|^ *http://||' -e 's|/* *$||' -e '/^$/d'
}

servers() {
    hosts "$1" | sed "s|.*|        server & $2;|"
}

names() {
    hosts "$ENGINES,$WEB" | sed 's|:[0-9]*$||' | sort -u
}

# nginx ends when a name is unknown, as that of a container is before it starts.
wait_for_names() {
    for name in $(names); do
        until getent ahosts "$name" >/dev/null; do
            echo "waiting for $name" >&2
            sleep 2
        done
    done
}

addresses() {
    for name in $(names); do
        getent ahosts "$name" || true
    done | sort -u
}

# nginx looks names up when it reads its configuration, and only then. Requests under way end as they began.
follow_addresses() {
    known=$(addresses)
    while sleep 3 && kill -0 "$1" 2>/dev/null; do
        now=$(addresses)
        if [ "$now" != "$known" ]; then
            known=$now
            kill -HUP "$1"
        fi
    done
}

mkdir -p "$RUN"
wait_for_names
servers "$ENGINES" "max_fails=1 fail_timeout=2s" >"$RUN/engines"
servers "$ENGINES" "max_fails=0" >"$RUN/any_engine"
servers "$WEB" "max_fails=1 fail_timeout=2s" >"$RUN/web"
sed -e "s|@RUN@|$RUN|" -e "s|@SOURCE@|$SOURCE|" -e "s|@LISTEN@|$LISTEN|" \
    -e "/@ENGINES@/r $RUN/engines" -e "/@ENGINES@/d" -e "/@ANY_ENGINE@/r $RUN/any_engine" -e "/@ANY_ENGINE@/d" \
    -e "/@WEB@/r $RUN/web" -e "/@WEB@/d" \
    "$SOURCE/nginx.conf" >"$RUN/nginx.conf"

if [ "${1:-}" = test ]; then
    exec nginx -t -q -p /usr/share/nginx -c "$RUN/nginx.conf"
fi
follow_addresses $$ &
exec nginx -p /usr/share/nginx -c "$RUN/nginx.conf" -g 'daemon off;'
