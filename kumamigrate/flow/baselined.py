"""What was there before somebody began: told apart from what is new, by a baseline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from kumamigrate.dataclass import replace
from kumamigrate.rewrite.finding import Finding, Status
from kumamigrate.scene.held import Cause, Held
from kumamigrate.world.baseline import OPEN, Baseline, Key, key_of

NOTE = "in the baseline"


def without_known(findings: Iterable[Finding], baseline: Baseline | None) -> tuple[Finding, ...]:
    """Return findings, the known ones silenced; of more than are known the last are new."""
    if baseline is None:
        return tuple(findings)
    left: Counter[Key] = Counter(baseline.known)
    result = []
    for finding in findings:
        key = key_of(finding)
        if finding.status in OPEN and left[key]:
            left[key] -= 1
            notes = (*finding.notes, NOTE)
            finding = replace(finding, status=Status.SUPPRESSED, notes=notes)
        result.append(finding)
    return tuple(result)


def with_known(
    held: Iterable[Held], findings: Iterable[Finding], baseline: Baseline | None
) -> tuple[Held, ...]:
    """Return held changes, those about nothing but known findings as such."""
    if baseline is None:
        return tuple(held)
    new = {key_of(f) for f in findings if f.status is Status.HELD}
    return tuple(
        replace(one, cause=Cause.KNOWN)
        if all(key_of(f) in baseline.known.keys() - new for f in one.change.findings)
        else one
        for one in held
    )
