"""The verdict about two states, mesh by mesh and claim by claim (product.md §5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from kumamigrate.match.route import Destination, RealResource, ServiceTag
from kumamigrate.model.resource import Resource
from kumamigrate.model.state import State, mesh_services_mode
from kumamigrate.prove.backend import Cluster, own_cluster, written_outbounds
from kumamigrate.prove.carry import carry_witnesses
from kumamigrate.prove.doubt import changed_types, doubts, old_engine_doubts, tie_doubts
from kumamigrate.prove.ground import dataplane_differences, dataplanes, ground_differences
from kumamigrate.prove.mesh import MeshComparison
from kumamigrate.prove.proof import (
    ClaimResult,
    Locate,
    MeshProof,
    Outbound,
    Proof,
    ProxyVerdict,
    Value,
    Verdict,
    Witness,
    worst,
)
from kumamigrate.prove.side import Contents, Side
from kumamigrate.prove.traffic import (
    MODES,
    kind_of,
    real_destinations,
    service_tags,
)
from kumamigrate.source.text import FieldPath

LIVE, CARRY, RELEASE = "live", "carry", "release"
CLAIMS = (LIVE, CARRY, RELEASE)


def nowhere(_resource: Resource, _path: FieldPath) -> str:
    """Return no place: for states that have no text."""
    return ""


def prove(
    before: State,
    after: State,
    *,
    claims: Sequence[str] = (LIVE, CARRY),
    proxies: str = "witnesses",
    upgraded: State | None = None,
    locate_before: Locate = nowhere,
    locate_after: Locate = nowhere,
) -> Proof:
    """Return the proof of some claims for all meshes of two states.

    `upgraded` is the state after as the target release stores it; claim *release* compares
    `before` with it (with `after` where it is absent). `proxies` is "witnesses": the verdict
    holds for every proxy that could exist, or "listed": for the Dataplanes of the states.
    """
    contents = Contents()
    meshes = sorted({*before.meshes(), *after.meshes()})
    locate = (locate_before, locate_after)
    return Proof(
        release_before=before.release,
        release_after=(upgraded or after).release,
        meshes={
            mesh: _prove_mesh(mesh, before, after, upgraded, claims, proxies, contents, locate)
            for mesh in meshes
        },
        unread=tuple(dict.fromkeys((*before.unread, *after.unread))),
    )


def _prove_mesh(
    mesh: str,
    before: State,
    after: State,
    upgraded: State | None,
    claims: Sequence[str],
    proxies: str,
    contents: Contents,
    locate: tuple[Locate, Locate],
) -> MeshProof:
    states = [before.mesh(mesh), after.mesh(mesh)]
    sides = [Side(state, mesh, contents) for state in states]
    comparison = MeshComparison(sides[0], sides[1], *locate)
    results: dict[str, ClaimResult] = {}
    for claim in claims:
        pair = comparison
        if claim == RELEASE and upgraded is not None:
            pair = MeshComparison(sides[0], Side(upgraded.mesh(mesh), mesh, contents), *locate)
        results[claim] = Claim(claim, pair, subjects(pair)).result()
    return MeshProof(mesh=mesh, claims=results, all_proxies=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A proxy on both sides; None where a side lacks it."""

    name: str
    was: Resource | None
    now: Resource | None
    made_up: bool = False


def subjects(pair: MeshComparison) -> tuple[Subject, ...]:
    """Return the Dataplanes of both sides."""
    left, right = dataplanes(pair.before.state), dataplanes(pair.after.state)
    return tuple(
        Subject(name=name, was=left.get((space, name)), now=right.get((space, name)))
        for space, name in dict.fromkeys((*left, *right))
    )


