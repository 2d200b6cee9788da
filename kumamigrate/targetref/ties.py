"""Orders that Kuma leaves to chance (matcher.md Traps 13 and 14)."""

from __future__ import annotations

from collections.abc import Sequence

from kumamigrate.dataclass import dataclass
from kumamigrate.model.policytype import PolicyType
from kumamigrate.model.release import Release
from kumamigrate.model.resource import Resource
from kumamigrate.targetref.entry import Entry
from kumamigrate.targetref.items import from_entries, rule_entries, single_entry, to_entries, top_of
from kumamigrate.targetref.merge import merge_entries
from kumamigrate.targetref.sort import Ranked, compare

_NAMED = ("MeshService", "MeshExternalService", "MeshMultiZoneService", "MeshHTTPRoute")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tie:
    """Policies whose order is not decided although it would matter.

    `reason` is "equal-rank" (every level of the sort is equal; the sort is not stable),
    "no-order" (Dataplane references that beat each other in a circle), "store-order" (vhosts of
    built-in gateways read policies as the store lists them) or "ambiguous-route" (a top-level
    MeshHTTPRoute names several routes; they follow the policy in `policies`).
    """

    policies: tuple[Resource, ...]
    reason: str


def ties_of(policies: Sequence[Resource], kind: PolicyType, release: Release) -> tuple[Tie, ...]:
    """Return the ties among sorted policies that could show: some merge depends on the order."""
    ranked = [Ranked(p, top_of(p, release)) for p in policies]
    return (*_equal(ranked, kind, release), *_circles(ranked, kind, release))


def store_order_tie(
    policies: Sequence[Resource], kind: PolicyType, release: Release
) -> tuple[Tie, ...]:
    """Return the tie of a vhost that several unlike policies reach (matcher-notes §1.1)."""
    if not _order_matters(policies, kind, release):
        return ()
    return (Tie(policies=tuple(policies), reason="store-order"),)


def _equal(ranked: Sequence[Ranked], kind: PolicyType, release: Release) -> list[Tie]:
    out = []
    run: list[Ranked] = []
    for at in (*ranked, None):
        if run and at is not None and _cmp(release, run[-1], at) == 0:
            run.append(at)
            continue
        tied = tuple(r.policy for r in run)
        if len(run) > 1 and _order_matters(tied, kind, release):
            out.append(Tie(policies=tied, reason="equal-rank"))
        run = [at] if at is not None else []
    return out


def _cmp(release: Release, a: Ranked, b: Ranked) -> int:
    return compare(release, release.policy_sort, a, b)


def _circles(ranked: Sequence[Ranked], kind: PolicyType, release: Release) -> list[Tie]:
    """Find a sorted list in which an earlier policy beats a later one.

    Where a release reads names of Dataplanes in references, one by name beats one by labels.
    """
    mine = [r for r in ranked if r.top.kind == "Dataplane"]
    named = [r for r in mine if r.top.name]
    labelled = [r for r in mine if r.top.labels and not r.top.name]
    bare = [r for r in mine if not r.top.labels and not r.top.name]
    if not (named and labelled and bare):
        return []
    circle = {
        id(r.policy): r
        for a in named
        for b in labelled
        for c in bare
        # The named one beats the labelled one; a circle closes where that one is above the bare
        # one, and the bare one not below the named one.
        if _cmp(release, b, c) >= 0 and _cmp(release, c, a) >= 0
        for r in (a, b, c)
    }
    tied = tuple(r.policy for r in ranked if id(r.policy) in circle)
    if not tied or not _order_matters(tied, kind, release):
        return []
    return [Tie(policies=tied, reason="no-order")]


def _order_matters(policies: Sequence[Resource], kind: PolicyType, release: Release) -> bool:
    """Whether two of the policies meet on some target with confs that do not commute."""
    for section, read in (("to", to_entries), ("from", from_entries), ("rules", rule_entries)):
        said = [read(p, kind, release) for p in policies]
        for at, mine in enumerate(said):
            others = (e for entries in said[at + 1 :] for e in entries)
            if any(_clash(a, b, kind, section) for b in others for a in mine):
                return True
    if not kind.single_item:
        return False
    entries = [single_entry(p, kind, release) for p in policies]
    return any(
        _clash(a, b, kind, "default") for at, a in enumerate(entries) for b in entries[at + 1 :]
    )


def _clash(a: Entry, b: Entry, kind: PolicyType, section: str) -> bool:
    fields = kind.conf(section)
    return _may_meet(a, b) and merge_entries((a, b), fields) != merge_entries((b, a), fields)


def _may_meet(a: Entry, b: Entry) -> bool:
    """Whether some traffic could be meant by both; only plain different names exclude it."""
    if a.match != b.match:
        return a.match is None or b.match is None
    mine, other = a.target, b.target
    if mine is None or other is None or a.top.kind == "MeshHTTPRoute":
        return True
    if mine.kind != other.kind:
        return not {mine.kind, other.kind} <= set(_NAMED)
    plain = not mine.labels and not other.labels and "_" not in f"{mine.name}{other.name}"
    return mine.kind not in _NAMED or not plain or mine.name == other.name
