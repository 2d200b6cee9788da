"""Template expressions are masked, character for character, so that the rest is YAML."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

_EXPRESSION = re.compile(
    r"\{\{.*?\}\}"  # Go templates, Jinja
    r"|\{%[-+]?\s.*?%\}"  # Jinja statements
    r"|(?<!\S)\{#.*?#\}",  # Jinja comments
    re.DOTALL,
)
_OPENER = re.compile(r"\{[{%][-+]?\s*(if|range|with|define|block|for|macro|raw|call|filter)\b")
_MIDDLE = re.compile(r"\{[{%][-+]?\s*(else|elif|elseif)\b")
_CLOSER = re.compile(r"\{[{%][-+]?\s*end(if|for|macro|raw|block|call|filter)?\b")
_ACTS = re.compile(r"\b(include|template|toYaml|n?indent)\b")
_LINES_OF_YAML = re.compile(r"[\r\n][ \t]*(?:- +)*[\w.\"'/-]+[ \t]*:(?=[ \t\r\n])")
_SUBSTITUTION = re.compile(r"\$\{[A-Za-z_][^}\n]*\}")


@dataclass(frozen=True, slots=True)
class Mask:
    """One masked span. `alone` means that nothing else stands on its lines: it was blanked.

    `in_comment` means that it stands in a YAML comment and can change nothing but its text.
    """

    start: int
    end: int
    alone: bool
    in_comment: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Masked:
    """Text in which templates are filler, of the same length as the original."""

    text: str
    masks: tuple[Mask, ...] = ()
    filler: str = ""
    starts: tuple[int, ...] = field(default=(), repr=False)

    def overlapping(self, start: int, end: int) -> tuple[Mask, ...]:
        """Return the masks that share a character with a span, comments left out."""
        if not self.masks:
            return ()
        first = bisect_left(self.starts, start)
        if first and self.masks[first - 1].end > start:
            first -= 1
        last = bisect_left(self.starts, end)
        return tuple(m for m in self.masks[first:last] if not m.in_comment)


def mask_templates(text: str) -> Masked:
    """Return the text with every template expression blanked or replaced by filler."""
    if "{{" not in text and "{%" not in text and "{#" not in text:
        return Masked(text=text)
    filler = next(c for c in map(chr, range(0xE000, 0xF8FF)) if c not in text)
    spans = list(_spans(text))
    if not spans:
        return Masked(text=text)
    masks = tuple(_classified(text, spans))
    pieces: list[str] = []
    last = 0
    for mask in masks:
        pieces.append(text[last : mask.start])
        body = text[mask.start : mask.end]
        pieces.append(re.sub(r"[^\r\n]", " ", body) if mask.alone else filler * len(body))
        last = mask.end
    pieces.append(text[last:])
    starts = tuple(m.start for m in masks)
    return Masked(text="".join(pieces), masks=masks, filler=filler, starts=starts)


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where expressions stand. An opener whose end is lines of YAML away is text."""
    at = 0
    while match := _EXPRESSION.search(text, at):
        body = match[0]
        comment = body.startswith(("{{/*", "{{- /*", "{#"))
        if "\n" in body and not comment and _LINES_OF_YAML.search(body):
            at = match.start() + 2
            continue
        yield match.span()
        at = match.end()


def _classified(text: str, spans: Sequence[tuple[int, int]]) -> list[Mask]:
    """Tell which expressions have their lines for themselves."""
    groups: list[list[tuple[int, int]]] = []
    for start, end in spans:
        if groups and "\n" not in text[groups[-1][-1][1] : start]:
            groups[-1].append((start, end))
        else:
            groups.append([(start, end)])
    masks: list[Mask] = []
    for group in groups:
        line_start = text.rfind("\n", 0, group[0][0]) + 1
        line_end = text.find("\n", group[-1][1])
        line_end = len(text) if line_end < 0 else line_end
        edges = [line_start, *(x for span in group for x in span), line_end]
        around = "".join(text[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True))
        before = text[line_start : group[0][0]]
        in_comment = before.lstrip().startswith("#")
        alone = not around.strip()
        for start, end in group:
            idle = in_comment and not _acts(text[start:end])
            masks.append(Mask(start, end, alone, idle))
    return masks


def _acts(body: str) -> bool:
    """Say whether an expression does something even where it stands in a YAML comment."""
    if "\n" in body or _ACTS.search(body):
        return True
    return any(pattern.match(body) for pattern in (_OPENER, _MIDDLE, _CLOSER))


def restore(value: str, original: str, masked: Masked, span: tuple[int, int]) -> str:
    """Return a scalar's content with its filler characters turned back into the template."""
    start, end = span
    hidden = iter(
        original[i]
        for m in masked.overlapping(start, end)
        if not m.alone
        for i in range(max(m.start, start), min(m.end, end))
    )
    return "".join(next(hidden, "") if c == masked.filler else c for c in value)


def substituted(text: str) -> bool:
    """Say whether a scalar holds `${NAME}`, which deployment tools fill in later."""
    return "${" in text and _SUBSTITUTION.search(text) is not None


def branch_at(text: str, masked: Masked, offset: int) -> tuple[int, ...]:
    """Return which conditional branches enclose an offset, outermost first.

    Two places with the same answer are written or left out together.
    """
    stack: list[int] = []
    for mask in masked.masks:
        if mask.start >= offset:
            break
        body = text[mask.start : mask.end]
        if _OPENER.match(body):
            stack.append(mask.start)
        elif _CLOSER.match(body) and stack:
            stack.pop()
        elif _MIDDLE.match(body) and stack:
            stack[-1] = mask.start
    return tuple(stack)
