"""Two sides of one mesh: what is the same around them, and how a difference is told."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from kumamigrate.effective.bothengines.madeoutbounds import NORMALIZED
from kumamigrate.effective.bothengines.oldview import OldSide
from kumamigrate.effective.bothengines.whoanswers import covered_types
from kumamigrate.effective.changed import changed_types, moved_types
from kumamigrate.effective.compare import Difference, differences, match_of, undecided, value_of
from kumamigrate.effective.difference import Effect, Locate, Witness
from kumamigrate.effective.doubted import Doubt
from kumamigrate.effective.fact import Fact, Key
from kumamigrate.effective.outboundfacts import writes_defaults
from kumamigrate.effective.policies.meshproxypatch import names_matter
from kumamigrate.effective.policies.meshtimeout import DOWNSTREAM, IDLE, by_meaning
from kumamigrate.effective.policies.meshtls import LISTENERS
from kumamigrate.effective.routing import ROUTING, TCP_ROUTING
from kumamigrate.model.kri import Kri
from kumamigrate.model.resource import Resource
from kumamigrate.prover.assumptions.selector_equality import Couplings
from kumamigrate.prover.assumptions.subset_service import shares_of
from kumamigrate.prover.stages.sequence import Sequences
from kumamigrate.targetref.route import Destination, RealResource, ServiceTag
from kumamigrate.universe.backend import called, place_of
from kumamigrate.universe.chosen import Chosen, chosen_by
from kumamigrate.universe.reach import Reach
from kumamigrate.universe.side import Side
from kumamigrate.universe.traffic import Outbound

Witnesses = tuple[Witness, ...]
_RESIDUES = (DOWNSTREAM, LISTENERS, NORMALIZED)
"""Fields that no targetRef policy says (notes C4, C23)."""


@dataclass(frozen=True, slots=True)
class SlotsCompared:
    """What differs in the slots of a type, and what nobody knows of them.

    `led` is what differs only as outbounds of a proxy lead where they do, which nobody knows of
    one that is made up.
    """

    witnesses: Witnesses = ()
    doubts: tuple[Doubt, ...] = ()
    led: Witnesses = ()

    def __add__(self, more: SlotsCompared) -> SlotsCompared:
        """Return both together."""
        found, doubts = self.witnesses + more.witnesses, self.doubts + more.doubts
        return SlotsCompared(found, doubts, self.led + more.led)


SAME = SlotsCompared()


@dataclass(eq=False)
class TwoSides:
    """Two sides of one mesh and what is known of both; what is worked out is kept.

    `types` are the policy types of which differences are asked for, None for all. With `unsaid`
    they are asked for also where neither side has a policy of the type: what stands there by itself
    may hang on routes, and be what a new policy says in words.
    """

    before: Side
    after: Side
    locate: tuple[Locate, Locate]
    types: Collection[str] | None = None
    unsaid: bool = False
    kept: dict[Any, Witnesses] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        """Work out what is the same around the policies of both sides."""
        before, after = self.before, self.after
        # A release without service tags has the real service where an older one has the tag.
        before.tags_mean_services = not after.release.subset_rules
        after.shares = shares_of(before, after)
        self.reaches = (Reach(before), Reach(after))
        self.couplings = Couplings(before, after)
        self.engines = (OldSide(before), OldSide(after))
        self.same_outbounds = (self.engines[0].routed, self.engines[0].tagging) == (
            self.engines[1].routed,
            self.engines[1].tagging,
        )
        self.same_ground = (
            before.release == after.release
            and before.ground == after.ground
            and before.state.complete == after.state.complete
        )
        self.same_routes = before.routes == after.routes
        self.moved = moved_types(before, after)

    @cached_property
    def by_section(self) -> frozenset[Kri]:
        """Return the ports that some policy is about in particular."""
        return frozenset(
            kri
            for reach, side in zip(self.reaches, (self.before, self.after), strict=True)
            for kind in side.types
            for known in reach.of(kind)
            for kri in known.sections
        )

    @cached_property
    def sequences(self) -> Sequences:
        """The policies by which both sides can differ."""
        return Sequences(self.before, self.after, self.reaches)

    def compares(self, policy_type: str) -> bool:
        """Whether differences of a type are asked for."""
        return self.types is None or policy_type in self.types

    @cached_property
    def covered(self) -> frozenset[str]:
        """The types that both engines are asked for together where the old one has a say."""
        changed = changed_types(self.before, self.after)
        found = covered_types(self.before, self.after, changed)
        return frozenset(kind for kind in found if self.compares(kind))

    @cached_property
    def always(self) -> tuple[bool, bool]:
        """Whether inbounds of each side have a MeshTimeout's defaults without any.

        An old Timeout has no say there, whatever it says of outbounds (legacy.md fact 6).
        """
        return writes_defaults(self.before), writes_defaults(self.after)

    @cached_property
    def chosen(self) -> Chosen:
        """Return the labels and tags by which others than policies choose."""
        return chosen_by(self.before, self.after)

    @cached_property
    def known(self) -> bool:
        """Whether the state has Dataplanes, so that those settle what others leave open."""
        return any(True for _ in self.before.state.of_type("Dataplane"))

    @cached_property
    def whole(self) -> bool:
        """Whether the states hold all that the control plane has of the mesh, so that a service of
        which they have no Dataplane has none."""
        sides = (self.before, self.after)
        return all(side.state.complete or side.mesh in side.state.exported for side in sides)

    def names_matter_to(self, was: Resource, now: Resource) -> bool:
        for side, proxy in ((self.before, was), (self.after, now)):
            if "MeshProxyPatch" in side.types:
                found = side.matcher.single(side.selection(proxy, "MeshProxyPatch"))
                if found is not None and names_matter(found.conf):
                    return True
        return False

    def slot(
        self,
        key: Key,
        policy_type: str,
        direction: str,
        facts: tuple[Fact, Fact],
        destination: Destination | None = None,
        *,
        whole: bool = False,
    ) -> SlotsCompared:
        """Compare what stands in one slot on both sides."""
        found = differences({key: facts[0]}, {key: facts[1]})
        told = (self.witness(policy_type, direction, d, destination, whole=whole) for d in found)
        doubt = undecided(policy_type, *facts)
        return SlotsCompared(tuple(told), () if doubt is None else (doubt,))

    def witness(
        self,
        policy_type: str,
        direction: str,
        found: Difference,
        destination: Destination | None,
        *,
        whole: bool = False,
    ) -> Witness:
        """Return a difference as a witness; the proxy is filled in later.

        `whole`: of a field that no policy says the last one is named (compare.py).
        """
        named, place, outbound = "", "", None
        routes = policy_type in (ROUTING, TCP_ROUTING)
        if destination is not None:
            named, place = _named(destination), place_of(destination)
            tag = isinstance(destination, ServiceTag)
            outbound = Outbound.SERVICE_TAG if tag else Outbound.REAL
            if found.key[0] == "cluster" and found.key[1] != place_of(destination):
                place, named = f"{place}>{found.key[1]}", f"{named} → {found.key[2]}"
        value = partial(value_of, of_route=routes, whole=whole)
        return Witness(
            mesh=self.before.mesh,
            proxy="",
            policy_type=policy_type,
            direction=direction,
            destination=named,
            place=place,
            outbound=outbound,
            route=match_of(found.was, found.now) if found.key[0] == "route" else None,
            field=found.field,
            before=value(found.was, found.field, found.before, self.locate[0]),
            after=value(found.now, found.field, found.after, self.locate[1]),
            effect=_effect(found),
        )


def _effect(found: Difference) -> Effect:
    if found.begins:
        return Effect.ACTIVATION
    if found.field == IDLE and by_meaning({IDLE: found.before}) == by_meaning({IDLE: found.after}):
        return Effect.NAME  # as long as it was; only Envoy is told so now
    return Effect.RESIDUE if found.field in _RESIDUES else Effect.VALUE


def _named(destination: Destination) -> str:
    """Return what a reader calls a destination, and that an outbound names its port by number."""
    if isinstance(destination, RealResource) and destination.number:
        return f"{called(destination)}, called by its number {destination.number}"
    return called(destination)
