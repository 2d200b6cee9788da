"""What is not known where both engines are asked: templates, egresses, whom nobody makes up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.effective.bothengines.askedproxy import asked_of
from kumamigrate.effective.bothengines.oldview import OldSide
from kumamigrate.effective.bothengines.whoanswers import OUTBOUND, kinds_of
from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.model.kinds import OLD_POLICIES
from kumamigrate.model.resource import SERVICE, Resource, mapping
from kumamigrate.prover.doubts.doubt import templated
from kumamigrate.prover.slots.mesh import MeshComparison
from kumamigrate.sourcedest.selector import matches, selectors_of
from kumamigrate.sourcedest.winners import OldPolicies
from kumamigrate.universe.side import ROUTES


@dataclass(frozen=True)
class AskedOfBoth:
    """The types for which both engines are asked, of two sides."""

    pair: MeshComparison
    types: frozenset[str]

    def doubts(self) -> Iterator[Doubt]:
        """Yield what keeps any proxy from being compared."""
        kinds = {k for t in self.types for k in kinds_of(t)} | {"TrafficRoute", *self.types}
        for old in self.pair.engines:
            yield from templated(old.side, kinds)
            yield from self._external(old)
        if not self.pair.known:
            yield from self._not_made_up()

    def _external(self, old: OldSide) -> Iterator[Doubt]:
        """Yield doubts about ExternalServices: limits where requests leave, and zone egress."""
        if old.external and old.egress and self.types:
            yield Doubt(
                DoubtKind.NOT_MODELLED,
                "what a zone egress does with old policies for ExternalServices is not modelled",
            )
        for policy, services in self._limited(old):
            if self._led_to(services):
                yield Doubt(
                    DoubtKind.NOT_MODELLED,
                    f"RateLimit {policy.name} limits requests to ExternalServices where they"
                    " leave, which is not compared",
                )

    def _limited(self, old: OldSide) -> Iterator[tuple[Resource, tuple[str, ...]]]:
        """Yield RateLimits with the ExternalServices to which they limit requests, where a change
        may show: of the limits, or of routes, as then outbounds may be made without limits."""
        if not old.external or not old.old.of("RateLimit"):
            return
        moved = bool(self.types & set(ROUTES))
        touched = has_moved(self.pair, "RateLimit")
        if not (moved or (touched and "MeshRateLimit" in self.types)) or not old.routed:
            return
        for policy in old.old.of("RateLimit"):
            selectors = selectors_of(policy.spec, "destinations")
            hit = [t for t in old.external if any(matches(s, t) for s in selectors)]
            if hit:
                yield policy, tuple(tags.get(SERVICE, "") for tags in hit)

    def _led_to(self, services: tuple[str, ...]) -> bool:
        """Whether traffic of a known proxy may end at one of some services; unknown ones may."""
        return not self.pair.known or any(
            set(services) & side.led_to(asked_of(d, side.side.state.environment.zone, services))
            for side in self.pair.engines
            for d in side.side.state.of_type("Dataplane")
        )

    def beyond(self) -> Iterator[str]:
        """Yield why the answer holds only for the known proxies."""
        for policy, services in self._limited(self.pair.engines[0]):
            yield (
                "compared for the Dataplanes of the state, not for any proxy with traffic to"
                f" {', '.join(services)}, which RateLimit {policy.name} limits"
            )
        if self.pair.known:
            yield from map(str, self._not_made_up())

    def labelled(self) -> Iterator[Resource]:
        """Yield the policies that choose by other things than made-up proxies have.

        Those are built-in gateways, and names of proxies and of inbounds: the known ones settle
        what a conversion does to these, but no edit beside old policies that stay as they are.
        """
        for kind in sorted(self.types):
            settled = not (self.pair.known and stands(self.pair, kind))
            for known in (known for reach in self.pair.reaches for known in reach.of(kind)):
                asked = known.requirement
                named = asked.atom is not None and bool(asked.atom.name or asked.atom.section)
                if (named and settled) or asked.gateway_only:
                    yield known.policy

    def _not_made_up(self) -> Iterator[Doubt]:
        """Yield why no proxy is made up for some types, and what to do about it.

        Nobody can convert what Kuma gave a mesh: that may not even be there.
        """
        own = any(p.where is not None for p in self.pair.before.state.of_type(*OLD_POLICIES))
        way = "convert those first" if own else "--initial-policies says whether there are any"
        for policy in self.labelled():
            kind = mapping(policy.spec.get("targetRef")).get("kind")
            yield Doubt(
                DoubtKind.NOT_MODELLED,
                f"{policy.type} {policy.name} chooses by {kind}, and what it gives a proxy that is"
                f" not listed is not compared together with old policies; {way}",
            )


def stands(pair: MeshComparison, policy_type: str) -> bool:
    """Say whether the old policies that have a say in what is read of a type are as before."""
    routes = ("TrafficRoute",) if policy_type in OUTBOUND else ()
    return not any(has_moved(pair, kind) for kind in (*kinds_of(policy_type), *routes))


def has_moved(pair: MeshComparison, kind: str) -> bool:
    """Say whether the old policies of a kind are others than before."""
    was, now = pair.engines
    return said(was.old, kind) != said(now.old, kind)


def said(old: OldPolicies, kind: str) -> list[Any]:
    """Return what the policies of a kind say, in no order."""
    return sorted(repr((p.name, p.spec)) for p in old.of(kind))
