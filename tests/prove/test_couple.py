"""What a proof of tags against labels rests on, and when it rests on nothing."""

from __future__ import annotations

from typing import Any

import pytest

from kumamigrate.model.read import read_resources
from kumamigrate.model.release import release
from kumamigrate.model.state import Environment, State
from kumamigrate.model.targetref import read_target_ref
from kumamigrate.prover import Proof, Verdict, prove
from kumamigrate.prover.assumptions.movedselectors import leaves_tags
from kumamigrate.scene.storedstate import state_of
from kumamigrate.source.reading.load import read_file

MESH = "type: Mesh\nname: default\n---\n"
WEB = """type: Dataplane
mesh: default
name: web-1
labels: {app: web}
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web, app: web}}]
---
"""


def _state(text: str, mode: str = "zone") -> State:
    read = read_file("mesh.yaml", (MESH + text).encode())
    return state_of(read_resources(read), release="2.14", environment=Environment(mode=mode))[0]


def _policy(top: str) -> str:
    return (
        "type: MeshTimeout\nmesh: default\nname: t\n"
        f"spec: {{targetRef: {top}, to: [{{targetRef: {{kind: Mesh}},"
        " default: {idleTimeout: 1m}}]}\n---\n"
    )


SUBSET = _policy("{kind: MeshSubset, tags: {app: web}}")
LABELS = _policy("{kind: Dataplane, labels: {app: web}}")


def _proof(before: str, after: str, mode: str = "zone") -> Proof:
    return prove(_state(before, mode), _state(after, mode), claims=("live",))


def test_labels_for_tags_are_equal_for_the_proxies_that_show_it() -> None:
    proof = _proof(WEB + SUBSET, WEB + LABELS)
    assert proof.verdict("live") is Verdict.EQUIVALENT
    assert proof.proxies == "listed"
    assert any("taken for granted" in reason for reason in proof.beyond)


def test_nothing_is_taken_for_granted_where_nothing_shows_it() -> None:
    assert _proof(SUBSET, LABELS).verdict("live") is Verdict.DIFFERENT


def test_a_proxy_with_the_tag_and_without_the_label_refutes_it() -> None:
    bare = WEB.replace("labels: {app: web}\n", "")
    assert _proof(bare + SUBSET, bare + LABELS).verdict("live") is Verdict.DIFFERENT


def test_proxies_that_neither_reference_selects_refute_nothing() -> None:
    before, after = (
        LABELS.replace("name: t", "name: u").replace("app: web", "tier: x").replace("1m", value)
        for value in ("3m", "4m")
    )
    assert _proof(WEB + SUBSET + before, WEB + LABELS + after).verdict("live") is Verdict.DIFFERENT


@pytest.mark.parametrize("label", ["{app: db}", "{app: web, tier: x}"])
def test_other_labels_are_not_the_same(label: str) -> None:
    after = WEB + _policy(f"{{kind: Dataplane, labels: {label}}}")
    assert _proof(WEB + SUBSET, after).verdict("live") is Verdict.DIFFERENT


def test_labels_narrowed_by_hand_are_a_difference_as_ever() -> None:
    after = WEB.replace("{app: web}\n", "{app: web, tier: x}\n", 1)
    narrow = _policy("{kind: Dataplane, labels: {app: web, tier: x}}")
    assert _proof(after + LABELS, after + narrow).verdict("live") is Verdict.DIFFERENT


def test_precedence_is_still_compared() -> None:
    """A Dataplane policy of a smaller name wins over the one that left rank MeshSubset."""
    other = LABELS.replace("name: t\n", "name: a\n").replace("1m", "9m")
    proof = _proof(WEB + other + SUBSET, WEB + other + LABELS)
    assert proof.verdict("live") is Verdict.DIFFERENT


ALONE = WEB.replace("labels: {app: web}\n", "labels: {team: red}\n").replace(", app: web", "")
GATEWAY = """type: Dataplane
mesh: default
name: edge-1
networking:
  address: 10.0.0.2
  gateway: {type: DELEGATED, tags: {kuma.io/service: edge}}
---
"""
SERVICE = """type: MeshService
mesh: default
name: web
spec: {selector: {dataplaneTags: {kuma.io/service: web}}, ports: [{port: 80, targetPort: 80}]}
---
"""


