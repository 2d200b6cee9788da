"""Ties that decide what a proxy reads: nobody knows which of the policies wins."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kumamigrate.effective.doubted import Doubt, DoubtKind, place_of_text
from kumamigrate.model.resource import Resource
from kumamigrate.prover.slots.mesh import MeshComparison
from kumamigrate.targetref.selection import Selection
from kumamigrate.targetref.ties import Tie
from kumamigrate.universe.side import Side

TIED = "nothing decides between them"
"""Stands in every doubt about a tie."""

UNSTABLE_SORT = 12
"""Up to so many policies Go's sort is an insertion sort, which keeps ties in order."""


def tie_doubts(
    pair: MeshComparison, was: Resource, now: Resource, kinds: Iterable[str] | None = None
) -> dict[str, tuple[Doubt, ...]]:
    """Return by type the ties that decide what a proxy reads where something changed.

    A tie between policies that nobody touched comes out the same on both sides, as long as the
    list is short enough for Kuma's sort to keep the order of ties.
    """
    out: dict[str, tuple[Doubt, ...]] = {}
    for policy_type in sorted(pair.before.types | pair.after.types if kinds is None else kinds):
        sides = ((pair.before, was), (pair.after, now))
        if pair.before.signature(was, policy_type) == pair.after.signature(now, policy_type):
            continue
        found = [
            side.selection(proxy, policy_type) if policy_type in side.types else None
            for side, proxy in sides
        ]
        tied = [_ties(side, selection) for (side, _), selection in zip(sides, found, strict=True)]
        if not any(tied):
            continue
        short = all(s is None or len(s.policies) <= UNSTABLE_SORT for s in found)
        if short and tied[0].keys() == tied[1].keys():
            continue
        ties = (*tied[0].values(), *tied[1].values())
        out[policy_type] = tuple(dict.fromkeys(_tied(policy_type, tie) for tie in ties))
    return out


def _ties(side: Side, selection: Selection | None) -> dict[tuple[Any, ...], Tie]:
    if selection is None:
        return {}
    return {(tie.reason, side.contents.of_all(tie.policies)): tie for tie in selection.ties}


def _tied(policy_type: str, tie: Tie) -> Doubt:
    why = {
        "equal-rank": "Kuma sorts them as equal, so chance decides which one wins",
        "no-order": "their Dataplane references beat each other in a circle",
    }
    first, *others = tie.policies
    return Doubt(
        DoubtKind.TIE,
        f": {TIED}: {why.get(tie.reason, tie.reason)}",
        (f"{policy_type} {first.full_name}", *(one.full_name for one in others)),
        tuple(map(place_of_text, tie.policies)),
        concerns=policy_type,
    )
