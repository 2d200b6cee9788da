"""Which changes are to blame where some do not hold together (prover.md §2).

A difference names the policies that supply its two values, a doubt those it is about. The changes
that wrote them are tried apart from the others. What a difference names alone fails whatever goes
with it, so all of those fail at once; where changes only fail together, or nobody is to blame, they
are tried in parts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping

from kumamigrate.effective.difference import Witness
from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.errors import REPORT_IT, fault
from kumamigrate.model.resource import mapping
from kumamigrate.rewrite.change import Change
from kumamigrate.scene.held import Held, HeldVerdict

Changes = tuple[Change, ...]
FEW = 8
"""So many changes are tried each by itself before all of them fail."""
Name = tuple[str, str]
"""Type and name of a policy."""


def sorted_out(part: Changes, verdict: HeldVerdict) -> tuple[list[Held], list[Changes]]:
    """Return which changes fail, each with what stands against it, and what to try next."""
    if len(part) == 1:
        return [_held(part[0], verdict, lambda _witness: True)], []
    names = [frozenset(written(change)) for change in part]
    reasons = (*map(named_by, verdict.witnesses), *map(_named_by_doubt, verdict.unknown))
    blamed = [[at for at, mine in enumerate(names) if mine & reason] for reason in reasons]
    guilty = {at for together in blamed for at in together}
    if not guilty:
        return [], _pieces(part)
    if len(guilty) < len(part):
        return [], [
            tuple(c for at, c in enumerate(part) if (at in guilty) is named)
            for named in (False, True)
        ]
    alone = {together[0] for together in blamed if len(together) == 1}
    if not alone:
        return [], _pieces(part)
    if len(alone) < len(part):
        # What a difference names alone may come of a change beside it, so it is tried without.
        return [], [
            tuple(c for at, c in enumerate(part) if (at in alone) is named)
            for named in (False, True)
        ]
    if len(part) <= FEW:
        return [], _pieces(part)  # one may hold without the others, and that costs little to see
    return [_held(c, verdict, _naming(mine)) for c, mine in zip(part, names, strict=True)], []


def named_by(witness: Witness) -> frozenset[Name]:
    """Return the policies that supply the values of a difference."""
    return frozenset(
        (witness.policy_type, value.policy) for value in (witness.before, witness.after)
    )


def _named_by_doubt(doubt: Doubt) -> frozenset[Name]:
    pairs = (subject.partition(" ") for subject in doubt.subject)
    return frozenset((type_, name) for type_, _, name in pairs)


def _naming(names: frozenset[Name]) -> Callable[[Witness], bool]:
    return lambda witness: bool(named_by(witness) & names)


def _held(change: Change, verdict: HeldVerdict, counts: Callable[[Witness], bool]) -> Held:
    try:
        whole = verdict if verdict.whole is None else verdict.whole(counts)
    except Exception as error:  # a fault of ours costs the changes it meets
        whole = at_fault(error)
    return Held(
        change=change,
        witnesses=tuple(filter(counts, whole.witnesses)),
        unknown=tuple(map(str, whole.unknown)),
        refusals=verdict.refusals,
        environment=verdict.environment,
        today=whole.today,
    )


def at_fault(error: Exception) -> HeldVerdict:
    """Return the verdict where comparing is too much for this tool."""
    return HeldVerdict(unknown=(Doubt(DoubtKind.FAULT, f"{fault(error)}; {REPORT_IT}"),))


def _pieces(part: Changes) -> list[Changes]:
    """Return the parts to try of changes of which none is to blame, in order."""
    groups: dict[str, list[Change]] = defaultdict(list)
    for change in part:
        groups[change.group].append(change)
    if len(groups) > 1:
        return [tuple(group) for group in groups.values()]
    middle = len(part) // 2
    return [part[:middle], part[middle:]]


def written(change: Change) -> Iterator[Name]:
    """Yield type and name of what a change edits or writes."""
    for finding in change.findings:
        if finding.resource is not None:
            yield finding.resource.type, finding.resource.name
    for manifest in (m for edit in change.edits for m in edit.manifests):
        if isinstance(manifest, Mapping):
            kind = str(manifest.get("kind") or manifest.get("type"))
            inner = mapping(manifest.get("metadata")).get("name")
            yield kind, str(inner or manifest.get("name"))
