"""Where the outbounds lead that a claim is about, and what the later release has of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from kumamigrate.effective.difference import Witness
from kumamigrate.model.resource import Resource
from kumamigrate.model.state import mesh_services_mode
from kumamigrate.prover.claims.tagsreplaced import couples_of, unreplaced
from kumamigrate.prover.slots.mesh import MeshComparison
from kumamigrate.targetref.route import Destination, RealResource, ServiceTag
from kumamigrate.universe.backend import place_of, written_outbounds
from kumamigrate.universe.network import Network, same
from kumamigrate.universe.traffic import MODES, Outbound, by_number, is_given, real_destinations


class OutboundsAsked:
    """The destinations of the transparent proxies of one mesh."""

    def __init__(self, pair: MeshComparison, services: Sequence[str]) -> None:
        self.pair = pair
        self.services = services
        self.modes = tuple(
            mesh_services_mode(one.state, one.mesh) for one in (pair.before, pair.after)
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
        real = dict.fromkeys(real_destinations(before))
        both = [d for d in dict.fromkeys(real_destinations(after)) if d in real]
        both += [n for d in both if d.kri in self.pair.by_section for n in by_number(after, d)]
        found: list[Destination] = [*map(ServiceTag, self.services), *both]
        return tuple(d for d in found if self._is_given(d))

    @cached_property
    def outside(self) -> Network:
        """Return what lies outside the mesh, of which a zone egress has the clusters."""
        real = (d for d in self.implied if isinstance(d, RealResource))
        outside = (d for d in real if d.kri.type == "MeshExternalService")
        return Network(self.pair.before, self.pair.after, same(outside))

    def _is_given(self, destination: Destination) -> bool:
        before, after = self.pair.before.state, self.pair.after.state
        if not is_given(destination, self.modes[0], before):
            return False
        if self.only_real:
            return isinstance(destination, RealResource)
        return is_given(destination, self.modes[1], after)

    def counts_in(self, mode: str, witness: Witness) -> bool:
        """Say whether a difference is one in a mode as well."""
        if witness.outbound is None or witness.outbound in MODES[mode]:
            return True
        return any(
            place_of(one) == witness.place and is_given(one, mode, self.pair.before.state)
            for one in self.implied
        )

    @cached_property
    def couples(self) -> Network:
        """Return every service of the mesh with what replaces it."""
        return couples_of(self.pair, self.services)

    @cached_property
    def alone(self) -> tuple[str, ...]:
        """Return the services that nothing replaces."""
        return unreplaced(self.pair, self.services)

    @property
    def only_real(self) -> bool:
        """Whether the later release knows real resources only, whatever mode a Mesh names."""
        return not self.pair.after.release.subset_rules

    @property
    def gateways_end(self) -> bool:
        """Whether the later release has no built-in gateways: a doubt, whatever policies say."""
        return self.pair.before.release.subset_rules and self.only_real

    @property
    def tags_end(self) -> bool:
        """Whether service-tag outbounds that are there now go with the later release.

        Then the real resources that replace them must read what they read (claim *release*).
        """
        return self.gateways_end and Outbound.SERVICE_TAG in kinds_in(self.modes[0])

    def tags_end_of(self, proxy: Resource) -> bool:
        """Whether service-tag outbounds of a proxy go with the later release: one that its
        Dataplane writes down is there in any mode."""
        if self.tags_end or not self.gateways_end:
            return self.tags_end
        written = written_outbounds(self.pair.before, proxy) or {}
        return any(isinstance(one.destination, ServiceTag) for one in written.values())


def kinds_in(mode: str | None) -> frozenset[Outbound]:
    """Return the kinds of outbounds that a mode leaves; all where it is not known."""
    return frozenset(Outbound) if mode is None else MODES.get(mode, frozenset(Outbound))
