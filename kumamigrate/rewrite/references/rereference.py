"""The changes of three rules that share resources: references by name, by tag, and backends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.model.labels import Refused, policy_role
from kumamigrate.model.resource import DISPLAY_NAME, MESH, NAMESPACE, Resource, mapping
from kumamigrate.rewrite.change import Change, Rollout
from kumamigrate.rewrite.finding import Finding, Safety, Status
from kumamigrate.rewrite.manifest import put
from kumamigrate.rewrite.references.oldrefs import (
    BY_NAME,
    BY_TAG,
    Meaning,
    Reference,
    references,
    rewritten,
)
from kumamigrate.rewrite.references.realref import meaning
from kumamigrate.rewrite.references.shareedits import Shares
from kumamigrate.rewrite.references.shares import BACKEND, Share
from kumamigrate.rewrite.rule import Rule
from kumamigrate.rewrite.rulebook import rulebook
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import at_path, path_text

_SPEAKER = (BY_TAG, BACKEND, BY_NAME)
"""Which rule speaks for a resource that several of them concern: the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceDraft:
    """What becomes of one policy or route: its new manifest and the shares it refers to."""

    owner: Resource
    body: Any
    shares: tuple[Share, ...]
    findings: tuple[Finding, ...]


Meant = list[tuple[Reference, Meaning]]


def plan_references(view: View) -> Iterator[Change | Finding]:
    """Yield for each policy and route one change with all its references, or what hinders it.

    Three rewrites or none: a manifest that is new in parts is refused as the old one is.
    """
    shares = Shares(view)
    for owner, meant in _clear(view):
        if isinstance(meant, Finding):
            yield meant
            continue
        draft = _draft(view, owner, meant)
        if not isinstance(draft, ReferenceDraft):
            yield from draft
            continue
        other = _otherwise(view, owner, meant)
        change = _change(view, shares, draft)
        yield replace(change, otherwise=_change(view, shares, other)) if other else change


def _clear(view: View) -> Iterator[tuple[Resource, Meant | Finding]]:
    """Yield what all references of a resource mean, or what is not known of one."""
    for owner in view.policies():
        found = list(references(owner))
        meant = [(one, meaning(view, owner, one)) for one in found]
        mine = [(one, m) for one, m in meant if one.rule == view.rule.id]
        hindered = [one for one, m in meant if isinstance(m, str)]
        if hindered:
            yield from ((owner, _manual(view, owner, one, m, hindered)) for one, m in mine)
            continue
        guessed = any(isinstance(m, Meaning) and m.share and m.share.guessed for _, m in meant)
        spoken = (rule for rule in _SPEAKER if any(r.rule == rule for r in found))
        speaker = BACKEND if guessed else next(spoken, BY_NAME)
        if speaker == view.rule.id:
            yield owner, [(one, m) for one, m in meant if isinstance(m, Meaning)]


def _otherwise(view: View, owner: Resource, meant: Meant) -> ReferenceDraft | None:
    """Return the draft in which names are not taken for service tags, where that differs."""
    other = [(one, meaning(view, owner, one, as_tag=False)) for one, _ in meant]
    clear = [(one, m) for one, m in other if isinstance(m, Meaning)]
    if len(clear) < len(meant) or clear == meant:
        return None
    found = _draft(view, owner, clear)
    return found if isinstance(found, ReferenceDraft) else None


def _change(view: View, shares: Shares, draft: ReferenceDraft) -> Change:
    owner = draft.owner
    return Change(
        rule=view.rule.id,
        mesh=owner.mesh,
        group=f"{owner.type} {owner.mesh}",
        edits=shares.edits([(owner, draft.body)], draft.shares),
        findings=draft.findings,
        rollout=Rollout.WITH_UPGRADE if view.rule.upgrade else Rollout.NOW,
    )