class Claim:
    """One claim about one mesh, proxy by proxy."""

    def __init__(self, claim: str, pair: MeshComparison, proxies: Sequence[Subject]) -> None:
        self.claim = claim
        self.pair = pair
        self.proxies = proxies
        before, after = pair.before, pair.after
        self.modes = tuple(mesh_services_mode(s.state, s.mesh) for s in (before, after))
        self._changed = changed_types(before, after)

    def result(self) -> ClaimResult:
        """Return the verdict of the claim."""
        unknown = self._doubts()
        shared = tuple(self._shared())
        verdicts = tuple(self._verdict(subject, shared) for subject in self.proxies)
        ground = () if verdicts else _proxy_verdict("any proxy", shared, (), made_up=True)
        return ClaimResult(
            verdict=worst((*(v.verdict for v in (*verdicts, *ground)), *_if_any(unknown))),
            proxies=(*verdicts, *ground),
            unknown=unknown,
            modes=self._by_mode((*verdicts, *ground), unknown),
        )

    def _doubts(self) -> tuple[str, ...]:
        before, after = self.pair.before, self.pair.after
        found = list(doubts(before, after, self._changed))
        found += old_engine_doubts(before, after, self._changed)
        if self.claim == LIVE and before.release != after.release:
            found.append(
                f"claim live compares states on one release, not {before.release.name} with"
                f" {after.release.name}; ask for claim release"
            )
        return tuple(dict.fromkeys(found))

    def _shared(self) -> Iterator[Witness]:
        """Yield what differs for every proxy of the mesh."""
        if self.claim == LIVE:
            yield from ground_differences(self.pair.before, self.pair.after)

    def _verdict(self, subject: Subject, shared: tuple[Witness, ...]) -> ProxyVerdict:
        if subject.was is None or subject.now is None:
            found: tuple[Witness, ...] = (*shared, *self._come_or_gone(subject))
            unknown: tuple[str, ...] = ()
        else:
            found = (*shared, *self._witnesses(subject.was, subject.now))
            unknown = tie_doubts(self.pair, subject.was, subject.now)
        return _proxy_verdict(subject.name, found, unknown, made_up=subject.made_up)[0]

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

    def _witnesses(self, was: Resource, now: Resource) -> tuple[Witness, ...]:
        if self.claim == CARRY:
            return carry_witnesses(self.pair, was, now)
        found: list[Witness] = []
        if self.claim == LIVE:
            found += dataplane_differences(self.pair.before.mesh, was, now)
        found += self._outbounds(was, now)
        found += self.pair.inbounds(was, now)
        found += self.pair.proxy(was, now)
        return tuple(found)

    def _outbounds(self, was: Resource, now: Resource) -> Iterator[Witness]:
        old = written_outbounds(self.pair.before, was)
        new = written_outbounds(self.pair.after, now)
        names = self.claim == LIVE
        if old is None and new is None:
            for destination in self.implied:
                yield from self.pair.outbound(was, now, own_cluster(destination), names=names)
            return
        left, right = old or {}, new or {}
        for key in dict.fromkeys((*left, *right)):
            if key in left and left.get(key) == right.get(key):
                yield from self.pair.outbound(was, now, left[key], names=names)
            elif self.claim == LIVE:
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
    def implied(self) -> tuple[Destination, ...]:
        """Return all destinations of a transparent proxy that both sides have."""
        before, after = self.pair.before.state, self.pair.after.state
        kinds = self._kinds(self.modes[0]) & self._kinds(self.modes[1])
        tags = dict.fromkeys((*service_tags(before), *service_tags(after)))
        real = dict.fromkeys(real_destinations(before))
        both = [d for d in dict.fromkeys(real_destinations(after)) if d in real]
        found: list[Destination] = [*map(ServiceTag, tags), *both]
        return tuple(d for d in found if kind_of(d) in kinds)

    def _kinds(self, mode: str | None) -> frozenset[Outbound]:
        return frozenset(Outbound) if mode is None else MODES.get(mode, frozenset(Outbound))

    def _by_mode(
        self, verdicts: Sequence[ProxyVerdict], unknown: tuple[str, ...]
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
    name: str, found: Iterable[Witness], unknown: tuple[str, ...], *, made_up: bool
) -> tuple[ProxyVerdict, ...]:
    witnesses = tuple(replace(w, proxy=name) for w in _unique(found))
    verdict = Verdict.DIFFERENT if witnesses else Verdict.UNKNOWN if unknown else Verdict.EQUIVALENT
    return (
        ProxyVerdict(
            name=name, verdict=verdict, witnesses=witnesses, unknown=unknown, made_up=made_up
        ),
    )


def _unique(found: Iterable[Witness]) -> list[Witness]:
    return list({w.key: w for w in found}.values())


def _if_any(unknown: Sequence[Any]) -> list[Verdict]:
    return [Verdict.UNKNOWN] if unknown else []


__all__ = ["CARRY", "CLAIMS", "LIVE", "RELEASE", "Claim", "Mapping", "RealResource", "prove"]
