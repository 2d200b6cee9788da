"""Of the routes that leave a proxy its outbounds one of each kind is tried, none is missed."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from itertools import permutations, product
from math import lcm

from hypothesis import given, settings
from hypothesis import strategies as st

from kumamigrate.model.resource import NAMESPACE
from kumamigrate.universe.combinations import Pairings
from kumamigrate.universe.excluding import implies, on_inbounds, parts_of
from kumamigrate.universe.leaving import Leaving
from kumamigrate.universe.madeup import Atom, Requirement, Setting, in_order, surroundings
from kumamigrate.universe.madeupproxy import proxy_with
from tests.frontdoor import drawn

SPACES = ("shop", "bank", "other")


def _some(*known: tuple[str, str]) -> st.SearchStrategy[tuple[tuple[str, str], ...]]:
    """Draw none, one or two of some pairs, each number of them as likely, and no key twice.

    Like all that is drawn here from a list at one draw: most of the time went to drawing.
    """
    by_number = [[*permutations(known, number)] for number in range(3)]
    by_number[2] = [(one, two) for one, two in by_number[2] if one[0] != two[0]]
    most = lcm(*map(len, by_number))
    return st.sampled_from([one for same in by_number for one in same * (most // len(same))])


PAIRS = (("app", "web"), ("app", "db"), ("tier", "fast"), ("version", "*"))
NAMED = [
    *product(
        ("", "", "web-1", "db-1"), (("east", "shop"), ("west", "bank")), ("", "", "http", "8080")
    )
]
ATOMS = (
    st.tuples(_some(*PAIRS), _some(*PAIRS, (NAMESPACE, "shop")), st.sampled_from(NAMED))
    .map(lambda drawn: Atom(drawn[0], drawn[1], *drawn[2]))
    .filter(lambda atom: any(parts_of(atom)))
)
AROUND = [
    (frozenset(zones), frozenset(namespaces), proxy_types)
    for zones, namespaces, proxy_types in product(
        ((), (), ("east",), ("west",)),
        ((), *((one,) for one in SPACES)),
        ((), ("Sidecar",), ("Gateway",)),
    )
]
REQUIREMENTS = st.tuples(st.sampled_from(AROUND), ATOMS | st.none()).map(
    lambda drawn: Requirement(*drawn[0], drawn[1])
)
SETTINGS = st.sampled_from(
    [Setting(*one) for one in product(SPACES, ("east", "west"), (False, True))]
)
Tried = tuple[tuple[Atom, ...], Setting]


def _each(
    routes: Iterable[Requirement],
    pairings: Pairings,
    mattering: tuple[Atom, ...],
    spoken: frozenset[str],
    chosen: tuple[Atom, ...],
    setting: Setting,
) -> Iterator[Tried]:
    """Every route, worked out in full (product.md §5: the sets that have to be tried)."""
    tried: set[Hashable] = set()
    for requirement in dict.fromkeys(routes):
        there = surroundings(setting, requirement)
        whole = () if requirement.atom is None else pairings.whole(requirement.atom, there)
        atoms = tuple(sorted({*chosen, *whole}, key=in_order))
        brought = frozenset(
            a for a in mattering if any(implies(one, a) for one in on_inbounds(atoms))
        )
        space = there.namespace if there.namespace in spoken else ""
        kind = (space, there.zone, there.gateway, brought)
        if kind not in tried and _may_be(atoms, there):
            tried.add(kind)
            yield atoms, there


def _may_be(atoms: tuple[Atom, ...], there: Setting) -> bool:
    """Whether there is such a proxy, and (here: by its zone) the route leaves it the outbound."""
    return there.zone == "east" and proxy_with(atoms, there, "m", one_inbound=False) is not None


@settings(max_examples=drawn(600))
@given(
    routes=st.lists(REQUIREMENTS, max_size=8),
    pairs=st.lists(st.tuples(REQUIREMENTS, REQUIREMENTS), max_size=3),
    mattering=st.lists(ATOMS, max_size=4).map(tuple),
    chosen=st.lists(ATOMS, max_size=2, unique=True),
    spoken=st.frozensets(st.sampled_from(SPACES)),
    setting=SETTINGS,
)
def test_what_is_passed_quickly_was_tried_before(
    routes: list[Requirement],
    pairs: list[tuple[Requirement, Requirement]],
    mattering: tuple[Atom, ...],
    chosen: list[Atom],
    spoken: frozenset[str],
    setting: Setting,
) -> None:
    pairings = Pairings(pairs)
    own = tuple(sorted(chosen, key=in_order))
    found: list[Tried] = []
    tried: set[Hashable] = set()
    told_apart = Leaving(routes, pairings).told_apart(mattering, spoken)
    for atoms, there, kind in told_apart.with_routes(own, setting, tried):
        if _may_be(atoms, there):
            tried.add(kind)
            found.append((atoms, there))
    assert found == [*_each(routes, pairings, mattering, spoken, own, setting)]
