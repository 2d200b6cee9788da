"""Orders that Kuma leaves to chance (matcher.md Traps 13 and 14)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kumamigrate.match.items import top_of
from kumamigrate.match.sort import Ranked, compare
from kumamigrate.model.conf import canonical
from kumamigrate.model.release import Release
from kumamigrate.model.resource import Resource


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tie:
    """Policies whose order is not decided although it would matter.

    `reason` is "equal-rank" (every level of the sort is equal; the sort is not stable) or
    "no-order" (Dataplane references that beat each other in a circle).
    """

    policies: tuple[Resource, ...]
    reason: str


def ties_of(policies: Sequence[Resource], release: Release) -> tuple[Tie, ...]:
    """Return the ties among sorted policies that could show: equal in rank, unlike in content."""
    ranked = [Ranked(p, top_of(p, release)) for p in policies]
    return (*_equal(ranked, release), *_circles(ranked, release))


def _equal(ranked: Sequence[Ranked], release: Release) -> list[Tie]:
    out = []
    run: list[Ranked] = []
    for at in (*ranked, None):
        if run and at is not None and _cmp(release, run[-1], at) == 0:
            run.append(at)
            continue
        if len(run) > 1 and _collide(run):
            out.append(Tie(policies=tuple(r.policy for r in run), reason="equal-rank"))
        run = [at] if at is not None else []
    return out


def _cmp(release: Release, a: Ranked, b: Ranked) -> int:
    return compare(release, release.policy_sort, a, b)


def _circles(ranked: Sequence[Ranked], release: Release) -> list[Tie]:
    """Find a sorted list in which an earlier policy beats a later one."""
    if "identity" not in release.dataplane_rank:
        return []
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
    found = [r for r in ranked if id(r.policy) in circle]
    if not found or not _collide(found):
        return []
    return [Tie(policies=tuple(r.policy for r in found), reason="no-order")]


def _collide(run: Sequence[Ranked]) -> bool:
    """Whether the policies differ in what they say; alike policies merge alike in any order."""
    texts = {canonical({k: v for k, v in r.policy.spec.items() if k != "targetRef"}) for r in run}
    return len(texts) > 1
