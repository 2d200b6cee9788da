"""Where the old engine may make outbounds: which types are compared there, and for whom.

A proxy as a whole and its inbounds are slots like any other (proxyslots.py). Of outbounds the
targetRef engine's walk (mesh.py) knows those that its routes make; of types of which old policies
or TrafficRoutes changed, those that either engine makes are compared here, before and after.
Proxies that nobody lists are told apart by tags of old policies, too (enginerun.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from kumamigrate.effective.bothengines.makers import OUTBOUND_ITSELF
from kumamigrate.effective.bothengines.oldview import OldSide
from kumamigrate.effective.bothengines.traitsets import Traits
from kumamigrate.effective.bothengines.whoanswers import BESIDE, BY_CLIENT, OUTBOUND, kinds_of
from kumamigrate.effective.difference import Effect, Witness
from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.model.conf import canonical
from kumamigrate.model.kinds import OLD_POLICIES
from kumamigrate.model.resource import Resource
from kumamigrate.model.state import State, mesh_services_mode
from kumamigrate.model.taken import Ground, Taken
from kumamigrate.model.versions import at_least, version
from kumamigrate.prover.doubts.besideold import AskedOfBoth, said
from kumamigrate.prover.enginerun import EngineAnswer, EngineRun
from kumamigrate.prover.gateway import is_builtin
from kumamigrate.prover.mesh import MeshComparison
from kumamigrate.prover.stages.search import Findings
from kumamigrate.prover.stages.sequence import ALL_SECTIONS, either
from kumamigrate.sourcedest.selector import Tags
from kumamigrate.sourcedest.targets import UNKNOWN
from kumamigrate.universe.oldtraits import atom_traits, traits_of
from kumamigrate.universe.side import REMOVED, ROUTES, Side
from kumamigrate.universe.traffic import Outbound

_OUTBOUND_ONLY = frozenset(OUTBOUND) - {"MeshTimeout", "MeshAccessLog"}
"""Types of which neither inbounds nor the traffic that passes through reads anything."""
ASSUMABLE = (UNKNOWN, "http", "http2", "grpc", "tcp", "kafka")


def converted(state: State, mesh: str) -> bool:
    """Say whether a mesh has old policies that count on the release of the state."""
    if at_least(state.release, REMOVED):
        return False
    return any(r.mesh == mesh for r in state.of_type(*OLD_POLICIES))


def without_a_say(before: State, after: State, mesh: str) -> bool:
    """Say whether old policies are the same in two states and decide nothing about outbounds.

    In mode Exclusive the old engine makes none, so what a service tag would read is what the
    targetRef engine says (legacy.md fact 3).
    """
    sides = (before.mesh(mesh), after.mesh(mesh))
    if {mesh_services_mode(side, mesh) for side in sides} != {"Exclusive"}:
        return False
    old, new = (sorted(canonical(r.body) for r in side.of_type(*OLD_POLICIES)) for side in sides)
    return old == new


class OldEngine:
    """What the old engine has a say in, of two sides of one mesh."""

    def __init__(self, pair: MeshComparison, changed: frozenset[str]) -> None:
        self.locate = pair.locate
        self.before, self.after = pair.before, pair.after
        self.changed = changed
        self.covered = pair.covered
        self._pair = pair

    @property
    def engaged(self) -> bool:
        """Whether anything is compared here at all."""
        return bool(self.covered)

    @cached_property
    def _asked(self) -> frozenset[str]:
        """The types to ask both engines for: in mode Exclusive the old one makes no outbound, and
        the new one's own reading compares those it makes (makers.py)."""
        return self.covered - (_OUTBOUND_ONLY if self._only_real else frozenset())

    @cached_property
    def _asking(self) -> AskedOfBoth:
        return AskedOfBoth(
            sides=self._sides, types=self._asked, known=self._known, only_real=self._only_real
        )

    @cached_property
    def _only_real(self) -> bool:
        sides = (self.before, self.after)
        return {mesh_services_mode(s.state, s.mesh) for s in sides} == {"Exclusive"}

    @cached_property
    def _sides(self) -> tuple[OldSide, OldSide]:
        return OldSide(self.before), OldSide(self.after)

    def takes(self, witness: Witness) -> Witness | None:
        """Return a witness of the plain comparison as it counts here, None if it does not."""
        covered = witness.outbound is Outbound.REAL and witness.policy_type in self.covered
        return self._activated(witness) if covered else witness

    def _activated(self, witness: Witness) -> Witness | None:
        """Return what shows on a real outbound: the old engine has none to compare it with.

        What old policies said reached none of them. Where new ones take the place of those, it
        takes effect there exactly as written; an old policy that stays explains nothing, and an
        outbound that goes is no value that begins to count.
        """
        if witness.outbound is not Outbound.REAL:
            return None
        if witness.field == OUTBOUND_ITSELF or witness.policy_type in self.before.types:
            return witness
        if self._replaced(witness.policy_type):
            return replace(witness, effect=Effect.ACTIVATION)
        return witness

    def _replaced(self, policy_type: str) -> bool:
        """Whether the old policies that a type takes the place of are others than before."""
        was, now = self._sides
        return any(said(was.old, kind) != said(now.old, kind) for kind in kinds_of(policy_type))

    def seen(self, witnesses: Iterable[Witness]) -> tuple[Witness, ...]:
        """Return the witnesses of the plain comparison that count here."""
        taken = (self.takes(w) for w in witnesses)
        return tuple(w for w in taken if w is not None)

    def of(self, name: str) -> tuple[Witness, ...]:
        """Return what differs for a Dataplane of the states."""
        return tuple(self.answer.witnesses.get(name, ()))

    def doubts(self, name: str) -> tuple[Doubt, ...]:
        """Return what is not known of a Dataplane of the states."""
        return tuple(self.answer.doubts.get(name, ()))

    def join(self, found: Findings, *, made_up: bool) -> None:
        """Put what differs for made-up proxies among what the plain comparison found."""
        if not self.engaged:
            return
        for name, witnesses in list(found.proxies.items()):
            found.proxies[name] = list(self.seen(witnesses))
            if not found.proxies[name]:
                del found.proxies[name]
        for noted in (found.unknown, found.beyond):
            for doubt in [d for d in noted if d.concerns in self.covered]:
                del noted[doubt]  # too many ways for the plain comparison
        listed = {name for name, _, _ in self._listed()}
        for name, witnesses in self.answer.witnesses.items() if made_up else ():
            if name not in listed:
                found.add(name, witnesses)

    # -- who is asked for ----------------------------------------------------------------------

    @cached_property
    def _pairs(self) -> tuple[tuple[Traits, Traits], ...]:
        """What is taken to go together in the zone of the state, as traits."""
        zone = self.before.state.environment.zone
        found = []
        for pair in self._pair.couplings.asked:
            plain = not any(r.namespaces or r.proxy_types or r.zones - {zone} for r in pair)
            old, new = (r.atom for r in pair)
            if not plain or old is None or new is None:
                continue
            if not any(atom.name or atom.section for atom in (old, new)):
                found.append((atom_traits(old), atom_traits(new)))
        return tuple(found)

    @cached_property
    def _tls_moves(self) -> bool:
        """Whether what clients without a sidecar meet may be another on both sides."""
        return any(self._pair.sequences.suspects("MeshTLS", s) for s in ALL_SECTIONS)

    def _suspects(self, policy_type: str) -> list[Tags] | None:
        """Return what those policies ask that can make a difference in what both engines give of
        a type; None where any proxy may show one."""
        kinds = {policy_type, *(ROUTES if policy_type in OUTBOUND else ())}
        kinds |= set(BESIDE.get(policy_type, ()))
        found = either(
            *(self._pair.sequences.suspects(k, s) for k in sorted(kinds) for s in ALL_SECTIONS)
        )
        if found.every or (policy_type in BY_CLIENT and self._tls_moves):
            return None
        asked: list[Tags] = []
        for side, reach in zip((self.before, self.after), self._pair.reaches, strict=True):
            mine = {id(known) for kind in kinds for known in reach.of(kind)}
            for known in found.known:
                if id(known) in mine:
                    traits = traits_of(known.policy, side, on_routes=self._only_real)
                    asked.append({} if traits is None else dict(traits))
        return asked

    # -- answers -----------------------------------------------------------------------------

    @cached_property
    def answer(self) -> EngineAnswer:
        """Return what differs, and what is not known."""
        found = EngineAnswer()
        if not self.engaged:
            return found
        found.unknown.update(dict.fromkeys(self._asking.doubts()))
        if found.unknown:
            return found
        self._assume(found)
        found.beyond.update(dict.fromkeys(self._asking.beyond()))
        listed = self._listed()
        runs = []
        for assumed in (UNKNOWN,) if self._known else ASSUMABLE:
            run = self._run(listed, assumed)
            runs.append(run.found)
            if not (run.was.guessed or run.now.guessed):
                break  # nothing hangs on what is assumed
        _agree(found, runs)
        return found

    @property
    def of_gateways(self) -> Iterator[Doubt]:
        """What is not known of built-in gateways, and concerns no other proxy."""
        if not self.engaged or not self.covered & {*OUTBOUND, *BY_CLIENT}:
            return
        if any(_has_gateways(side) for side in (self.before, self.after)):
            yield Doubt(
                DoubtKind.GATEWAY,
                "what a built-in gateway reads of old policies is not modelled; compare its"
                " configuration by hand",
            )

    def _assume(self, found: EngineAnswer) -> None:
        if self._asked & {*OUTBOUND, *BY_CLIENT} and not self.before.state.complete:
            text = "no built-in gateway is in the mesh but those that are here"
            found.assumptions[Taken(text, Ground.OLD_POLICIES)] = None
        if "MeshTimeout" in self._asked and _newer(self.before, (2, 14)):
            text = (
                "from 2.14 on a control plane overrules half of what an old Timeout says;"
                " compared is what it meant up to 2.9"
            )
            found.assumptions[Taken(text, Ground.OLD_POLICIES)] = None
        if self._known and self._asked & set(OUTBOUND):
            text = (
                "services of which the state has no Dataplane have no endpoints and carry TCP,"
                " as far as old policies treat HTTP differently"
            )
            found.assumptions[Taken(text, Ground.OLD_POLICIES)] = None

    @cached_property
    def _known(self) -> bool:
        """Whether the state has Dataplanes, so that listed proxies can settle what is undecided."""
        return any(True for _ in self.before.state.of_type("Dataplane"))

    def _listed(self) -> list[tuple[str, Resource, Resource]]:
        now = {(d.namespace, d.name): d for d in self.after.state.of_type("Dataplane")}
        return [
            (d.name, d, now[d.namespace, d.name])
            for d in self.before.state.of_type("Dataplane")
            if (d.namespace, d.name) in now
        ]

    def _run(self, listed: Sequence[tuple[str, Resource, Resource]], assumed: str) -> EngineRun:
        run = EngineRun(
            was=OldSide(self.before, assumed),
            now=OldSide(self.after, assumed),
            covered=self._asked,
            locate=self.locate,
            known=self._known,
            broken_by=self._pair.couplings.broken_by,
            pairs=self._pairs,
            suspects=self._suspects,
            pair=self._pair,
        )
        for name, was, now in listed:
            run.listed(name, was, now)
        for policy_type in sorted(self._asked - {p.type for p in self._asking.labelled()}):
            run.made_up(policy_type)
        return run


