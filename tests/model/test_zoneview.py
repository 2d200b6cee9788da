"""What zones have of what a global control plane stores, as a global one of 2.14 and of 3.0 and
their zones answered on Universal."""

from __future__ import annotations

import pytest

from kumamigrate.model.resource import DISPLAY_NAME, ENV, MESH, ORIGIN, ZONE, Resource
from kumamigrate.model.state import Environment, State, Viewer
from kumamigrate.model.zoneview import as_seen, viewers

OF_EAST = {ENV: "universal", MESH: "default", ORIGIN: "zone", ZONE: "east"}
SERVICE = Resource(
    type="MeshService",
    mesh="default",
    name="api-4bzz69z6d465x926",
    labels={**OF_EAST, DISPLAY_NAME: "api"},
)
POLICY = Resource(type="MeshTimeout", mesh="default", name="slow", labels={MESH: "default"})


def _seen(resource: Resource, viewer: Viewer | None, release: str = "2.14") -> Resource:
    environment = Environment(mode="global", viewer=viewer)
    return as_seen(resource, release=release, environment=environment)


@pytest.mark.parametrize("viewer", [None, Viewer(zone="east"), Viewer(zone="west", named=False)])
def test_what_the_global_one_made_says_so_in_every_zone(viewer: Viewer | None) -> None:
    seen = _seen(POLICY, viewer)
    assert seen.labels == {MESH: "default", DISPLAY_NAME: "slow", ORIGIN: "global"}
    called = POLICY.with_labels({MESH: "default", DISPLAY_NAME: "other"})
    assert _seen(called, viewer).labels[DISPLAY_NAME] == "other"


@pytest.mark.parametrize("release", ["2.14", "3.0"])
def test_another_zone_has_it_from_the_global_one(release: str) -> None:
    seen = _seen(SERVICE, Viewer(zone="west", named=False), release)
    assert seen.labels == {**OF_EAST, DISPLAY_NAME: "api", ORIGIN: "global"}
    assert seen.name == SERVICE.name


def test_before_3_0_its_own_zone_may_know_no_display_name() -> None:
    seen = _seen(SERVICE, Viewer(zone="east", named=False))
    assert (seen.name, dict(seen.labels)) == ("api", OF_EAST)
    assert _seen(SERVICE, Viewer(zone="east", named=True)) == SERVICE
    assert _seen(SERVICE, Viewer(zone="east", named=False), "3.0") == SERVICE
    on_kubernetes = SERVICE.with_labels({**SERVICE.labels, ENV: "kubernetes"})
    assert _seen(on_kubernetes, Viewer(zone="east", named=False)) == on_kubernetes


def test_in_a_zone_everything_is_as_it_is_stored() -> None:
    environment = Environment(mode="zone", zone="east")
    for resource in (SERVICE, POLICY):
        assert as_seen(resource, release="2.14", environment=environment) == resource


def _viewers(label: str, release: str, mode: str = "global") -> tuple[Viewer | None, ...]:
    ref = {"targetRef": {"kind": "MeshService", "labels": {label: "x"}}}
    policy = Resource(type="MeshTimeout", mesh="default", name="slow", spec={"to": [ref]})
    state = State(release=release, environment=Environment(mode=mode), resources=(SERVICE, policy))
    return viewers([state])


def test_it_matters_who_looks_where_a_label_is_referred_to_that_differs() -> None:
    either = (Viewer(zone="east", named=True), Viewer(zone="east", named=False))
    assert _viewers(DISPLAY_NAME, "2.14") == either
    assert _viewers(DISPLAY_NAME, "3.0") == (None,)
    assert _viewers(ORIGIN, "3.0") == (Viewer(zone="east"),)
    assert _viewers("app", "2.14") == (None,)
    assert _viewers(DISPLAY_NAME, "2.14", mode="zone") == (None,)
