"""What a file may hold, judged by its bytes alone: no reading of YAML."""

from __future__ import annotations

import json
import re
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any


class Kind(StrEnum):
    """What a file may hold, judged by its bytes alone."""

    NONE = "none"
    KUMA = "kuma"
    WORKLOAD = "workload"


@cache
def words() -> dict[str, Any]:
    # importlib.resources would cost 15 ms at every start.
    text = Path(__file__).with_name("words.json").read_text(encoding="utf-8")
    words: dict[str, Any] = json.loads(text)
    return words


_BETWEEN = rb"(?>[ \t\r\n]++|#[^\n]{0,999}+\n|[&!][^ \t\r\n]{0,199}+|[>|][-+0-9]{0,3}+){0,8}+"
"""What YAML allows between a key and its value: comments, anchors, tags, block headers.

Bounded and without a way back, so that no text makes the search slow.
"""
_ESCAPE = re.compile(rb"\\(?:x([0-9A-Fa-f]{2})|u00([0-9A-Fa-f]{2})|U000000([0-9A-Fa-f]{2}))")
_CONTINUED = re.compile(rb"\\\r?\n[ \t]*")


@cache
def _patterns() -> tuple[re.Pattern[bytes], re.Pattern[bytes], re.Pattern[bytes]]:
    value = rb"""["']?%b:%b["']?""" % (_BETWEEN, _BETWEEN)
    types = "|".join(words()["universal_types"]).encode()
    kinds = "|".join(words()["workload_kinds"]).encode()
    universal = re.compile(rb"type%b(?:%b)(?![A-Za-z0-9-])" % (value, types))
    workload = re.compile(rb"kind%b(%b)(?![A-Za-z0-9-])" % (value, kinds))
    anchored = rb"""&[^ \t\r\n&]{1,200}+%b["']?""" % _BETWEEN
    elsewhere = re.compile(rb"%b(?:%b)(?![A-Za-z0-9-])" % (anchored, types))
    return universal, workload, elsewhere


def _unescaped(data: bytes) -> bytes:
    """Return a text in which ASCII characters stand as themselves, not as escapes of YAML."""
    plain = _ESCAPE.sub(lambda m: bytes.fromhex((m[1] or m[2] or m[3]).decode()), data)
    return _CONTINUED.sub(b"", plain)


def universal_type_pattern() -> str:
    """Return a regular expression for the values of `type` that are Kuma's."""
    return "|".join(words()["universal_types"])


def may_hold_kuma(data: bytes) -> bool:
    """Say whether a file may hold a Kuma resource. Never false when it does."""
    if b"kuma.io" in data:
        return True
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return may_hold_kuma(data.decode("utf-16", "replace").encode())
    if b"\0" in data:  # UTF-32, or UTF-16 without its mark
        return may_hold_kuma(data.replace(b"\0", b""))
    return _speaks_of_kuma(data) or (b"\\" in data and _speaks_of_kuma(_unescaped(data)))


def _speaks_of_kuma(data: bytes) -> bool:
    universal, _, elsewhere = _patterns()
    return (
        b"kuma.io" in data
        or universal.search(data) is not None
        or (b"&" in data and elsewhere.search(data) is not None)
    )


_SAYS_WHAT = re.compile(rb"""(?:kind|type)["']?[ \t]*+:""")


def is_partial(path: str, data: bytes) -> bool:
    """Say whether a file holds named templates of Helm alone: by its name it is no manifest, and
    nothing in it says of which kind one would be. What includes them is read with a gap there."""
    name = path.rpartition("/")[2]
    return name.startswith("_") and name.endswith(".tpl") and not _SAYS_WHAT.search(data)


def classify(data: bytes) -> Kind:
    """Return what a file may hold. Workloads matter only where some file holds Kuma resources."""
    if may_hold_kuma(data):
        return Kind.KUMA
    if _patterns()[1].search(data) or any(key in data for key in _settings_keys()):
        return Kind.WORKLOAD
    return Kind.NONE


@cache
def _settings_keys() -> tuple[bytes, ...]:
    return tuple(f"{key}:".encode() for key in words()["settings_keys"])


def pods_only(data: bytes) -> bool:
    """Say whether all that a file of kind WORKLOAD holds for us are plain Pods or their owners.

    Without a word of Kuma's in it, only the label of a Namespace can make such a Pod a proxy.
    """
    if b"{{" in data or b"KUMA_" in data:
        return False
    kinds = {match[1].decode() for match in _patterns()[1].finditer(data)}
    return bool(kinds) and kinds.issubset(words()["pod_kinds"])
