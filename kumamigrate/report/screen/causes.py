"""One cause, said once, with the places it concerns: sentences that differ in names are one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

from kumamigrate.dataclass import dataclass, field
from kumamigrate.pattern import pattern
from kumamigrate.rewrite.finding import Finding

T = TypeVar("T")
GAP = "…"
MOST_GAPS = 3
"""One word in so many may differ between sentences of one cause, and not so many in a row."""
_GOES = "→"
"""What stands around it are values: sentences that differ in more than one word are two."""
MOST_NAMES = 2
LONG_NAMES = 60
"""As many words as that are said in one place, and as long, before the rest is a gap."""
_NEW_LINE = "\n"
_INDEX = pattern(r"\[\d+\]")
Words = list[tuple[str, ...]]
"""A sentence, place by place: the words that stand there, each once."""


@dataclass(slots=True)
class Heap(Generic[T]):
    """Things of one cause, and what is said of all of them."""

    words: Words
    things: list[T] = field(default_factory=list)

    @property
    def said(self) -> str:
        """Return the sentence; where a word is another one each time, the first of them."""
        text = " ".join(map(_one_of, self.words))
        return text.replace(f" {_NEW_LINE} ", _NEW_LINE)


def heaped(things: Iterable[T], said: Callable[[T], str]) -> list[Heap[T]]:
    """Return things by what is said of them, in the order found."""
    heaps: list[Heap[T]] = []
    near: dict[int, list[Heap[T]]] = {}
    known: dict[str, Heap[T]] = {}
    for thing in things:
        sentence = said(thing)
        heap = known.get(sentence)
        if heap is None:
            words = _words(sentence)
            alike = near.setdefault(len(words), [])
            heap = _joined(alike, words)
            if heap is None:
                heap = Heap([(word,) for word in words])
                alike.append(heap)
                heaps.append(heap)
            known[sentence] = heap
        heap.things.append(thing)
    return heaps


def _words(sentence: str) -> list[str]:
    """Return the words of a sentence. What stands in brackets is one: a template, a value."""
    words: list[str] = []
    inside = 0
    for piece in sentence.replace(_NEW_LINE, f" {_NEW_LINE} ").split(" "):
        if inside and piece != _NEW_LINE:
            words[-1] += f" {piece}"
        else:
            inside = 0
            words.append(piece)
        inside = max(0, inside + sum(map(piece.count, "[{")) - sum(map(piece.count, "]}")))
    return words


def _joined(heaps: Iterable[Heap[T]], words: Sequence[str]) -> Heap[T] | None:
    """Return the first heap whose sentence has a new one's words but for a few."""
    for heap in heaps:
        both = _both(heap.words, words)
        if both is not None:
            heap.words = both
            return heap
    return None


_PLACE = pattern(r" \(([^()\s]*:\d+(?::\d+)?)\)")
MOST_PLACES = 4


def doubts(reasons: Iterable[str]) -> list[str]:
    """Return what makes a verdict unknown, each once, with the places before and after."""
    places: dict[str, dict[str, None]] = {}
    for reason in reasons:
        found = _PLACE.findall(reason)
        known = places.setdefault(_PLACE.sub(" (@)", reason) if len(found) == 1 else reason, {})
        known.update(dict.fromkeys(found))
    return [
        text.replace(" (@)", f" ({_some([*known])})") if " (@)" in text else text
        for text, known in places.items()
    ]


def _some(places: Sequence[str]) -> str:
    return ", ".join(places[:MOST_PLACES]) + (", …" if len(places) > MOST_PLACES else "")


def sentences(said: Iterable[str]) -> list[str]:
    """Return sentences, those of one cause once, with the first names of each."""
    return [heap.said for heap in heaped(dict.fromkeys(said), lambda one: one)]


def _both(known: Words, words: Sequence[str]) -> Words | None:
    """Return two sentences as one, None where they have too little in common."""
    if sum(b not in a for a, b in zip(known, words, strict=True)) * MOST_GAPS > len(words):
        return None
    both = [a if b in a else (*a, b) for a, b in zip(known, words, strict=True)]
    gaps = [len(word) > 1 for word in both]
    if sum(gaps) > 1 and (_GOES,) in both:
        return None
    if any(_is_value(word) for words in both if len(words) > 1 for word in words):
        return None  # which of the values goes where would be lost
    if sum(gaps) * MOST_GAPS > len(both) or any(_NEW_LINE in a for a in both if len(a) > 1):
        return None
    # More than two words in a row are no name: something else is said there.
    run = any(all(gaps[at : at + MOST_GAPS]) for at in range(len(gaps) - MOST_GAPS + 1))
    return None if run else both


def _is_value(word: str) -> bool:
    """Say whether a word is a list or a mapping, and no name, be it one that a template makes."""
    return word[:1] in ("[", "{") and word[:2] != "{{" and ":" in word


def _one_of(words: Sequence[str]) -> str:
    """Return what stands in one place: the word, the first of several, or a gap if they are long.

    Marks before and behind all of them are said once.
    """
    if len(words) == 1:
        return words[0]
    fields = {_INDEX.sub("[]", word) for word in words}
    if len(fields) == 1:
        return fields.pop()  # one field, whichever entry of its list
    before = _marks(words, "('`")
    behind = _marks([word[::-1] for word in words], ",;:.)'`")[::-1]
    names = [word[len(before) : len(word) - len(behind)] for word in words]
    for most in range(MOST_NAMES, 0, -1):
        said = ", ".join([*names[:most], *([GAP] if len(names) > most else [])])
        if len(said) <= LONG_NAMES:
            return f"{before}{said}{behind}"
    return f"{before}{GAP}{behind}"


def _marks(words: Sequence[str], marks: str) -> str:
    """Return the marks that all words begin with, and which are not all of a word."""
    first = min(words, key=len)
    number = 0
    while number < len(first) - 1 and first[number] in marks:
        if any(word[number] != first[number] for word in words):
            break
        number += 1
    return first[:number]


def places_of(findings: Iterable[Finding], width: int) -> str:
    """Return where findings are: as many places as there is room for, and how many more."""
    places = dict.fromkeys(place_of(finding) for finding in findings)
    return fitting([*places], width)


def place_of(finding: Finding) -> str:
    """Return where a finding is. What Kuma makes with a mesh was never read from anywhere."""
    if finding.file:
        return f"{finding.file}:{finding.line}"
    if finding.resource is None:
        return "(the whole run)"
    return "(inventory)" if finding.resource.where else "(initial policy)"


def fitting(words: Sequence[str], width: int) -> str:
    """Return words, as many as there is room for but one at least, and how many more."""
    room = width - len(" … and 000 more")
    shown: list[str] = []
    for word in words:
        if shown and len(", ".join([*shown, word])) > room:
            break
        shown.append(word)
    more = len(words) - len(shown)
    return ", ".join(shown) + (f" … and {more} more" if more else "")
