"""What the reports say: the steps and lists that a reader acts on."""

from __future__ import annotations

from typing import Any

import pytest

from kumamigrate.model.read import read_resources
from kumamigrate.model.state import Environment, State
from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.finding import Finding, Safety
from kumamigrate.rewrite.plan import plan
from kumamigrate.rewrite.rulebook import rulebook
from kumamigrate.rewrite.view import View
from kumamigrate.scene.storedstate import state_of
from kumamigrate.source.reading.load import read_file


def _state(text: str) -> State:
    resources = read_resources(read_file("mesh.yaml", text.encode()))
    return state_of(resources, release="2.14", environment=Environment())[0]


def _said(rule_id: str, text: str, target: str = "3.0") -> tuple[Change | Finding, ...]:
    rule = next(rule for rule in rulebook() if rule.id == rule_id)
    state = _state(text)
    view = View(
        rule=rule,
        state=state,
        before=state,
        target_name=target,
        editable=frozenset(["mesh.yaml"]),
    )
    return plan(view)


def _findings(rule_id: str, text: str, target: str = "3.0") -> list[Finding]:
    return [said for said in _said(rule_id, text, target) if isinstance(said, Finding)]


MESH = """\
type: Mesh
name: default
meshServices: {{mode: {mode}}}
mtls:
  enabledBackend: ca
  backends:
    - {{name: ca, type: {backend}, mode: {mtls}}}
---
type: MeshTrafficPermission
name: all
mesh: default
spec:
  targetRef: {{kind: Mesh}}
  from: [{{targetRef: {{kind: Mesh}}, default: {{action: Allow}}}}]
"""


def test_the_way_to_identities_begins_with_what_this_mesh_lacks() -> None:
    (said,) = _findings(
        "mesh-mtls", MESH.format(mode="Disabled", backend="builtin", mtls="PERMISSIVE")
    )
    stages = [note.split(":")[0] for note in said.notes if note.startswith("stage")]
    assert stages == ["stage 1 of 4, next", *(f"stage {n} of 4" for n in (2, 3, 4))]
    first = [note.split()[0] for note in said.notes if not note.startswith("stage")]
    assert first == ["switch", "write"]
    (written,) = [note for note in said.notes if note.startswith("write")]
    assert "mode Permissive" in written
    assert "stage 2" in said.notes[said.notes.index(written) + 1]


def test_a_permission_in_a_mesh_without_mtls_is_asked_by_nobody() -> None:
    with_mtls = MESH.format(mode="Exclusive", backend="builtin", mtls="STRICT")
    without = with_mtls.replace("  enabledBackend: ca\n", "")
    identity = "---\ntype: MeshIdentity\nname: i\nmesh: default\nspec: {selector: {}}\n"
    idle = "permission-without-certificate"
    for text, rule in ((with_mtls, "permission-from"), (without, idle)):
        said = [*_said("permission-from", text), *_said(idle, text)]
        assert [one.rule for one in said] == [rule]
    assert _findings("permission-from", without + identity) == []  # it knows the ids
    assert _said(idle, without + identity) == ()


SHOP = """\
type: Mesh
name: default
meshServices: {mode: Exclusive}
mtls: {enabledBackend: ca, backends: [{name: ca, type: builtin}]}
---
type: Dataplane
name: web-1
mesh: default
labels: {kuma.io/workload: web}
networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}]}
---
type: Dataplane
name: db-1
mesh: default
labels: {kuma.io/workload: db}
networking: {address: 10.0.0.2, inbound: [{port: 80, tags: {kuma.io/service: db}}]}
---
type: MeshTrafficPermission
name: web-to-db
mesh: default
spec:
  from: [{targetRef: {kind: MeshSubset, tags: {kuma.io/service: web}}, default: {action: Allow}}]
"""
IDENTITY = """\
---
type: MeshIdentity
name: ids
mesh: default
spec: {selector: {dataplane: {matchLabels: {}}}}
"""
OTHER = """\
---
type: Dataplane
name: web-admin-1
mesh: default
labels: {kuma.io/workload: web-admin}
networking: {address: 10.0.0.3, inbound: [{port: 80, tags: {kuma.io/service: web-admin}}]}
"""


def test_no_rules_are_proposed_for_clients_that_have_no_ids_yet() -> None:
    """On 2.14 rules end `from`, and before identities no certificate shows a new id."""
    (said,) = _findings("permission-from", SHOP)
    assert not any("rules: [" in note for note in said.notes)
    assert said.action.startswith("Keep from while")


def test_an_old_id_that_begins_like_another_is_not_proposed() -> None:
    """A certificate by Mesh.mtls is met by how its names begin: web would let web-admin in."""
    (said,) = _findings("permission-from", SHOP + IDENTITY + OTHER)
    assert not any("rules: [" in note for note in said.notes)
    assert any("web-admin-1" in note for note in said.notes)


