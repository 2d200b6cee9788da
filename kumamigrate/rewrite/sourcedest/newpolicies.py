"""From what each class of proxies reads to named policies with a place in the repository."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

from kumamigrate.dataclass import dataclass, field
from kumamigrate.model.resource import SERVICE, Identity, Resource
from kumamigrate.rewrite.sourcedest.classes import WinnerClass, class_of
from kumamigrate.rewrite.sourcedest.classrefs import by_labels, labels_mirror_tags, reference
from kumamigrate.rewrite.sourcedest.conversion import Json, NewPolicy
from kumamigrate.rewrite.sourcedest.known import KnownWorld
from kumamigrate.rewrite.sourcedest.policynames import Names, in_rank_order, name_of
from kumamigrate.sourcedest.selector import Tags, selectors_of


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyDraft:
    """The policy of one class: its sections, and the old policies they come from, first first.

    `left` are services that other policies speak of: their entries only keep that of all traffic
    out.
    """

    item: WinnerClass
    winners: tuple[Resource, ...]
    left: tuple[str, ...] = ()
    to: list[Json] = field(default_factory=list)
    from_: list[Json] = field(default_factory=list)
    rules: list[Json] = field(default_factory=list)
    default: Json | None = None

    @property
    def sections(self) -> Json:
        """The sections as they stand in the spec."""
        found: Json = {"to": self.to, "from": self.from_, "rules": self.rules}
        kept = {name: value for name, value in found.items() if value}
        return kept if self.default is None else {**kept, "default": self.default}


def emit(
    world: KnownWorld,
    type_: str,
    drafts: Sequence[PolicyDraft],
    *,
    chosen_by: str,
    sidecar: bool = False,
) -> tuple[NewPolicy, ...]:
    """Return the policies of the drafts, named so that a narrower class beats a broader one.

    `chosen_by` is the field of old policies whose selectors make the classes; they decide whose
    place a new policy takes.
    """
    names, used = Names(world.taken(type_)), set[Identity]()
    seeds: dict[str, set[WinnerClass]] = {}
    for draft in drafts:
        for winner in draft.winners:
            seeds[winner.name] = {_seed(t) for t in selectors_of(winner.spec, chosen_by)}
    homes: list[Resource] = []
    wanted: list[tuple[WinnerClass, str]] = []
    for draft in drafts:
        home = _home_of(draft.item, draft.winners, seeds, used)
        used.add(home.identity)
        homes.append(home)
    shared: dict[Identity, list[WinnerClass]] = {}
    for draft, home in zip(drafts, homes, strict=True):
        shared.setdefault(home.identity, []).append(draft.item)
    for draft, home in zip(drafts, homes, strict=True):
        name, word = home.name, name_of(draft.item)
        # What became several, each for other proxies, lends its name to none of them alone.
        if not all(other.within(draft.item) for other in shared[home.identity]):
            name = f"{name}-{word}"
        wanted.append((draft.item, names.take(name, word)))
    labels = world.with_rules and labels_mirror_tags((d.item for d in drafts), world)
    refer = by_labels if labels else reference
    final = in_rank_order(wanted)
    return tuple(
        NewPolicy(
            type=type_,
            name=name,
            spec={
                "targetRef": refer(draft.item, sidecar=sidecar),
                **deepcopy(draft.sections),
            },
            home=home,
            sources=draft.winners,
            left=draft.left,
        )
        for draft, name, home in zip(drafts, final, homes, strict=True)
    )


def _seed(tags: Tags) -> WinnerClass:
    kept = {key: value for key, value in tags.items() if not (key == SERVICE and value == "*")}
    return class_of(kept)


def _home_of(
    item: WinnerClass,
    winners: Sequence[Resource],
    seeds: dict[str, set[WinnerClass]],
    used: set[Identity],
) -> Resource:
    """Return the old policy whose place the policy of a class takes.

    One whose own selector is this class goes first, then one that has no successor yet.
    `seeds` maps a policy's name to the classes of its selectors.
    """
    return min(
        winners,
        key=lambda r: (
            r.identity in used,
            item not in seeds.get(r.name, set()),
            winners.index(r),
        ),
    )
