"""What is said of old policies, above all of those that stay: why, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kumamigrate.dataclass import replace
from kumamigrate.model.resource import Identity, Resource
from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.finding import Finding, Safety, Status
from kumamigrate.rewrite.restraint import restrains
from kumamigrate.rewrite.sourcedest.conversion import Conversion, Dropped, Manual, named
from kumamigrate.rewrite.sourcedest.known import KnownWorld
from kumamigrate.rewrite.view import View
from kumamigrate.sourcedest.admit import refusals_of


def standing_twice(view: View, kind: str, mesh: str) -> list[Finding]:
    """Return why a kind stays of which a resource stands in several places: one of them is not
    in force, and where one went the other would take its place."""
    places: dict[Identity, list[Resource]] = {}
    for resource in view.state.of_type(kind.partition(".")[0]):
        if resource.mesh == mesh and resource.where is not None:
            places.setdefault(resource.identity, []).append(resource)
    return [
        finding_about(
            view,
            again,
            f"it also stands at {view.locate(found[0], ())}, so no {kind} of mesh {mesh} is"
            " converted",
            action="remove one of the two",
        )
        for found in places.values()
        for again in found[1:]
    ]


def waiting_for_others(view: View, done: Conversion) -> Iterator[Finding]:
    """Yield why policies wait that could be converted: others of the kind are not in the files."""
    outside = [r for r in done.removed() if not view.owns(r)]
    if not done.writable or not outside:
        return
    names = named(sorted(r.name for r in outside))
    theirs = "which Kuma made with the mesh" if all(r.where is None for r in outside) else ""
    for policy in done.removed():
        if view.owns(policy):
            yield finding_about(
                view,
                policy,
                f"it waits: the {done.kind} policies of a mesh are converted together, and {names}"
                f"{', ' + theirs + ',' if theirs else ''} would stay in force: not in these files",
                action="have Kuma's own in Git (--adopt-initial-policies DIR), or remove it first"
                if theirs
                else "bring it into these files, or remove it first",
            )


def not_side_by_side(view: View, world: KnownWorld, kind: str) -> Iterator[Finding]:
    """Yield why policies of a kind are not written beside the old ones: both would act."""
    for policy in world.old.of(kind):
        yield finding_about(
            view,
            policy,
            f"{kind} and its successor act side by side, so one takes the place of the other in"
            " one step, and stage expand leaves it",
            action="run with --stage auto when the step may be taken",
        )


def to_roll_out(view: View, standing: Change) -> Iterator[Finding]:
    """Yield what is left to do where the successors stand beside the old policies."""
    for found in standing.findings:
        if found.resource is not None:
            yield finding_about(
                view,
                found.resource,
                "its successor stands beside it",
                action="roll that out, then run with --stage contract",
                path=found.path,
            )


def to_take_out(view: View, done: Conversion) -> Iterator[Finding]:
    """Yield the fields of a Mesh that only go, with a later stage."""
    for gone in done.dropped:
        if view.owns(gone.resource):
            yield finding_about(
                view,
                gone.resource,
                f"{gone.reason}, and stage expand takes nothing away",
                action="run with --stage contract, which takes it out",
                path=(*gone.resource.spec_path, *gone.path),
            )


def refused_policies(view: View, world: KnownWorld, kind: str) -> Iterator[Finding]:
    """Yield what control planes refuse: such a policy takes no part."""
    for policy in world.old.refused:
        if policy.type == kind:
            problems = refusals_of(policy) or (None,)
            why = problems[0].message if problems[0] else "it reaches an ExternalService"
            yield finding_about(
                view,
                policy,
                f"control planes refuse it ({why}), so it takes no part and was not converted",
                action="repair it or delete it",
                path=problems[0].path if problems[0] else policy.spec_path,
            )


def left_to_decide(view: View, world: KnownWorld, done: Conversion) -> Iterator[Finding]:
    """Yield what asks for a decision about policies that stay."""
    gone = {r.identity for r in done.removed()} if done.writable else set()
    spoken: set[Any] = set()
    for item in done.manual:
        if item.blocking or item.resource.identity not in gone:
            spoken.add(item.resource.identity)
            yield manual_finding(view, item)
    for tie in (*done.ties, *done.left):
        names = " and ".join(dict.fromkeys(tie.names))
        if len(set(tie.names)) == 1:
            names = f"several policies named {names}"
        for policy in tie.policies:
            spoken.add(policy.identity)
            yield finding_about(
                view,
                policy,
                f"{names} tie, and the one created later wins; Git does not say which",
                action="give an inventory with creation times (--inventory), or make one of them"
                " more specific",
            )
    for policy in world.old.of(done.kind):
        if policy.identity not in gone | spoken and view.owns(policy):
            yield finding_about(
                view,
                policy,
                f"it waits: the {done.kind} policies of a mesh are converted together, and others"
                " of them need a decision",
                action=f"decide about the other {done.kind} policies of mesh {world.mesh} first",
            )


def manual_finding(view: View, item: Manual) -> Finding:
    return finding_about(
        view,
        item.resource,
        item.message,
        action=item.action,
        path=(*item.resource.spec_path, *item.path),
    )


def weighed(finding: Finding, dropped: Iterable[Dropped]) -> Finding:
    """Return a finding that asks for a look where what denies or limits goes without successor."""
    gone = (d.resource.identity for d in dropped if not d.path)
    resource = finding.resource
    if resource is None or not restrains(resource) or resource.identity not in gone:
        return finding
    said = finding.message.removeprefix("removed: ")
    message = f"it would be removed: {said}; what denies or limits goes only on your word"
    return replace(finding, safety=Safety.REVIEW, message=message)


def finding_about(
    view: View,
    resource: Resource,
    message: str,
    *,
    action: str = "",
    path: tuple[str | int, ...] = (),
    notes: tuple[str, ...] = (),
) -> Finding:
    return Finding(
        rule=view.rule.id,
        resource=resource,
        path=path,
        message=message,
        action=action,
        status=Status.MANUAL if action else Status.PENDING,
        safety=Safety.MANUAL if action else view.rule.safety,
        danger=view.rule.danger,
        notes=notes,
    )