def _draft(view: View, owner: Resource, meant: Meant) -> ReferenceDraft | list[Finding]:
    """Return what becomes of a resource, or why nothing can; an empty list if nothing need."""
    plain: Any = owner.body
    body: Any = owner.body
    for one, what in meant:
        plain = put(plain, one.path, {**one.ref, **_plain(what)})
        body = put(body, one.path, rewritten(one, what))
    notes: list[str] = []
    role = role_change(view, owner, _spec(owner, plain))
    marked = [labels for _, labels in _producing(owner, owner.body) if NAMESPACE not in labels]
    if not meant and not marked:
        # Labels with the namespace are what this rule writes for a producer.
        return []
    if role is not None and role[0] == "consumer":
        for path, labels in _producing(owner, plain):
            body = put(body, path, kept_consumer(owner.mesh, at_path(body, path)))
            plain = put(plain, path, kept_consumer(owner.mesh, labels))
        role = role_change(view, owner, _spec(owner, plain))
        notes.append(
            "the label kuma.io/mesh, which everything in the mesh has, keeps it a consumer policy"
        )
    if role is not None:
        reason = f"its role would go from {role[0]} to {role[1]}, and with it whom it reaches"
        return [_finding(view, owner, one, missing=reason) for one, _ in meant]
    if body is owner.body or body == owner.body:
        return []
    findings = [_finding(view, owner, one, notes=_notes(what)) for one, what in meant]
    if notes:
        findings.append(_role_finding(view, owner, notes))
    return ReferenceDraft(
        owner=owner,
        body=body,
        shares=tuple(what.share for _, what in meant if what.share),
        findings=tuple(findings),
    )


def _plain(what: Meaning) -> dict[str, Any]:
    return {"name": None, "namespace": None, "labels": dict(what.labels)}


def _spec(owner: Resource, body: Any) -> Mapping[str, Any]:
    return mapping(at_path(body, owner.spec_path))


def _producing(owner: Resource, body: Any) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    """Yield the labels of to-targets that make a producer policy on 3.0, with their paths."""
    for index, item in enumerate(_spec(owner, body).get("to") or ()):
        labels = mapping(mapping(item).get("targetRef")).get("labels")
        if not isinstance(labels, Mapping) or not labels.get(DISPLAY_NAME):
            continue
        if set(labels) <= {DISPLAY_NAME, NAMESPACE}:
            yield (*owner.spec_path, "to", index, "targetRef", "labels"), labels


def _notes(what: Meaning) -> tuple[str, ...]:
    return (what.note,) if what.note else ()


def _manual(
    view: View, owner: Resource, one: Reference, what: Meaning | str, hindered: list[Reference]
) -> Finding:
    if isinstance(what, str):
        return _finding(view, owner, one, missing=what)
    others = ", ".join(path_text(other.path) for other in hindered)
    waiting = _finding(view, owner, one, missing=f"it can only change together with {others}")
    one_of = "that reference" if len(hindered) == 1 else "those references"
    action = f"Settle {one_of} first: what this one means is known, and it is written along."
    return replace(waiting, action=action)


def _finding(
    view: View,
    owner: Resource,
    one: Reference,
    *,
    missing: str = "",
    notes: tuple[str, ...] = (),
) -> Finding:
    rule = _rule(one.rule, view.rule)
    words = {"field": path_text(one.path), "value": str(one.ref.get("name", ""))}
    return Finding(
        rule=rule.id,
        resource=owner,
        path=one.path,
        message=rule.message.format(kind=one.ref.get("kind", ""), **words),
        action=rule.action.format(kind=one.ref.get("kind", ""), **words) if missing else "",
        status=Status.MANUAL if missing else Status.PENDING,
        safety=Safety.MANUAL if missing else rule.safety,
        danger=rule.danger,
        notes=(missing,) if missing else notes,
    )


def _role_finding(view: View, owner: Resource, notes: list[str]) -> Finding:
    return Finding(
        rule=view.rule.id,
        resource=owner,
        path=(*owner.spec_path, "to"),
        message="3.0 would take this consumer policy for a producer policy, which reaches the mesh",
        status=Status.PENDING,
        safety=view.rule.safety,
        danger=view.rule.danger,
        notes=tuple(notes),
    )


def _rule(name: str, current: Rule) -> Rule:
    return next((rule for rule in rulebook() if rule.id == name), current)


def role_change(view: View, owner: Resource, spec: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the policy's role on 2.x and on 3.0 with its new spec, if they differ."""
    before = policy_role(owner, release=view.source.name, environment=view.environment)
    after = policy_role(
        replace(owner, spec=spec), release=view.target.name, environment=view.environment
    )
    old = before.message if isinstance(before, Refused) else before
    new = after.message if isinstance(after, Refused) else after
    return None if old == new else (old, new)


def kept_consumer(mesh: str, labels: Mapping[str, Any]) -> dict[str, Any]:
    """Return labels that select the same and do not make a producer of the policy.

    Every resource of a mesh has the label kuma.io/mesh, and 3.0 takes a reference for that of a
    producer only where display name and namespace are its sole labels (matcher.md (a)).
    """
    return {**labels, MESH: mesh}
