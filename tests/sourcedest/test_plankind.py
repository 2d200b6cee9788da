"""Conversions as edits of files: both forms, comments kept, second run idle."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kumamigrate.model.read import read_resources
from kumamigrate.model.state import Environment, State
from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.finding import Danger, Finding, Safety, Status
from kumamigrate.rewrite.rule import Rule
from kumamigrate.rewrite.sourcedest.aschanges.plankind import BOTH_ACT, plan_kind
from kumamigrate.rewrite.view import View
from kumamigrate.source.editing.patch import patch
from kumamigrate.source.reading.load import read_file
from kumamigrate.source.text import SourceFile
from kumamigrate.source.value import Replacement
from tests.sourcedest.meshes import ROUTE_ALL

UNIVERSAL = f"""\
type: Mesh
name: default
skipCreatingInitialPolicies: ['*']
---
{ROUTE_ALL}---
# why we wait
type: Timeout
name: slow   # the slow one
mesh: default
sources:
- match:
    kuma.io/service: '*'
destinations:
- match:
    kuma.io/service: '*'
conf:
  connectTimeout: 7s # measured in May
"""

KUBERNETES = """\
apiVersion: kuma.io/v1alpha1
kind: TrafficPermission
mesh: shop
metadata:
  name: allow
spec:
  sources:
  - match: {kuma.io/service: '*'}
  destinations:
  - match: {kuma.io/service: '*'}