def _agree(found: EngineAnswer, runs: Sequence[EngineAnswer]) -> None:
    """Join runs under different assumptions: what only some of them find is unknown."""
    for run in runs:
        found.unknown |= run.unknown
        found.elsewhere |= run.elsewhere
        found.doubts |= run.doubts
        found.beyond |= run.beyond
    if len(runs) == 1:
        found.witnesses = runs[0].witnesses
        return
    keyed = [
        {(name, *w.key[1:]): (name, w) for name, ws in run.witnesses.items() for w in ws}
        for run in runs
    ]
    for key in dict.fromkeys(k for one in keyed for k in one):
        holding = [one[key] for one in keyed if key in one]
        name, witness = holding[0]
        if len(holding) == len(runs) or witness.effect is not Effect.VALUE:
            found.witnesses.setdefault(name, []).append(witness)
        else:
            words = (
                f"{witness.policy_type} for {witness.destination or name}: {witness.field} depends"
                " on the protocol of the service, which the state does not say; give an inventory"
                " with the Dataplanes (--inventory)"
            )
            doubt = Doubt(DoubtKind.PROTOCOL, words, concerns=witness.policy_type)
            found.elsewhere[doubt] = None


def _has_gateways(side: Side) -> bool:
    if any(True for _ in side.state.of_type("MeshGateway")):
        return True
    return any(is_builtin(dataplane) for dataplane in side.state.of_type("Dataplane"))


def _newer(side: Side, release: tuple[int, int]) -> bool:
    return version(side.release.name) >= release
