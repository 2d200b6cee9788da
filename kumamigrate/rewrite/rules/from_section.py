"""`from` becomes `rules`, as its own resource where the policy also holds `to`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kumamigrate.model.resource import Resource
from kumamigrate.rewrite.change import Change, ResourceEdit
from kumamigrate.rewrite.declarative.steps import with_spec
from kumamigrate.rewrite.finding import Finding, Safety, Status
from kumamigrate.rewrite.siblings import name_behind, sibling
from kumamigrate.rewrite.view import View
from kumamigrate.source.value import Moved


def plan(view: View) -> Iterator[Change | Finding]:
    """Yield one change per policy with `from`: in place, or split where it also has `to`."""
    types = view.rule.table["types"]
    for policy in view.policies():
        entries = policy.spec.get("from")
        if policy.type not in types or not isinstance(entries, list) or not entries:
            continue
        if _is_read_by_both_alone(view, policy):
            continue
        if policy.spec.get("rules"):
            yield _manual(view, policy, "remove either from or rules: no release takes both")
        elif not all(_is_plain(entry) for entry in entries):
            yield _manual(view, policy, "from may only hold entries of kind Mesh; repair it first")
        elif policy.spec.get("to"):
            yield _split(view, policy, entries)
        else:
            yield _in_place(view, policy, entries)


def _is_read_by_both_alone(view: View, policy: Resource) -> bool:
    """Say whether `from` is the one form that the release in use and the target both read."""
    sections = (
        release.policy_types[policy.type].sections for release in (view.source, view.target)
    )
    old, new = sections
    return "rules" not in old and "from" in new


def _is_plain(entry: Any) -> bool:
    if not isinstance(entry, dict) or not set(entry) <= {"targetRef", "default"}:
        return False
    ref = entry.get("targetRef")
    return isinstance(ref, dict) and ref.get("kind") == "Mesh"


def _rules(policy: Resource, entries: list[Any]) -> Moved:
    rules = [{"default": entry["default"]} if "default" in entry else {} for entry in entries]
    return Moved((*policy.spec_path, "from"), rules)


def _in_place(view: View, policy: Resource, entries: list[Any]) -> Change:
    spec = {
        "rules" if key == "from" else key: _rules(policy, entries) if key == "from" else value
        for key, value in policy.spec.items()
        if key not in ("to", "rules")
    }
    return _change(view, policy, (with_spec(policy, spec),), ())


def _split(view: View, policy: Resource, entries: list[Any]) -> Change | Finding:
    name = name_behind(policy, "inbound", view.state, _is_of_inbounds)
    if name is None:
        return _manual(
            view,
            policy,
            "write the inbound half as a policy of its own under a name of your choice: every name"
            " tried would change its rank among the other policies",
        )
    kept = {k: v for k, v in policy.spec.items() if k not in ("from", "rules")}
    moved = {
        "rules" if key == "from" else key: _rules(policy, entries) if key == "from" else value
        for key, value in policy.spec.items()
        if key not in ("to", "rules") and value != {"kind": "Mesh"}
    }
    half = sibling(policy, name, moved)
    note = f"the inbound half becomes {name}; apply both before anything is pruned"
    return _change(view, policy, (with_spec(policy, kept), half), (note,))


def _is_of_inbounds(policy: Resource) -> bool:
    return bool(policy.spec.get("from") or policy.spec.get("rules"))


def _change(
    view: View, policy: Resource, manifests: tuple[Any, ...], notes: tuple[str, ...]
) -> Change:
    assert policy.where is not None
    return Change(
        rule=view.rule.id,
        mesh=policy.mesh,
        group=f"{policy.type} {policy.mesh}",
        edits=(ResourceEdit(where=policy.where, manifests=manifests),),
        findings=(_finding(view, policy, notes=notes),),
    )


def _manual(view: View, policy: Resource, action: str) -> Finding:
    return _finding(view, policy, action=action)


def _finding(
    view: View, policy: Resource, *, action: str = "", notes: tuple[str, ...] = ()
) -> Finding:
    rule = view.rule
    return Finding(
        rule=rule.id,
        resource=policy,
        path=(*policy.spec_path, "from"),
        message=rule.message,
        action=action or rule.action,
        status=Status.MANUAL if action else Status.PENDING,
        safety=Safety.MANUAL if action else rule.safety,
        danger=rule.danger,
        notes=notes,
    )
