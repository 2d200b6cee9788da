"""What a control plane of a release would store of some resources, and what it would refuse."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from kumamigrate.admit.check import other_letters_of, refusals_of, says_zone
from kumamigrate.admit.places import is_template
from kumamigrate.dataclass import dataclass, replace
from kumamigrate.errors import REPORT_IT, fault
from kumamigrate.model.kinds import OLD_POLICIES
from kumamigrate.model.labels import Refused, is_export, stored_labels
from kumamigrate.model.problem import Problem
from kumamigrate.model.resource import Identity, Resource, Where
from kumamigrate.model.state import Environment, State
from kumamigrate.model.zoneview import as_seen
from kumamigrate.source.text import Reason, Refusal


def faulty(where: Where | None, why: str, mesh: str) -> Refusal:
    """Return what stands for a resource that cannot be read as one."""
    return Refusal(
        path=where.path if where is not None else "(inventory)",
        line=where.line if where is not None else 0,
        column=1,
        reason=Reason.UNREADABLE,
        detail=why,
        advice=REPORT_IT,
        hides=True,
        mesh=mesh,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """A resource that the release's control plane would refuse, and why.

    With a `fault` nobody knows whether it would: the question was too much for this tool.
    """

    resource: Resource
    problems: tuple[Problem, ...]
    fault: bool = False


class Admission(NamedTuple):
    """What is stored of a resource, which is kept so that its id stays its own, or why it is not;
    and the zone that it says it is of, where it may not be there in another (`says_zone`).
    `misread` says what of it a control plane reads otherwise than we do."""

    resource: Resource
    stored: Resource | Rejection
    zone: str
    misread: Refusal | None = None


Admitted = dict[tuple[str, Environment], dict[int | Identity, Admission]]
"""By release and environment, of each resource by its id; of each identity what was last."""


def state_of(
    resources: Iterable[Resource],
    *,
    release: str,
    environment: Environment,
    unread: Sequence[Refusal] = (),
    known: Admitted | None = None,
) -> tuple[State, tuple[Rejection, ...]]:
    """Return what a control plane of a release would store of some resources.

    Labels are computed; what it would refuse is left out and returned beside the state. `known`
    remembers resources that other states share with this one.
    """
    stored: list[Resource] = []
    rejections: list[Rejection] = []
    zoned: list[tuple[Resource, str]] = []
    misread: list[Refusal] = []
    # What else its mesh was given changes nothing about a resource.
    reader = replace(environment, initial_policies=None)
    admissions = {} if known is None else known.setdefault((release, reader), {})
    for resource in resources:
        admission = admissions.get(id(resource))
        if admission is None:
            admission = _again(resource, admissions.get(resource.identity))
            admission = admission or _admission(resource, release, reader)
            admissions[id(resource)] = admissions[resource.identity] = admission
        if admission.misread is not None:
            misread.append(admission.misread)
        if isinstance(admission.stored, Rejection):
            rejections.append(admission.stored)
            continue
        stored.append(admission.stored)
        if admission.zone:
            zoned.append((admission.stored, admission.zone))
    faults = (
        faulty(one.resource.where, one.problems[0].message, one.resource.mesh)
        for one in rejections
        if one.fault
    )
    state = State(
        release=release,
        environment=environment,
        resources=tuple(stored),
        unread=(*unread, *faults, *misread, *_of_some_zone(zoned, environment)),
    )
    return state, tuple(rejections)


def _of_some_zone(
    zones: Sequence[tuple[Resource, str]], environment: Environment
) -> Iterator[Refusal]:
    """Yield what is there or not by the zone that reads it.

    Where nobody named it, exports without their times are taken for what one control plane holds
    (`doubts.export_assumptions`).
    """
    for resource, zone in zones:
        exported = is_export(resource)
        if exported and not environment.zone_known:
            continue
        yield _in_doubt(
            resource,
            f"says it is of zone {zone}, and no control plane of another zone takes it",
            "what was read from a control plane belongs into an inventory, or says its creationTime"
            if exported
            else f"--zone {zone}, if that is whose control plane reads it",
        )


def _in_doubt(resource: Resource, says: str, advice: str) -> Refusal:
    """Return why nothing can be told of a resource that was read: what it says, what to do."""
    where = resource.where
    return Refusal(
        path=where.path if where is not None else "(inventory)",
        line=where.line if where is not None else 0,
        column=1,
        reason=Reason.NOT_APPLIED,
        detail=f"{resource.type} {resource.name} {says}",
        advice=advice,
        hides=True,
        mesh=resource.mesh,
        kind=resource.type,
        digest=resource.canonical_body,
    )


def _again(resource: Resource, known: Admission | None) -> Admission | None:
    """Return what is stored of a resource that says what one did which is known.

    Files that were edited are read anew, with all that stands in them: most of it stays as it
    was, or moves by some lines. Where it stands decides nothing, but what is said of it says that.
    """
    if known is None or known.misread is not None:
        return None
    where, stored = resource.where, known.stored
    if known.resource.where != where:
        if replace(known.resource, where=where) != resource:
            return None
        inner = stored.resource if isinstance(stored, Rejection) else stored
        moved = replace(inner, where=where)
        stored = replace(stored, resource=moved) if isinstance(stored, Rejection) else moved
    elif known.resource != resource:
        return None
    return Admission(resource, stored, known.zone)


def _admission(resource: Resource, release: str, environment: Environment) -> Admission:
    misread = _misread(resource, release)
    if misread is not None:
        labelled = stored_labels(resource, release=release, environment=environment)
        if not isinstance(labelled, Refused):
            return Admission(resource, labelled, "", misread)
    stored = _admit_safely(resource, release, environment)
    zone = "" if isinstance(stored, Rejection) else says_zone(stored, environment)
    return Admission(resource, stored, zone)


def _misread(resource: Resource, release: str) -> Refusal | None:
    """Return why nobody can tell what a resource says: a field in other letters, which Kuma
    reads, stands for nothing here."""
    for path, field in other_letters_of(resource, release)[:1]:
        return _in_doubt(
            resource, f"says {path[-1]}, which Kuma takes for {field}", f"write {field}"
        )
    return None


def _admit_safely(
    resource: Resource, release: str, environment: Environment
) -> Resource | Rejection:
    try:
        return _admit(resource, release, environment)
    except Exception as error:
        problem = Problem(path=(), message=fault(error))
        return Rejection(resource=resource, problems=(problem,), fault=True)


def _admit(resource: Resource, release: str, environment: Environment) -> Resource | Rejection:
    labelled = stored_labels(resource, release=release, environment=environment)
    if isinstance(labelled, Refused) and is_template(resource.namespace):
        labelled = _anywhere(resource, release, environment)
    if isinstance(labelled, Refused):
        problem = Problem(path=labelled.path, message=labelled.message)
        return Rejection(resource=resource, problems=(problem,))
    problems = refusals_of(labelled, release=release, environment=environment)
    if not problems and labelled.type in OLD_POLICIES:
        from kumamigrate.sourcedest.admit import refusals_of as old_refusals_of

        problems = old_refusals_of(labelled)
    if problems:
        return Rejection(resource=labelled, problems=tuple(problems))
    return as_seen(labelled, release=release, environment=environment)


def _anywhere(resource: Resource, release: str, environment: Environment) -> Resource | Refused:
    """Return what is stored of a resource whose namespace a template fills in."""
    home = replace(resource, namespace=environment.system_namespace)
    labelled = stored_labels(home, release=release, environment=environment)
    if isinstance(labelled, Refused):
        return labelled
    return replace(labelled, namespace=resource.namespace)
