"""The verdict about two states, mesh by mesh and claim by claim (product.md §5)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from kumamigrate.effective.changed import changed_types
from kumamigrate.effective.difference import Locate, Value, Witness
from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.effective.outboundfacts import BY_ROUTE
from kumamigrate.errors import REPORT_IT, fault
from kumamigrate.model.resource import Resource
from kumamigrate.model.state import State, mesh_services_mode
from kumamigrate.prover.assumptions.chosen_labels import nobody_chooses
from kumamigrate.prover.assumptions.protocol_conflict import alike, as_spoken
from kumamigrate.prover.assumptions.subset_service import not_shown, told
from kumamigrate.prover.claimed import CARRY, CLAIMS, LIVE, RELEASE
from kumamigrate.prover.claims.carry import (
    Couples,
    as_tags,
    carry_doubts,
    carry_witnesses,
    couples_of,
)
from kumamigrate.prover.claims.upgrade import (
    upgrade_differences,
    upgrade_notes,
)
from kumamigrate.prover.compose import upon
from kumamigrate.prover.doubts.concern import Concerns
from kumamigrate.prover.doubts.doubt import (
    template_assumptions,
    tie_doubts,
)
from kumamigrate.prover.doubts.identities import tls_differences
from kumamigrate.prover.gateway import gateway_witnesses, is_builtin, made_up_gateways
from kumamigrate.prover.mesh import MeshComparison
from kumamigrate.prover.nonpolicy import (
    dataplane_differences,
    dataplanes,
    ground_differences,
    sent_differences,
)
from kumamigrate.prover.oldengine import OldEngine, converted, without_a_say
from kumamigrate.prover.owed import Owed
from kumamigrate.prover.proof import (
    ClaimResult,
    MeshProof,
    Proof,
    ProxyVerdict,
    Verdict,
    doubted,
    only_listed,
    worst,
)
from kumamigrate.prover.proxyslots import SAME
from kumamigrate.prover.stages.local import LocalProof, local_proof
from kumamigrate.prover.stages.search import ANY_PROXY, Coverage
from kumamigrate.prover.stages.search import verdicts as found_verdicts
from kumamigrate.prover.stages.together import Together
from kumamigrate.prover.workload import (
    Workload,
    changed_workloads,
    note_doubts,
    unsure,
    workload_differences,
)
from kumamigrate.source.text import FieldPath
from kumamigrate.targetref.route import Destination, RealResource, ServiceTag
from kumamigrate.universe.backend import Cluster, listed_outbounds, written_outbounds
from kumamigrate.universe.network import Network
from kumamigrate.universe.services import with_world, worlds_of
from kumamigrate.universe.side import ROUTES, Contents, Side
from kumamigrate.universe.traffic import (
    MODES,
    Outbound,
    by_number,
    kind_of,
    real_destinations,
    service_tags,
)

WITNESSES, LISTED = "witnesses", "listed"
DEFAULT_MESH = "default"


def nowhere(_resource: Resource, _path: FieldPath) -> str:
    """Return no place: for states that have no text."""
    return ""


def prove(
    before: State,
    after: State,
    *,
    claims: Sequence[str] = (LIVE, CARRY),
    proxies: str = WITNESSES,
    upgraded: State | None = None,
    one_protocol: bool = False,
    also: Sequence[State] = (),
    same_unread: bool = False,
    only: Collection[str] | None = None,
    types: Collection[str] | None = None,
    standing: tuple[State, State] | None = None,
    contents: Contents | None = None,
    locate_before: Locate = nowhere,
    locate_after: Locate = nowhere,
) -> Proof:
    """Return the proof of some claims for all meshes of two states, or for `only` some.

    `upgraded` is the state after as the target release stores it; claim *release* compares
    `before` with it (with `after` where it is absent). `proxies` is "witnesses": the verdict
    holds for every proxy that could exist, or "listed": for the Dataplanes of the states. With
    `one_protocol` a service tag and the MeshService in its place are read as if of one protocol
    (alike.py), so that no difference comes from their own disagreement. `also` are states that
    are not compared, but the services that they refer to are looked at. With `same_unread` what
    could not be read is known to be the same text on both sides, so that it bars nothing that is
    proven locally (local.py). With `types` only differences of some policy types are looked for:
    for whoever knows that the others do not matter. `standing` are the states of another proof,
    up to the one that a change begins with: what differs there in the same way, at the same place
    of the same proxy, is no difference here (owed.py); doubts are not compared. `contents`
    keeps what was read for the next proof that is given the same.
    """
    contents = Contents() if contents is None else contents
    # What belongs to no mesh, or could not be read, counts where nothing names a mesh, too.
    meshes = sorted({*before.meshes(), *after.meshes()}) or [DEFAULT_MESH]
    if only is not None:
        meshes = [mesh for mesh in meshes if mesh in only]
    locate = (locate_before, locate_after)
    local = same_unread or not (before.unread or after.unread)
    return Proof(
        release_before=before.release,
        release_after=(upgraded or after).release,
        meshes={
            mesh: _prove_mesh_safely(
                mesh,
                before,
                after,
                upgraded,
                claims,
                proxies,
                contents,
                locate,
                one_protocol,
                also,
                types,
                standing,
                local=local,
            )
            for mesh in meshes
        },
        unread=tuple(dict.fromkeys((*before.unread, *after.unread))),
    )


def _prove_mesh_safely(
    mesh: str,
    before: State,
    after: State,
    upgraded: State | None,
    claims: Sequence[str],
    *given: Any,
    local: bool,
) -> MeshProof:
    """Return the proof for a mesh. Where comparing it is too much for this tool, it is unknown."""
    try:
        return _prove_mesh(mesh, before, after, upgraded, claims, *given, local=local)
    except Exception as error:
        why = Doubt(DoubtKind.FAULT, f"{fault(error)}; {REPORT_IT}")
        result = ClaimResult(verdict=Verdict.UNKNOWN, proxies=(), unknown=(why,))
        return MeshProof(mesh=mesh, claims=dict.fromkeys(claims, result), all_proxies=False)


def _prove_mesh(
    mesh: str,
    before: State,
    after: State,
    upgraded: State | None,
    claims: Sequence[str],
    proxies: str,
    contents: Contents,
    locate: tuple[Locate, Locate],
    one_protocol: bool,
    also: Sequence[State],
    types: Collection[str] | None,
    standing: tuple[State, State] | None,
    *,
    local: bool,
) -> MeshProof:
    results: dict[str, MeshProof] = {}
    scenes: dict[tuple[int, int], ProofScene] = {}
    if LIVE in claims and local:
        found = local_proof(before.mesh(mesh), after.mesh(mesh))
        if found is not None:
            results[LIVE] = _proven_locally(found, mesh, before.mesh(mesh), after.mesh(mesh))
    for claim in claims:
        if claim in results:
            continue
        later = upgraded if claim == RELEASE and upgraded is not None else after
        rests = claim != LIVE and (claim == CARRY or upgraded is not None)
        earlier = _begun(claim, before, after, mesh) if rests else before
        stood = standing
        if stood is not None and rests:
            stood = (_begun(claim, *stood, mesh), stood[1])
        asked = (id(earlier), id(later))
        if asked not in scenes:
            states = (earlier.mesh(mesh), later.mesh(mesh))
            others = tuple(state.mesh(mesh) for state in also)
            scenes[asked] = ProofScene(
                mesh,
                *states,
                contents,
                locate,
                one_protocol=one_protocol,
                also=others,
                types=types,
                standing=None if stood is None else _of_mesh(stood, mesh),
            )
        results[claim] = _prove_claim(claim, scenes[asked], proxies)
        if earlier is not before:
            if LIVE not in results:
                lived = ProofScene(
                    mesh,
                    before.mesh(mesh),
                    after.mesh(mesh),
                    contents,
                    locate,
                    standing=None if standing is None else _of_mesh(standing, mesh),
                )
                results[LIVE] = _prove_claim(LIVE, lived, proxies)
            settled = upon(claim, results[claim].claims[claim], results[LIVE].claims[LIVE])
            results[claim] = replace(results[claim], claims={claim: settled})
    proofs = tuple(results.values())
    return MeshProof(
        mesh=mesh,
        claims={claim: results[claim].claims[claim] for claim in claims},
        all_proxies=all(p.all_proxies for p in proofs),
        beyond=tuple(dict.fromkeys(b for p in proofs for b in p.beyond)),
        assumptions=tuple(dict.fromkeys(a for p in proofs for a in p.assumptions)),
        ties=tuple(dict.fromkeys(t for p in proofs for t in p.ties)),
    )


def _begun(claim: str, before: State, after: State, mesh: str) -> State:
    """Return the state that a claim about real resources begins with.

    What old policies say only claim *live* compares; from there on the rest follows.
    """
    if not converted(before, mesh) or (claim == CARRY and without_a_say(before, after, mesh)):
        return before
    return after


def _of_mesh(states: tuple[State, State], mesh: str) -> tuple[State, State]:
    return states[0].mesh(mesh), states[1].mesh(mesh)


def _proven_locally(found: LocalProof, mesh: str, before: State, after: State) -> MeshProof:
    """Return claim *live* for a mesh in which nothing says anything else than before."""
    listed = (name for _, name in dict.fromkeys((*dataplanes(before), *dataplanes(after))))
    modes = (mesh_services_mode(state, mesh) for state in (before, after))
    result = ClaimResult(
        verdict=Verdict.EQUIVALENT,
        proxies=(
            *(ProxyVerdict(name=name, verdict=Verdict.EQUIVALENT) for name in listed),
            ProxyVerdict(name=ANY_PROXY, verdict=Verdict.EQUIVALENT, made_up=True),
        ),
        modes=dict.fromkeys(MODES, Verdict.EQUIVALENT) if None in modes else {},
    )
    taken = (*map(str, found.conditions), *template_assumptions(before, after))
    return MeshProof(mesh=mesh, claims={LIVE: result}, assumptions=taken)


@dataclass(frozen=True, slots=True)
class InWorld:
    """Two sides in one world, and the service tags to look at.

    `stood` are the sides whose differences do not count (owed.py).
    """

    pair: MeshComparison
    services: tuple[str, ...]
    stood: MeshComparison | None = None


class ProofScene:
    """Two states of one mesh in every world, matchers and all; claims share it."""

    def __init__(
        self,
        mesh: str,
        before: State,
        after: State,
        contents: Contents,
        locate: tuple[Locate, Locate],
        *,
        one_protocol: bool = False,
        also: Sequence[State] = (),
        types: Collection[str] | None = None,
        standing: tuple[State, State] | None = None,
    ) -> None:
        self.mesh = mesh
        self._types = types
        self.states = (before, after)
        self.complete = before.complete and after.complete
        self.worlds = worlds_of(before, after, mesh, (*also, *(standing or ())))
        self.compared: list[InWorld] = []
        self._locate = locate
        for world in self.worlds.worlds:
            was, now = (Side(with_world(s, world), mesh, contents) for s in (before, after))
            services = tags_on(was, now, world.tags)
            stood = None
            if standing is not None:
                sides = [Side(with_world(s, world), mesh, contents) for s in standing]
                stood = self._pair(sides[0], sides[1], services if one_protocol else ())
            pair = self._pair(was, now, services if one_protocol else ())
            self.compared.append(InWorld(pair, services, stood))

    def _pair(self, was: Side, now: Side, of_one_protocol: Sequence[str]) -> MeshComparison:
        return MeshComparison(*alike(was, now, of_one_protocol), self._locate, self._types)

    @cached_property
    def carrying(self) -> list[InWorld]:
        """Return what claims compare that hold service tags to what replaces them."""
        return [
            InWorld(
                self._spoken(one.pair, one.services),
                one.services,
                None if one.stood is None else self._spoken(one.stood, one.services),
            )
            for one in self.compared
        ]

    def _spoken(self, pair: MeshComparison, services: Sequence[str]) -> MeshComparison:
        before = as_spoken(pair.before, pair.after, services)
        if before is pair.before:
            return pair
        return MeshComparison(before, pair.after, self._locate, self._types)


def tags_on(before: Side, after: Side, more: Sequence[str]) -> tuple[str, ...]:
    """Return the service tags of two sides, and more to look at."""
    listed = (tag for side in (before, after) for tag in service_tags(side.state))
    return tuple(dict.fromkeys((*listed, *more)))


def _prove_claim(claim: str, scene: ProofScene, proxies: str) -> MeshProof:
    made_up = proxies != LISTED and not scene.complete
    compared = scene.compared if claim == LIVE else scene.carrying
    asked = [
        Claim(claim, one.pair, subjects(one.pair), one.services, stood=one.stood)
        for one in compared
    ]
    result = together([one.result(made_up=made_up) for one in asked])
    if made_up and scene.worlds.too_many:
        more = Doubt(DoubtKind.COMBINATIONS, scene.worlds.too_many)
        unknown = (*result.unknown, more)
        result = replace(result, verdict=worst((result.verdict, Verdict.UNKNOWN)), unknown=unknown)
    told_by = dict.fromkeys(one for w in scene.compared for one in not_shown(w.pair.after))
    guessed = tuple(Doubt(DoubtKind.MISSING, words) for words in told_by)
    if guessed:
        result = replace(
            result,
            verdict=worst((result.verdict, Verdict.UNKNOWN)),
            unknown=(*result.unknown, *guessed),
            proxies=tuple(doubted(proxy, guessed) for proxy in result.proxies),
        )
    beyond: tuple[str, ...] = ("only the Dataplanes that the states hold were compared",)
    couplings = [one for w in scene.compared for one in w.pair.couplings.all] if made_up else []
    if made_up:
        shares = (one for w in scene.compared for one in told(w.pair.after.shares))
        others = (one for c in asked for one in (*c.old.beyond, *c.beyond))
        beyond = tuple(dict.fromkeys((*map(str, couplings), *shares, *others)))
    sides = scene.compared[0].pair
    notes = upgrade_notes(sides.before, sides.after) if claim == RELEASE else ()
    return MeshProof(
        mesh=scene.mesh,
        claims={claim: result},
        all_proxies=not beyond,
        beyond=beyond,
        assumptions=(
            *scene.worlds.assumptions,
            *(one.fact for one in couplings),
            *asked[0].old.assumptions,
            *template_assumptions(*scene.states),
            *nobody_chooses(sides.before, sides.after, sides.chosen),
            *notes,
        ),
        ties=tuple(str(d) for d in result.doubts if d.kind is DoubtKind.TIE),
    )


def together(parts: Sequence[ClaimResult]) -> ClaimResult:
    """Return what holds in every one of several worlds."""
    if len(parts) == 1:
        return parts[0]
    proxies: dict[str, ProxyVerdict] = {}
    for part in parts:
        for verdict in part.proxies:
            known = proxies.get(verdict.name)
            proxies[verdict.name] = verdict if known is None else _both(known, verdict)
    names = dict.fromkeys(mode for part in parts for mode in part.modes)
    return ClaimResult(
        verdict=worst(part.verdict for part in parts),
        proxies=tuple(proxies.values()),
        unknown=tuple(dict.fromkeys(u for part in parts for u in part.unknown)),
        modes={mode: worst(part.modes[mode] for part in parts) for mode in names},
    )


def _both(first: ProxyVerdict, second: ProxyVerdict) -> ProxyVerdict:
    return replace(
        first,
        verdict=worst((first.verdict, second.verdict)),
        witnesses=tuple({w.key: w for w in (*first.witnesses, *second.witnesses)}.values()),
        unknown=tuple(dict.fromkeys((*first.unknown, *second.unknown))),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A proxy on both sides; None where a side lacks it."""

    name: str
    was: Resource | None
    now: Resource | None
    made_up: bool = False
    workload: Workload | None = None

    @property
    def at(self) -> tuple[str, str]:
        """Where the proxy is (its namespace), and its name."""
        there = self.was or self.now
        return ("" if there is None else there.namespace, self.name)


