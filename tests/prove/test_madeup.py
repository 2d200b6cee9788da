"""Which surroundings made-up proxies are tried in: those that somebody can tell apart."""

from __future__ import annotations

from typing import Any

import pytest

from kumamigrate.model.resource import DISPLAY_NAME, NAMESPACE, PROXY_TYPE, ZONE
from kumamigrate.universe.madeup import (
    OTHER_NAMESPACE,
    OTHER_PROXY,
    OTHER_ZONE,
    Atom,
    Requirement,
    Setting,
    count,
    settings_of,
    surroundings,
)
from kumamigrate.universe.madeupproxy import proxy_with

PLAIN = Atom(labels=(("app", "web"),))
PLACED = Atom(labels=(("app", "web"), (NAMESPACE, "shop"), (ZONE, "west")))
NAMED = Atom(name="web-1", identity=("west", "shop"))


@pytest.mark.parametrize(
    ("asked", "zone", "spaces", "zones"),
    [
        ([], "east", [], ["east"]),
        ([], "", [], [""]),
        ([Requirement(atom=PLAIN)], "east", [], ["east"]),
        ([Requirement(namespaces=frozenset({"team", "crew"}))], "east", ["crew", "team"], ["east"]),
        ([Requirement(namespaces=frozenset({OTHER_NAMESPACE}))], "east", [], ["east"]),
        ([Requirement(zones=frozenset({"west"}))], "east", [], ["east", OTHER_ZONE, "west"]),
        ([Requirement(zones=frozenset({"east"}))], "east", [], ["east", OTHER_ZONE]),
        ([Requirement(zones=frozenset({"west"}))], "", [], [OTHER_ZONE, "west"]),
        ([Requirement(atom=PLACED)], "east", ["shop"], ["east", OTHER_ZONE, "west"]),
        ([Requirement(atom=NAMED)], "east", ["shop"], ["east", OTHER_ZONE, "west"]),
    ],
)
def test_where_nobody_looks_one_place_stands_for_all(
    asked: list[Requirement], zone: str, spaces: list[str], zones: list[str]
) -> None:
    """A place that is named, and any other one; gateways where somebody asks for the kind."""
    wanted = [(space, z, False) for z in zones for space in (OTHER_NAMESPACE, *spaces)]
    assert [tuple(one) for one in settings_of(asked, zone)] == wanted
    typed = [*asked, Requirement(proxy_types=("Gateway",))]
    both = [*wanted, *((space, z, True) for space, z, _ in wanted)]
    assert [tuple(one) for one in settings_of(typed, zone)] == both


HERE = Setting(namespace="shop", zone="east", gateway=False)
BOTH = frozenset({"a", "b"})


@pytest.mark.parametrize(
    ("asked", "there"),
    [
        (Requirement(), HERE),
        (Requirement(namespaces=BOTH, zones=BOTH), HERE._replace(namespace="a", zone="a")),
        (Requirement(proxy_types=("Gateway",)), HERE._replace(gateway=True)),
        (Requirement(proxy_types=("Sidecar",)), HERE),
    ],
)
def test_what_a_selector_asks_of_the_surroundings_is_there(
    asked: Requirement, there: Setting
) -> None:
    assert surroundings(HERE, asked) == there


@pytest.mark.parametrize(
    ("atom", "there"),
    [
        (PLAIN, HERE),
        (PLACED, HERE._replace(zone="west")),
        (Atom(labels=((NAMESPACE, "bank"),)), HERE._replace(namespace="bank")),
        (Atom(name="web-1", identity=("west", "bank")), Setting("bank", "west", False)),
    ],
)
def test_an_atom_brings_its_place_along(atom: Atom, there: Setting) -> None:
    assert surroundings(HERE, Requirement(atom=atom)) == there


V1, V2 = (Atom(tags=(("version", value),)) for value in ("v1", "v2"))
ANY = Atom(tags=(("version", "*"),))
NAMED_A = Atom(name="a", identity=("east", "shop"))
MADE = {"kuma.io/service": "any-other-service", "kuma.io/zone": "east"}


