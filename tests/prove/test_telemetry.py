"""Metrics, spans and logs name the workload of the proxy they come from, by its label."""

from __future__ import annotations

import pytest

from kumamigrate.prover.prover import prove
from tests.prove.states import state

MESH = """
type: Mesh
name: default
---
type: Dataplane
mesh: default
name: web-1
labels: {{app: web{workload}}}
networking:
  address: 10.0.0.1
  inbound: [{{port: 80, tags: {{kuma.io/service: web, kuma.io/protocol: {protocol}}}}}]
  outbound: [{{port: 81, tags: {{kuma.io/service: web}}}}]
---
type: Mesh{kind}
mesh: default
name: p
spec: {spec}
"""
METRIC = "{default: {backends: [{type: Prometheus}]}}"
TRACE = "{default: {backends: [{type: Zipkin, zipkin: {url: 'http://z'}}]}}"
OTEL = "{type: OpenTelemetry, openTelemetry: {endpoint: 'o:1'}}"
FILE = "{type: File, file: {path: /x}}"
TAGGED = TRACE.replace("{default: {", "{default: {tags: [{name: kuma.workload, literal: x}], ")
BESIDE = TRACE.replace("{default: {", "{default: {tags: [{name: kuma.zone, literal: x}], ")


def _log(backend: str) -> str:
    default = f"{{backends: [{backend}]}}"
    return f"{{to: [{{targetRef: {{kind: Mesh}}, default: {default}}}]}}"


@pytest.mark.parametrize(
    ("kind", "spec", "protocol", "release", "named"),
    [
        ("Metric", METRIC, "http", "2.14", True),
        ("Metric", METRIC, "tcp", "2.9", True),
        ("Trace", TRACE, "http", "2.14", True),
        ("Trace", TRACE, "tcp", "2.14", False),  # it has no spans
        ("Trace", TRACE, "http", "2.9", False),  # they name no workload yet
        ("Trace", TAGGED, "http", "2.14", False),  # they name what the policy says
        ("Trace", BESIDE, "http", "2.14", True),
        ("Trace", "{default: {backends: []}}", "http", "2.14", False),
        ("AccessLog", _log(OTEL), "http", "2.14", True),
        ("AccessLog", _log(OTEL), "http", "2.9", False),
        ("AccessLog", _log(FILE), "http", "2.14", False),  # a line is what its format says
        ("AccessLog", _log(f"{FILE}, {OTEL}"), "http", "2.14", True),
    ],
)
def test_who_is_named_by_its_workload(
    kind: str, spec: str, protocol: str, release: str, named: bool
) -> None:
    def told(was: str, now: str) -> set[tuple[str, str, object, object, str]]:
        before, after = (
            state(
                MESH.format(
                    kind=kind,
                    spec=spec,
                    protocol=protocol,
                    workload=f", kuma.io/workload: {name}" if name else "",
                ),
                release=release,
                complete=True,
            )
            for name in (was, now)
        )
        claim = prove(before, after, claims=("live",)).meshes["default"].claims["live"]
        return {
            (w.policy_type, w.field, w.before.value, w.after.value, w.effect.value)
            for proxy in claim.proxies
            for w in proxy.witnesses
            if w.policy_type == f"Mesh{kind}"
        }

    field = "labels.kuma.io/workload"
    assert told("a", "a") == set()
    for was, now, effect in (("a", "b", "value"), ("", "b", "activation"), ("a", "", "value")):
        want = {(f"Mesh{kind}", field, was or None, now or None, effect)} if named else set()
        assert told(was, now) == want


def _mesh(kind: str, spec: str, workload: str, app: str = "web") -> str:
    text = MESH.format(kind=kind, spec=spec, protocol="http", workload=workload)
    return text.replace("{app: web", f"{{app: {app}")


def _told_of(was: str, now: str) -> set[str]:
    before, after = (state(text, complete=True) for text in (was, now))
    claim = prove(before, after, claims=("live",)).meshes["default"].claims["live"]
    return {w.field for proxy in claim.proxies for w in proxy.witnesses}


def test_a_workload_is_told_where_both_sides_name_it() -> None:
    a, b = ", kuma.io/workload: a", ", kuma.io/workload: b"
    field = "labels.kuma.io/workload"
    with_policy, without = (_mesh("Metric", METRIC, one) for one in (a, b))
    without = without[: without.index("---\ntype: MeshMetric")]
    assert field in _told_of(with_policy, _mesh("Metric", METRIC, b))
    assert field not in _told_of(with_policy, without)
    assert field not in _told_of(without, with_policy)
    # Another label of the same proxy changes nothing of what is sent.
    assert field not in _told_of(with_policy, _mesh("Metric", METRIC, a, app="other"))


def test_one_of_two_logs_is_enough() -> None:
    two = "\n---\ntype: MeshAccessLog\nmesh: default\nname: q\nspec: " + _log(FILE)
    was, now = (
        _mesh("AccessLog", _log(OTEL), f", kuma.io/workload: {name}") + two for name in "ab"
    )
    assert "labels.kuma.io/workload" in _told_of(was, now)
