"""Beside old policies, proxies are made up by labels, namespaces and routes as well as by tags."""

from __future__ import annotations

import pytest

from kumamigrate.prover import Verdict
from tests.prove.test_no_lax_verdict import live, state

ALLOW_ALL = """
type: TrafficPermission
mesh: default
name: allow-all
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: '*'}}]
---
type: Mesh
name: default
mtls: {enabledBackend: ca, backends: [{name: ca, type: builtin}]}
"""
ON_LABELS = """
---
type: MeshTrafficPermission
mesh: default
name: one
spec:
  targetRef: {kind: Dataplane, labels: {app: web}}
  from: [{targetRef: {kind: Mesh}, default: {action: %s}}]
"""
OF_A_NAMESPACE = """
---
type: MeshTrafficPermission
mesh: default
name: one
labels: {kuma.io/policy-role: workload-owner, k8s.kuma.io/namespace: shop}
spec:
  targetRef: {kind: Mesh}
  from: [{targetRef: {kind: Mesh}, default: {action: %s}}]
"""
BY_TAGS = ON_LABELS.replace("{kind: Dataplane, labels: {app: web}}", "{kind: %s}")


@pytest.mark.parametrize("policy", [ON_LABELS, OF_A_NAMESPACE], ids=["labels", "namespace"])
def test_whom_labels_choose_is_compared_beside_old_policies(policy: str) -> None:
    one, two = (state(ALLOW_ALL + policy % action) for action in ("Deny", "Allow"))
    assert live(one, one).verdict("live") is Verdict.EQUIVALENT
    assert live(one, two).verdict("live") is Verdict.DIFFERENT
    assert live(two, one).verdict("live") is Verdict.DIFFERENT


def test_a_label_is_not_a_tag() -> None:
    # Nothing shows that whoever has the label has the tag: beside allow-all one is let in.
    by_tag = BY_TAGS % ("MeshSubset, tags: {app: web}", "Deny")
    proof = live(state(ALLOW_ALL + by_tag), state(ALLOW_ALL + ON_LABELS % "Deny"))
    assert proof.verdict("live") is Verdict.DIFFERENT


@pytest.mark.parametrize(
    "top", ["Dataplane, name: web-1", "Dataplane, labels: {app: web}, sectionName: main"]
)
def test_names_are_nothing_that_a_made_up_proxy_has(top: str) -> None:
    one, two = (state(ALLOW_ALL + BY_TAGS % (top, action)) for action in ("Deny", "Allow"))
    proof = live(one, two)
    assert proof.verdict("live") is Verdict.UNKNOWN
    assert any("chooses by Dataplane" in reason for reason in proof.unknown("live"))


ROUTED = """
---
type: TrafficRoute
mesh: default
name: all
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: '*'}}]
conf: {destination: {kuma.io/service: '*'}}
---
type: Retry
mesh: default
name: other
sources: [{match: {kuma.io/service: nobody}}]
destinations: [{match: {kuma.io/service: nobody}}]
conf: {http: {numRetries: 2}}
---
type: Mesh
name: default
meshServices: {mode: %s}
---
type: MeshRetry
mesh: default
name: one
spec:
  targetRef: {kind: Dataplane, name: web-1}
  to: [{targetRef: {kind: Mesh}, default: {http: {numRetries: %s}}}]
"""


def test_where_no_outbound_has_a_tag_the_old_engine_is_not_asked_for_them() -> None:
    """In mode Exclusive whoever no route reaches has no outbound, and nobody else an old one."""
    one, two = (state(ROUTED % ("Exclusive", number)) for number in (3, 4))
    assert live(one, two).verdict("live") is Verdict.EQUIVALENT
    one, two = (state(ROUTED % ("Disabled", number)) for number in (3, 4))
    assert live(one, two).verdict("live") is Verdict.UNKNOWN
