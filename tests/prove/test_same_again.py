"""What proxies are made up of has an order of its own, so that reports are the same again."""

from __future__ import annotations

from itertools import permutations

from kumamigrate.universe.madeup import Atom, in_order


def test_tags_and_labels_of_the_same_words_have_an_order() -> None:
    alike = [
        Atom(tags=(("app", "web"),)),
        Atom(labels=(("app", "web"),)),
        Atom(labels=(("app", "web"),), name="web", identity=("east", "shop")),
        Atom(labels=(("app", "web"),), name="web", identity=("west", "shop")),
    ]
    assert str(alike[0]) == str(alike[1])
    assert str(alike[2]) == str(alike[3])
    assert len({tuple(sorted(some, key=in_order)) for some in permutations(alike)}) == 1
