"""One cause, said once, with the places it concerns: sentences that differ in names are one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import ne
from typing import Generic, TypeVar

from kumamigrate.dataclass import dataclass, field
from kumamigrate.pattern import pattern
from kumamigrate.rewrite.finding import Finding

T = TypeVar("T")
GAP = "…"
MOST_GAPS = 3
"""One word in so many may differ between sentences of one cause, and not so many in a row."""


@dataclass(slots=True)
class Heap(Generic[T]):
    """Things of one cause, and what is said of all of them."""

    words: list[str]
    things: list[T] = field(default_factory=list)

    @property
    def said(self) -> str:
        """Return the sentence, with a gap for every word that is another one each time."""
        return " ".join(self.words)


def heaped(things: Iterable[T], said: Callable[[T], str]) -> list[Heap[T]]:
    """Return things by what is said of them, in the order found."""
    heaps: list[Heap[T]] = []
    near: dict[int, list[Heap[T]]] = {}
    known: dict[str, Heap[T]] = {}
    for thing in things:
        sentence = said(thing)
        heap = known.get(sentence)
        if heap is None:
            words = sentence.split(" ")
            alike = near.setdefault(len(words), [])
            heap = _joined(alike, words)
            if heap is None:
                heap = Heap(words)
                alike.append(heap)
                heaps.append(heap)
            known[sentence] = heap
        heap.things.append(thing)
    return heaps


def _joined(heaps: Iterable[Heap[T]], words: Sequence[str]) -> Heap[T] | None:
    """Return the first heap whose sentence has a new one's words, with gaps where it has not."""
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
    """Return sentences, those of one cause once, with gaps for what differs."""
    return [heap.said for heap in heaped(dict.fromkeys(said), lambda one: one)]


def _both(known: Sequence[str], words: Sequence[str]) -> list[str] | None:
    """Return what two sentences have in common, None where that is too little."""
    if sum(map(ne, known, words)) * MOST_GAPS > len(words):
        return None
    both = [a if a == b else _gap(a, b) for a, b in zip(known, words, strict=True)]
    gaps = [word.strip("()'`,;:.") == GAP for word in both]
    # More than two words in a row are no name: something else is said there.
    run = any(all(gaps[at : at + MOST_GAPS]) for at in range(len(gaps) - MOST_GAPS + 1))
    return both if not run and sum(gaps) * MOST_GAPS <= len(both) else None


def _gap(first: str, second: str) -> str:
    """Return a gap for two words, with what stands behind both of them."""
    end = first[-1:] if first[-1:] == second[-1:] and first[-1:] in ",;:.)" else ""
    return GAP + end


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
