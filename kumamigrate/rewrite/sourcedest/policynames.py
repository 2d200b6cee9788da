"""Names for new policies: free ones, of which the narrower class has the winning one (§2.5)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from kumamigrate.model.resource import SERVICE
from kumamigrate.rewrite.sourcedest.classes import WinnerClass
from kumamigrate.rewrite.sourcedest.classrefs import reference

_FROM_NARROW = ("exact", "narrow", "partly", "wide")
_WORDS = {1: _FROM_NARROW[1:2], 2: ("narrow", "wide"), 3: _FROM_NARROW[1:], 4: _FROM_NARROW}
"""Words in the order of the alphabet, the narrowest class first, by how many are needed."""
_KINDS = ("Mesh", "Dataplane", "MeshSubset", "MeshService", "MeshServiceSubset")


def slug(text: str) -> str:
    """Return a text as a part of a resource name: lower case letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60].strip("-")


class Names:
    """Hands out resource names: the old one first, never one that is taken."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)

    def take(self, wanted: str, suffix: str) -> str:
        """Return `wanted`, else `wanted-suffix`, else that with a number."""
        options = [wanted, f"{wanted}-{suffix}"]
        options += [f"{wanted}-{suffix}-{number}" for number in range(2, 1000)]
        name = next(option for option in options if option not in self._taken)
        self._taken.add(name)
        return name


def name_of(item: WinnerClass) -> str:
    """Return a short name for a class: its values, made fit for a resource name."""
    values = [value for key, value in item.tags if key == SERVICE]
    values += [value for key, value in item.tags if key != SERVICE]
    return slug("-".join(values)) or "all"


def in_rank_order(items: Sequence[tuple[WinnerClass, str]]) -> tuple[str, ...]:
    """Return names such that a narrower class always beats the broader one it lies in.

    Between references of one kind the smaller name wins (legacy.md §2.5), so within a kind more
    tags need a smaller name. Names stay as they are where that is so already.
    """
    names = [name for _, name in items]
    for kind in _KINDS:
        own = [i for i, (c, _) in enumerate(items) if reference(c)["kind"] == kind]
        wrong = any(
            items[i][0] != items[j][0] and items[i][0].within(items[j][0]) and names[i] > names[j]
            for i in own
            for j in own
        )
        if wrong:
            for index in own:
                names[index] = (
                    f"{_word([items[i][0] for i in own], items[index][0])}-{names[index]}"
                )
    return tuple(names)


def _word(classes: Iterable[WinnerClass], item: WinnerClass) -> str:
    """Return a word that sorts a class before the broader ones among some."""
    sizes = sorted({len(one.tags) for one in classes}, reverse=True)
    place = sizes.index(len(item.tags))
    if len(sizes) <= len(_FROM_NARROW):
        return _WORDS[len(sizes)][place]
    return f"level-{place:02d}"
