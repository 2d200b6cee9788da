"""What Kuma's reader (sigs.k8s.io/yaml, YAML 1.1 in Go's reading) makes of a scalar."""

from __future__ import annotations

import base64
import binascii
import re

from kumamigrate.pattern import pattern
from kumamigrate.source.node import JSON

TAG = "tag:yaml.org,2002:"

_WORDS: dict[str, JSON] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "on", "On", "ON"), True),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "off", "Off", "OFF"), False),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_FLOAT = pattern(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_INTEGER = pattern(
    r"(?P<sign>[-+]?)(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<bin>[01]+)"
    r"|0[oO]?(?P<oct>[0-7]+)|(?P<dec>0|[1-9][0-9]*))\Z"
)
_BASES = {"hex": 16, "bin": 2, "oct": 8, "dec": 10}
_MOST_DIGITS = 1000
_NUMERIC_START = frozenset("+-.0123456789")


def resolve_plain(text: str) -> JSON:
    """Return the value of an unquoted scalar.

    Whole floats come back as integers, as they do through JSON. Infinities and NaN, which JSON
    cannot hold, stay text. Source: reports.md F14.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMERIC_START:
        return text
    return _number(text)


def _number(text: str) -> JSON:
    digits = text if text[0] == "." else text.replace("_", "")
    if match := _INTEGER.match(digits):
        kind = str(match.lastgroup)
        # No base needs more digits for what counts, and Python refuses to read very many.
        value = int(match[kind][-_MOST_DIGITS:], _BASES[kind])
        value = -value if match["sign"] == "-" else value
        if len(match[kind]) <= _MOST_DIGITS and -(2**63) <= value < 2**64:
            return value
    if _FLOAT.match(digits):
        number = float(digits)
        if number in (float("inf"), float("-inf")):
            return text
        return int(number) if number.is_integer() and abs(number) < 1e21 else number
    return text


def resolve_tagged(text: str, tag: str) -> JSON:
    """Return the value of a scalar with an explicit tag."""
    if tag == f"{TAG}binary":
        try:
            return base64.b64decode(text).decode("utf-8", "replace")
        except (binascii.Error, ValueError):
            return text
    if tag in (f"{TAG}int", f"{TAG}float", f"{TAG}bool", f"{TAG}null"):
        return resolve_plain(text)
    return text


_OTHER_READERS = pattern(
    r"""[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?\Z     # base 60
    |[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt\ \t].*)?\Z          # dates
    |[-+]?(0[xX][0-9a-fA-F_]+|0[oO]?[0-7_]+|0[bB][01_]+)\Z
    |[-+]?\.?[0-9][0-9_]*(\.[0-9_]*)?([eE][-+]?[0-9]+)?\Z
    |[-+]?\.(inf|Inf|INF)\Z|\.(nan|NaN|NAN)\Z
    |=\Z|<<\Z""",
    re.VERBOSE,
)


def reads_as_string(text: str) -> bool:
    """Say whether every reader, YAML 1.1 or 1.2, takes this unquoted text for a string."""
    return isinstance(resolve_plain(text), str) and not _OTHER_READERS.match(text)
