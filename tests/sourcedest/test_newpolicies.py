"""Whose place a new policy takes, and under which name."""

from __future__ import annotations

from typing import Any

import pytest

from kumamigrate.model.resource import Resource
from kumamigrate.model.state import Environment, State
from kumamigrate.rewrite.sourcedest.classes import class_of
from kumamigrate.rewrite.sourcedest.conversion import Conversion, Dropped, named
from kumamigrate.rewrite.sourcedest.known import world_of
from kumamigrate.rewrite.sourcedest.newpolicies import PolicyDraft, emit
from kumamigrate.rewrite.sourcedest.outbounds.exhaustive import off_at
from kumamigrate.rewrite.sourcedest.outbounds.timeouts import _settled, reaches_all
from kumamigrate.rewrite.sourcedest.policynames import in_rank_order
from kumamigrate.sourcedest.order import Ties
from tests.sourcedest.meshes import resource

SERVICE, ZONE = "kuma.io/service", "kuma.io/zone"


def _named(drafts: list[tuple[dict[str, str], str]], **sources: dict[str, str]) -> Any:
    """Return the home and the name of the policy of each class, given by tags and winners."""
    bodies: list[dict[str, Any]] = [{"type": "Mesh", "name": "default"}]
    for name, tags in sources.items():
        match = [{"match": tags}]
        to = [{"match": {SERVICE: "*"}}]
        bodies.append({"type": "Timeout", "name": name, "sources": match, "destinations": to})
    given = tuple(resource(body, at) for at, body in enumerate(bodies))
    state = State(release="2.9", environment=Environment(zone="east"), resources=given)
    world = world_of(state, "default", "2.9", ties=Ties.UNKNOWN)
    by_name = {one.name: one for one in given}
    wanted = [
        PolicyDraft(
            item=class_of(tags),
            winners=tuple(by_name[name] for name in winners),
            to=[{"targetRef": {"kind": "Mesh"}}],
        )
        for tags, winners in drafts
    ]
    new = emit(world, "MeshTimeout", wanted, chosen_by="sources")
    return [(one.home.name, one.name, one.spec["targetRef"]) for one in new]


WEB = {SERVICE: "web"}
ANY = {SERVICE: "*"}
MESH = {"kind": "Mesh"}
OF_WEB = {"kind": "MeshService", "name": "web"}


def test_a_class_takes_the_place_of_the_policy_that_selects_it() -> None:
    # The first winner of a class may be anybody; its own policy goes before.
    found = _named([({}, "b"), (WEB, "bca")], a=WEB, b=ANY, c=ANY)
    assert found == [("b", "b", MESH), ("a", "a", OF_WEB)]


def test_what_asks_for_any_service_asks_for_nothing() -> None:
    # Any zone is asked for by z, any service by a: that is the class without tags.
    found = _named([({}, "za")], a=ANY, z={SERVICE: "*", "x": "y"})
    assert found == [("a", "a", MESH)]
    # A service by name is a class of its own, and so is any value of another tag.
    found = _named([(WEB, "ab")], a={SERVICE: "api"}, b=WEB)
    assert found == [("b", "b", OF_WEB)]
    found = _named([({"x": "*"}, "ab")], a=ANY, b={SERVICE: "*", "x": "*"})
    assert [(home, name) for home, name, _ in found] == [("b", "b")]


def test_a_place_that_is_taken_is_taken_once() -> None:
    found = _named([({}, "a"), (WEB, "a")], a=ANY)
    assert found == [("a", "a", MESH), ("a", "a-web", OF_WEB)]


@pytest.mark.parametrize(
    ("ref", "namespace", "reaches"),
    [
        (None, "", True),
        ({"kind": "Mesh"}, "", True),
        ({"kind": "Mesh"}, "kuma-system", True),
        ({"kind": "Mesh"}, "shop", False),
        ({"kind": "MeshSubset"}, "", True),
        ({"kind": "Dataplane"}, "", True),
        ({"kind": "MeshSubset", "tags": {"a": "b"}}, "", False),
        ({"kind": "Dataplane", "labels": {"a": "b"}}, "", False),
        ({"kind": "Mesh", "proxyTypes": ["Sidecar"]}, "", False),
        ({"kind": "MeshService", "name": "a"}, "", False),
    ],
)
def test_which_policies_are_for_every_proxy(ref: Any, namespace: str, reaches: bool) -> None:
    spec = {} if ref is None else {"targetRef": ref}
    mesh = resource({"type": "Mesh", "name": "default"})
    state = State(release="2.9", environment=Environment(zone="east"), resources=(mesh,))
    world = world_of(state, "default", "2.9", ties=Ties.UNKNOWN)
    policy = Resource(type="MeshTimeout", mesh="default", name="t", namespace=namespace, spec=spec)
    assert reaches_all(policy, world) is reaches


