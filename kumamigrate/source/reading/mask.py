"""Template expressions are masked, character for character, so that the rest is YAML."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from kumamigrate.dataclass import dataclass, field
from kumamigrate.pattern import pattern
from kumamigrate.source.reading.directives import Directive, directives
from kumamigrate.source.reading.own import all_own
from kumamigrate.source.text import ENCRYPTED

_BEGIN = pattern(
    r"(?P<expression>\{\{)"  # Go templates, Jinja
    r"|(?P<statement>\{%[-+]?\s)"  # Jinja statements
    r"|(?P<comment>(?<!\S)\{#)"  # Jinja comments
    r"|(?P<ruby><%[-=#\s])"
)
_END = {"expression": "}}", "statement": "%}", "comment": "#}", "ruby": "%>"}
_MARKS = ("{{", "{%", "{#", "<%", "#@")
_OPENER = pattern(
    r"\{[{%][-+]?\s*(if|range|with|define|block|for|macro|raw|call|filter)\b"
    r"|#@[ \t]*(if|for|while|def)\b(?!/end)"
)
_MIDDLE = pattern(r"(?:\{[{%][-+]?\s*|#@[ \t]*)(else|elif|elseif)\b")
_CLOSER = pattern(r"\{[{%][-+]?\s*end(if|for|macro|raw|block|call|filter)?\b|#@[ \t]*end\b")
_ACTS = pattern(r"\b(include|template|toYaml|n?indent)\b")
_LINES_OF_YAML = pattern(r"[\r\n][ \t]*(?:- +)*[\w.\"'/-]+[ \t]*:(?=[ \t\r\n])")
_SUBSTITUTION = pattern(r"\$\{[A-Za-z_](?:[^}\n$]|\$(?!\{[A-Za-z_]))*+\}")


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
    """Text in which templates are filler, of the same length as the original.

    `branches` says for each mask in which branch of the template one is behind it.
    """

    text: str
    masks: tuple[Mask, ...] = ()
    filler: str = ""
    starts: tuple[int, ...] = field(default=(), repr=False)
    branches: tuple[int | None, ...] = field(default=(), repr=False)

    def overlapping(self, start: int, end: int) -> tuple[Mask, ...]:
        """Return the masks that share a character with a span, comments left out."""
        if not self.masks:
            return ()
        first = bisect_left(self.starts, start)
        if first and self.masks[first - 1].end > start:
            first -= 1
        last = bisect_left(self.starts, end)
        return tuple(m for m in self.masks[first:last] if not m.in_comment)

    def branch_at(self, offset: int) -> int | None:
        """Return the innermost conditional branch around an offset, by where that begins.

        Two places with the same answer are written or left out together.
        """
        before = bisect_left(self.starts, offset)
        return self.branches[before - 1] if before else None


def mask_templates(text: str, path: str = "") -> Masked:
    """Return the text with every template expression blanked or replaced by filler.

    Where all of them are Kuma's own (own.py) there is no template: they stay what they are.
    """
    if not any(mark in text for mark in _MARKS):
        return Masked(text=text)
    return _masked(text, path)


@lru_cache(maxsize=2)
def _masked(text: str, path: str) -> Masked:
    """Return the same where there may be some: an edit asks again of what was just read."""
    filler = next(c for c in map(chr, range(0xE000, 0xF8FF)) if c not in text)
    found = list(directives(text))
    ruled = _Inside(found)
    spans = [span for span in _spans(text) if not ruled.holds(span[0])]
    spans = [] if all_own(text, spans, path) else spans
    masks = tuple(_in_order(_classified(text, spans), found))
    if not masks:
        return Masked(text=text)
    pieces: list[str] = []
    last = 0
    for mask in masks:
        pieces.append(text[last : mask.start])
        body = text[mask.start : mask.end]
        pieces.append(re.sub(r"[^\r\n]", " ", body) if mask.alone else filler * len(body))
        last = mask.end
    pieces.append(text[last:])
    return Masked(
        text="".join(pieces),
        masks=masks,
        filler=filler,
        starts=tuple(m.start for m in masks),
        branches=tuple(_branches(text, masks)),
    )


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where expressions stand. An opener whose end is lines of YAML away is text."""
    at = 0
    yaml_lines = _Ahead(match.start() for match in _LINES_OF_YAML.finditer(text))
    ends = {kind: _Ahead(_places(text, end)) for kind, end in _END.items()}
    while match := _BEGIN.search(text, at):
        start, kind = match.start(), str(match.lastgroup)
        end = ends[kind].reach(match.end())
        if end is None:
            at = start + 1
        elif not _is_comment(text, start) and (yaml_lines.reach(start) or end) < end:
            at = start + 2
        else:
            at = end + 2
            yield start, at


def _is_comment(text: str, start: int) -> bool:
    return text.startswith(("{{/*", "{{- /*", "{#"), start)


def _places(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + 1)


class _Inside:
    """Spans in rising order, asked for from rising offsets."""

    __slots__ = ("_at", "_spans")

    def __init__(self, spans: Sequence[Directive]) -> None:
        self._spans, self._at = spans, 0

    def holds(self, offset: int) -> bool:
        """Say whether an offset lies inside one of the spans."""
        while self._at < len(self._spans) and self._spans[self._at].end <= offset:
            self._at += 1
        return self._at < len(self._spans) and self._spans[self._at].start <= offset


def _in_order(masks: Iterable[Mask], found: Iterable[Directive]) -> list[Mask]:
    """Return all masks in text order. Of a directive that makes a value the text stays one."""
    ruling = (Mask(d.start, d.end, alone=not d.value, in_comment=False) for d in found)
    return sorted((*masks, *ruling), key=lambda mask: mask.start)


class _Ahead:
    """Rising places, asked for from rising offsets: each is looked at once."""

    __slots__ = ("_next", "_places")

    def __init__(self, places: Iterator[int]) -> None:
        self._places = places
        self._next: int | None = next(places, None)

    def reach(self, offset: int) -> int | None:
        """Return the first place at or behind an offset, None if there is none."""
        while self._next is not None and self._next < offset:
            self._next = next(self._places, None)
        return self._next


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
    return _branching(body)


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
    """Say whether a scalar is encrypted, or holds `${NAME}`, which deployment tools fill in."""
    if text.startswith(ENCRYPTED):
        return True
    return "${" in text and _SUBSTITUTION.search(text) is not None


def branch_words(text: str) -> str:
    """Return what tells the branches and loops of a text from others, however many they are."""
    bodies = (text[m.start : m.end] for m in mask_templates(text).masks)
    words = "\n".join(body for body in bodies if _branching(body))
    from hashlib import sha256

    return sha256(words.encode("utf-8", "surrogatepass")).hexdigest()


def _branching(body: str) -> bool:
    return any(pattern.match(body) for pattern in (_OPENER, _MIDDLE, _CLOSER))


def _branches(text: str, masks: Iterable[Mask]) -> Iterator[int | None]:
    """Yield for each mask where the branch begins that is open behind it."""
    stack: list[int] = []
    for mask in masks:
        body = text[mask.start : mask.end]
        if _OPENER.match(body):
            stack.append(mask.start)
        elif _CLOSER.match(body) and stack:
            stack.pop()
        elif _MIDDLE.match(body) and stack:
            stack[-1] = mask.start
        yield stack[-1] if stack else None
