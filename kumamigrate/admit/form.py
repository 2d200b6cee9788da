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
_SPIFFE = pattern(r"spiffe://[a-z0-9._-]+(/\S*)?")
_DATADOG = pattern(r"http://[^/?#@\s]*:([0-9]{1,40})")
_NAME = pattern(r"[0-9a-z._-]*")
_TAG_NAME = pattern(r"[0-9A-Za-z./_:-]+")
_TAG_VALUE = pattern(r"[0-9A-Za-z._:-]+")
_CLASS = pattern(r"\[\^?\]?[^\]]*+(\])?")
_METHODS = ("connect", "delete", "get", "head", "options", "patch", "post", "put", "trace")
_RETRY_ON = frozenset(
    {
        "5xx",
        "connectfailure",
        "envoyratelimited",
        "gatewayerror",
        "http3postconnectfailure",
        "refusedstream",
        "reset",
        "retriable4xx",
        *(f"httpmethod{method}" for method in _METHODS),
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


def _is_regex(text: str) -> bool:
    # Go knows groups, flags and classes that Python does not: only plain nonsense is refused.
    plain = re.sub(r"\\.", "", text)
    plain = _CLASS.sub(lambda found: "" if found[1] else found[0], plain)
    return plain.count("(") == plain.count(")") and not plain.startswith(("*", "+", "?"))


def _is_datadog(text: str) -> bool:
    found = _DATADOG.fullmatch(text)
    return found is not None and 1 <= int(found[1]) <= 65535


def _is_retry_on(text: str) -> bool:
    return text.lower() in _RETRY_ON or text in _STATUSES


FORMS: Mapping[str, Callable[[str], bool]] = {
    "absolute": lambda text: text.startswith("/"),
    "address": _is_address,
    "bandwidth": lambda text: _BANDWIDTH.fullmatch(text) is not None,
    "cidr": _is_cidr,
    "datadog-url": _is_datadog,
    "domain": _is_domain,
    "file-path": lambda text: _FILE.fullmatch(text) is not None,
    "host-name": _is_host_name,
    "ip": _is_ip,
    "no-trailing-slash": lambda text: text == "/" or not text.endswith("/"),
    "no-slash-at-end": lambda text: not text.endswith("/"),
    "reference-name": lambda text: _NAME.fullmatch(text) is not None,
    "regex": _is_regex,
    "retry-on": _is_retry_on,
    "spiffe": lambda text: _SPIFFE.fullmatch(text) is not None,
    "tag-name": lambda text: _TAG_NAME.fullmatch(text) is not None,
    "tag-value": lambda text: _TAG_VALUE.fullmatch(text) is not None,
    "tag-value-or-any": lambda text: text == "*" or _TAG_NAME.fullmatch(text) is not None,
    "text": bool,
    "wildcard": lambda text: text.startswith("*"),
}
