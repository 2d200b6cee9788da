"""One claim about one mesh: each proxy that is listed, and those that could exist."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from kumamigrate.dataclass import replace
from kumamigrate.effective.changed import changed_types
from kumamigrate.effective.difference import Witness
from kumamigrate.effective.doubted import Doubt
from kumamigrate.model.resource import Resource
from kumamigrate.prover.claimed import CARRY, LIVE, RELEASE
from kumamigrate.prover.claims.upgrade import upgrade_differences, upgraded_workloads
from kumamigrate.prover.doubts.concern import Concerns
from kumamigrate.prover.doubts.identities import tls_differences
from kumamigrate.prover.gateway import gateway_witnesses
from kumamigrate.prover.madeupgateways import MadeUpGateways
from kumamigrate.prover.nonpolicy import (
    ground_differences,
    sent_differences,
)
from kumamigrate.prover.ofproxy import ProxyDifferences
from kumamigrate.prover.oldengine import OldEngine
from kumamigrate.prover.outboundsasked import OutboundsAsked
from kumamigrate.prover.owed import Owed
from kumamigrate.prover.proof import ClaimResult, ProxyVerdict, Verdict, doubted, only_listed, worst
from kumamigrate.prover.slots.mesh import MeshComparison
from kumamigrate.prover.stages.proxyfindings import ANY_PROXY
from kumamigrate.prover.stages.proxyfindings import verdicts as found_verdicts
from kumamigrate.prover.stages.search import Coverage
from kumamigrate.prover.stages.together import Together
from kumamigrate.prover.subject import Subject, subjects
from kumamigrate.prover.workload import (
    changed_workloads,
    unsure,
)
from kumamigrate.prover.zoneegress import EGRESS, egress_witnesses
from kumamigrate.universe.traffic import MODES


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
        self.pair = pair
        self.proxies = proxies
        self.services = services
        before, after = pair.before, pair.after
        self._changed = changed_types(before, after)
        self.outbounds = OutboundsAsked(pair, services)
        self._ends = ends = claim == RELEASE and self.outbounds.tags_end
        self.standing = replace(standing, tags_end=ends) if standing is not None else None
        self.old = OldEngine(pair, tags_end=ends) if old is None else old
        self.beyond: tuple[str, ...] = ()

    def result(self, *, made_up: bool) -> ClaimResult:
        """Return the verdict of the claim, with `made_up` for every proxy that could exist."""
        unknown = self.concerns.of_mesh
        shared = self._left(tuple(self._shared()), lambda stood: stood._shared())
        verdicts = tuple(self._verdict(subject, shared) for subject in self._subjects())
        if made_up or not verdicts:
            verdicts += self._beyond(shared, made_up=made_up)
        if self.claim == LIVE:
            verdicts += self._of_zone_egress()
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
            self.outbounds.implied,
            zone,
            listed=bool(self.proxies),
            ends=self._ends,
            standing=self.standing,
        )
        coverage.found.add(ANY_PROXY, shared)
        if self.claim == LIVE:
            coverage.found.add(ANY_PROXY, tuple(one.witness for one in self.each.across))
        if made_up and self.claim == CARRY:
            coverage.carry(self.services)
        elif made_up:
            coverage.live(names=self.claim == LIVE)
            if self._ends:
                coverage.carry(self.services)
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
        gateways: tuple[ProxyVerdict, ...] = ()
        if made_up and not self.outbounds.gateways_end:
            made = MadeUpGateways(self.pair, zone, self._changed)
            gateways = tuple(self._of_gateways(made))
            for kind in made.cut:
                coverage.give_up(kind, "built-in gateways")
        self.beyond = tuple(map(str, coverage.found.beyond))
        if self.claim != CARRY:
            self.beyond += tuple(map(only_listed, self.pair.beyond))
        return (*found_verdicts(coverage.found), *gateways)

    def _of_gateways(self, made: MadeUpGateways) -> Iterator[ProxyVerdict]:
        """Yield the verdicts of built-in gateways that could exist, and of those with tags of
        policies each thing once, where their rules differ at all: ties alone are no doubt."""
        told: set[Hashable] = set()
        for one in made.plain():
            yield (verdict := self._verdict(_made_up(one), ()))
            told |= _said(verdict)
        for one, kind in made.told_apart():
            if any(gateway_witnesses(self.pair, one, one, (kind,))):
                verdict = self._verdict(_made_up(one), ())
                if not _said(verdict) <= told:
                    yield verdict
                told |= _said(verdict)

    def _of_zone_egress(self) -> tuple[ProxyVerdict, ...]:
        """Return the verdict of what leaves the mesh, where anything differs there."""
        leaving = tuple(egress_witnesses(self.pair))
        left = self._left(leaving, lambda stood: tuple(egress_witnesses(stood.pair)))
        return _proxy_verdict(EGRESS, left, (), made_up=True) if left else ()

    @cached_property
    def concerns(self) -> Concerns:
        """Return what is not known, and of whom."""
        return Concerns(
            claim=self.claim,
            pair=self.pair,
            changed=self._changed,
            old=self.old,
            tags_end=self.outbounds.tags_end,
        )

    @cached_property
    def each(self) -> ProxyDifferences:
        """What differs proxy by proxy."""
        return ProxyDifferences(self.claim, self.pair, self.old, self.concerns, self.outbounds)

    def _subjects(self) -> tuple[Subject, ...]:
        """Return the Dataplanes of both sides, and the workloads that changed; claim *carry* asks
        about outbounds, which made-up proxies have as well."""
        sides = (self.pair.before, self.pair.after)
        if self.claim == CARRY or all(side.state.complete for side in sides):
            return tuple(self.proxies)
        changed = (changed_workloads if self.claim == LIVE else upgraded_workloads)(*sides)
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
        found, unknown = self.each.of(subject, shared)
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
        return () if mine is None else self.each.of(mine, ())[0]

    def _by_mode(
        self, verdicts: Sequence[ProxyVerdict], unknown: tuple[Doubt, ...]
    ) -> dict[str, Verdict]:
        if None not in self.outbounds.modes or self.claim == CARRY:
            return {}
        out = {}
        for mode in MODES:
            seen = (w for v in verdicts for w in v.witnesses)
            counts = any(self.outbounds.counts_in(mode, witness) for witness in seen)
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


def _made_up(proxy: Resource) -> Subject:
    return Subject(name=proxy.name, was=proxy, now=proxy, made_up=True)


def _said(verdict: ProxyVerdict) -> set[Hashable]:
    return {*(witness.key[1:] for witness in verdict.witnesses), *verdict.unknown}


def _unique(found: Iterable[Witness]) -> list[Witness]:
    return list({w.key: w for w in found}.values())


def _if_any(unknown: Sequence[Any]) -> list[Verdict]:
    return [Verdict.UNKNOWN] if unknown else []
