"""A rule that fails on one resource is asked about all others: a fault stays where it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from kumamigrate.dataclass import replace
from kumamigrate.errors import FAULT, REPORT_IT, fault
from kumamigrate.model.resource import Resource
from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.finding import Finding, Safety, Status
from kumamigrate.rewrite.view import View

Planner = Callable[[View], Iterable[Change | Finding]]


def without_faulty(planner: Planner, view: View, error: Exception) -> tuple[Change | Finding, ...]:
    """Return what a rule says when it is not shown the resources that it fails on, and of which
    these are. Where it fails for no single one, it says nothing else."""
    why = fault(error)
    faulty = list(_faulty(planner, view, list(view.manifests())))
    told = tuple(_finding(view, resource, why) for resource, why in faulty)
    hidden = frozenset(r.where for r, _ in faulty if r.where is not None)
    try:
        return (*planner(replace(view, hidden=hidden)), *told)
    except Exception as again:
        return (*told, _finding(view, None, fault(again) if faulty else why))


def _faulty(
    planner: Planner, view: View, resources: Sequence[Resource]
) -> Iterator[tuple[Resource, str]]:
    """Yield the resources that a rule fails on when it is shown no other, by halves."""
    mine = {resource.where for resource in resources}
    others = frozenset(r.where for r in view.manifests() if r.where and r.where not in mine)
    try:
        tuple(planner(replace(view, hidden=others)))
    except Exception as error:
        if len(resources) == 1:
            yield resources[0], fault(error)
            return
        middle = len(resources) // 2
        yield from _faulty(planner, view, resources[:middle])
        yield from _faulty(planner, view, resources[middle:])


def _finding(view: View, resource: Resource | None, why: str) -> Finding:
    return Finding(
        rule=view.rule.id,
        resource=resource,
        message=f"{why}; the rule left it alone" if resource else f"{why}; the rule was left out",
        action=REPORT_IT,
        status=Status.MANUAL,
        safety=Safety.MANUAL,
        danger=view.rule.danger,
    )


def is_fault(finding: Finding) -> bool:
    """Say whether a finding tells of a fault of this tool."""
    return finding.message.startswith(FAULT)
