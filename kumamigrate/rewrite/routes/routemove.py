"""Manifests of policies whose route reference moves into `spec.to[]`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kumamigrate.model.conf import JsonConf
from kumamigrate.model.resource import Resource
from kumamigrate.rewrite.change import ResourceEdit
from kumamigrate.rewrite.declarative.steps import with_spec
from kumamigrate.rewrite.routes.inheriteddraft import InheritedDraft
from kumamigrate.rewrite.routes.movedunits import CompensationChoice, Unit
from kumamigrate.rewrite.siblings import sibling
from kumamigrate.source.value import Moved


def edits_of(
    choice: CompensationChoice, units: Sequence[Unit], gone: Sequence[Resource], *, in_place: bool
) -> tuple[ResourceEdit, ...]:
    """Return the edits that write a choice; policies of `gone` are removed.

    In place the old policy is edited; else the new one follows it as its own document, with the
    comments of the old one, which goes one day. Policies for groups of proxies follow too.
    """
    edits = []
    for unit in units:
        assert unit.policy.where is not None
        mine = [d for d in choice.drafts if d.stands_for.identity == unit.policy.identity]
        first = next(d for d in mine if not d.group)
        head: list[Any] = (
            [_in_place(unit.policy, first)]
            if in_place
            else [unit.policy.body, _copy(unit.policy, first)]
        )
        groups = [_beside(unit.policy, d) for d in mine if d.group]
        edits.append(ResourceEdit(where=unit.policy.where, manifests=(*head, *groups)))
    for policy in gone:
        assert policy.where is not None
        edits.append(ResourceEdit(where=policy.where, manifests=()))
    return tuple(edits)


def _in_place(policy: Resource, draft: InheritedDraft) -> dict[str, Any]:
    """Return the old manifest with the reference moved, keys in their old order."""
    spec: dict[str, Any] = {}
    for key, value in policy.spec.items():
        if key == "targetRef":
            if draft.top:
                spec[key] = dict(draft.top)
        elif key == "to":
            spec[key] = _entries(policy, draft, moved=True)
        else:
            spec[key] = value
    return with_spec(policy, spec)


def _copy(policy: Resource, draft: InheritedDraft) -> dict[str, Any]:
    """Return the manifest of the new half beside an old one, its comments at the same values."""
    top = {"targetRef": dict(draft.top)} if draft.top else {}
    first, *more = _entries(policy, draft, moved=True)
    entries: list[Any] = [Moved((*policy.spec_path, "to", 0), first), *more]
    return sibling(policy, draft.name, {**top, "to": entries})


def _beside(policy: Resource, draft: InheritedDraft) -> dict[str, Any]:
    """Return the manifest of a new policy beside the old one."""
    top = {"targetRef": dict(draft.top)} if draft.top else {}
    return sibling(policy, draft.name, {**top, "to": _entries(policy, draft, moved=False)})


def _entries(policy: Resource, draft: InheritedDraft, *, moved: bool) -> list[dict[str, Any]]:
    """Return the `to` entries; the first takes the old reference's text along when it moves."""
    old = policy.spec["to"][0]
    entries = []
    for at, (_, ref, conf) in enumerate(draft.confs):
        target: Any = dict(ref)
        if moved and at == 0:
            target = Moved((*policy.spec_path, "targetRef"), dict(ref))
        entries.append(_in_order(old, target, conf, unknown=_unknown(policy) if at == 0 else {}))
    return entries


def _unknown(policy: Resource) -> dict[str, Any]:
    """Return what the old entries hold that Kuma does not know: it is not ours to drop."""
    return {
        key: value
        for item in policy.spec["to"]
        for key, value in item.items()
        if key not in ("targetRef", "default")
    }


def _in_order(
    old: Mapping[str, Any], target: Any, conf: JsonConf, *, unknown: Mapping[str, Any]
) -> dict[str, Any]:
    new = {"targetRef": target, "default": conf, **unknown}
    order = [key for key in old if key in new]
    return {key: new[key] for key in (*order, *(k for k in new if k not in order))}
