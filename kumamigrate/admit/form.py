"""Forms of text that validators ask for, by name, as far as a file alone can tell.

They are never stricter than Kuma's: a doubtful text passes.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping

from kumamigrate.pattern import pattern

_SCHEME = r"(?:(?:ftp|tcp|udp|wss?|https?)://)?"
_ADDRESS = pattern(_SCHEME + r"(?:\S+@)?(?:\[[0-9a-fA-F:.%]+\]|[\w.-]+)?(?::\d{1,5})?(?:[/?#]\S*)?")
_FILE = pattern(r"(/[^/\x00]*)+/?|[a-zA-Z]:\\[^:*?\"<>|\r\n]*")
_BANDWIDTH = pattern(r"\d*\s?[GMk]?bps")
_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_HOST = pattern(rf"{_LABEL}(\.{_LABEL})*")
_DOMAIN = pattern(r"(\*\.)?[a-zA-Z0-9_][\w-]{0,62}(\.[a-zA-Z0-9_][\w-]{0,62})*[._]?")
_SPIFFE = pattern(r"spiffe://[a-z0-9._-]+(/(?!\.\.?(/|$))[a-zA-Z0-9._-]+)*/?")
_DATADOG = pattern(r"http://[^/?#@\s]*:([0-9]{1,40})")
_NAME = pattern(r"[0-9a-z._-]*")
_TAG_NAME = pattern(r"[0-9A-Za-z./_:-]+")
_TAG_VALUE = pattern(r"[0-9A-Za-z._:-]+")
_CLASS = pattern(r"\[\^?\]?[^\]]*+(\])?")
_DNS = pattern(r"([a-zA-Z0-9_][a-zA-Z0-9_-]{0,62})(\.[a-zA-Z0-9_][a-zA-Z0-9_-]{0,62})*[._]?")
_HOST_PORT = pattern(r"(?:\[[^\[\]]+\]|[^\[\]:]+):([^\[\]:]+)")
_URL = pattern(
    r"[a-zA-Z][a-zA-Z0-9+.-]*://(?:[^/?#@\s]*@)?(?:\[[^\[\]]*\]|[^/?#:\s]*):\d+(?:[/?]\S*)?"
)
_LONG = pattern(r"0|[0-9]+(y|w|d|h|m|s|ms)")
_TAG = pattern(r"[0-9A-Za-z._:-]*")
_TAG_PATTERN = pattern(r"[0-9A-Za-z./_:-]*|\*")
_CERTIFICATE = pattern(r"(?s).*-----BEGIN (?![A-Z ]*PRIVATE KEY)[A-Z0-9 ]*-----.*-----END .*")
_LABEL_TEXT = pattern(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")
_METHODS = ("Connect", "Delete", "Get", "Head", "Options", "Patch", "Post", "Put", "Trace")
_RETRY_ON = frozenset(
    {
        "5xx",
        "ConnectFailure",
        "EnvoyRatelimited",
        "GatewayError",
        "http3postConnectFailure",
        "RefusedStream",
        "Reset",
        "Retriable4xx",
        *(f"HttpMethod{method}" for method in _METHODS),
    }
)
_STATUSES = frozenset(
    str(status)
    for first, last in (
        (100, 103),
        (200, 208),
        (226, 226),
        (300, 308),
        (400, 418),
        (421, 426),
        (428, 429),
        (431, 431),
        (451, 451),
        (500, 508),
        (510, 511),
    )
    for status in range(first, last + 1)
)
"""The status codes that have a name; Python's own list grows with its releases."""


def _is_address(text: str) -> bool:
    if len(text) <= 3 or text.startswith("."):
        return False
    if "://" not in text and ":" not in text and "." not in text:
        return False
    return _ADDRESS.fullmatch(text) is not None


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return True


def _is_cidr(text: str) -> bool:
    if "/" not in text:
        return False
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return True


def _is_domain(text: str) -> bool:
    return text == "*" or (len(text) <= 255 and _DOMAIN.fullmatch(text) is not None)


def _is_host_name(text: str) -> bool:
    return not _is_ip(text) and len(text) <= 253 and _HOST.fullmatch(text) is not None


def _is_dns_name(text: str) -> bool:
    return (
        len(text.replace(".", "")) <= 255 and not _is_ip(text) and _DNS.fullmatch(text) is not None
    )


