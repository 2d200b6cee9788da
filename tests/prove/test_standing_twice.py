"""An old policy that stands twice holds what depends on it; the rest goes as with either of both.

On where TrafficRoutes lead depend outbounds: Timeout, Retry, CircuitBreaker, HealthCheck, RateLimit
and TrafficLog (legacy.md facts 2 and 3, legacy-notes G4). Inbounds, the proxy as a whole and what
passes through do not, and permissions do only where an ExternalService is.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kumamigrate.cli import app
from tests.runner import CliRunner

MESH = """type: Mesh
name: default
skipCreatingInitialPolicies: ["*"]
networking: {outbound: {passthrough: false}}
mtls: {enabledBackend: ca, backends: [{name: ca, type: builtin}]}
metrics: {enabledBackend: p, backends: [{name: p, type: prometheus, conf: {skipMTLS: true}}]}
tracing:
  defaultBackend: j
  backends: [{name: j, type: zipkin, conf: {url: 'http://j:9411/api/v2/spans'}}]
logging: {backends: [{name: f, type: file, conf: {path: /tmp/a}}], defaultBackend: f}
---
type: Dataplane
mesh: default
name: api-1
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: api, kuma.io/protocol: http}}]
"""
OTHER_ENDS = """sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: api}}]
"""
HTTP = OTHER_ENDS.replace("api", "api, kuma.io/protocol: http")
APART = {
    "TrafficTrace": "selectors: [{match: {kuma.io/service: '*'}}]\n",
    "FaultInjection": f"{HTTP}conf: {{delay: {{percentage: 50, value: 1s}}}}\n".replace(
        "'*'", "web"
    ),
    "TrafficPermission": OTHER_ENDS,
}
ON_ROUTES = {
    "Timeout": f"{OTHER_ENDS}conf: {{connectTimeout: 3s}}\n",
    "Retry": f"{OTHER_ENDS}conf: {{http: {{numRetries: 3}}}}\n",
    "CircuitBreaker": f"{OTHER_ENDS}conf: {{thresholds: {{maxRequests: 7}}}}\n",
    "TrafficLog": OTHER_ENDS,
}
ROUTES = [
    f"type: TrafficRoute\nmesh: default\nname: all\n{OTHER_ENDS}conf: {{destination: {one}}}\n"
    for one in ("{kuma.io/service: api}", "{kuma.io/service: pay}")
]
OUTSIDE = """type: ExternalService
mesh: default
name: out
tags: {kuma.io/service: out}
networking: {address: example.com:443}
"""


def _after(folder: Path, routes: dict[str, str], more: str = "") -> dict[str, str]:
    """Return what a run makes of the files of old policies, and of the Mesh."""
    folder.mkdir()
    texts = {kind: f"type: {kind}\nmesh: default\nname: one\n{body}" for kind, body in POLICIES}
    texts |= {"mesh": MESH, **routes, **({"more": more} if more else {})}
    for name, text in texts.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    result = CliRunner().invoke(app, ["run", str(folder)])
    assert "Traceback" not in result.output
    left = {path.stem: path.read_text() for path in folder.iterdir()}
    return {name: left.get(name, "") for name in texts if name not in routes}


POLICIES = [*APART.items(), *ON_ROUTES.items()]


def _old(texts: dict[str, str]) -> set[str]:
    return {kind for kind, _ in POLICIES if f"type: {kind}\n" in texts[kind]}


def test_a_route_in_doubt_holds_what_is_on_routes_alone(tmp_path: Path) -> None:
    twice = _after(tmp_path / "twice", {"a": ROUTES[0], "b": ROUTES[1]})
    assert _old(twice) == set(ON_ROUTES)
    mesh = twice["mesh"]
    assert "metrics:" not in mesh.partition("---")[0]
    assert "passthrough: false" not in mesh
    assert "tracing:" not in mesh
    assert "logging:" in mesh  # the TrafficLog reads it
    for number, route in enumerate(ROUTES):
        once = _after(tmp_path / str(number), {"a": route})
        assert {kind: once[kind] for kind in APART} == {kind: twice[kind] for kind in APART}


def test_whom_a_proxy_reaches_outside_depends_on_routes(tmp_path: Path) -> None:
    twice = _after(tmp_path / "twice", {"a": ROUTES[0], "b": ROUTES[1]}, OUTSIDE)
    assert _old(twice) == {*ON_ROUTES, "TrafficPermission"}


TWICE = {
    "Retry": f"{OTHER_ENDS}conf: {{http: {{numRetries: 9}}}}",
    "TrafficTrace": "selectors: [{match: {kuma.io/service: '*'}}]\nconf: {backend: x}",
    "TrafficPermission": OTHER_ENDS.replace("'*'", "web"),
}


@pytest.mark.parametrize(
    ("kind", "held"),
    [
        ("Retry", {"Retry", "TrafficPermission"}),
        ("TrafficTrace", {"TrafficTrace", "TrafficPermission"}),
        ("TrafficPermission", set(APART)),
    ],
)
def test_another_kind_in_doubt_holds_itself_and_what_nobody_told_apart(
    kind: str, held: set[str], tmp_path: Path
) -> None:
    """A TrafficPermission may let in who scrapes metrics, so it holds all, as it did."""
    texts = _after(
        tmp_path / "twice", {"b": f"type: {kind}\nmesh: default\nname: one\n{TWICE[kind]}\n"}
    )
    assert _old(texts) & {*APART, kind} == held
