"""What the route rules say to their reader, and bad input that they must survive."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumamigrate.flow.runoutcome import Outcome
from kumamigrate.prover import Effect, Verdict
from kumamigrate.rewrite.finding import Finding, Status
from tests.rewrite.scene import after, run

ROUTE = """\
type: MeshHTTPRoute
name: {name}
mesh: default
spec:
  to:
    - targetRef: {{kind: MeshService, name: {service}}}
      rules: [{{matches: [{{path: {{type: PathPrefix, value: /v1}}}}], default: {{}}}}]
"""
TIMEOUT = """\
type: MeshTimeout
name: slow
mesh: default
spec:
  targetRef: {kind: MeshHTTPRoute, name: api}
  to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 60s}}}]
"""
API = ROUTE.format(name="api", service="orders")


def _mesh(mode: str) -> str:
    return f"type: Mesh\nname: default\nmeshServices: {{mode: {mode}}}\n"


def _only(outcome: Outcome) -> Finding:
    (finding,) = [f for f in outcome.findings if f.rule == "route-in-target-ref"]
    return finding


def test_a_copied_value_names_the_policy_and_place_it_came_from(tmp_path: Path) -> None:
    service = """\
type: MeshTimeout
name: by-service
mesh: default
spec:
  to:
    - targetRef: {kind: MeshService, name: orders}
      default: {http: {streamIdleTimeout: 30s}}
"""
    files = {"m.yaml": _mesh("Exclusive"), "r.yaml": API, "s.yaml": service, "t.yaml": TIMEOUT}
    notes = _only(run(tmp_path, files)).notes
    assert any("http.streamIdleTimeout 30s" in n and "by-service (s.yaml:7:" in n for n in notes)


def test_a_kept_rank_is_explained(tmp_path: Path) -> None:
    narrow = TIMEOUT.replace("slow", "narrow").replace(
        "{kind: MeshHTTPRoute, name: api}", "{kind: Dataplane, labels: {app: batch}}"
    )
    files = {"m.yaml": _mesh("Exclusive"), "r.yaml": API, "n.yaml": narrow, "t.yaml": TIMEOUT}
    narrow_wins = files | {"n.yaml": narrow.replace("60s", "5s")}
    assert any("kind Dataplane" in n for n in _only(run(tmp_path, narrow_wins)).notes)


def test_an_outbound_by_service_tag_is_named_in_mode_exclusive(tmp_path: Path) -> None:
    """Such a Dataplane reads the old place alone, in every mode."""
    dataplane = """\
type: Dataplane
mesh: default
name: web-1
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
  outbound: [{port: 1, %s}]
"""
    files = {"m.yaml": _mesh("Exclusive"), "r.yaml": API, "t.yaml": TIMEOUT}
    refs = ("tags: {kuma.io/service: orders}", "backendRef: {kind: MeshService, name: orders}")
    by_tag, by_ref = (_only(run(tmp_path, files | {"d.yaml": dataplane % ref})) for ref in refs)
    assert any("Dataplane web-1 has an outbound by service tag" in note for note in by_tag.notes)
    assert not any("service tag" in note for note in by_ref.notes)


def test_an_unknown_mode_names_what_settles_it(tmp_path: Path) -> None:
    outcome = run(tmp_path, {"r.yaml": API, "t.yaml": TIMEOUT})
    (note,) = [n for n in _only(outcome).notes if "mode" in n]
    assert "--mesh-services" in note
    assert outcome.proof is not None
    modes = outcome.proof.modes("live")
    assert modes["Disabled"] is Verdict.EQUIVALENT


def test_in_everywhere_the_move_takes_effect_and_nothing_else_changes(tmp_path: Path) -> None:
    outcome = run(tmp_path, {"m.yaml": _mesh("Everywhere"), "r.yaml": API, "t.yaml": TIMEOUT})
    assert outcome.proof is not None
    witnesses = outcome.proof.witnesses("live")
    assert witnesses
    assert {w.effect for w in witnesses} == {Effect.ACTIVATION}
    assert {(w.field, w.after.value) for w in witnesses} == {("http.requestTimeout", "1m0s")}


def test_disabled_then_exclusive_ends_where_exclusive_alone_does(tmp_path: Path) -> None:
    """The three stages of product.md §4: beside the old one, then the old one goes."""
    files = {"m.yaml": _mesh("Disabled"), "r.yaml": API, "t.yaml": TIMEOUT}
    expanded = after(files, run(tmp_path / "1", files))
    assert expanded["t.yaml"].startswith(TIMEOUT)
    switched = expanded | {"m.yaml": _mesh("Exclusive")}
    outcome = run(tmp_path / "2", switched)
    contracted = after(switched, outcome)
    assert not outcome.held
    assert "name: slow-route" in contracted["t.yaml"]
    assert "name: slow\n" not in contracted["t.yaml"]
    assert run(tmp_path / "3", contracted).texts == {}


def test_a_missing_route_is_named_and_nothing_is_written(tmp_path: Path) -> None:
    outcome = run(tmp_path, {"m.yaml": _mesh("Exclusive"), "t.yaml": TIMEOUT})
    finding = _only(outcome)
    assert (finding.status, finding.file, finding.line) == (Status.MANUAL, "t.yaml", 5)
    assert "MeshHTTPRoute api" in finding.message
    assert "--inventory" in finding.action
    assert outcome.texts == {}


def test_two_routes_of_one_name_are_both_named_with_their_places(tmp_path: Path) -> None:
    route = """\