def test_what_cannot_be_ended_is_not_begun() -> None:
    (said,) = _findings("mesh-mtls", MESH.format(mode="Exclusive", backend="vault", mtls="STRICT"))
    assert said.notes[0].startswith("stage 1 of 4, next")
    assert "vault" in said.notes[1], "before the stages that wait for it"


GATEWAY = """\
type: MeshGateway
name: edge
mesh: default
selectors: [{match: {kuma.io/service: edge-svc}}]
conf: {listeners: [{port: 80, protocol: HTTP}]}
---
type: MeshGatewayRoute
name: ours
mesh: default
selectors: [{match: {kuma.io/service: edge-svc}}]
conf:
  http:
    rules:
      - matches: [{path: {match: PREFIX, value: /}}]
        backends: [{destination: {kuma.io/service: web}}]
---
type: MeshGatewayRoute
name: others
mesh: default
selectors: [{match: {kuma.io/service: other-svc}}]
conf:
  http:
    rules:
      - matches: [{path: {match: PREFIX, value: /}}]
        backends: [{destination: {kuma.io/service: web}}]
---
type: MeshTimeout
name: slow
mesh: default
spec:
  targetRef: {kind: MeshGateway, name: edge}
  to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1m}}]
"""


def test_a_gateway_lists_what_hangs_on_it() -> None:
    (gateway,) = [f for f in _findings("mesh-gateway", GATEWAY) if f.line == 0 and f.notes]
    assert [note.split(" at ")[0] for note in gateway.notes] == [
        "MeshGatewayRoute ours",
        "MeshTimeout slow",
    ]


ZONES = """\
type: ZoneIngress
name: in
networking: {address: 10.0.0.9, port: 10001, advertisedAddress: 203.0.113.9, advertisedPort: 443}
---
type: Mesh
name: a
---
type: Mesh
name: b
"""


def test_a_zone_ingress_needs_a_port_for_each_mesh() -> None:
    (said,) = _findings("zone-proxy", ZONES)
    assert "mesh a" in said.notes[0]
    assert "port: 10001" in said.notes[0]
    assert "203.0.113.9 and port 443" in said.notes[1]
    assert "port: 10002" in said.notes[2]


NAMES = """\
type: Mesh
name: 1st
---
type: MeshTimeout
name: t
mesh: 1st
spec: {to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1m}}]}
"""


@pytest.mark.parametrize(("target", "more"), [("3.0", False), ("2.14", True)])
def test_a_bad_name_lists_who_refers_to_it(target: str, more: bool) -> None:
    (said,) = _findings("name-not-rfc1035", NAMES, target)
    assert said.notes == ("MeshTimeout t at mesh.yaml:4 names it",)
    assert ("only warned of" in said.message) is more


PATCH = """\
type: MeshProxyPatch
name: p
mesh: default
spec:
  targetRef: {kind: Mesh}
  default:
    appendModifications:
      - listener:
          operation: Patch
          match: {listenerTags: {kuma.io/service: web}}
          value: "{}"
"""


def test_a_patch_by_the_tag_of_a_service_is_told_the_new_name() -> None:
    (said,) = _findings("proxy-patch-legacy-names", PATCH)
    assert "kuma.io/unified-name" in said.action


VALUES: dict[str, Any] = {
    "kuma": "kuma:\n  controlPlane: {mode: global}\n",
    "plain": "controlPlane: {mode: global}\n",
}


@pytest.mark.parametrize("text", VALUES.values(), ids=VALUES)
def test_values_are_read_for_the_chart_itself_and_below_its_name(text: str) -> None:
    (said,) = _findings("control-plane-settings", text)
    assert "no global control plane" in said.message


def test_settings_of_an_environment_are_found_in_a_workload() -> None:
    text = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: cp}
spec:
  template:
    spec:
      containers:
        - {name: cp, env: [{name: KUMA_MODE, value: standalone}]}
"""
    (said,) = _findings("control-plane-settings", text, "2.14")
    assert said.path[-2:] == ("env", 0)


def test_every_rule_that_writes_shows_before_and_after_and_what_is_proved() -> None:
    for rule in rulebook():
        if rule.safety is not Safety.MANUAL and rule.covers:
            assert rule.example[0], rule.id
            assert rule.proved, rule.id
            assert rule.example[0] != rule.example[1], rule.id


def test_every_rule_that_only_reports_asks_for_something() -> None:
    for rule in rulebook():
        asks = rule.table.get("annotations") or rule.action
        # A warning of a release that still takes the form asks for nothing, so it says nothing.
        assert rule.safety is not Safety.MANUAL or asks or rule.id == "deprecated-form", rule.id