def _is_address_or_name(text: str) -> bool:
    if text in ("0.0.0.0", "::"):
        return False
    return _is_ip(text) or _is_dns_name(text)


def _is_listener_host(text: str) -> bool:
    name = text.removeprefix("*.")
    return text == "*" or (len(text) <= 253 and _HOST.fullmatch(name) is not None)


def _is_host_and_port(text: str) -> bool:
    found = _HOST_PORT.fullmatch(text)
    if found is None or not found[1].isdecimal() or not 1 <= int(found[1]) <= 65535:
        return False
    host = text.rpartition(":")[0].strip("[]")
    return _is_ip(host) or _is_dns_name(host)


def _is_label_name(text: str) -> bool:
    prefix, slash, name = text.rpartition("/")
    if slash and not (len(prefix) <= 253 and _HOST.fullmatch(prefix)):
        return False
    return _LABEL_TEXT.fullmatch(name) is not None


def _is_label_value(text: str) -> bool:
    return text == "" or _LABEL_TEXT.fullmatch(text) is not None


def _is_request_uri(text: str) -> bool:
    return text == "*" or text.startswith("/") or "://" in text


def _is_otel_path(text: str) -> bool:
    return not text or (text.startswith("/") and not {"?", "#"} & set(text))


def _is_regex(text: str) -> bool:
    # Go knows groups, flags and classes that Python does not: only plain nonsense is refused.
    plain = re.sub(r"\\.", "", text)
    plain = _CLASS.sub(lambda found: "" if found[1] else found[0], plain)
    return plain.count("(") == plain.count(")") and not plain.startswith(("*", "+", "?"))


def _is_datadog(text: str) -> bool:
    found = _DATADOG.fullmatch(text)
    return found is not None and 1 <= int(found[1]) <= 65535


def _is_retry_on(text: str) -> bool:
    return text in _RETRY_ON or text in _STATUSES


FORMS: Mapping[str, Callable[[str], bool]] = {
    "absolute": lambda text: text.startswith("/"),
    "address": _is_address,
    "address-or-name": _is_address_or_name,
    "bandwidth": lambda text: _BANDWIDTH.fullmatch(text) is not None,
    "certificate": lambda text: _CERTIFICATE.fullmatch(text) is not None,
    "cidr": _is_cidr,
    "datadog-url": _is_datadog,
    "dns-name": _is_dns_name,
    "domain": _is_domain,
    "file-path": lambda text: _FILE.fullmatch(text) is not None,
    "go-ip": lambda text: "%" not in text and _is_ip(text),
    "host-name": _is_host_name,
    "host-port": lambda text: _HOST_PORT.fullmatch(text) is not None,
    "host-port-number": _is_host_and_port,
    "ip": _is_ip,
    "label-name": _is_label_name,
    "label-value": _is_label_value,
    "mapping-text": lambda text: not text.strip() or "{" in text or ":" in text,
    "letters-and-digits": lambda text: text.isascii() and text.isalnum(),
    "listener-host": _is_listener_host,
    "long-duration": lambda text: _LONG.fullmatch(text) is not None,
    "no-trailing-slash": lambda text: text == "/" or not text.endswith("/"),
    "no-slash-at-end": lambda text: not text.endswith("/"),
    "otel-path": _is_otel_path,
    "reference-name": lambda text: _NAME.fullmatch(text) is not None,
    "regex": _is_regex,
    "request-uri": _is_request_uri,
    "retry-on": _is_retry_on,
    "spiffe": lambda text: _SPIFFE.fullmatch(text) is not None,
    "tag-name": lambda text: _TAG_NAME.fullmatch(text) is not None,
    "tag-pattern": lambda text: _TAG_PATTERN.fullmatch(text) is not None,
    "tag-text": lambda text: _TAG.fullmatch(text) is not None,
    "tag-value": lambda text: _TAG_VALUE.fullmatch(text) is not None,
    "tag-value-or-any": lambda text: text == "*" or _TAG_NAME.fullmatch(text) is not None,
    "text": bool,
    "url-with-port": lambda text: _URL.fullmatch(text) is not None,
    "wildcard": lambda text: text.startswith("*"),
}