def _inbounds(*atoms: Atom, setting: Setting = HERE, one_inbound: bool = False) -> Any:
    """Return the inbounds of a made-up proxy, or the tags of a gateway; None: there is none."""
    made = proxy_with(atoms, setting, "default", one_inbound=one_inbound)
    if made is None:
        return None
    network = made.spec["networking"]
    return network["gateway"]["tags"] if setting.gateway else network["inbound"]


def test_tags_of_a_selector_are_those_of_one_inbound() -> None:
    assert _inbounds(V1, V2) == [
        {"port": 10_000, "tags": {**MADE, "version": "v1"}},
        {"port": 10_001, "tags": {**MADE, "version": "v2"}},
    ]
    (one,) = _inbounds(V1, ANY, one_inbound=True)
    assert one["tags"] == {**MADE, "version": "v1"}
    (one,) = _inbounds(ANY, V1, one_inbound=True)
    assert one["tags"] == {**MADE, "version": "v1"}
    assert _inbounds(V1, V2, one_inbound=True) is None
    assert _inbounds(V1, V2, setting=HERE._replace(gateway=True)) == {**MADE, "version": "v1"}


def test_an_inbound_is_chosen_by_name_or_port() -> None:
    web, port, other = (Atom(section=section) for section in ("web", "8080", "9090"))
    assert _inbounds(web) == [{"name": "web", "port": 10_000, "tags": MADE}]
    assert _inbounds(port) == [{"port": 8080, "tags": MADE}]
    assert _inbounds(port, other, one_inbound=True) is None
    assert _inbounds(web, port, one_inbound=True) is None
    assert _inbounds(port, port, one_inbound=True) == [{"port": 8080, "tags": MADE}]


@pytest.mark.parametrize(
    ("atoms", "named"),
    [
        ([], OTHER_PROXY),
        ([PLAIN], OTHER_PROXY),
        ([Atom(labels=((DISPLAY_NAME, "web-1"),))], "web-1"),
        ([Atom(name="web-1", identity=("east", "shop"))], "web-1"),
        ([Atom(name="web-1", identity=("west", "shop"))], None),
        ([Atom(name="web-1", identity=("east", "bank"))], None),
        ([NAMED_A, Atom(name="b", identity=("east", "shop"))], None),
        ([NAMED_A, Atom(labels=((DISPLAY_NAME, "b"),))], None),
        ([Atom(labels=((NAMESPACE, "shop"),))], OTHER_PROXY),
        ([Atom(labels=((NAMESPACE, "bank"),))], None),
        ([Atom(labels=((ZONE, "west"),))], None),
        ([PLAIN, Atom(labels=(("app", "db"),))], None),
        ([Atom(labels=((PROXY_TYPE, "sidecar"),))], OTHER_PROXY),
    ],
)  # fmt: skip
def test_what_excludes_each_other_is_no_proxy(atoms: list[Atom], named: str | None) -> None:
    made = proxy_with(atoms, HERE, "default", one_inbound=False)
    assert (made.name if made is not None else None) == named


@pytest.mark.parametrize("gateway", [False, True])
@pytest.mark.parametrize("zone", ["east", ""])
def test_labels_of_a_made_up_proxy_are_those_a_control_plane_writes(
    zone: str, *, gateway: bool
) -> None:
    made = proxy_with([PLAIN], Setting("shop", zone, gateway), "default", one_inbound=False)
    assert made is not None
    of_zone = {ZONE: zone, "kuma.io/origin": "zone"} if zone else {}
    assert made.labels == {
        "app": "web", "kuma.io/mesh": "default", NAMESPACE: "shop", **of_zone,
        PROXY_TYPE: "gateway" if gateway else "sidecar",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("atoms", "most", "sets"), [(5, 2, 1 + 5 + 10), (3, 9, 8), (4, 0, 1), (0, 2, 1)]
)
def test_so_many_sets_there_are(atoms: int, most: int, sets: int) -> None:
    assert count(atoms, most) == sets
