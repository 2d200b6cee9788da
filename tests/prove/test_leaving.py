"""Of the routes that leave a proxy its outbounds one of each kind is tried, none is missed."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

from hypothesis import given, settings
from hypothesis import strategies as st

from kumamigrate.model.resource import NAMESPACE
from kumamigrate.universe.combinations import Pairings
from kumamigrate.universe.excluding import implies, on_inbounds, parts_of
from kumamigrate.universe.leaving import Leaving
from kumamigrate.universe.madeup import (
    Atom,
    Requirement,
    Setting,
    in_order,
    proxy_with,
    surroundings,
)
from tests.frontdoor import drawn

SPACES = ("shop", "bank", "other")
PAIRS = st.sampled_from([("app", "web"), ("app", "db"), ("tier", "fast"), ("version", "*")])
ATOMS = st.builds(
    Atom,
    tags=st.lists(PAIRS, max_size=2, unique_by=lambda p: p[0]).map(tuple),
    labels=st.lists(PAIRS | st.just((NAMESPACE, "shop")), max_size=2, unique_by=lambda p: p[0]).map(
        tuple
    ),
    name=st.sampled_from(["", "", "web-1", "db-1"]),
    identity=st.sampled_from([("east", "shop"), ("west", "bank")]),
    section=st.sampled_from(["", "", "http", "8080"]),
).filter(lambda atom: any(parts_of(atom)))
REQUIREMENTS = st.builds(
    Requirement,
    zones=st.sampled_from([(), (), ("east",), ("west",)]).map(frozenset),
    namespaces=st.sampled_from([(), *((one,) for one in SPACES)]).map(frozenset),
    proxy_types=st.sampled_from([(), ("Sidecar",), ("Gateway",)]),
    atom=ATOMS | st.none(),
)
SETTINGS = st.builds(
    Setting,
    namespace=st.sampled_from(SPACES),
    zone=st.sampled_from(["east", "west"]),
    gateway=st.booleans(),
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
