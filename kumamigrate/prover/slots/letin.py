"""Permissions that only those they let in can compare: tags on one side, SPIFFE ids on the other.

What is known of the clients decides whether a difference is shown; that others may come stays a
doubt (doubts/identities.py).
"""

from __future__ import annotations

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.effective.admitted import admitted, certificates, reads_rules
from kumamigrate.effective.fact import Fact
from kumamigrate.effective.inboundfacts import inbound_fact
from kumamigrate.effective.policies.meshfault import FAULT
from kumamigrate.model.protocols import UNKNOWN_PROTOCOL
from kumamigrate.model.resource import Resource
from kumamigrate.targetref.inbound import InboundPoint
from kumamigrate.targetref.permission import PERMISSION
from kumamigrate.targetref.selection import Point
from kumamigrate.universe.dataplaneparts import inbound_at, may_be_transparent, protocol_of
from kumamigrate.universe.side import Side


@dataclass(frozen=True, slots=True)
class Read:
    """One inbound of a proxy on one side; `point` is None where no policy of the type is.

    `always`: it has defaults without any policy.
    """

    side: Side
    proxy: Resource
    point: Point | None
    always: bool = False

    def answer(self, policy_type: str) -> InboundPoint | None:
        """Return what the matcher says of it."""
        if self.point is None:
            return None
        return self.side.matcher.inbound(self.side.selection(self.proxy, policy_type), self.point)

    def fact(self, policy_type: str) -> Fact:
        """Return what it reads of a policy type."""
        return inbound_fact(
            self.side,
            policy_type,
            self.answer(policy_type),
            identified=self.side.identified(self.proxy),
            certified=self.side.certified(self.proxy),
            reached=self.side.signature(self.proxy, policy_type) != 0,
            always=self.always,
            transparent=may_be_transparent(self.proxy),
            protocol=self.protocol(policy_type),
        )

    def protocol(self, policy_type: str) -> str:
        """Return the protocol of the inbound, if a policy type goes by it and a Dataplane that is
        listed says it."""
        if policy_type != FAULT or self.point is None or self.proxy.made_up:
            return UNKNOWN_PROTOCOL
        inbound = inbound_at(self.proxy, self.point.key)
        return UNKNOWN_PROTOCOL if inbound is None else protocol_of(inbound)

    @property
    def by_rules(self) -> bool:
        """Whether permissions go by `rules`, and so by SPIFFE ids."""
        known = self.side.identified(self.proxy)
        return reads_rules(self.answer(PERMISSION), identified=known)

    @property
    def admitted(self) -> Fact:
        """Return which known clients it lets in."""
        side, answer, by_rules = self.side, self.answer(PERMISSION), self.by_rules
        read = admitted(side.state, side.mesh, answer, by_rules=by_rules)
        if side.identified(self.proxy) is None:
            also = admitted(side.state, side.mesh, answer, by_rules=True)
            read = {k: v if also.get(k) == v else f"{v}, or not" for k, v in read.items()}
        return Fact(read, self.fact(PERMISSION).found)


def go_by_clients(old: Read, new: Read) -> bool:
    """Say whether permissions of an inbound can be compared by whom they let in alone: one side
    goes by tags and the other by ids, or clients show other certificates."""
    if not (old.fact(PERMISSION).settings or new.fact(PERMISSION).settings):
        return False  # nobody is let in, whoever comes
    return old.by_rules is not new.by_rules or bool(changed_certificates(old.side, new.side))


def changed_certificates(before: Side, after: Side) -> frozenset[str]:
    """Return the clients of which it is known that they show another certificate."""
    old, new = (certificates(side.state, side.mesh) for side in (before, after))
    both = (name for name in old.keys() & new.keys() if None not in (old[name], new[name]))
    return frozenset(name for name in both if old[name] != new[name])


def admitted_facts(old: Read, new: Read) -> tuple[Fact, Fact]:
    """Return which clients an inbound lets in, of those whose certificate is known on both
    sides."""
    shown = [certificates(read.side.state, read.side.mesh) for read in (old, new)]
    unknown = {f"client {n}" for one in shown for n, names in one.items() if names is None}
    left, right = (
        replace(
            read.admitted,
            settings={k: v for k, v in read.admitted.settings.items() if k not in unknown},
        )
        for read in (old, new)
    )
    return left, right
