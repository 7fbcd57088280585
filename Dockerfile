# syntax=docker/dockerfile:1
#   --target cpu    every process of the product; the engine computes on the CPU
#   --target gpu    engine and encoder on NVIDIA's GPUs, on vLLM's own image
#   --target proxy  the one public origin

ARG PYTHON_IMAGE=python:3.12-slim-bookworm
ARG VLLM_IMAGE=vllm/vllm-openai:v0.32.0

# The environment that `make` makes, by the same commands from the same lock.
FROM ${PYTHON_IMAGE} AS environment
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends make && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY Makefile pyproject.toml requirements.lock README.md LICENSE ./
COPY .ci/torch_source.py .ci/
RUN make setup VENV=/opt/venv PYTHON=python3.12

FROM ${PYTHON_IMAGE} AS cpu
# libnuma: vLLM's CPU build
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends libnuma1 && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --user-group --home-dir /data --shell /usr/sbin/nologin inferscale \
    && install -d -o inferscale -g inferscale /data /blobs
COPY --from=environment /opt/venv /opt/venv
WORKDIR /app
COPY manage.py pyproject.toml README.md LICENSE ./
COPY memory memory
COPY platform platform
COPY inference inference
COPY workers workers
COPY frontend frontend
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    INFERSCALE_HOME=/data \
    INFERSCALE_STORE=/blobs
USER 10001
CMD ["python3", "manage.py", "check"]

FROM ${VLLM_IMAGE} AS gpu
RUN useradd --uid 10001 --user-group --home-dir /data --shell /usr/sbin/nologin inferscale \
    && install -d -o inferscale -g inferscale /data /blobs
WORKDIR /app
COPY manage.py pyproject.toml requirements.lock README.md LICENSE ./
COPY .ci/not_installed.py .ci/
# What vLLM's image has stays as it is; the rest comes in the lock's versions.
RUN python3 .ci/not_installed.py requirements.lock >/tmp/rest.txt \
    && python3 -m pip install --no-cache-dir --no-deps -r /tmp/rest.txt \
    && python3 -m pip install --no-cache-dir --no-deps --no-build-isolation -e . \
    && rm /tmp/rest.txt
COPY memory memory
COPY platform platform
COPY inference inference
COPY workers workers
COPY frontend frontend
ENV PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    INFERSCALE_HOME=/data \
    INFERSCALE_STORE=/blobs
USER 10001
ENTRYPOINT []
CMD ["python3", "manage.py", "check"]

FROM debian:bookworm-slim AS proxy
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends nginx-light libnginx-mod-http-js curl \
    && rm -rf /var/lib/apt/lists/*
COPY platform/deploy/proxy /opt/proxy
USER 33
CMD ["sh", "/opt/proxy/start.sh"]
