"""Proxies of a namespace are tried where it tells them from others, and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kumamigrate.model.resource import ENV, NAMESPACE, ROLE, Resource
from kumamigrate.model.state import State
from kumamigrate.prover import Proof, prove
from kumamigrate.universe import namespaces as module
from kumamigrate.universe.combinations import Combinations, Pairings
from kumamigrate.universe.contents import Contents
from kumamigrate.universe.madeup import OTHER_NAMESPACE, Atom, Requirement, Setting
from kumamigrate.universe.namespaces import Namespaces, Nearby, Spoken, of_identities
from kumamigrate.universe.side import Side
from tests.frontdoor import drawn
from tests.prove import generate

RED, BLUE = (Atom(labels=(("app", name),)) for name in ("red", "blue"))
FAST = Atom(labels=(("tier", "fast"),))
FAST_RED = Atom(labels=(*RED.labels, ("speed", "fast")))
TEAM = frozenset({"team"})
BY_NAME = Atom(labels=(("kuma.io/display-name", "web-1"),))


def near(
    requirements: list[Requirement],
    besides: tuple[Requirement, ...] = (),
    pairings: Pairings | None = None,
    namespace: str = "team",
) -> Nearby:
    pairings = Pairings(()) if pairings is None else pairings
    found = Namespaces(requirements, Spoken(besides), pairings, one_inbound=False)
    return found.near(Setting(namespace=namespace, zone="east", gateway=False))


def side_of(*resources: Resource) -> Side:
    state = State(release="2.14", environment=generate.ENVIRONMENT, resources=resources)
    return Side(state, "default", Contents())


def test_only_what_somebody_asks_for_there_is_tried_again() -> None:
    plain = [Requirement(atom=one) for one in (RED, BLUE, FAST)]
    found = near([*plain, Requirement(namespaces=TEAM, atom=RED)])
    assert found == Nearby(atoms={RED, FAST}, telling={RED})


def test_where_nobody_speaks_of_a_namespace_it_is_as_any_other() -> None:
    assert near([Requirement(atom=RED)]) == Nearby(atoms=frozenset(), telling=frozenset())


@pytest.mark.parametrize(
    "asked",
    [
        Requirement(namespaces=TEAM),
        Requirement(atom=Atom(labels=((NAMESPACE, "team"),))),
        Requirement(namespaces=TEAM, atom=Atom(tags=(("kuma.io/service", "*"),))),
        Requirement(namespaces=TEAM, atom=Atom(tags=(("kuma.io/zone", "east"),))),
    ],
)
def test_where_any_proxy_of_a_namespace_may_be_chosen_all_are_tried(asked: Requirement) -> None:
    assert near([Requirement(atom=RED), asked]).telling is None


def test_a_namespace_that_nobody_names_has_all() -> None:
    requirements = [Requirement(namespaces=TEAM, atom=RED), Requirement(atom=BLUE)]
    assert near(requirements, namespace=OTHER_NAMESPACE) == Nearby(atoms={RED, BLUE})


def test_who_asks_for_any_value_of_a_tag_means_every_value() -> None:
    first, other = Atom(tags=(("version", "v1"),)), Atom(tags=(("team", "a"),))
    any_version = Requirement(namespaces=TEAM, atom=Atom(tags=(("version", "*"),)))
    found = near([Requirement(atom=first), Requirement(atom=other)], (any_version,))
    assert found.telling == {first}


def test_a_name_is_the_label_that_says_it() -> None:
    named = Atom(name="web-1", identity=("east", "team"))
    by_label = Atom(labels=(("kuma.io/display-name", "web-1"),))
    assert near([Requirement(atom=by_label)], (Requirement(atom=named),)).telling == {by_label}


def test_what_goes_with_an_atom_counts() -> None:
    tag = Atom(tags=(("app", "red"),))
    pairings = Pairings([(Requirement(atom=tag), Requirement(atom=RED))])
    found = near([Requirement(atom=tag)], (Requirement(namespaces=TEAM, atom=RED),), pairings)
    assert found.telling == {tag}


@pytest.mark.parametrize(("atom", "whole"), [(RED, {RED, FAST_RED}), (FAST_RED, {FAST_RED})])
def test_what_is_no_part_of_an_atom_goes_with_it(atom: Atom, whole: set[Atom]) -> None:
    pairings = Pairings([(Requirement(atom=RED), Requirement(atom=FAST_RED))])
    assert {*pairings.whole(atom, None)} == whole


@pytest.mark.parametrize(
    ("atom", "asked", "tried"),
    [
        (Atom(tags=(("version", "v1"),)), Atom(tags=(("version", "v1"),)), True),
        (Atom(tags=(("version", "v2"),)), Atom(tags=(("version", "v1"),)), False),
        (Atom(section="http"), Atom(section="http"), True),
        (Atom(section="http"), Atom(section="admin"), False),
        (Atom(name="web-1", identity=("east", "crew")), BY_NAME, True),
        (Atom(name="web-2", identity=("east", "crew")), BY_NAME, False),
        (RED, Atom(labels=(("app", "red"), ("app", "team"))), True),
        (RED, Atom(tags=(("app", "red"),)), False),
    ],
)
def test_who_has_what_is_asked_for_is_tried(atom: Atom, asked: Atom, *, tried: bool) -> None:
    found = near([Requirement(atom=atom)], (Requirement(namespaces=TEAM, atom=asked),))
    either = {atom} if tried else set()
    one_more = {atom, FAST} if tried else set()
    assert found == Nearby(atoms=either, telling=either)
    more = near(
        [Requirement(atom=atom), Requirement(atom=FAST)],
        (Requirement(namespaces=TEAM, atom=asked),),
    )
    assert more == Nearby(atoms=one_more, telling=either)


@pytest.mark.parametrize("asked", [RED, BLUE, FAST])
def test_all_that_goes_with_what_is_asked_for_is_near(asked: Atom) -> None:
    plain = [Requirement(atom=one) for one in (RED, BLUE, FAST)]
    found = near(plain, (Requirement(namespaces=TEAM, atom=asked),))
    assert found.atoms == ({RED, BLUE, FAST} if asked is FAST else {asked, FAST})


def test_a_label_that_is_called_as_a_namespace_speaks_of_none() -> None:
    found = near([Requirement(atom=RED), Requirement(atom=Atom(labels=(("app", "team"),)))])
    assert found == Nearby(atoms=frozenset(), telling=frozenset())


def test_sets_without_anything_that_is_asked_for_are_not_worth_a_try() -> None:
    setting = Setting(namespace="team", zone="east", gateway=False)
    among = Combinations((RED, FAST), setting, Pairings(()), one_inbound=False)
    is_worth = near([Requirement(atom=RED), Requirement(namespaces=TEAM, atom=RED)]).worth(among)
    assert [is_worth(members) for members in (0b01, 0b10, 0b11)] == [True, False, True]
    all_are = near([Requirement(atom=RED)], namespace=OTHER_NAMESPACE).worth(among)
    assert all_are(0b10)


def test_identities_ask_for_the_labels_that_they_name() -> None:
    """One that names no labels is for every proxy, and one without a selector for none."""
    selectors: tuple[dict[str, Any], ...] = (
        {"dataplane": {"matchLabels": {"tier": "fast", "app": "red"}}},
        {"dataplane": {"matchLabels": {}}},
        {},
    )
    found = [
        [*of_identities(side_of(generate.resource("MeshIdentity", "id", {"selector": one})))]
        for one in selectors
    ]
    labels = Atom(labels=(("app", "red"), ("tier", "fast")))
    assert found == [[Requirement(atom=labels)], [Requirement()], []]


# -- the law ---------------------------------------------------------------------------------

APPS = ("red", "blue")
SPACES = ("", "", "team", "crew")
TOPS = (
    {"kind": "Mesh"},
    *({"kind": "MeshSubset", "tags": {"app": app}} for app in APPS),
    *({"kind": "Dataplane", "labels": {"app": app}} for app in APPS),
    {"kind": "Dataplane", "labels": {"app": "red", NAMESPACE: "team"}},
    {"kind": "Dataplane", "labels": {NAMESPACE: "crew"}},
)
MESH = {"kind": "Mesh"}
LOGGED = {"backends": [{"type": "File", "file": {"path": "/dev/stdout"}}]}
KINDS: Mapping[str, Any] = {
    "MeshTimeout": {"to": [{"targetRef": MESH, "default": {"connectionTimeout": "7s"}}]},
    "MeshAccessLog": {
        "to": [{"targetRef": MESH, "default": LOGGED}],
        "from": [{"targetRef": MESH, "default": LOGGED}],
    },
    "MeshTrafficPermission": {"from": [{"targetRef": MESH, "default": {"action": "Allow"}}]},
    "MeshRateLimit": {
        "from": [
            {
                "targetRef": MESH,
                "default": {"local": {"http": {"requestRate": {"num": 1, "interval": "1s"}}}},
            }
        ]
    },
    "MeshProxyPatch": {"default": {"appendModifications": []}},
}
OLD = {
    "sources": [{"match": {"kuma.io/service": "*"}}],
    "destinations": [{"match": {"kuma.io/service": "*", "app": "red"}}],
}


@st.composite
def spaced(draw: st.DrawFn, name: str) -> Resource:
    kind = draw(st.sampled_from(sorted(KINDS)))
    space = draw(st.sampled_from(SPACES))
    role = draw(st.sampled_from(["consumer", "workload-owner", "system"])) if space else "system"
    spec = {"targetRef": draw(st.sampled_from(TOPS)), **KINDS[kind]}
    made = generate.resource(kind, name, spec)
    labels = {**made.labels, ROLE: role, ENV: "kubernetes", NAMESPACE: space or "kuma-system"}
    return replace(made, labels=labels)


@st.composite
def turned(draw: st.DrawFn) -> tuple[State, State]:
    """Draw two states of which some policies choose otherwise, or are gone."""
    names = "abcdef"[: draw(st.integers(2, 6))]
    policies = [draw(spaced(name)) for name in names]
    after = []
    for policy in policies:
        top = draw(st.sampled_from([policy.spec["targetRef"], *TOPS, None]))
        if top is not None:
            after.append(replace(policy, spec={**policy.spec, "targetRef": top}))
    old = generate.resource("TrafficPermission", "old", OLD)
    fixed = (generate.mesh("Exclusive"), *map(generate.service, generate.SERVICES))
    fixed = (*fixed, old) if draw(st.booleans()) else fixed
    first, second = (
        State(release="2.14", environment=generate.ENVIRONMENT, resources=(*fixed, *some))
        for some in (policies, after)
    )
    return first, second


def found_by(proof: Proof) -> tuple[object, Set[object], Set[object]]:
    witnesses = frozenset(w.key[1:] for w in proof.witnesses("live"))
    return proof.verdict("live"), witnesses, frozenset(proof.doubts("live"))


@settings(max_examples=drawn(80), deadline=None, suppress_health_check=list(HealthCheck))
@given(turned())
def test_nothing_is_found_where_all_are_tried_but_what_is_found_so(
    pair: tuple[State, State],
) -> None:
    narrow = prove(*pair, claims=("live",))
    with pytest.MonkeyPatch.context() as patching:
        patching.setattr(module.Namespaces, "near", lambda self, _: Nearby(atoms=self._every))
        whole = prove(*pair, claims=("live",))
    assert found_by(narrow) == found_by(whole)
