"""Where the old engine has a say: which types are compared together, and for whom.

A proxy as a whole and its inbounds are slots like any other (proxyslots.py), outbounds that routes
of the new kind make as well (mesh.py); those that the old engine makes madeslots.py compares.
Proxies that nobody lists are made up in stages/together.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from kumamigrate.dataclass import replace
from kumamigrate.effective.bothengines.callers import from_tags
from kumamigrate.effective.bothengines.comeorgone import OUTBOUND_ITSELF, TAGS_HEADER
from kumamigrate.effective.bothengines.madeoutbounds import NORMALIZED
from kumamigrate.effective.bothengines.oldview import services_named
from kumamigrate.effective.bothengines.whoanswers import BY_CLIENT, OUTBOUND, WHOLE, kinds_of
from kumamigrate.effective.difference import Effect, Witness
from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.effective.proxyfacts import LOG
from kumamigrate.effective.routing import TCP_ROUTING
from kumamigrate.model.kinds import OLD_POLICIES
from kumamigrate.model.resource import Resource
from kumamigrate.model.state import State, mesh_services_mode
from kumamigrate.model.taken import Ground, Taken
from kumamigrate.model.versions import at_least
from kumamigrate.prover.doubts.besideold import AskedOfBoth, has_moved, stands
from kumamigrate.prover.gateway import is_builtin
from kumamigrate.prover.slots.madeslots import MadeOutbounds
from kumamigrate.prover.slots.mesh import MeshComparison
from kumamigrate.prover.slots.twosides import SAME, SlotsCompared
from kumamigrate.sourcedest.selector import ANY, Tags, selectors_in
from kumamigrate.targetref.route import ServiceTag
from kumamigrate.universe.backend import written_outbounds
from kumamigrate.universe.madeup import OTHER_SERVICE
from kumamigrate.universe.network import Network, same
from kumamigrate.universe.side import REMOVED, Side
from kumamigrate.universe.traffic import Outbound

_BY_HEADER = frozenset({"MeshFaultInjection", "MeshRateLimit"})
ONE_INBOUND = (
    "a client that is not listed has the tags of one inbound: one of several may meet the faults"
    " and limits of each, where an old policy has one for all"
)
"""What is taken for granted of clients by their header; those that are known are tried."""
_OUTBOUND_ONLY = frozenset(OUTBOUND) - {"MeshTimeout", "MeshAccessLog"}
"""Types of which neither inbounds nor the traffic that passes through reads anything."""


def converted(state: State, mesh: str) -> bool:
    """Say whether a mesh has old policies that count on the release of the state."""
    if at_least(state.release, REMOVED):
        return False
    return any(r.mesh == mesh for r in state.of_type(*OLD_POLICIES))


def without_a_say(states: Iterable[State], mesh: str) -> bool:
    """Say whether old policies are the same in two states and decide nothing about outbounds.

    In mode Exclusive the old engine makes none, so what a service tag would read is what the
    targetRef engine says (legacy.md fact 3).
    """
    listed = list(states)
    modes = {mesh_services_mode(state.mesh(mesh), mesh) for state in listed}
    return modes == {"Exclusive"} and same_old(listed, mesh)


def same_old(states: Iterable[State], mesh: str) -> bool:
    """Say whether the old policies of a mesh are the same in all of some states."""
    said = [
        sorted(r.canonical_body for r in state.mesh(mesh).of_type(*OLD_POLICIES))
        for state in states
    ]
    return all(one == said[0] for one in said)


class OldEngine:
    """What the old engine has a say in, of two sides of one mesh."""

    def __init__(self, pair: MeshComparison, *, tags_end: bool = False) -> None:
        self.before, self.after = pair.before, pair.after
        self.covered = pair.covered
        self._pair = pair
        self._tags_end = tags_end
        self.elsewhere: dict[Doubt, None] = {}
        """What is not known of proxies that nobody lists."""
        self._residues: set[tuple[str, ...]] = set()

    @cached_property
    def _engaged(self) -> bool:
        """Whether anything is compared here at all."""
        return bool(self.covered) and not self.unknown

    @cached_property
    def _asked(self) -> frozenset[str]:
        """The types to ask both engines for: in mode Exclusive the old one makes no outbound but
        those that Dataplanes write down, and the new one's own reading compares those it makes
        (oldview.py)."""
        sides = (self.before, self.after)
        real = self._only_real and not any(map(writes_tags, sides))
        return self.covered - (_OUTBOUND_ONLY if real else frozenset())

    @cached_property
    def _asking(self) -> AskedOfBoth:
        return AskedOfBoth(self._pair, self._asked)

    @cached_property
    def _only_real(self) -> bool:
        sides = (self.before, self.after)
        return {mesh_services_mode(s.state, s.mesh) for s in sides} == {"Exclusive"}

    def seen(self, witness: Witness) -> Witness:
        """Return a witness of the targetRef engine as it counts here.

        What old policies said reached no real outbound. Where new ones take the place of those, it
        takes effect there exactly as written; an old policy that stays explains nothing, and an
        outbound that goes is no value that begins to count.
        """
        kind = witness.policy_type
        mine = witness.outbound is Outbound.REAL and kind in self.covered and not self._tags_end
        if not mine or witness.field == OUTBOUND_ITSELF or self._says_of_outbounds(kind):
            return witness
        return replace(witness, effect=Effect.ACTIVATION) if self._replaced(kind) else witness

    def _says_of_outbounds(self, policy_type: str) -> bool:
        """Whether a new policy of a type says anything of what proxies send."""
        return any(
            one.templated or one.spec.get("to") or one.spec.get("default")
            for one in self.before.state.of_type(policy_type)
            if one.mesh == self.before.mesh
        )

    def _replaced(self, policy_type: str) -> bool:
        """Whether the old policies that a type takes the place of are others than before."""
        return any(has_moved(self._pair, kind) for kind in kinds_of(policy_type))

    def stands(self, policy_type: str) -> bool:
        """Whether the old policies that have a say in what is read of a type are as before."""
        return stands(self._pair, policy_type)

    # -- what is compared ----------------------------------------------------------------------

    @cached_property
    def unknown(self) -> tuple[Doubt, ...]:
        """What keeps any proxy from being compared."""
        return tuple(self._asking.doubts()) if self.covered else ()

    @property
    def made_up(self) -> tuple[str, ...]:
        """The types for which proxies are made up, one of the two of routes for both.

        Without TrafficRoutes the old engine makes no outbound, and what old policies say of one
        is nothing.
        """
        if not self._engaged:
            return ()
        left_out = {TCP_ROUTING, *(policy.type for policy in self._asking.labelled())}
        if not any(one.routed for one in self._pair.engines):
            left_out |= set(OUTBOUND) - {LOG}
        return tuple(sorted(self._asked - left_out))

    def of(self, was: Resource, now: Resource) -> SlotsCompared:
        """Compare what a Dataplane of the states has of the old engine."""
        if not self._engaged:
            return SAME
        found = self._made.compare(was, was if self._tags_end else now, self._asked)
        every = (*found.witnesses, *found.led)
        # A proxy that differs shows something, though others have shown all of it.
        return replace(found, witnesses=self.once(every) or every[:1], led=())

    def of_type(self, proxy: Resource, policy_type: str, *, names: bool) -> SlotsCompared:
        """Compare what a made-up proxy has of one type, of whichever engine."""
        if policy_type in WHOLE:
            return self._pair.single(proxy, proxy, policy_type)
        found = self._made.compare(proxy, proxy, frozenset({policy_type}))
        if policy_type in OUTBOUND and not (self._only_real or self._tags_end):
            made_new = self._pair.at(proxy, proxy, policy_type, self._tags, names=names)
            found += SlotsCompared(made_new)
        if policy_type in BY_CLIENT:
            found += self._pair.at_clients(proxy, proxy, policy_type)
        return found + self._pair.passed(proxy, proxy) if policy_type == LOG else found

    def may_differ(self, policy_type: str) -> bool:
        """Whether a made-up proxy may have anything of a type that is compared here: one writes no
        outbounds down."""
        if policy_type == LOG and not any(map(_is_logged, (self.before, self.after))):
            return False
        if policy_type in (*WHOLE, *BY_CLIENT, LOG):
            return True
        if policy_type in OUTBOUND and not self._only_real:
            return True
        return self._made.may_differ((policy_type,), written=False)

    @cached_property
    def _services(self) -> frozenset[str]:
        types = self._asked & set(OUTBOUND)
        return frozenset(n for reach in self._pair.reaches for n in services_named(reach, types))

    @cached_property
    def _tags(self) -> Network:
        return Network(self.before, self.after, same(map(ServiceTag, sorted(self._services))))

    @cached_property
    def _made(self) -> MadeOutbounds:
        """Where service tags end what takes their place is compared with what policies say of them
        (carry.py): here what old policies that stay until then say besides."""
        pair = self._pair
        if self._tags_end:
            state, mesh, contents = self.before.state, self.before.mesh, self.before.contents
            left = tuple(r for r in state.resources if r.type not in OLD_POLICIES)
            ended = Side(replace(state, resources=left), mesh, contents)
            pair = MeshComparison(Side(state, mesh, contents), ended, pair.locate, pair.types)
        return MadeOutbounds(pair, self._services, only_real=self._only_real)

    def once(self, found: Iterable[Witness]) -> tuple[Witness, ...]:
        """Return witnesses without residues that another proxy has shown."""
        told = []
        for witness in found:
            if witness.effect is Effect.RESIDUE:
                key = witness.key[1:]
                if witness.direction == "inbound" or witness.field in (NORMALIZED, TAGS_HEADER):
                    key = (witness.policy_type, witness.field, *key[-2:])
                if key in self._residues:
                    continue
                self._residues.add(key)
            told.append(witness)
        return tuple(told)

    @cached_property
    def beyond(self) -> tuple[str, ...]:
        """Why the answer holds only for the known proxies, or for services of one protocol."""
        return (*self._asking.beyond(), *self.as_tcp) if self._engaged else ()

    @property
    def of_gateways(self) -> Iterator[Doubt]:
        """What is not known of built-in gateways, and concerns no other proxy."""
        if not self.covered & {*OUTBOUND, *BY_CLIENT}:
            return
        if any(_has_gateways(side) for side in (self.before, self.after)):
            yield Doubt(
                DoubtKind.GATEWAY,
                "what a built-in gateway reads of old policies is not modelled; compare its"
                " configuration by hand",
            )

    @property
    def assumptions(self) -> Iterator[Taken]:
        """What the answer takes for granted."""
        if not self._engaged:
            return
        if self._asked & {*OUTBOUND, *BY_CLIENT} and not self.before.state.complete:
            text = "no built-in gateway is in the mesh but those that are here"
            yield Taken(text, Ground.OLD_POLICIES)
        if any(self._names_clients(kind) for kind in sorted(self._asked & _BY_HEADER)):
            yield Taken(ONE_INBOUND, Ground.OLD_POLICIES)

    @property
    def as_tcp(self) -> Iterator[Taken]:
        """Say of which services it matters that they carry TCP, as nothing here says otherwise."""
        for service in sorted(self._made.count_as_tcp):
            name = "a service that nobody names" if service == OTHER_SERVICE else service
            text = f"no Dataplane of {name} is known, so it counts as one of TCP"
            yield Taken(text, Ground.PROTOCOL, name)

    def _names_clients(self, policy_type: str) -> bool:
        """Whether policies of a type, or the old ones before them, name several clients by tags."""
        named: list[Tags] = []
        for side in self._pair.engines:
            for policy in side.side.state.of_type(policy_type):
                named += from_tags(policy)
            for policy in (p for kind in kinds_of(policy_type) for p in side.old.of(kind)):
                named += selectors_in(policy, "sources")
        clients = {frozenset(tags.items()) for tags in named if set(tags.values()) - {ANY}}
        return len(clients) > 1


def writes_tags(side: Side) -> bool:
    """Say whether a Dataplane has an outbound to a service tag, which is there in any mode."""
    found = (written_outbounds(side, d) or {} for d in side.state.of_type("Dataplane"))
    return any(isinstance(c.destination, ServiceTag) for one in found for c in one.values())


def _has_gateways(side: Side) -> bool:
    if any(True for _ in side.state.of_type("MeshGateway")):
        return True
    return any(is_builtin(dataplane) for dataplane in side.state.of_type("Dataplane"))


def _is_logged(side: Side) -> bool:
    """Whether some policy of either kind may write an access log."""
    return LOG in side.types or any(side.old.of(kind) for kind in kinds_of(LOG))
