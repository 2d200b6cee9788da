"""New routes beside TrafficRoutes, and outbounds that are written down; as 2.14.3 answered."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frontdoor import command
from tests.prove.states import live, state
from tests.sourcedest.meshes import ROUTE_ALL

MESH = """
type: Mesh
name: default
"""
ROUTE = f"\n{ROUTE_ALL}"
WEB = """
type: Dataplane
name: web
mesh: default
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web, kuma.io/protocol: http}}]
  outbound:
    - {port: 10000, tags: {kuma.io/service: api}}
    - {port: 10001, tags: {kuma.io/service: queue}}
"""
API = """
type: Dataplane
name: api
mesh: default
networking:
  address: 10.0.0.2
  inbound: [{port: 80, tags: {kuma.io/service: api, kuma.io/protocol: http}}]
"""
QUEUE = """
type: Dataplane
name: queue
mesh: default
networking:
  address: 10.0.0.3
  inbound: [{port: 80, tags: {kuma.io/service: queue, kuma.io/protocol: kafka}}]
"""
LISTED = (WEB, API, QUEUE)
NEW = """
type: MeshHTTPRoute
name: new
mesh: default
spec:
  targetRef: {kind: Mesh}
  to:
    - targetRef: {kind: MeshService, name: %s}
      rules:
        - matches: [{path: {type: PathPrefix, value: %s}}]
          default: {backendRefs: [{kind: MeshService, name: %s}]}
"""
TCP = """
type: MeshTCPRoute
name: tcp
mesh: default
spec:
  targetRef: {kind: Mesh}
  to:
    - targetRef: {kind: MeshService, name: queue}
      rules: [{default: {backendRefs: [{kind: MeshService, name: queue}]}}]
"""
OLD = """
type: TrafficRoute
name: old
mesh: default
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: api}}]
conf:
  http: [{match: {path: {prefix: /x}}, destination: {kuma.io/service: %s}}]
  destination: {kuma.io/service: api}
"""
TIMEOUT = """
type: MeshTimeout
name: t
mesh: default
spec:
  targetRef: {kind: Mesh}
  to: [{targetRef: {kind: MeshService, name: api}, default: {http: {requestTimeout: %s}}}]
"""
EXTERNAL = """
type: ExternalService
name: bank
mesh: default
tags: {kuma.io/service: bank, kuma.io/protocol: tcp}
networking: {address: 'bank.example:443'}
"""


def _verdict(tmp_path: Path, before: tuple[str, ...], after: tuple[str, ...]) -> tuple[str, str]:
    """Return the verdict of all, and that of `web`."""
    for name, docs in (("before", before), ("after", after)):
        (tmp_path / f"{name}.yaml").write_text("---".join(docs))
    sides = (str(tmp_path / f"{name}.yaml") for name in ("before", "after"))
    live = command("prove", *sides, "--zone", "east", "--format", "json").json["claims"]["live"]
    return live["verdict"], live["dataplanes"].get("web", {}).get("verdict", "")


@pytest.mark.parametrize(("more", "verdict"), [((), "unknown"), ((TCP,), "equivalent")])
def test_an_http_route_takes_over_an_outbound_that_does_not_speak_http(
    tmp_path: Path, more: tuple[str, ...], verdict: str
) -> None:
    """Unless a MeshTCPRoute takes it: then that alone says where it leads."""
    one, two = (NEW % ("queue", path, "api") for path in ("/x", "/y"))
    kept = (MESH, *LISTED, ROUTE, *more)
    assert _verdict(tmp_path, (*kept, one), (*kept, two)) == (verdict, verdict)


@pytest.mark.parametrize(("path", "verdict"), [("/", "unknown"), ("/a", "equivalent")])
def test_a_route_without_any_http_service_leaves_the_outbound_to_old_ones(
    tmp_path: Path, path: str, verdict: str
) -> None:
    """All that it does not match goes to the service itself, which speaks HTTP."""
    kept = (MESH, *LISTED, ROUTE, NEW % ("api", path, "queue"))
    assert _verdict(tmp_path, (*kept, OLD % "queue"), kept)[1] == verdict


def test_a_service_that_nobody_is_known_to_have_may_not_be_led_to(tmp_path: Path) -> None:
    kept = (MESH, *LISTED, ROUTE)
    found = _verdict(tmp_path, (*kept, OLD % "ghost"), (*kept, NEW % ("api", "/x", "ghost")))
    assert found[1] in ("unknown", "different")


@pytest.mark.parametrize("mode", ["Everywhere", "Exclusive"])
def test_an_outbound_that_is_written_down_is_there_in_any_mode(tmp_path: Path, mode: str) -> None:
    mesh = f"{MESH}meshServices: {{mode: {mode}}}\n"
    one, two = ((mesh, *LISTED, ROUTE, TIMEOUT % value) for value in ("1s", "2s"))
    assert _verdict(tmp_path, one, two) == ("different", "different")


def test_an_external_service_tells_nothing_of_others(tmp_path: Path) -> None:
    """Without a Dataplane nobody knows which protocol `api` has."""
    one, two = ((MESH, EXTERNAL, ROUTE, TIMEOUT % value) for value in ("1s", "2s"))
    assert _verdict(tmp_path, one, two)[0] == "unknown"


@pytest.mark.parametrize(("also", "told"), [("ghost", True), ("queue", False)])
def test_a_route_that_leads_to_a_service_of_unknown_protocol_may_not_be_there(
    also: str, *, told: bool
) -> None:
    """Of one whose backends speak no HTTP nothing is left (legacy-notes.md)."""
    split = f"name: api}}, {{kind: MeshService, name: {also}}}]}}"
    both = (NEW % ("api", "/x", "api")).replace("name: api}]}", split)
    docs = ((MESH, *LISTED, ROUTE, OLD % "api"), (MESH, *LISTED, ROUTE, both))
    before, after = (state("---".join(one)) for one in docs)
    doubts = [str(one) for one in live(before, after).unknown("live")]
    said = "a MeshHTTPRoute for api leads to ghost, of which no Dataplane says that it speaks HTTP"
    assert any(one.startswith(said) for one in doubts) is told
