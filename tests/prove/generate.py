"""Random meshes for the prover's laws: few names, so that policies meet."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from kumamigrate.model.resource import Resource
from kumamigrate.model.state import Environment, State

SERVICES = ("web", "backend")
TAGS = (("version", "v1"), ("version", "v2"), ("team", "red"), ("kuma.io/service", "web"))
ROUTES = ("r-a", "r-b")
LABELS = {"kuma.io/origin": "zone", "kuma.io/zone": "east", "kuma.io/mesh": "default"}
ENVIRONMENT = Environment(zone="east")


def resource(kind: str, name: str, spec: dict[str, Any]) -> Resource:
    return Resource(type=kind, mesh="default", name=name, labels=LABELS, spec=spec)


def mesh(mode: str) -> Resource:
    return Resource(type="Mesh", mesh="", name="default", spec={"meshServices": {"mode": mode}})


def service(name: str, protocol: str = "http") -> Resource:
    ports = [{"port": 80, "name": "main", "appProtocol": protocol}]
    made = resource("MeshService", name, {"ports": ports})
    return replace(made, labels={**LABELS, "kuma.io/service": name})


def dataplane(
    name: str, *inbounds: dict[str, str], labels: dict[str, str] | None = None
) -> Resource:
    listed = [
        {"port": 8000 + at, "tags": {"kuma.io/service": "own", "kuma.io/protocol": "http", **tags}}
        for at, tags in enumerate(inbounds or ({},))
    ]
    proxying = {"redirectPortInbound": 15006, "redirectPortOutbound": 15001}
    networking = {"address": "10.0.0.1", "inbound": listed, "transparentProxying": proxying}
    made = resource("Dataplane", name, {"networking": networking})
    return replace(made, labels={**LABELS, **(labels or {})})


tops = st.one_of(
    st.just({"kind": "Mesh"}),
    st.sampled_from(TAGS).map(lambda tag: {"kind": "MeshSubset", "tags": dict([tag])}),
    st.just({"kind": "MeshSubset", "tags": {"version": "v1", "team": "red"}}),
    st.just({"kind": "Dataplane", "labels": {"app": "x"}}),
)
targets = st.one_of(
    st.just({"kind": "Mesh"}),
    st.sampled_from(SERVICES).map(lambda name: {"kind": "MeshService", "name": name}),
)
on_route = st.sampled_from(ROUTES).map(lambda name: {"kind": "MeshHTTPRoute", "name": name})
timeouts = st.one_of(
    st.integers(1, 4).map(lambda n: {"http": {"requestTimeout": f"{n}s"}}),
    st.integers(1, 4).map(lambda n: {"http": {"streamIdleTimeout": f"{n}m"}}),
    st.integers(1, 4).map(
        lambda n: {"connectionTimeout": f"{n}s", "http": {"requestTimeout": "2s"}}
    ),
)
retries = st.integers(0, 3).map(lambda n: {"http": {"numRetries": n}})
breakers = st.integers(1, 4).map(lambda n: {"connectionLimits": {"maxConnections": n}})
CONFS = {"MeshTimeout": timeouts, "MeshRetry": retries, "MeshCircuitBreaker": breakers}


@st.composite
def policy(draw: st.DrawFn) -> Resource:
    """Draw an outbound policy, some of them on a route in the old or the new form."""
    kind = draw(st.sampled_from(sorted(CONFS)))
    name = draw(st.sampled_from("abcdefghij"))
    form = draw(st.sampled_from(["plain", "plain", "old", "new"]))
    if kind == "MeshCircuitBreaker" or form == "plain":
        top, to = draw(tops), draw(st.lists(targets, min_size=1, max_size=2))
    elif form == "old":
        top, to = draw(on_route), [{"kind": "Mesh"}]
    else:
        top, to = draw(tops), [draw(on_route)]
    items = [{"targetRef": target, "default": draw(CONFS[kind])} for target in to]
    return resource(kind, name, {"targetRef": top, "to": items})


@st.composite
def route(draw: st.DrawFn, name: str) -> Resource:
    """Draw a route; both may share a match, so that their hashes meet."""
    target = draw(st.sampled_from(SERVICES))
    value = draw(st.sampled_from(["/v1", "/v2"]))
    rules = [{"matches": [{"path": {"type": "PathPrefix", "value": value}}], "default": {}}]
    to = [{"targetRef": {"kind": "MeshService", "name": target}, "rules": rules}]
    return resource("MeshHTTPRoute", name, {"targetRef": draw(tops), "to": to})


@st.composite
def policies(draw: st.DrawFn, most: int = 6) -> tuple[Resource, ...]:
    """Draw policies of different identity."""
    drawn = draw(st.lists(policy(), min_size=1, max_size=most))
    return tuple({p.identity: p for p in drawn}.values())


@st.composite
def meshes(draw: st.DrawFn) -> State:
    """Draw a mesh without Dataplanes: a Mesh, two services, two routes, some policies."""
    mode = draw(st.sampled_from(["Disabled", "Everywhere", "Exclusive"]))
    routes = tuple(draw(route(name)) for name in ROUTES)
    fixed = (mesh(mode), *(service(name) for name in SERVICES))
    return State(
        release="2.14",
        environment=ENVIRONMENT,
        resources=(*fixed, *routes, *draw(policies())),
    )


@st.composite
def changed(draw: st.DrawFn, before: State) -> State:
    """Draw a state that differs from another in one to three policies."""
    kept = list(before.resources)
    fixed = {"Mesh", "MeshService", "MeshHTTPRoute"}
    mine = [r for r in kept if r.type not in fixed]
    gone = st.lists(st.sampled_from(mine), max_size=2, unique_by=id) if mine else st.just([])
    for one in draw(gone):
        kept = [r for r in kept if r is not one]
    for new in draw(policies(most=2)):
        kept = [*(r for r in kept if r.identity != new.identity), new]
    return replace(before, resources=tuple(kept))


@st.composite
def pairs(draw: st.DrawFn) -> tuple[State, State]:
    """Draw two states that differ in one to three policies."""
    before = draw(meshes())
    return before, draw(changed(before))


@st.composite
def steps(draw: st.DrawFn) -> tuple[State, State, State]:
    """Draw three states, each but the first a change of the one before it."""
    first, second = draw(pairs())
    return first, second, draw(changed(second))
