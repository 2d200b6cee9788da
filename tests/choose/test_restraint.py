"""What denies or limits is never removed without somebody's word."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kumamigrate.rewrite.change import Change, ResourceEdit
from kumamigrate.rewrite.finding import Finding, Safety
from kumamigrate.rewrite.restraint import takes_restraint_away
from kumamigrate.scene.loadfiles import repository_of
from kumamigrate.source.value import Moved

DENIAL = "type: MeshTrafficPermission\nname: p\nmesh: default\nspec:\n  %s\n"
FROM = DENIAL % "from: [{targetRef: {kind: Mesh}, default: {action: Deny}}]"
RULES = DENIAL % "rules: [{default: {deny: [{spiffeID: {type: Prefix, value: 'spiffe://x'}}]}}]"
ALLOWS = DENIAL % "from: [{targetRef: {kind: Mesh}, default: {action: Allow}}]"
LIMIT = (
    "type: MeshRateLimit\nname: l\nmesh: default\nspec:\n  rules:\n"
    "    - default: {local: {http: %s}}\n"
)
ON, OFF = "{requestRate: {num: 1, interval: 1s}}", "{disabled: true}"
FAULT = (
    "type: MeshFaultInjection\nname: f\nmesh: default\nspec:\n  rules:\n"
    "    - default: {http: [{abort: {httpStatus: 503, percentage: 5}}]}\n"
)
TIMEOUT = "type: MeshTimeout\nname: t\nmesh: default\nspec: {to: []}\n"


def removal(text: str, *manifests: Mapping[str, Any], rule: str = "any") -> bool:
    """Say whether it is for review that a resource becomes some manifests."""
    repository = repository_of({"a.yaml": text.encode()}, root=Path())
    (resource,) = repository.resources
    assert resource.where is not None
    edit = ResourceEdit(where=resource.where, manifests=tuple(manifests))
    said = Finding(rule=rule, resource=resource, message="", safety=Safety.PROVEN)
    change = Change(rule=rule, mesh="default", edits=(edit,), findings=(said,))
    return takes_restraint_away(change, repository.by_place)


def body(text: str) -> Mapping[str, Any]:
    (resource,) = repository_of({"a.yaml": text.encode()}, root=Path()).resources
    return resource.body


@pytest.mark.parametrize("text", [FROM, RULES, LIMIT % ON, FAULT])
def test_a_removal_is_for_review(text: str) -> None:
    assert removal(text)


@pytest.mark.parametrize("text", [ALLOWS, LIMIT % OFF, TIMEOUT])
def test_what_restrains_nobody_may_go(text: str) -> None:
    assert not removal(text)


def test_an_emptied_policy_is_a_removal() -> None:
    assert removal(FROM, {**body(FROM), "spec": {}})


def test_another_spelling_is_none() -> None:
    assert not removal(FROM, body(RULES))
    moved = {k: v for k, v in body(LIMIT % ON).items() if k != "spec"}
    assert not removal(LIMIT % ON, {**moved, "spec": {"rules": Moved(("spec", "rules"))}})


def test_a_denial_that_becomes_a_limit_is_a_removal() -> None:
    assert removal(FROM, body(LIMIT % ON))
