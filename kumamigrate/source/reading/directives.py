"""Comments that rule: directives of ytt decide what becomes of what follows them."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.dataclass import dataclass
from kumamigrate.pattern import pattern

_DIRECTIVE = pattern(r"(?:\A|(?<=[ \t\r\n]))#@(?=[ \t]|[a-z][a-z-]*/)[^\r\n]*+")
_LOADS = pattern(r"#@[ \t]*load\(")
_PATCHES = pattern(r"#@(?:overlay|data|schema|library)/")
_INDENT = pattern(r"[ \t]*+")
_NO_LINE = pattern(r"(?:[ \t]*+(?:#[^\r\n]*+)?(?:\r\n|\n|\r))*+")


@dataclass(frozen=True, slots=True)
class Directive:
    """One directive. `value`: it stands where a value would, which it makes."""

    start: int
    end: int
    value: bool
    text: str

    @property
    def loads(self) -> bool:
        """Say whether it only fetches what others use."""
        return _LOADS.match(self.text) is not None

    @property
    def patches(self) -> bool:
        """Say whether what it stands at is laid over other documents, or holds values for them."""
        return _PATCHES.match(self.text) is not None


def directives(text: str) -> Iterator[Directive]:
    """Yield the directives of a text, in order. A word of ytt inside quotes is none."""
    if "#@" not in text:
        return
    for match in _DIRECTIVE.finditer(text):
        start = match.start()
        before = text[_line_start(text, start) : start]
        if before.count('"') % 2 or before.count("'") % 2:
            continue
        yield Directive(start, match.end(), _makes_value(text, before, match.end()), match[0])


def _line_start(text: str, offset: int) -> int:
    # What stands before a directive has no other one on its line, so lines are looked at once.
    while offset and text[offset - 1] not in "\r\n":
        offset -= 1
    return offset


def _makes_value(text: str, before: str, end: int) -> bool:
    """Say whether a key or a dash stands before a directive, and no value of theirs below it."""
    if not before.rstrip().endswith((":", "-")):
        return False
    column = len(before) - len(before.lstrip(" -"))
    lines = _NO_LINE.match(text, end)
    at = lines.end() if lines is not None else end
    indent = _INDENT.match(text, at)
    first = indent.end() if indent is not None else at
    deeper = first - at > column
    listed = first - at == column and text.startswith("- ", first)
    return not (deeper or listed)
