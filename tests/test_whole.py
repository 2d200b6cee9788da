"""What a run comes to as a whole, from the proof of the sum."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumamigrate.effective.difference import HARMLESS
from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.flow.verdict import Whole, breaks_today, changed_types, whole_of
from kumamigrate.prover import (
    ClaimResult,
    Effect,
    MeshProof,
    Proof,
    ProxyVerdict,
    Value,
    Verdict,
    Witness,
)
from kumamigrate.scene.loadfiles import repository_of
from tests.frontdoor import command


def _proof(
    *effects: Effect,
    unknown: tuple[str, ...] = (),
    type_: str = "MeshRetry",
    claim: str = "release",
) -> Proof:
    witnesses = tuple(
        Witness(
            mesh="m",
            proxy="p",
            policy_type=type_,
            direction="outbound",
            field="http.numRetries",
            before=Value(value=1),
            after=Value(value=2),
            effect=effect,
        )
        for effect in effects
    )
    verdict = Verdict.DIFFERENT if witnesses else Verdict.EQUIVALENT
    proxy = ProxyVerdict(name="p", verdict=verdict, witnesses=witnesses)
    result = ClaimResult(verdict=verdict, proxies=(proxy,), unknown=unknown)
    mesh = MeshProof(mesh="m", claims={claim: result})
    return Proof(release_before="2.14", release_after="3.0", meshes={"m": mesh})


HARMLESS_ONES = (Effect.ACTIVATION, Effect.NAME, Effect.RESIDUE)


@pytest.mark.parametrize(
    ("proof", "switched", "whole"),
    [
        (_proof(), False, Whole.PROVEN),
        (_proof(*HARMLESS_ONES), False, Whole.PROVEN),
        # Whoever is behind a difference: the upgrade itself, as well.
        (_proof(Effect.VALUE, type_="MeshTrace"), False, Whole.DIFFERENT),
        (_proof(unknown=(Doubt(DoubtKind.UNREAD, "a file"),)), False, Whole.UNKNOWN),
        (_proof(Effect.VALUE), False, Whole.DIFFERENT),
        (_proof(Effect.VALUE), True, Whole.AFTER_SWITCH),
        (
            _proof(Effect.VALUE, unknown=(Doubt(DoubtKind.UNREAD, "a file"),)),
            False,
            Whole.DIFFERENT,
        ),
    ],
)
def test_the_sum_is_only_as_good_as_its_own_proof(
    proof: Proof, switched: bool, whole: Whole
) -> None:
    assert whole_of(proof, "release", HARMLESS, switched) is whole


@pytest.mark.parametrize("effect", HARMLESS_ONES)
def test_what_is_not_allowed_is_different(effect: Effect) -> None:
    proof = _proof(effect)
    assert whole_of(proof, "release", HARMLESS - {effect}, False) is Whole.DIFFERENT
    assert whole_of(proof, "release", frozenset({effect}), False) is Whole.PROVEN


def test_what_was_written_breaks_something_today_or_it_does_not() -> None:
    proof = _proof(Effect.VALUE, claim="live")
    assert breaks_today(proof, {"MeshRetry"}, HARMLESS)
    assert not breaks_today(proof, {"MeshTimeout"}, HARMLESS)
    assert not breaks_today(_proof(Effect.NAME, claim="live"), {"MeshRetry"}, HARMLESS)
    # A route decides what every policy on routes does.
    assert breaks_today(proof, {"MeshHTTPRoute"}, HARMLESS)
    assert breaks_today(proof, {"MeshTCPRoute"}, HARMLESS)


def test_only_what_differs_counts_as_changed() -> None:
    text = b"type: MeshRetry\nname: r\nmesh: m\nspec: {to: []}\n---\ntype: Mesh\nname: m\n"
    old = repository_of({"a.yaml": text}, root=Path())
    assert changed_types(old, old) == frozenset()
    new = repository_of({"a.yaml": text.replace(b"[]", b"[{}]")}, root=Path())
    assert changed_types(old, new) == frozenset({"MeshRetry"})


ORDERS = """\
type: Mesh
name: {mesh}
skipCreatingInitialPolicies: ['*']
meshServices: {{mode: {mode}}}
---
type: MeshTimeout
name: all
mesh: {mesh}
spec:
  to: [{{targetRef: {{kind: Mesh}}, default: {{http: {{requestTimeout: 5s}}}}}}]
---
type: MeshTimeout
name: orders
mesh: {mesh}
spec:
  targetRef: {{kind: {kind}}}
  to:
  - targetRef: {{kind: MeshService, name: orders}}
    default: {{http: {{requestTimeout: 9s}}}}
---
type: MeshService
name: orders
mesh: {mesh}
labels: {{app: orders}}
spec:
  selector: {{dataplaneLabels: {{matchLabels: {{app: orders}}}}}}
  ports: [{{port: 80, targetPort: 8080, name: http, appProtocol: http}}]
---
type: Dataplane
name: orders-1
mesh: {mesh}
labels: {{app: orders}}
networking:
  address: 192.0.2.2
  inbound: [{{port: 8080, name: http, tags: {{kuma.io/service: orders, kuma.io/protocol: http}}}}]
"""
SETTLED = {"kind": "Mesh"}
LOST = {"kind": "MeshSubset, tags: {kuma.io/service: web}"}
"""3.0 takes no such targetRef: where the rule that mends it is left out, its 9s are gone."""


@pytest.mark.parametrize(
    ("meshes", "whole"),
    [
        # By the service tag `all` wins by its name, on the real service what names it does: who
        # calls the tag gets 9s for 5s with the upgrade, and after a switch has them already.
        ({"a": ("Everywhere", SETTLED)}, "after-switch"),
        ({"a": ("Everywhere", SETTLED), "b": ("Everywhere", SETTLED)}, "after-switch"),
        ({"a": ("Everywhere", SETTLED), "b": ("Exclusive", SETTLED)}, "after-switch"),
        # One mesh that differs even then, or had switched before, is enough.
        ({"a": ("Everywhere", SETTLED), "b": ("Exclusive", LOST)}, "different"),
        ({"a": ("Everywhere", SETTLED), "b": ("Everywhere", LOST)}, "different"),
        ({"a": ("Everywhere", LOST), "b": ("Everywhere", SETTLED)}, "different"),
        ({"a": ("Exclusive", SETTLED)}, "proven"),
    ],
)
def test_a_switch_before_the_upgrade_is_of_use_if_it_is_for_every_mesh(
    meshes: dict[str, tuple[str, dict[str, str]]], whole: str, tmp_path: Path
) -> None:
    (tmp_path / ".git").mkdir()
    for mesh, (mode, kind) in meshes.items():
        (tmp_path / f"{mesh}.yaml").write_text(ORDERS.format(mesh=mesh, mode=mode, **kind))
    words = ("--target", "3.0", "--ignore", "top-level-mesh-subset", "--format", "json")
    assert command("run", "--dry-run", *words, tmp_path, given=None).json["whole"] == whole
