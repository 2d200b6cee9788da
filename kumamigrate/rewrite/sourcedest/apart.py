"""What of a kind can be converted although some of it has to stay with the old engine.

Outbound kinds: a tie or a value without an equivalent decides some services only. Those stay as
they are, with all policies that have a say there; for the others new policies are written. Where
the new engine takes over service by service it must not be told of the rest, so known services are
listed instead of `to: Mesh`; where both engines act side by side (§3) the old policies must reach
nothing else.

Inbound kinds: an inbound answers to one engine (§3). What shares no inbound with a tie, or with a
policy that goes without a successor, need not wait for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol, TypeVar

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.model.resource import SERVICE, Resource
from kumamigrate.rewrite.restraint import restrains
from kumamigrate.rewrite.sourcedest.conversion import Conversion, Dropped, Manual, distinct
from kumamigrate.rewrite.sourcedest.known import KnownWorld
from kumamigrate.rewrite.sourcedest.routetargets import OTHER_SERVICE
from kumamigrate.sourcedest.order import CreationTie
from kumamigrate.sourcedest.proxy import PASS_THROUGH
from kumamigrate.sourcedest.selector import ANY, selectors_of


class Won(Protocol):
    """What a class reads for a service: all that matters here is whose it is."""

    @property
    def winners(self) -> tuple[Resource, ...]:
        """The policies that it comes from."""


_C = TypeVar("_C")
_W = TypeVar("_W", bound=Won)
Table = Mapping[_C, Mapping[str, _W | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stuck:
    """The services that cannot be converted, and the ties that are a reason for that."""

    services: frozenset[str]
    ties: tuple[CreationTie, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Apart:
    """Policies that stay, and the services that the new ones say nothing of."""

    stay: tuple[Resource, ...]
    left: frozenset[str]
    listed: tuple[str, ...] = ()

    def without(self, table: Table[_C, _W]) -> dict[_C, dict[str, _W | None]]:
        """Return a table that says nothing of what is left."""
        return {
            item: {s: None if s in self.left else setting for s, setting in row.items()}
            for item, row in table.items()
        }

    def notes(self, moved: Iterable[Resource]) -> tuple[Manual, ...]:
        """Say what listing services means for those that come later; nothing where none is."""
        if not self.listed:
            return ()
        others = ", ".join(sorted(self.left - {OTHER_SERVICE}))
        message = (
            f"the services known are listed ({', '.join(self.listed)}), since an entry for any"
            f" would reach {others} as well, of which old policies stay; a service that comes later"
            " has to be added"
        )
        action = "settle what stays, or add services as they come"
        return tuple(Manual(resource=r, message=message, action=action, blocking=False)
                     for r in moved)  # fmt: skip


def set_apart(
    policies: Sequence[Resource],
    table: Table[_C, _W],
    stuck: Stuck,
    *,
    both_act: bool,
    services_known: bool,
) -> Apart | None:
    """Return what stays where some services are stuck, None where all has to.

    `services_known`: there are no others, as far as this kind says anything of them.
    """
    left, stay = stuck.services, _having_a_say(table, stuck)
    if both_act:
        if OTHER_SERVICE in left or not all(_reached(policy) <= left for policy in stay):
            return None
        return Apart(stay=stay, left=left)
    listed: tuple[str, ...] = ()
    if OTHER_SERVICE not in left and any(row.get(OTHER_SERVICE) for row in table.values()):
        if not services_known:
            return None  # a service that nobody names here would lose what it has
        every = {service for row in table.values() for service in row}
        listed = tuple(sorted(every - left - {OTHER_SERVICE, PASS_THROUGH}))
    left |= {OTHER_SERVICE}
    won = (r for row in table.values() for s, w in row.items() if s not in left and w
           for r in w.winners)  # fmt: skip
    if len(stay) == len(policies) or all(r in stay for r in won):
        return None  # nothing would go
    return Apart(stay=stay, left=left, listed=listed)


def _having_a_say(table: Table[_C, _W], stuck: Stuck) -> tuple[Resource, ...]:
    winners = (
        policy
        for row in table.values()
        for service in sorted(stuck.services)
        if (found := row.get(service))
        for policy in found.winners
    )
    return distinct([*winners, *(policy for tie in stuck.ties for policy in tie.policies)])


def _reached(policy: Resource) -> frozenset[str]:
    return frozenset(t.get(SERVICE, ANY) for t in selectors_of(policy.spec, "destinations"))


def in_parts(
    world: KnownWorld, convert: Callable[[KnownWorld, Sequence[Resource]], Conversion]
) -> Conversion:
    """Return the conversion of a kind, or of what can go without the rest.

    `convert` is given the policies that stay, whatever they say; what shares an inbound with one
    of them stays too.
    """
    whole = convert(world, ())
    asked = [] if world.on_word else [d for d in whole.dropped if restrains(d.resource)]
    stuck = [policy for tie in whole.ties for policy in tie.policies]
    if not stuck and not asked:
        return whole
    part = convert(world, distinct([*stuck, *(d.resource for d in asked)]))
    if not part.writable or not part.policies:
        return whole
    notes = tuple(_on_word(d) for d in asked)
    return replace(part, manual=(*part.manual, *notes), left=whole.ties, instead=whole)


def _on_word(dropped: Dropped) -> Manual:
    return Manual(
        resource=dropped.resource,
        message=f"it would be removed: {dropped.reason}; what denies or limits goes only on your"
        " word",
        action="take the rule with --accept, which converts what shares its inbounds as well",
        blocking=False,
    )


def sharing(
    stuck: Iterable[Resource], groups: Iterable[tuple[Resource, ...]]
) -> tuple[Resource, ...]:
    """Return the policies that must stay because some that share an inbound with them do.

    `groups` holds, for every class of inbounds, the policies that match it. FaultInjection and
    RateLimit only: one old policy on an inbound switches the new ones off there (§3).
    """
    every = tuple(groups)
    spread = distinct(stuck)
    while True:
        more = [p for group in every if any(p in spread for p in group) for p in group]
        grown = distinct([*spread, *more])
        if len(grown) == len(spread):
            return spread
        spread = grown


def stays_too(policy: Resource) -> Manual:
    """Return the note for a policy that stays because of another one."""
    return Manual(
        resource=policy,
        message=f"it stays, because it shares inbounds with a {policy.type} that has no"
        " equivalent, and an inbound answers to one engine only",
        action=f"decide about the other {policy.type}",
        blocking=False,
    )
