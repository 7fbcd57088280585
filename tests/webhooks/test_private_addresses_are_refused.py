"""What a tenant writes does not reach into the platform's own network."""

import socket

import pytest
from webhooks.address import AddressRefused, is_public, resolve
from webhooks.sending import send
from webhooks.signing import new_secret

from tests.webhooks.receiver import Receiver


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1%eth0",
        "fd00::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "2002:7f00:1::",
        "64:ff9b::a00:1",
    ],
)
def test_inside_addresses_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1::1", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_outside_addresses_are(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://localhost:8000/",
        "http://[::1]/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://0/",
        "http://169.254.169.254/latest/meta-data/",
        "ftp://example.com/",
        "file:///etc/passwd",
        "http://user:secret@example.com/",
        "http://example.com:0/",
        "http://example.com:99999/",
        "http:///x",
        "example.com",
        "http://no-such-host.invalid/",
        "http://a..b/",
    ],
)
def test_a_url_that_leads_nowhere_good_is_refused(url: str) -> None:
    with pytest.raises(AddressRefused):
        resolve(url, private=False)


def test_a_name_with_one_inside_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def both(*args: object, **kwargs: object) -> list[tuple[object, ...]]:
        return [(socket.AF_INET, 1, 6, "", (ip, 443)) for ip in ("93.184.216.34", "10.0.0.1")]

    monkeypatch.setattr(socket, "getaddrinfo", both)
    with pytest.raises(AddressRefused, match=r"10\.0\.0\.1"):
        resolve("https://example.com/", private=False)


def test_what_is_connected_to_is_what_was_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The name resolves once; its second answer, which would lead elsewhere, is never asked for."""
    with Receiver() as receiver:
        port = receiver.url.split(":")[2].split("/")[0]
        real, asked = socket.getaddrinfo, list[object]()

        def first_then_elsewhere(host: object, *args: object, **kwargs: object) -> object:
            if host == "hook.example":
                asked.append(host)
                host = "127.0.0.1" if len(asked) == 1 else "192.0.2.1"
            return real(host, *args, **kwargs)  # type: ignore[arg-type]

        monkeypatch.setattr(socket, "getaddrinfo", first_then_elsewhere)
        url = f"http://hook.example:{port}/hook"
        attempt = send(url=url, secret=new_secret(), message_id="m", payload={}, private=True)
        assert (attempt.status, attempt.error, len(asked)) == (204, "", 1)
        assert receiver.received[0].headers["Host"] == f"hook.example:{port}"


def test_nothing_is_sent_to_a_refused_address() -> None:
    with Receiver() as receiver:
        attempt = send(url=receiver.url, secret=new_secret(), message_id="m", payload={}, private=False)
        assert (attempt.status, "not a public address" in attempt.error) == (None, True)
        assert receiver.received == []