apiVersion: kuma.io/v1alpha1
kind: MeshHTTPRoute
metadata: {{name: api, namespace: {ns}, labels: {{kuma.io/mesh: default}}}}
spec: {{to: [{{targetRef: {{kind: MeshService, name: orders}}, rules: []}}]}}
"""
    files = {"a.yaml": route.format(ns="shop"), "b.yaml": route.format(ns="pay"), "t.yaml": TIMEOUT}
    message = _only(run(tmp_path, files)).message
    assert "shop/api (a.yaml:1:1)" in message
    assert "pay/api (b.yaml:1:1)" in message


def test_a_route_that_cannot_be_read_is_not_said_to_be_missing_only(tmp_path: Path) -> None:
    """The other files are served; the unreadable one bars a green verdict."""
    broken = "type: MeshHTTPRoute\nname: api\nmesh: default\nspec: {\n"
    other = TIMEOUT.replace("name: slow", "name: other").replace("name: api", "name: there")
    files = {
        "m.yaml": _mesh("Disabled"),
        "broken.yaml": broken,
        "r.yaml": ROUTE.format(name="there", service="pay"),
        "t.yaml": TIMEOUT,
        "o.yaml": other,
    }
    outcome = run(tmp_path, files)
    statuses = {f.resource.name: f.status for f in outcome.findings if f.resource is not None}
    assert statuses["slow"] is Status.MANUAL
    assert outcome.texts == {} or set(outcome.texts) == {"o.yaml"}


def test_an_alias_under_the_edit_is_refused_with_a_reason(tmp_path: Path) -> None:
    text = """\
type: MeshTimeout
name: slow
mesh: default
spec:
  targetRef: &ref {kind: MeshHTTPRoute, name: api}
  to:
    - targetRef: {kind: Mesh}
      default: {http: {requestTimeout: 60s}}
---
type: MeshHTTPRoute
name: api
mesh: default
spec:
  to: []
"""
    outcome = run(tmp_path, {"m.yaml": _mesh("Exclusive"), "t.yaml": text})
    assert outcome.texts == {} or "&ref" in after({}, outcome)["t.yaml"]


@pytest.mark.parametrize("target", ["2.9", "2.10"])
def test_releases_without_the_new_place_are_told_when_it_comes(target: str, tmp_path: Path) -> None:
    files = {"m.yaml": _mesh("Exclusive"), "r.yaml": API, "t.yaml": TIMEOUT}
    outcome = run(tmp_path, files, target=target)
    assert "2.11" in _only(outcome).message
    assert outcome.texts == {}


def test_a_top_level_route_with_a_service_in_to_is_refused_already(tmp_path: Path) -> None:
    """reports.md §1.14: reported, not repaired by dropping the service."""
    text = TIMEOUT.replace(
        "targetRef: {kind: Mesh}", "targetRef: {kind: MeshService, name: orders}"
    )
    outcome = run(tmp_path, {"m.yaml": _mesh("Exclusive"), "r.yaml": API, "t.yaml": text})
    assert outcome.texts == {}
    assert [r.resource.name for r in outcome.rejections] == ["slow"]


def test_one_conf_for_two_destinations_asks_for_a_split_first(tmp_path: Path) -> None:
    second = """\
    - targetRef: {kind: MeshService, name: pay}
      rules: [{matches: [{path: {type: PathPrefix, value: /v1}}], default: {}}]
"""
    services = """\
type: MeshTimeout
name: by-service
mesh: default
spec:
  to:
    - targetRef: {kind: MeshService, name: orders}
      default: {http: {streamIdleTimeout: 30s}}
    - targetRef: {kind: MeshService, name: pay}
      default: {http: {streamIdleTimeout: 90s}}
"""
    files = {"m.yaml": _mesh("Exclusive"), "r.yaml": API + second, "s.yaml": services}
    files["t.yaml"] = TIMEOUT
    alone = run(tmp_path / "alone", files, rules=["route-in-target-ref"])
    assert _only(alone).status is Status.HELD
    assert "multi-entry-route" in _only(alone).action
    both = run(tmp_path / "both", files)
    assert {f.status for f in both.findings} == {Status.FIXED}


def test_what_an_entry_holds_beside_target_and_conf_stays(tmp_path: Path) -> None:
    """Kuma ignores such a key; dropping it would lose what its author meant."""
    noted = TIMEOUT.replace("default: {http", "note: ours, default: {http")
    files = {"m.yaml": _mesh("Exclusive"), "r.yaml": API, "t.yaml": noted}
    assert "note: ours" in after(files, run(tmp_path, files))["t.yaml"]