"""

RULE = Rule(
    id="legacy-timeout",
    title="Timeout",
    why="",
    source=(),
    safety=Safety.PROVEN,
    danger=Danger.SILENT_LOSS,
)


def _view(text: str, **more: object) -> tuple[View, SourceFile]:
    file = read_file("a.yaml", text.encode())
    state = State(release="2.9", environment=Environment(), resources=read_resources(file))
    view = View(
        rule=RULE,
        state=state,
        before=state,
        target_name="2.9",
        editable=frozenset({"a.yaml"}),
    )
    return replace(view, **more), file  # type: ignore[arg-type]


def _apply(file: SourceFile, change: Change) -> str:
    edits = [
        Replacement(
            document=file.documents[e.where.document], item=e.where.item, values=e.manifests
        )
        for e in change.edits
    ]
    text = patch(file, edits)
    assert isinstance(text, str), text
    return text


def _one_change(view: View, kind: str) -> Change:
    found = list(plan_kind(view, kind))
    changes = [item for item in found if isinstance(item, Change)]
    assert len(changes) == 1, found
    return changes[0]


def test_universal_timeout_takes_the_place_of_the_old_one() -> None:
    view, file = _view(UNIVERSAL)
    text = _apply(file, _one_change(view, "Timeout"))
    head, tail = text.split("# why we wait\n")
    assert head == UNIVERSAL.split("# why we wait\n")[0]
    assert tail.startswith("type: MeshTimeout\nname: slow   # the slow one\nmesh: default\n")
    assert "measured in May" in tail
    again, _ = _view(text)
    assert list(plan_kind(again, "Timeout")) == []


def test_kubernetes_policy_moves_to_the_system_namespace() -> None:
    view, file = _view(KUBERNETES)
    text = _apply(file, _one_change(view, "TrafficPermission"))
    (policy,) = read_resources(read_file("a.yaml", text.encode()))
    assert (policy.type, policy.mesh, policy.namespace) == (
        "MeshTrafficPermission",
        "shop",
        "kuma-system",
    )
    assert "mesh" not in policy.body
    assert policy.spec["from"] == [{"targetRef": {"kind": "Mesh"}, "default": {"action": "Allow"}}]


def test_a_tie_is_a_finding_for_both_and_nothing_is_written() -> None:
    second = UNIVERSAL.split("---\n")[2].replace("name: slow", "name: fast").replace("7s", "1s")
    view, _ = _view(UNIVERSAL + "---\n" + second)
    found = list(plan_kind(view, "Timeout"))
    assert all(isinstance(f, Finding) and f.status is Status.MANUAL for f in found)
    names = {f.resource.name for f in found if isinstance(f, Finding) and f.resource}
    assert names == {"slow", "fast"}


def test_expand_keeps_the_old_one() -> None:
    view, file = _view(UNIVERSAL, stage="expand")
    text = _apply(file, _one_change(view, "Timeout"))
    assert "type: Timeout\n" in text
    assert "type: MeshTimeout\n" in text


def test_mesh_section_moves_out() -> None:
    text = UNIVERSAL.replace("name: default\n", "name: default\npolicyEngine: Legacy\n", 1)
    view, file = _view(text)
    assert "policyEngine" not in _apply(file, _one_change(view, "Mesh.policyEngine"))


def test_a_template_leaves_the_winners_unknown() -> None:
    text = UNIVERSAL.replace("connectTimeout: 7s", "connectTimeout: {{ .Values.wait }}")
    view, _ = _view(text)
    (found,) = plan_kind(view, "Timeout")
    assert isinstance(found, Finding)
    assert "template" in found.message


def test_a_template_in_a_route_leaves_where_traffic_goes_unknown() -> None:
    text = UNIVERSAL.replace("conf: {destination: {kuma.io/service: '*'}}", "conf: {{ .conf }}")
    assert text != UNIVERSAL
    view, _ = _view(text)
    (found,) = plan_kind(view, "TrafficRoute")
    assert isinstance(found, Finding)
    assert "template" in found.message


def test_a_refused_policy_is_named() -> None:
    text = UNIVERSAL.replace("  connectTimeout: 7s", "  tcp: {}")
    view, _ = _view(text)
    (found,) = plan_kind(view, "Timeout")
    assert isinstance(found, Finding)
    assert "control planes refuse it" in found.message
    assert found.path == ("conf", "tcp")


ANY = "- match: {kuma.io/service: '*'}\n"
SERVED = f"sources:\n{ANY}destinations:\n{ANY}"
PROBE = "interval: 1s, timeout: 1s, unhealthyThreshold: 1, healthyThreshold: 1"
CONFS = {
    "TrafficPermission": "",
    "Timeout": "conf: {connectTimeout: 7s}\n",
    "Retry": "conf: {http: {numRetries: 5}}\n",
    "CircuitBreaker": "conf: {detectors: {totalErrors: {}}}\n",
    "FaultInjection": "conf: {abort: {percentage: 1, httpStatus: 500}}\n",
    "RateLimit": "conf: {http: {requests: 5, interval: 1s}}\n",
    "TrafficTrace": "conf: {backend: z}\n",
    "HealthCheck": f"conf: {{{PROBE}}}\n",
    "TrafficLog": "conf: {backend: f}\n",
}
MESH = """\
type: Mesh
name: default
skipCreatingInitialPolicies: ['*']
mtls: {enabledBackend: ca, backends: [{name: ca, type: builtin}]}
tracing: {backends: [{name: z, type: zipkin, conf: {url: 'http://z:1/api'}}]}
logging: {backends: [{name: f, type: file, conf: {path: /tmp/f}}]}
---
"""


def _mesh_with(kind: str) -> str:
    served = SERVED
    if kind == "TrafficTrace":
        served = f"selectors:\n{ANY}"
    if kind == "FaultInjection":
        served = f"sources:\n{ANY}destinations:\n{ANY.replace('}', ', kuma.io/protocol: http}')}"
    return f"{MESH}{ROUTE_ALL}---\ntype: {kind}\nname: old\nmesh: default\n{served}{CONFS[kind]}"


@pytest.mark.parametrize("kind", [kind for kind in CONFS if kind not in BOTH_ACT])
def test_what_stands_beside_its_successor_waits_for_the_next_step(kind: str) -> None:
    view, file = _view(_mesh_with(kind), stage="expand")
    text = _apply(file, _one_change(view, kind))
    assert f"type: {kind}\n" in text
    again, file = _view(text, stage="expand")
    (found,) = plan_kind(again, kind)
    assert isinstance(found, Finding)
    assert found.message.startswith("its successor stands beside it")
    contract, file = _view(text, stage="contract")
    left = _apply(file, _one_change(contract, kind))
    assert f"type: {kind}\n" not in left
    assert {r.type for r in read_resources(file)} - {kind} == {
        r.type for r in read_resources(read_file("a.yaml", left.encode()))
    }


@pytest.mark.parametrize("kind", [kind for kind in BOTH_ACT if kind != "ProxyTemplate"])
def test_what_acts_beside_its_successor_is_not_put_beside_it(kind: str) -> None:
    view, _ = _view(_mesh_with(kind), stage="expand")
    (found,) = plan_kind(view, kind)
    assert isinstance(found, Finding)
    assert "act side by side" in found.message
