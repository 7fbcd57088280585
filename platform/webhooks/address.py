"""Where a webhook may go. What a tenant writes must not reach into the platform's own network."""

import ipaddress
import socket
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

SCHEMES = {"http": 80, "https": 443}


class AddressRefused(ValueError):
    """Says why a webhook must not go there."""


@dataclass(frozen=True, slots=True)
class Target:
    """Resolved once: what is connected to is what was checked, whatever the name resolves to a moment later."""

    url: str
    ip: str

    @property
    def host(self) -> str:
        return str(urlsplit(self.url).hostname)

    @property
    def authority(self) -> str:
        return urlsplit(self.url).netloc.rpartition("@")[2]

    @property
    def address(self) -> str:
        """The URL with the name replaced by the address."""
        parts = urlsplit(self.url)
        ip = f"[{self.ip}]" if ":" in self.ip else self.ip
        return parts._replace(netloc=f"{ip}:{parts.port or SCHEMES[parts.scheme]}", fragment="").geturl()


def check_url(url: str) -> SplitResult:
    """Its form, without asking anybody. Raises AddressRefused."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise AddressRefused(f"not a URL: {error}") from None
    if parts.scheme not in SCHEMES or not parts.hostname or port == 0:
        raise AddressRefused("must be an http:// or https:// URL")
    if parts.username is not None or parts.password is not None:
        raise AddressRefused("must not hold a user name or password")
    return parts


def resolve(url: str, *, private: bool) -> Target:
    """Raises AddressRefused on a name that cannot be found, and on any address that is not public unless `private`."""
    parts = check_url(url)
    try:
        found = socket.getaddrinfo(parts.hostname, parts.port or SCHEMES[parts.scheme], type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise AddressRefused(f"{parts.hostname} cannot be found") from None
    addresses = [str(entry[4][0]) for entry in found]
    if not private and (inside := [address for address in addresses if not is_public(address)]):
        raise AddressRefused(f"{parts.hostname} is {inside[0]}, which is not a public address")
    return Target(url, addresses[0])


def is_public(address: str) -> bool:
    """An IPv4 address inside an IPv6 one counts as what it is."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if inner is not None:
            return is_public(str(inner))
        if ip in ipaddress.ip_network("64:ff9b::/96"):
            return is_public(str(ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)))
    return ip.is_global and not ip.is_multicast
