"""Files that wait for the upgrade: what is applied today is an older text of them.

A run for a later release writes forms that the one in use does not read, or reads otherwise. The
next run has nothing but these files, so it compares as if they were applied already.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kumamigrate.effective.difference import Value
from kumamigrate.model.resource import DISPLAY_NAME, Resource, mapping
from kumamigrate.prover.claimed import RELEASE
from kumamigrate.report.screen.causes import fitting
from kumamigrate.report.screen.difftext import number_of
from kumamigrate.report.screen.onscreen import OnScreen
from kumamigrate.report.styled import Line, line

WIDTH = 70


def waiting_lines(screen: OnScreen) -> list[Line]:
    """Say which differences of an upgrade are of policies that may not be applied before it."""
    outcome = screen.outcome
    if outcome.claim != RELEASE or outcome.proof is None:
        return []
    ready = {(r.mesh, r.name): r for r in outcome.before.repository.resources if _is_ready(r)}
    counted = [w for w in outcome.proof.witnesses(RELEASE) if w.effect not in outcome.options.allow]
    witnesses = [w for w in counted if _begins(w.before, w.after, w.mesh, ready)]
    number, of = (number_of(some, screen.sides()) for some in (witnesses, counted))
    if not number:
        return []
    found = {(w.mesh, w.after.policy): ready[w.mesh, w.after.policy].where for w in witnesses}
    places = [f"{where.path}:{where.line}" for where in found.values() if where is not None]
    source, target = outcome.before.source, outcome.before.target
    are = "is" if number == 1 else "are"
    many = f"{number} of them {are} of policies"
    if number == of:
        many = "It is of a policy" if of == 1 else "All are of policies"
    applied = f"kumamigrate prove --target {target} --against REVISION"
    return [
        line(
            f"  {many} in {target}'s form already, read here as if {source} had them: ",
            (fitting(places, WIDTH), "place"),
        ),
        line(
            "  Where these wait for the upgrade, compare with what is applied instead: ",
            (applied, "strong"),
        ),
    ]


def _begins(was: Value, now: Value, mesh: str, ready: Mapping[tuple[str, str], Resource]) -> bool:
    """Whether a value is a policy's with the upgrade, and was not before."""
    return (mesh, now.policy) in ready and now.policy != was.policy


def _is_ready(resource: Resource) -> bool:
    """Whether a policy names others by their labels, as a release without names wants it."""
    entries = resource.spec.get("to")
    return isinstance(entries, list) and any(map(_names_by_label, _targets(entries)))


def _names_by_label(target: Mapping[str, Any]) -> bool:
    return DISPLAY_NAME in mapping(target.get("labels"))


def _targets(entries: Sequence[Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the references of `to`: its targets, and where routes lead."""
    for value in entries:
        if isinstance(value, Mapping):
            if "kind" in value:
                yield value
            yield from _targets([*value.values()])
        elif isinstance(value, list):
            yield from _targets(value)
