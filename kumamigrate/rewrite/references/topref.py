"""Top-level references by tag become kind Dataplane with labels, a policy type at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kumamigrate.dataclass import replace
from kumamigrate.model.kinds import ENTERPRISE_TOP
from kumamigrate.model.resource import ROLE, Resource
from kumamigrate.model.versions import at_least
from kumamigrate.rewrite.change import Change, ResourceEdit, Rollout
from kumamigrate.rewrite.declarative.steps import with_spec
from kumamigrate.rewrite.finding import Finding, Safety, Status
from kumamigrate.rewrite.references.freshlabels import Marking, becomes_workload, marked
from kumamigrate.rewrite.references.knownproxies import (
    Proxies,
    before_upgrade,
    known_proxies,
)
from kumamigrate.rewrite.references.labelquestion import Basis, LabelChoice, Question, question
from kumamigrate.rewrite.references.labelset import NONE_SHARED, choose, names_it
from kumamigrate.rewrite.view import View
from kumamigrate.source.value import Value
from kumamigrate.targetref.items import top_of

MOST_NAMES = 5
ONLY_FOR_MESH_TO = ("MeshRateLimit", "MeshFaultInjection")
"""Types whose `to` needs kind Mesh at the top (matcher.md Traps 4)."""

_BASIS = {
    Basis.EVERY: "kind Dataplane without labels selects every proxy and keeps the rank above Mesh",
    Basis.MIRROR: "as tags and as labels they choose the same of all proxies known",
    Basis.PODS: "on Kubernetes these tags are copies of the Pod's labels",
    Basis.SERVICE: "the labels are the selector of the Service",
    Basis.WORKLOAD: "kuma.io/workload names the service on every proxy known",
    Basis.COPIED: "proxies: listed; it selects none of them today, nor with the tags as labels",
    Basis.LISTED: "proxies: listed; these labels select the same proxies among those known, so"
    " look whether proxies to come will carry them too",
}
BECAUSE = frozenset(
    _BASIS[one] for one in (Basis.MIRROR, Basis.PODS, Basis.SERVICE, Basis.WORKLOAD)
)
"""Notes that say why labels may take the place of tags, as a proof does too that rests on it."""


def plan_kinds(view: View, kinds: Sequence[str]) -> Iterator[Change | Finding]:
    """Yield for every policy with one of these top-level kinds its change or what is missing."""
    early: dict[str, Proxies] = {}
    for policy in (*view.policies(), *view.of_type(*ENTERPRISE_TOP)):
        ref = policy.spec.get("targetRef")
        if not isinstance(ref, dict) or ref.get("kind") not in kinds:
            continue
        late = known_proxies(view.state, policy.mesh, view.source)
        if policy.mesh not in early:
            early[policy.mesh] = before_upgrade(late, view.before)
        yield _referred(view, policy, early[policy.mesh], late)


def _referred(view: View, policy: Resource, now: Proxies, late: Proxies) -> Change | Finding:
    """Return the change to labels, those that proxies have `now` or with the upgrade, or what is
    missing."""
    chosen = _choice(view, policy, now)
    if isinstance(chosen, LabelChoice) and names_it(chosen, _tags(view, policy)):
        return _by_labels(view, policy, chosen)
    after = _choice(view, policy, late) if now is not late else chosen
    if isinstance(after, LabelChoice) and names_it(after, _tags(view, policy)):
        # What rests on labels that come with the upgrade comes with it as well.
        return replace(_by_labels(view, policy, after), rollout=Rollout.WITH_UPGRADE)
    if isinstance(chosen, str):
        return _with_own_label(view, policy, late, chosen)
    return _by_other_labels(view, policy, late, chosen)


def _by_labels(view: View, policy: Resource, choice: LabelChoice) -> Change:
    return change(view, policy, choice.ref(), (_BASIS[choice.basis],))


def _by_other_labels(
    view: View, policy: Resource, proxies: Proxies, choice: LabelChoice
) -> Change | Finding:
    """Return what becomes of a reference where labels happen to select the same, and none says so.

    As long as tags are read they say it better. Where they end, the workload or a label of its own
    does, but for Pods, which a new label restarts.
    """
    words = ", ".join(f"{key}: {value}" for key, value in choice.labels.items())
    missing = f"of the proxies known {words} selects the same, but does not name what it selects"
    if not at_least(view.target_name, "3.0"):
        return finding(view, policy, missing=missing)
    asked = _question(view, policy, proxies)
    if isinstance(asked, Question) and becomes_workload(asked):
        return finding(view, policy, missing=missing)
    marking = None if isinstance(asked, str) else marked(view, asked)
    if marking is not None and not marking.restarts:
        return with_marking(view, policy, marking)
    return _by_labels(view, policy, choice)


def _tags(view: View, policy: Resource) -> Mapping[str, str]:
    return dict(top_of(policy, view.source).asked_tags)


def _choice(view: View, policy: Resource, proxies: Proxies) -> LabelChoice | str:
    asked = _question(view, policy, proxies)
    return asked if isinstance(asked, str) else choose(asked, view.state)


def _question(view: View, policy: Resource, proxies: Proxies) -> Question | str:
    if policy.type in ENTERPRISE_TOP:
        return _question_of(view, policy, proxies, sections=False)
    kind = view.target.policy_types.get(policy.type)
    top = kind.top_for(policy.labels.get(ROLE, "")) if kind is not None else None
    if kind is None or top is None or "Dataplane" not in top.kinds:
        return f"{view.target.name} takes no kind Dataplane here"
    if policy.type in ONLY_FOR_MESH_TO and policy.spec.get("to"):
        return "its `to` is only taken under kind Mesh: it is meant for gateways"
    return _question_of(view, policy, proxies, sections=kind.dataplane_section_name)


def _question_of(
    view: View, policy: Resource, proxies: Proxies, *, sections: bool
) -> Question | str:
    tags = policy.spec["targetRef"].get("tags") or {}
    if not isinstance(tags, Mapping):
        return "a template fills in its tags, so what it selects is not known"
    if "*" in tags.values():
        return "labels know no wildcard for the value `*`"
    return question(policy, proxies, view.source, sections=sections)


def _with_own_label(
    view: View, policy: Resource, proxies: Proxies, missing: str
) -> Change | Finding:
    """Return the change that marks what a policy selects by a label of its own, or what lacks."""
    asked = _question(view, policy, proxies)
    marking = None if isinstance(asked, str) else marked(view, asked)
    if marking is None:
        action = _to_label(asked) if missing.endswith(NONE_SHARED) else ""
        return finding(view, policy, missing=missing, action=action)
    return with_marking(view, policy, marking)


def _to_label(asked: Question | str) -> str:
    """Ask for a label where the proxies that a policy selects are known and none tells them."""
    if isinstance(asked, str):
        return ""
    names = sorted({proxy.resource.name for proxy, _ in asked.selected})
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    named = f"{', '.join(names[:MOST_NAMES])}{more}"
    return (
        f"Write kind Dataplane with a label that these proxies get first, and no others: {named}."
    )


def with_marking(view: View, policy: Resource, marking: Marking) -> Change:
    """Return the change that refers to proxies by a label which they get with it."""
    made = change(view, policy, marking.choice.ref(), marking.notes)
    findings = made.findings
    if marking.restarts:
        findings = tuple(replace(one, safety=Safety.REVIEW) for one in findings)
    return replace(made, edits=(*made.edits, *marking.edits), findings=findings)


def change(view: View, policy: Resource, ref: Value | None, notes: tuple[str, ...]) -> Change:
    """Return the change that gives a policy another top-level reference; None leaves it out."""
    assert policy.where is not None
    spec: dict[str, Any] = {}
    for key, value in policy.spec.items():
        if key != "targetRef":
            spec[key] = value
        elif ref is not None:
            spec[key] = ref
    return Change(
        rule=view.rule.id,
        mesh=policy.mesh,
        group=f"{policy.type} {policy.mesh}",
        edits=(ResourceEdit(where=policy.where, manifests=(with_spec(policy, spec),)),),
        findings=(finding(view, policy, notes=(*notes, *_first_safe(view, policy))),),
        rollout=Rollout.WITH_UPGRADE if view.rule.upgrade else Rollout.NOW,
    )


def finding(
    view: View,
    policy: Resource,
    *,
    missing: str = "",
    action: str = "",
    notes: tuple[str, ...] = (),
) -> Finding:
    """Return the finding about a top-level reference; with `missing` it is for a human."""
    rule, ref = view.rule, policy.spec["targetRef"]
    return Finding(
        rule=rule.id,
        resource=policy,
        path=(*policy.spec_path, "targetRef"),
        message=rule.message.format(kind=ref.get("kind", "Mesh"), field="spec.targetRef"),
        action=(action or rule.action) if missing else "",
        status=Status.MANUAL if missing else Status.PENDING,
        safety=Safety.MANUAL if missing else rule.safety,
        danger=rule.danger,
        notes=(missing, *_unread_fields(ref)) if missing else notes,
    )


def _first_safe(view: View, policy: Resource) -> Iterator[str]:
    """Name the first patch that takes labels here without harm (kumahq/kuma 13584, 16914)."""
    if policy.type == "MeshTrafficPermission" and not at_least(view.target.name, "2.11"):
        yield (
            "run 2.10.2 or later first: older control planes panic on labels in a"
            " MeshTrafficPermission, and before 2.11 inbounds that are ignored do not read them"
        )


def _unread_fields(ref: Mapping[str, Any]) -> Iterator[str]:
    """Say that at the top a name is a tag whatever stands beside it (kumahq/kuma 13612)."""
    fields = [key for key in ("namespace", "sectionName") if ref.get(key)]
    if ref.get("kind") == "MeshService" and fields:
        yield (
            f"here the name is a value of kuma.io/service and {' and '.join(fields)} is not read;"
            " if a MeshService was meant, the policy never had an effect, and labels would start it"
        )
