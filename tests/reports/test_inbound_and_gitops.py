"""Field reports about `from`, permissions, origin and what GitOps tools do with manifests."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumamigrate.flow.sumproof import prove_scenes
from kumamigrate.report.inspect import inspect_json
from kumamigrate.report.screen.provescreen import Compared, proof_lines
from kumamigrate.report.styled import plain
from tests.reports.repo import EXCLUSIVE, documents, run


def permission(body: str) -> str:
    """Return a MeshTrafficPermission with a spec."""
    return f"type: MeshTrafficPermission\nname: mtp\nmesh: default\nspec:\n{body}"


BY_TAGS = permission(
    "  targetRef: {kind: Mesh}\n"
    "  from: [{targetRef: {kind: MeshSubset, tags: {env: prod}}, default: {action: Allow}}]\n"
)


@pytest.mark.parametrize("target", ["2.14", "3.0"])
def test_permissions_by_tag_are_never_widened(target: str, tmp_path: Path) -> None:
    """UPGRADE 3.0, spec.from removed: which SPIFFE ids a tag means is not in Git."""
    done = run(tmp_path, BY_TAGS, target=target)
    assert done.after["a.yaml"] == BY_TAGS
    assert ("permission-from", "manual", "mtp") in done.found
    assert "SPIFFE ids" in done.said


def test_17552_from_beside_to_becomes_a_policy_of_its_own(tmp_path: Path) -> None:
    """#17552: `rules` stands alone, so both directions need two policies and a new name.

    The page leaves `targetRef: {kind: Mesh}` in the new one; it says nothing and is left out
    (report 53).
    """
    old = """type: MeshTimeout
name: both
mesh: default
spec:
  targetRef: {kind: Mesh}
  from: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1h}}]
  to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 2h}}]
"""
    done = run(tmp_path, old)
    assert done.after["a.yaml"] == (
        "type: MeshTimeout\nname: both\nmesh: default\nspec:\n  targetRef: {kind: Mesh}\n"
        "  to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 2h}}]\n---\n"
        "type: MeshTimeout\nname: both-inbound\nmesh: default\nspec:\n"
        "  rules: [{default: {idleTimeout: 1h}}]\n"
    )
    assert (done.exit, done.effects()) == (0, set())


def test_12482_a_proof_names_the_releases_it_was_made_with(tmp_path: Path) -> None:
    """#12482: what a policy means is a matter of the release, so the proof says which."""
    text = permission(
        "  targetRef: {kind: Mesh}\n  from:\n"
        '    - {targetRef: {kind: MeshSubset, tags: {a: "1"}}, default: {action: Allow}}\n'
        '    - {targetRef: {kind: MeshSubset, tags: {b: "2"}}, default: {action: Deny}}\n'
    )
    done = run(tmp_path, text, target="2.11")
    proof = prove_scenes(done.outcome.before, done.outcome.after)
    assert (proof.release_before, proof.release_after) == ("2.11", "2.11")
    assert "Kuma 2.11" in plain(
        proof_lines(Compared(proof=proof, repositories=[done.outcome.after.repository]))
    )


def test_8152_a_permissive_mesh_is_a_caution_for_permissions(tmp_path: Path) -> None:
    """#8152: with mTLS in mode PERMISSIVE plain traffic passes beside every permission."""
    mesh = EXCLUSIVE + (
        "mtls: {enabledBackend: ca, backends: [{name: ca, type: builtin, mode: PERMISSIVE}]}\n"
    )
    done = run(tmp_path, documents(mesh, BY_TAGS), select=("permission-from",))
    (finding,) = done.of("permission-from")
    assert any("PERMISSIVE" in note for note in finding.notes)
    (strict,) = run(tmp_path, documents(EXCLUSIVE, BY_TAGS)).of("permission-from")
    assert not any("PERMISSIVE" in note for note in strict.notes)


def test_proxy_types_are_never_just_left_out(tmp_path: Path) -> None:
    """Report 43: without the field a policy for gateways would reach every proxy."""
    text = """type: MeshTimeout
name: t
mesh: default
spec:
  targetRef: {kind: Mesh, proxyTypes: [Gateway]}
  to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1m}}]
"""
    done = run(tmp_path, {"m.yaml": EXCLUSIVE, "t.yaml": text}, target="3.0")
    assert done.after["t.yaml"] == text
    assert ("proxy-types", "manual", "t") in done.found
    assert "ignored by 3.0" in done.said


WEB = """type: Dataplane
name: web-1
mesh: default
labels: {app: web}
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web, app: web}}]
"""


@pytest.mark.parametrize(
    ("target", "words"), [("2.10", "2.10.2"), ("2.14", "")], ids=["2.10", "2.14"]
)
def test_13584_labels_in_a_permission_name_the_first_safe_patch(
    target: str, words: str, tmp_path: Path
) -> None:
    """#13584, #16914: a Dataplane reference with labels made control planes before 2.10.2 panic."""
    text = permission(
        "  targetRef: {kind: MeshSubset, tags: {app: web}}\n"
        "  from: [{targetRef: {kind: Mesh}, default: {action: Allow}}]\n"
    )
    done = run(
        tmp_path, {"p.yaml": text}, inventory=WEB, target=target, select=("top-level-mesh-subset",)
    )
    assert "targetRef: {kind: Dataplane, labels: {app: web}}" in done.after["p.yaml"]
    (finding,) = done.of("top-level-mesh-subset")
    assert any("2.10.2" in note for note in finding.notes) is bool(words)


OWNED = """apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: t, namespace: kuma-system, labels: {kuma.io/mesh: default, kuma.io/display-name: \
t, kuma.io/zone: east}}
spec: {to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1m}}]}
"""