@pytest.mark.parametrize(
    ("known", "before", "after"),
    [
        pytest.param(
            ALONE, "{kind: MeshService, name: web}", "{kind: Dataplane, labels: {team: red}}",
            id="a label that nothing tells apart",
        ),
        pytest.param(
            GATEWAY, "{kind: Mesh, proxyTypes: [Gateway]}", "{kind: Mesh}",
            id="gateways where only gateways are known",
        ),
        pytest.param(
            SERVICE,
            "{kind: MeshService, name: web}",
            "{kind: Dataplane, labels: {kuma.io/service: web}}",
            id="a tag that a service selects by is no label",
        ),
    ],
)  # fmt: skip
def test_what_is_known_must_tell_it_from_others(known: str, before: str, after: str) -> None:
    proof = _proof(known + _policy(before), known + _policy(after))
    assert proof.verdict("live") is Verdict.DIFFERENT


SYNCED = "kuma.io/mesh: default, kuma.io/origin: zone"
OF_WEST = f"labels: {{kuma.io/display-name: t, {SYNCED}, kuma.io/zone: west}}\n"
IN_EAST = f"""type: Dataplane
mesh: default
name: web-1
labels: {{app: web, kuma.io/display-name: web-1, {SYNCED}, kuma.io/zone: east}}
networking: {{address: 10.0.0.1, inbound: [{{port: 80, tags: {{kuma.io/service: web}}}}]}}
---
type: Dataplane
mesh: default
name: db-1
labels: {{app: db, kuma.io/display-name: db-1, {SYNCED}, kuma.io/zone: east}}
networking: {{address: 10.0.0.2, inbound: [{{port: 80, tags: {{kuma.io/service: db}}}}]}}
---
"""


@pytest.mark.parametrize(
    ("labels", "verdict"),
    [
        ("app: web", Verdict.EQUIVALENT),
        ("app: db", Verdict.DIFFERENT),
        # Of zone east, which the policy of zone west never reaches: it would select nobody.
        ("app: web, kuma.io/zone: east", Verdict.DIFFERENT),
    ],
)
def test_proxies_that_a_policy_does_not_reach_show_what_labels_mean(
    labels: str, verdict: Verdict
) -> None:
    """On a global control plane, where resources of several zones stand beside each other."""
    before, after = (
        _policy(top).replace("name: t\n", f"name: t\n{OF_WEST}")
        for top in (
            "{kind: MeshService, name: web}",
            f"{{kind: Dataplane, labels: {{{labels}}}}}",
        )
    )
    assert _proof(IN_EAST + before, IN_EAST + after, "global").verdict("live") is verdict
    bare = IN_EAST.replace("app: web, ", "")
    assert _proof(bare + before, bare + after, "global").verdict("live") is Verdict.DIFFERENT


@pytest.mark.parametrize("label", ["app: web", "team: a", ""], ids=["mirrored", "another", "none"])
def test_where_none_is_selected_each_proxy_with_the_tag_has_to_mirror_it(label: str) -> None:
    """One that has the tag and not the label shows that the label means something else."""
    known = WEB.replace("labels: {app: web}", f"labels: {{{label}}}")
    tags = _policy("{kind: MeshSubset, tags: {app: db}}")
    labels = _policy("{kind: Dataplane, labels: {app: db}}")
    verdict = _proof(known + tags, known + labels).verdict("live")
    assert verdict is (Verdict.EQUIVALENT if label == "app: web" else Verdict.DIFFERENT)


SOME = {"labels": {"app": "web"}}
NAMED = {"labels": {"kuma.io/display-name": "web"}}


@pytest.mark.parametrize(
    ("old", "new", "leaves"),
    [
        ({"kind": "MeshSubset", "tags": {"app": "web"}}, {"kind": "Dataplane", **SOME}, True),
        ({"kind": "MeshSubset", "tags": {"app": "web"}}, {"kind": "Mesh"}, False),
        ({"kind": "MeshService", "name": "web"}, {"kind": "Dataplane", **SOME}, True),
        ({"kind": "Dataplane", "name": "web"}, {"kind": "Dataplane", **NAMED}, True),
        ({"kind": "Dataplane", "name": "web"}, {"kind": "Dataplane", **SOME}, False),
        ({"kind": "Mesh", "proxyTypes": ["Sidecar"]}, {"kind": "Mesh"}, True),
        ({"kind": "Mesh", "proxyTypes": ["Sidecar"]}, {"kind": "Dataplane", **SOME}, True),
        ({"kind": "Mesh", "proxyTypes": ["Gateway"]}, {"kind": "MeshGateway"}, False),
        ({"kind": "Mesh"}, {"kind": "Dataplane", **SOME}, False),
    ],
)
def test_references_leave_what_3_0_has_not_for_labels(
    old: dict[str, Any], new: dict[str, Any], *, leaves: bool
) -> None:
    fields = release("2.14").target_ref_type_fields
    assert leaves_tags(*(read_target_ref(one, fields) for one in (old, new))) is leaves
