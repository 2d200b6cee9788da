"""Plain JSON as text: scalars quoted where any reader could mistake them, flow style, JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from kumamigrate.pattern import pattern
from kumamigrate.source.editing.layout import Layout
from kumamigrate.source.node import JSON
from kumamigrate.source.reading.scalar import reads_as_string

_INDICATORS = frozenset("-?:,[]{}#&*!|>'\"%@`")
_UNPRINTABLE = pattern(
    r"[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_PLAIN_BREAKS = pattern(r":(\s|\Z)|\s#|[\t\n]")
_FLOW_BREAKS = pattern(r"[,\[\]{}:?]")


def plain_is_safe(text: str, *, flow: bool) -> bool:
    """Say whether a string may stand without quotes and still be that string to every reader."""
    if not text or text != text.strip() or _UNPRINTABLE.search(text) or "\u2028" in text:
        return False
    if text[0] in _INDICATORS and not (text[0] in "-?:" and len(text) > 1 and text[1] not in " \t"):
        return False
    if text[:3] in ("---", "...") or _PLAIN_BREAKS.search(text) or "\x85" in text:
        return False
    if flow and (_FLOW_BREAKS.search(text) or text[0] in "-?:"):
        return False
    return reads_as_string(text)


def quoted(text: str, quote: str) -> str:
    """Return a string in quotes; in double ones where single quotes cannot hold it."""
    if (
        quote == "'"
        and not _UNPRINTABLE.search(text)
        and not re.search(r"[\t\n\u2028\u2029]", text)
    ):
        return "'" + text.replace("'", "''") + "'"
    # Surrogate pairs are no YAML escapes, so only what must be is escaped.
    plain = json.dumps(text, ensure_ascii=False)
    return (
        _UNPRINTABLE.sub(_escaped, plain).replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    )


def _escaped(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def scalar_text(
    value: JSON, layout: Layout, *, flow: bool = False, quote: str | None = None
) -> str:
    """Return a scalar (or an empty collection) on one line. `quote` forces quotes on strings."""
    if isinstance(value, str):
        if layout.json:
            return quoted(value, '"')
        if quote is None and plain_is_safe(value, flow=flow):
            return value
        return quoted(value, quote or _quote_for(value, layout))
    if isinstance(value, (dict, Mapping)):
        return "{}"
    if isinstance(value, (list, tuple)):
        return "[]"
    return json.dumps(value)


def _quote_for(text: str, layout: Layout) -> str:
    """Return the quotes of a document, single ones where only they need no escapes."""
    escaped = '"' in text or "\\" in text
    return "'" if escaped and "'" not in text else layout.quote


def key_text_of(key: str, layout: Layout, *, flow: bool = False) -> str:
    """Return a mapping key as it is written."""
    return scalar_text(key, layout, flow=flow)


def literal_text(value: str, indent: int, newline: str) -> str | None:
    """Return a string of several lines as a block scalar, header included, None if it cannot be.

    The text has no final line break unless the string needs it.
    """
    if (
        "\n" not in value
        or _UNPRINTABLE.search(value)
        or re.search("[\r\t\u2028\u2029\x85]", value)
    ):
        return None
    body = value.rstrip("\n")
    lines = body.split("\n")
    if not body or lines[0][:1] in ("", " ") or any(line and not line.strip() for line in lines):
        return None
    ends = len(value) - len(body)
    header = {0: "|-", 1: "|"}.get(ends)
    if header is None:
        return None
    pad = " " * indent
    return newline.join([header, *(pad + line if line else "" for line in lines)])


def flow_text(value: JSON, layout: Layout, column: int = 0) -> str:
    """Return any value in flow style. `column` is the indent of the line it begins on."""
    if isinstance(value, Mapping) and value:
        parts = [
            key_text_of(k, layout, flow=True)
            + layout.colon
            + flow_text(v, layout, column + layout.step)
            for k, v in value.items()
        ]
        return enclosed("{", parts, "}", layout, column)
    if isinstance(value, (list, tuple)) and value:
        parts = [flow_text(v, layout, column + layout.step) for v in value]
        return enclosed("[", parts, "]", layout, column)
    return scalar_text(value, layout, flow=True)


def enclosed(opening: str, parts: list[str], closing: str, layout: Layout, column: int) -> str:
    """Join the parts of a flow collection between its brackets."""
    if layout.pretty:
        pad = layout.newline + layout.indent * (column + layout.step)
        inner = f",{pad}".join(parts)
        return f"{opening}{pad}{inner}{layout.newline}{layout.indent * column}{closing}"
    padding = layout.padding if opening == "{" else ""
    return f"{opening}{padding}{layout.comma.join(parts)}{padding}{closing}"