def subjects(pair: MeshComparison) -> tuple[Subject, ...]:
    """Return the Dataplanes of both sides."""
    left, right = dataplanes(pair.before.state), dataplanes(pair.after.state)
    return tuple(
        Subject(name=name, was=left.get((space, name)), now=right.get((space, name)))
        for space, name in dict.fromkeys((*left, *right))
    )


class Claim:
    """One claim about one mesh, proxy by proxy."""

    def __init__(
        self,
        claim: str,
        pair: MeshComparison,
        proxies: Sequence[Subject],
        services: Sequence[str],
        *,
        stood: MeshComparison | None = None,
    ) -> None:
        self.claim = claim
        self.stood = None if stood is None else Claim(claim, stood, subjects(stood), services)
        self.standing = None if stood is None else Owed(stood, pair.after)
        self.pair = pair
        self.proxies = proxies
        self.services = services
        before, after = pair.before, pair.after
        self.modes = tuple(mesh_services_mode(s.state, s.mesh) for s in (before, after))
        self._changed = changed_types(before, after)
        self.old = OldEngine(pair)
        self.beyond: tuple[str, ...] = ()

    def result(self, *, made_up: bool) -> ClaimResult:
        """Return the verdict of the claim, with `made_up` for every proxy that could exist."""
        unknown = self.concerns.of_mesh
        shared = tuple(self._shared())
        if self.standing is not None and self.stood is not None:
            shared = self.standing.left(shared, tuple(self.stood._shared()))
        verdicts = tuple(self._verdict(subject, shared) for subject in self._subjects())
        if made_up or not verdicts:
            verdicts += self._beyond(shared, made_up=made_up)
        verdicts = tuple(doubted(verdict, unknown) for verdict in verdicts)
        unknown = tuple(dict.fromkeys((*unknown, *self.concerns.of_some)))
        return ClaimResult(
            verdict=worst((*(v.verdict for v in verdicts), *_if_any(unknown))),
            proxies=verdicts,
            unknown=unknown,
            modes=self._by_mode(verdicts, unknown),
        )

    def _beyond(self, shared: tuple[Witness, ...], *, made_up: bool) -> tuple[ProxyVerdict, ...]:
        """Return the verdicts for proxies that the states do not hold."""
        environment = self.pair.before.state.environment
        zone = environment.zone if environment.mode == "zone" else ""
        coverage = Coverage(
            self.pair,
            self._changed,
            self.implied,
            zone,
            listed=bool(self.proxies),
            standing=self.standing,
        )
        coverage.found.add(ANY_PROXY, shared)
        if made_up and self.claim == CARRY:
            coverage.carry(self.services)
        elif made_up:
            coverage.live(names=self.claim == LIVE)
            if self._tags_end:
                coverage.carry(self.services, live=True)
        coverage.found.unknown.update(dict.fromkeys(self.concerns.of_unheld()))
        for name, witnesses in coverage.found.proxies.items():
            coverage.found.proxies[name] = [*map(self.old.seen, witnesses)]
        if made_up:
            Together(
                pair=self.pair,
                old=self.old,
                found=coverage.found,
                names=self.claim == LIVE,
                standing=self.standing,
                stood=None if self.stood is None else self.stood.old,
            ).search()
        self.beyond = tuple(map(str, coverage.found.beyond))
        if self.claim != CARRY:
            self.beyond += tuple(map(only_listed, self.pair.beyond))
        there = made_up and not self._gateways_end
        gateways = tuple(made_up_gateways(self.pair, zone)) if there else ()
        return (
            *found_verdicts(coverage.found),
            *(
                self._verdict(Subject(name=g.name, was=g, now=g, made_up=True), ())
                for g in gateways
            ),
        )

    @cached_property
    def concerns(self) -> Concerns:
        """Return what is not known, and of whom."""
        return Concerns(
            claim=self.claim,
            pair=self.pair,
            changed=self._changed,
            old=self.old,
            tags_end=self._tags_end,
        )

    def _subjects(self) -> tuple[Subject, ...]:
        """Return the Dataplanes of both sides, and for claim *live* the workloads."""
        sides = (self.pair.before.state, self.pair.after.state)
        if self.claim != LIVE or all(side.complete for side in sides):
            return tuple(self.proxies)
        changed = changed_workloads(self.pair.before, self.pair.after)
        workloads = (
            Subject(name=f"workload {one.key[1]}", was=one.was, now=one.now, workload=one)
            for one in changed
        )
        return (*self.proxies, *workloads)

    def _shared(self) -> Iterator[Witness]:
        """Yield what differs for every proxy of the mesh."""
        pair = self.pair
        asked = (pair.before, pair.after, pair.chosen.labels)
        if self.claim == LIVE:
            yield from ground_differences(*asked)
        elif self.claim == RELEASE:
            yield from upgrade_differences(*asked)
        if self.claim != CARRY:
            yield from sent_differences(pair.before, pair.after)
            yield from tls_differences(pair.before, pair.after)

    def _verdict(self, subject: Subject, shared: tuple[Witness, ...]) -> ProxyVerdict:
        found, unknown = self._differences(subject, shared)
        if self.standing is not None and self.stood is not None and found:
            found = self.standing.left(found, self.stood._of_the_same(subject))
        if found and subject.workload is not None and not subject.workload.sure:
            found, unknown = (), (*unknown, unsure(subject.workload))
        return _proxy_verdict(subject.name, found, unknown, made_up=subject.made_up)[0]

    def _of_the_same(self, subject: Subject) -> tuple[Witness, ...]:
        """Return what differs here for a proxy that others ask about."""
        mine = [subject] if subject.made_up else [s for s in self._subjects() if s.at == subject.at]
        return tuple(w for one in mine for w in self._differences(one, ())[0])

    def _differences(
        self, subject: Subject, shared: tuple[Witness, ...]
    ) -> tuple[tuple[Witness, ...], tuple[Doubt, ...]]:
        """Return what differs for a proxy, with what does for every proxy, and what is not known
        of it."""
        if subject.was is not None and written_outbounds(self.pair.before, subject.was) == {}:
            shared = tuple(w for w in shared if w.direction != "outbound")
        if subject.was is None or subject.now is None:
            return (*shared, *self._come_or_gone(subject)), ()
        ends = self._gateways_end and is_builtin(subject.was)
        tied = {} if ends else tie_doubts(self.pair, subject.was, subject.now)
        unknown = tuple(doubt for doubts in tied.values() for doubt in doubts)
        # What chance decides is neither the same nor different.
        chance = {*tied, *(BY_ROUTE if tied.keys() & set(ROUTES) else ())}
        every = self._witnesses(subject.was, subject.now, own=subject.workload is None)
        if subject.workload is not None:
            every += workload_differences(subject.workload, self.pair.before.mesh, self.pair.chosen)
            unknown += tuple(note_doubts(subject.workload))
        sure = tuple(w for w in every if w.policy_type not in chance)
        listed = not subject.made_up and subject.workload is None
        made = self.old.of(subject.was, subject.now) if listed else SAME
        unknown += (*self.concerns.of_proxy(subject.was, subject.now), *made.doubts)
        if self.claim == CARRY or self._tags_end:
            unknown += carry_doubts(self.pair, subject.was, self.couples)
        return (*shared, *map(self.old.seen, sure), *made.witnesses), unknown

    def _come_or_gone(self, subject: Subject) -> Iterator[Witness]:
        if self.claim == LIVE:
            yield Witness(
                mesh=self.pair.before.mesh,
                proxy=subject.name,
                policy_type="Dataplane",
                direction="proxy",
                place=subject.name,
                field="",
                before=Value(value="present" if subject.was is not None else None),
                after=Value(value="present" if subject.now is not None else None),
            )

    def _witnesses(self, was: Resource, now: Resource, *, own: bool) -> tuple[Witness, ...]:
        """Return what differs for a proxy, with `own` in its own Dataplane, too."""
        if is_builtin(was) or is_builtin(now):
            if self._gateways_end:
                return ()
            itself = self._itself(was, now)
            own = own and self.claim == LIVE
            return (*(itself if own else ()), *gateway_witnesses(self.pair, was, now))
        if self.claim == CARRY:
            return carry_witnesses(self.pair, was, now, self.couples)
        found: list[Witness] = []
        if own and self.claim == LIVE:
            found += self._itself(was, now)
        found += self._outbounds(was, now)
        if self._tags_end:
            found += as_tags(carry_witnesses(self.pair, was, now, self.couples))
        found += self.pair.inbounds(was, now)
        found += self.pair.proxy(was, now)
        return tuple(found)

    def _itself(self, was: Resource, now: Resource) -> Iterator[Witness]:
        return dataplane_differences(self.pair.before.mesh, was, now, self.pair.chosen.labels)

    @cached_property
    def couples(self) -> Couples:
        """Return every service of the mesh with what replaces it."""
        return couples_of(self.pair, self.services)

    def _outbounds(self, was: Resource, now: Resource) -> Iterator[Witness]:
        old = written_outbounds(self.pair.before, was)
        new = written_outbounds(self.pair.after, now)
        names = self.claim == LIVE
        left, right = old or {}, new or {}
        if old is None and new is None:
            yield from self.pair.outbounds(was, now, self.network, names=names)
            left, right = (
                listed_outbounds(side, proxy)
                for side, proxy in ((self.pair.before, was), (self.pair.after, now))
            )
            if left == right:
                return
        for key in dict.fromkeys((*left, *right)):
            if self._only_real and key in left and _is_tag(left[key]):
                continue
            if key in left and left[key] == right.get(key):
                yield from self.pair.outbound(was, now, left[key], names=names)
            elif self.claim != CARRY:
                yield self._other_outbound(key, left.get(key), right.get(key))

    def _other_outbound(self, key: str, old: Cluster | None, new: Cluster | None) -> Witness:
        return Witness(
            mesh=self.pair.before.mesh,
            proxy="",
            policy_type="Dataplane",
            direction="outbound",
            destination=key,
            place=key,
            field="networking.outbound",
            before=Value(value=None if old is None else old.key),
            after=Value(value=None if new is None else new.key),
        )

    @cached_property
    def network(self) -> Network:
        """Return the same, those together that nobody tells apart."""
        return Network(self.pair.before, self.pair.after, self.implied)

    @cached_property
    def implied(self) -> tuple[Destination, ...]:
        """Return all destinations of a transparent proxy that both sides have.

        A port that some policy is about counts twice: an explicit outbound calls it by number.
        """
        before, after = self.pair.before.state, self.pair.after.state
        kinds = self._kinds(self.modes[0]) & self._kinds(self.modes[1])
        if self._only_real:
            kinds = self._kinds(self.modes[0]) & {Outbound.REAL}
        real = dict.fromkeys(real_destinations(before))
        both = [d for d in dict.fromkeys(real_destinations(after)) if d in real]
        both += [n for d in both if d.kri in self.pair.by_section for n in by_number(after, d)]
        found: list[Destination] = [*map(ServiceTag, self.services), *both]
        return tuple(d for d in found if kind_of(d) in kinds)

    @property
    def _only_real(self) -> bool:
        """Whether the later release knows real resources only, whatever mode a Mesh names."""
        return not self.pair.after.release.subset_rules

    @property
    def _gateways_end(self) -> bool:
        """Whether the later release has no built-in gateways: a doubt, whatever policies say."""
        return self.pair.before.release.subset_rules and self._only_real

    @property
    def _tags_end(self) -> bool:
        """Whether service-tag outbounds that are there now go with the later release.

        Then the real resources that replace them must read what they read (claim *release*).
        """
        there = self.pair.before.release.subset_rules and self._only_real
        return there and Outbound.SERVICE_TAG in self._kinds(self.modes[0])

    def _kinds(self, mode: str | None) -> frozenset[Outbound]:
        return frozenset(Outbound) if mode is None else MODES.get(mode, frozenset(Outbound))

    def _by_mode(
        self, verdicts: Sequence[ProxyVerdict], unknown: tuple[Doubt, ...]
    ) -> dict[str, Verdict]:
        if None not in self.modes or self.claim == CARRY:
            return {}
        out = {}
        for mode, kinds in MODES.items():
            seen = (w for v in verdicts for w in v.witnesses)
            counts = any(w.outbound is None or w.outbound in kinds for w in seen)
            doubtful = unknown or any(v.unknown for v in verdicts)
            out[mode] = (
                Verdict.DIFFERENT if counts else Verdict.UNKNOWN if doubtful else Verdict.EQUIVALENT
            )
        return out


def _proxy_verdict(
    name: str, found: Iterable[Witness], unknown: tuple[Doubt, ...], *, made_up: bool
) -> tuple[ProxyVerdict, ...]:
    witnesses = tuple(replace(w, proxy=name) for w in _unique(found))
    verdict = Verdict.DIFFERENT if witnesses else Verdict.UNKNOWN if unknown else Verdict.EQUIVALENT
    return (
        ProxyVerdict(
            name=name, verdict=verdict, witnesses=witnesses, unknown=unknown, made_up=made_up
        ),
    )


def _is_tag(cluster: Cluster) -> bool:
    return kind_of(cluster.destination) is Outbound.SERVICE_TAG


def _unique(found: Iterable[Witness]) -> list[Witness]:
    return list({w.key: w for w in found}.values())


def _if_any(unknown: Sequence[Any]) -> list[Verdict]:
    return [Verdict.UNKNOWN] if unknown else []


__all__ = ["CARRY", "CLAIMS", "LIVE", "RELEASE", "Claim", "Mapping", "RealResource", "prove"]