def test_what_is_kept_does_not_go() -> None:
    """Nor does the Mesh, of which a field becomes a policy."""
    gone, kept = (Resource(type="Timeout", mesh="default", name=name) for name in ("a", "b"))
    mesh = Resource(type="Mesh", mesh="default", name="default")
    dropped = tuple(Dropped(resource=one, reason="x") for one in (gone, kept, mesh))
    parts = (Dropped(resource=kept, reason="x", path=("conf",)),)
    done = Conversion(
        kind="Timeout", mesh="default", target="2.14", dropped=dropped + parts, kept=(kept,)
    )
    assert done.removed() == (gone,)


@pytest.mark.parametrize("release", ["2.9", "2.14"])
@pytest.mark.parametrize("protocol", ["http", "http2", "tcp"])
def test_idle_connections_of_http_end_after_an_hour_where_nothing_is_said_since_2_10(
    protocol: str, release: str
) -> None:
    """legacy.md fact 6."""
    tags = {SERVICE: "web", "kuma.io/protocol": protocol}
    networking = {"address": "10.0.0.1", "inbound": [{"port": 80, "tags": tags}]}
    bodies = [
        {"type": "Mesh", "name": "default"},
        {"type": "Dataplane", "name": "web-1", "networking": networking},
    ]
    given = tuple(resource(body, at) for at, body in enumerate(bodies))
    state = State(release=release, environment=Environment(zone="east"), resources=given)
    world = world_of(state, "default", release, ties=Ties.UNKNOWN)
    hour = protocol != "tcp" and release == "2.14"
    assert (off_at("MeshTimeout", "web", world)["idleTimeout"] == "1h") is hour
    assert "idleTimeout" not in off_at("MeshRetry", "web", world)


@pytest.mark.parametrize(("top", "settled"), [("Mesh", {"web"}), ("MeshService", set())])
def test_a_route_for_every_proxy_takes_all_http_services_over(top: str, settled: set[str]) -> None:
    """legacy.md §2.5: a proxy's HTTP outbounds are the new engine's, or none."""
    bodies: list[dict[str, Any]] = [{"type": "Mesh", "name": "default"}]
    for at, (service, protocol) in enumerate((("web", "http"), ("db", "tcp")), 1):
        tags = {SERVICE: service, "kuma.io/protocol": protocol}
        networking = {"address": f"10.0.0.{at}", "inbound": [{"port": 80, "tags": tags}]}
        bodies.append({"type": "Dataplane", "name": f"{service}-1", "networking": networking})
    to = [{"targetRef": {"kind": "MeshService", "name": "web"}, "rules": []}]
    target = {"kind": top, **({"name": "web"} if top != "Mesh" else {})}
    bodies.append({"type": "MeshHTTPRoute", "name": "r", "spec": {"targetRef": target, "to": to}})
    given = tuple(resource(body, at) for at, body in enumerate(bodies))
    state = State(release="2.9", environment=Environment(zone="east"), resources=given)
    assert _settled(world_of(state, "default", "2.9", ties=Ties.UNKNOWN)) == settled


def test_names_are_told_up_to_four_and_the_others_counted() -> None:
    assert named("abcd") == "a, b, c, d"
    assert named("abcde") == "a, b, c, d and 1 more"
    assert named("abcdef") == "a, b, c, d and 2 more"


@pytest.mark.parametrize("sizes", range(2, 7))
def test_the_narrower_class_has_the_smaller_name_and_a_word_where_there_are_enough(
    sizes: int,
) -> None:
    classes = [class_of({f"tag-{at}": "x" for at in range(1 + size)}) for size in range(sizes)]
    names = in_rank_order([(one, "abcdef"[at]) for at, one in enumerate(classes)])
    assert [*names] == sorted(names, reverse=True)
    assert any(name.startswith("level-") for name in names) is (sizes > 4)
