"""One claim about one mesh: each proxy that is listed, and those that could exist."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.effective.changed import changed_types
from kumamigrate.effective.difference import Value, Witness
from kumamigrate.effective.doubted import Doubt
from kumamigrate.effective.outboundfacts import BY_ROUTE
from kumamigrate.model.resource import Resource
from kumamigrate.model.state import mesh_services_mode
from kumamigrate.prover.claimed import CARRY, LIVE, RELEASE
from kumamigrate.prover.claims.carry import (
    as_tags,
    carry_doubts,
    carry_witnesses,
    couples_of,
    unreplaced,
)
from kumamigrate.prover.claims.upgrade import upgrade_differences
from kumamigrate.prover.crossmesh import CrossMesh, cross_mesh_differences
from kumamigrate.prover.doubts.concern import Concerns
from kumamigrate.prover.doubts.doubt import tie_doubts
from kumamigrate.prover.doubts.identities import tls_differences
from kumamigrate.prover.endpointmoves import EndpointMoves
from kumamigrate.prover.gateway import gateway_witnesses, is_builtin, made_up_gateways
from kumamigrate.prover.mesh import MeshComparison
from kumamigrate.prover.nonpolicy import (
    dataplane_differences,
    dataplanes,
    ground_differences,
    sent_differences,
)
from kumamigrate.prover.oldengine import OldEngine
from kumamigrate.prover.owed import Owed
from kumamigrate.prover.proof import ClaimResult, ProxyVerdict, Verdict, doubted, only_listed, worst
from kumamigrate.prover.stages.proxyfindings import ANY_PROXY
from kumamigrate.prover.stages.proxyfindings import verdicts as found_verdicts
from kumamigrate.prover.stages.search import Coverage
from kumamigrate.prover.stages.together import Together
from kumamigrate.prover.telemetry import telemetry_differences
from kumamigrate.prover.twosides import SAME
from kumamigrate.prover.workload import (
    Workload,
    changed_workloads,
    note_doubts,
    unsure,
    workload_differences,
)
from kumamigrate.targetref.route import Destination, ServiceTag
from kumamigrate.universe.backend import Cluster, listed_outbounds, written_outbounds
from kumamigrate.universe.network import Network, same
from kumamigrate.universe.side import ROUTES
from kumamigrate.universe.traffic import MODES, Outbound, by_number, kind_of, real_destinations


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
    """One claim about one mesh, proxy by proxy. What stood already does not count (`standing`)."""

    def __init__(
        self,
        claim: str,
        pair: MeshComparison,
        proxies: Sequence[Subject],
        services: Sequence[str],
        *,
        standing: Owed | None = None,
        old: OldEngine | None = None,
    ) -> None:
        self.claim = claim
        self.standing = standing
        self.pair = pair
        self.proxies = proxies
        self.services = services
        before, after = pair.before, pair.after
        self.modes = tuple(mesh_services_mode(s.state, s.mesh) for s in (before, after))
        self._changed = changed_types(before, after)
        self.old = OldEngine(pair) if old is None else old
        self.beyond: tuple[str, ...] = ()

    def result(self, *, made_up: bool) -> ClaimResult:
        """Return the verdict of the claim, with `made_up` for every proxy that could exist."""
        unknown = self.concerns.of_mesh
        shared = self._left(tuple(self._shared()), lambda stood: stood._shared())
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
        if self.claim == LIVE:
            coverage.found.add(ANY_PROXY, tuple(one.witness for one in self._across))
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
        asked = (pair.before, pair.after, pair.chosen.labels | pair.chosen.of_services)
        if self.claim == LIVE:
            yield from ground_differences(*asked)
        elif self.claim == RELEASE:
            yield from upgrade_differences(*asked)
        if self.claim != CARRY:
            yield from sent_differences(pair.before, pair.after)
            yield from tls_differences(pair.before, pair.after)

    def _verdict(self, subject: Subject, shared: tuple[Witness, ...]) -> ProxyVerdict:
        found, unknown = self._differences(subject, shared)
        found = self._left(found, lambda stood: stood._of_the_same(subject))
        if found and subject.workload is not None and not subject.workload.sure:
            found, unknown = (), (*unknown, unsure(subject.workload))
        return _proxy_verdict(subject.name, found, unknown, made_up=subject.made_up)[0]

    def _left(
        self, found: tuple[Witness, ...], asked: Callable[[Claim], Iterable[Witness]]
    ) -> tuple[Witness, ...]:
        """Return differences without those that stood, which the same question finds there."""
        if self.standing is None or not found:
            return found
        return self.standing.left(found, tuple(asked(self._stood)))

    @cached_property
    def _stood(self) -> Claim:
        """The same claim about what stood."""
        assert self.standing is not None
        pair = self.standing.pair
        return Claim(self.claim, pair, subjects(pair), self.services, old=self.standing.old)

    @cached_property
    def _by_place(self) -> dict[tuple[str, str], Subject]:
        return {subject.at: subject for subject in self._subjects()}

    def _of_the_same(self, subject: Subject) -> tuple[Witness, ...]:
        """Return what differs here for a proxy that others ask about."""
        mine = subject if subject.made_up else self._by_place.get(subject.at)
        return () if mine is None else self._differences(mine, ())[0]

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
        alone = not listed or self.claim != LIVE
        moved = () if alone else (*self._of_others(subject.was, subject.now),)
        made = self.old.of(subject.was, subject.now) if listed else SAME
        unknown += (*self.concerns.of_proxy(subject.was, subject.now), *made.doubts)
        if self.claim == CARRY or self._tags_end:
            unknown += carry_doubts(self.pair, subject.was, self.alone)
        return (*shared, *map(self.old.seen, sure), *made.witnesses, *moved), unknown

    def _of_others(self, was: Resource, now: Resource) -> Iterator[Witness]:
        """Yield what differs for a proxy as others are no longer what they were."""
        yield from self._endpoints.of(was, now)
        sides = ((self.pair.before, was), (self.pair.after, now))
        for one in self._across:
            if any(one.concerns(side, proxy) for side, proxy in sides):
                yield one.witness

    @cached_property
    def _endpoints(self) -> EndpointMoves:
        return EndpointMoves(self.pair)

    @cached_property
    def _across(self) -> tuple[CrossMesh, ...]:
        return tuple(cross_mesh_differences(self.pair.before, self.pair.after))

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
        yield from dataplane_differences(
            self.pair.before.mesh, was, now, self.pair.chosen.of_proxies
        )
        yield from telemetry_differences(self.pair.before, self.pair.after, was, now)

    @cached_property
    def couples(self) -> Network:
        """Return every service of the mesh with what replaces it."""
        return couples_of(self.pair, self.services)

    @cached_property
    def alone(self) -> tuple[str, ...]:
        """Return the services that nothing replaces."""
        return unreplaced(self.pair, self.services)

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
                yield from self.pair.outbound(was, now, left[key].destination, names=names)
                if names:
                    yield from self.pair.renamed_outbound(was, now, key, left[key])
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
        return Network(self.pair.before, self.pair.after, same(self.implied))

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