def test_18644_labels_of_the_control_plane_are_warned_about_and_kept(tmp_path: Path) -> None:
    """#18644: a manifest may carry labels that only the control plane writes; the bytes stay."""
    done = run(tmp_path, OWNED, target="3.0")
    assert done.after["a.yaml"] == OWNED
    (finding,) = done.outcome.findings
    assert (finding.rule, finding.status.value) == ("control-plane-owned-labels", "manual")
    assert "kuma.io/zone, kuma.io/display-name" in finding.message
    assert done.exit == 0


def test_13110_an_export_in_git_is_warned_about_once(tmp_path: Path) -> None:
    """#13110, #11498: repositories seeded from exports hold what the control plane adds."""
    text = """type: MeshTimeout
name: t
mesh: default
creationTime: "2024-01-01T00:00:00Z"
modificationTime: "2024-01-01T00:00:00Z"
labels: {kuma.io/origin: zone, kuma.io/zone: east, k8s.kuma.io/namespace: shop}
spec: {to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1m}}]}
"""
    done = run(tmp_path, text)
    assert done.after["a.yaml"] == text
    assert done.found == [("control-plane-owned-labels", "manual", "t")]


ZONE_ORIGIN = """apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: t, namespace: kuma-system, labels: {kuma.io/origin: zone}}
spec: {targetRef: {kind: Mesh}, to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1m}}]}
"""


def test_10590_what_a_manifest_means_depends_on_the_control_plane_it_goes_to(
    tmp_path: Path,
) -> None:
    """#10590: a resource of origin zone is a zone's own there and a stranger on global.

    So which control plane is meant is an option; the label alone decides nothing. 2.14 stores it
    on both (legacy-notes L3).
    """
    zone, other = (
        run(tmp_path, ZONE_ORIGIN, mode=mode).outcome.before.state("2.14")[0].resources[0]
        for mode in ("zone", "global")
    )
    assert (zone.zone, zone.labels.get("kuma.io/policy-role")) == ("default", "system")
    assert (other.zone, other.labels.get("kuma.io/policy-role")) == ("", None)


def test_11410_consumer_policies_reach_their_own_namespace_only(tmp_path: Path) -> None:
    """#11410: what a proxy gets is resolved per Dataplane, namespace and zone included."""
    policy = """apiVersion: kuma.io/v1alpha1
kind: MeshRetry
metadata: {name: retry, namespace: shop, labels: {kuma.io/mesh: default}}
spec:
  to: [{targetRef: {kind: Mesh}, default: {http: {numRetries: 3}}}]
"""
    proxies = [
        f"type: Dataplane\nname: {n}-1\nmesh: default\n"
        f"labels: {{k8s.kuma.io/namespace: {n}, kuma.io/zone: default, kuma.io/origin: zone}}\n"
        "networking:\n  address: 10.0.0.1\n"
        f"  inbound: [{{port: 80, tags: {{kuma.io/service: {n}, kuma.io/zone: default}}}}]\n"
        for n in ("shop", "bank")
    ]
    done = run(tmp_path, {"p.yaml": policy}, inventory=documents(*proxies))
    found = inspect_json(done.outcome.before, proxy=None, labels={})["dataplanes"]
    assert found["shop-1"]["MeshRetry"]["policies"] == ["retry"]
    assert found["bank-1"]["MeshRetry"]["policies"] == []


def test_the_first_piece_of_a_split_keeps_its_name(tmp_path: Path) -> None:
    """Report 52: tools prune old names and create new ones in any order; `-0` says nothing."""
    route = """type: MeshHTTPRoute
name: api
mesh: default
spec:
  to:
    - targetRef: {kind: MeshService, name: orders}
      rules: [{matches: [{path: {type: PathPrefix, value: /v1}}], default: {}}]
    - targetRef: {kind: MeshService, name: billing}
      rules: [{matches: [{path: {type: PathPrefix, value: /v2}}], default: {}}]
"""
    done = run(tmp_path, {"m.yaml": EXCLUSIVE, "r.yaml": route})
    names = [line for line in done.after["r.yaml"].splitlines() if line.startswith("name: ")]
    assert names == ["name: api", "name: api-billing"]


def test_2239_a_move_leaves_nothing_empty_behind(tmp_path: Path) -> None:
    """argo-cd#2239: what admission drops again keeps Argo CD out of sync for ever."""
    route = """apiVersion: kuma.io/v1alpha1
kind: MeshHTTPRoute
metadata: {name: api, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec:
  to:
    - targetRef: {kind: MeshService, name: orders, namespace: shop}
      rules: [{matches: [{path: {type: PathPrefix, value: /v1}}], default: {}}]
"""
    policy = """apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: t, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec: {targetRef: {kind: MeshHTTPRoute, name: api}, to: [{targetRef: {kind: Mesh}, default: \
{http: {requestTimeout: 2s}}}]}
"""
    done = run(tmp_path, {"m.yaml": documents(EXCLUSIVE, route), "t.yaml": policy})
    assert done.after["t.yaml"] == policy.replace(
        "{targetRef: {kind: MeshHTTPRoute, name: api}, to: [{targetRef: {kind: Mesh}, ",
        "{to: [{targetRef: {kind: MeshHTTPRoute, name: api}, ",
    )


def test_9005_both_forms_are_known_in_one_file(tmp_path: Path) -> None:
    """#9005: whether a document is Universal or Kubernetes is a matter of the document."""
    text = """type: MeshTimeout
name: uni
mesh: default
spec: {to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1m}}]}
---
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: kube, namespace: kuma-system}
spec: {to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1m}}]}
"""
    done = run(tmp_path, text)
    known = [(r.name, r.form.value) for r in done.outcome.before.repository.resources]
    assert known == [("uni", "universal"), ("kube", "kubernetes")]
