"""Whom a doubt concerns: every proxy of a mesh, built-in gateways, workloads, or one proxy.

What is not known of a mesh is not known of each of its proxies. What concerns some of them stands
with those, and with the claim.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from kumamigrate.dataclass import dataclass
from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.model.resource import Resource
from kumamigrate.prover.claimed import CARRY, LIVE, RELEASE
from kumamigrate.prover.claims.unheard import (
    upgrade_doubts,
    upgrade_gateway_doubts,
    upgrade_proxy_doubts,
    upgrade_workload_doubts,
)
from kumamigrate.prover.doubts.doubt import doubts
from kumamigrate.prover.doubts.gatewaydoubts import (
    gateway_doubts,
    probe_doubts,
    unknown_gateway_doubts,
)
from kumamigrate.prover.doubts.identities import (
    identity_doubts,
    permission_doubts,
    unheld_permission_doubts,
)
from kumamigrate.prover.doubts.patchnames import mode_name_doubts, patches_of, upgrade_name_doubts
from kumamigrate.prover.doubts.plaintext import (
    plaintext_doubts,
    unheld_plaintext_doubts,
    unnamed_doubts,
)
from kumamigrate.prover.doubts.sharedport import port_doubts, workload_port_doubts
from kumamigrate.prover.gateway import is_builtin
from kumamigrate.prover.oldengine import OldEngine
from kumamigrate.prover.slots.mesh import MeshComparison
from kumamigrate.prover.workload import namespace_doubts, workload_doubts


@dataclass(frozen=True, kw_only=True)
class Concerns:
    """What is not known of one claim about one mesh.

    `changed` are the policy types in which something changed; `tags_end` says that service-tag
    outbounds which are there now go with the later release.
    """

    claim: str
    pair: MeshComparison
    changed: frozenset[str]
    old: OldEngine
    tags_end: bool

    @cached_property
    def of_mesh(self) -> tuple[Doubt, ...]:
        """What is not known of any proxy."""
        return tuple(dict.fromkeys(self._of_mesh()))

    @cached_property
    def of_gateways(self) -> tuple[Doubt, ...]:
        """What is not known of built-in gateways, and concerns no other proxy."""
        sides = (self.pair.before, self.pair.after)
        found: list[Doubt] = [*gateway_doubts(*sides, self.changed), *self.old.of_gateways]
        if self.claim == LIVE:
            found += unknown_gateway_doubts(*sides, self.changed)
        if self.claim == RELEASE:
            found += upgrade_gateway_doubts(*sides)
        return tuple(dict.fromkeys(found))

    @property
    def of_workloads(self) -> Iterator[Doubt]:
        """What is not known of workloads that no Dataplane stands for."""
        if self.claim == RELEASE:
            yield from upgrade_workload_doubts(self.pair.before, self.pair.after)
        yield from workload_port_doubts(self.pair.before, self.pair.after, self.claim)

    @property
    def of_some(self) -> tuple[Doubt, ...]:
        """What is not known of proxies that the states do not hold."""
        return (*self.old.elsewhere, *self.of_gateways, *self.of_workloads)

    def of_proxy(self, was: Resource, now: Resource) -> tuple[Doubt, ...]:
        """Return what is not known of one proxy, besides what is not known of any."""
        found = list(self.of_patches(was, now))
        found += port_doubts(self.pair.before, self.pair.after, self.claim, was, now)
        if not now.made_up and not is_builtin(now):
            found += (
                d for t in sorted(self.pair.covered) for d in self.pair.undecided(was, now, t)
            )
        if self.claim == RELEASE:
            found += upgrade_proxy_doubts(self.pair.before, self.pair.after, was, now)
            found += plaintext_doubts(self.pair.before, self.pair.after, was)
        if self.claim != CARRY:
            found += permission_doubts(self.pair.before, self.pair.after, was, now)
        if is_builtin(was) or is_builtin(now):
            found += self.of_gateways
        return tuple(found)

    def of_unheld(self) -> Iterator[Doubt]:
        """Yield what is not known of proxies that the states do not hold, each by itself."""
        yield from self.of_patches(None, None)
        if self.claim != CARRY:
            yield from unheld_permission_doubts(self.pair.before, self.pair.after)
        if self.claim == RELEASE:
            yield from unheld_plaintext_doubts(self.pair.before, self.pair.after)

    def of_patches(self, was: Resource | None, now: Resource | None) -> Iterator[Doubt]:
        """Yield the patches of a proxy, or of any, that match by names which change."""
        before, after = self.pair.before, self.pair.after
        if self.claim == CARRY:
            yield from mode_name_doubts(patches_of(before, was))
        elif before.release.subset_rules and not after.release.subset_rules:
            yield from upgrade_name_doubts((*patches_of(before, was), *patches_of(after, now)))

    def _of_mesh(self) -> Iterator[Doubt]:
        before, after = self.pair.before, self.pair.after
        yield from doubts(before, after, self.changed, alike=self.claim == LIVE)
        yield from self.old.unknown
        if self.claim == RELEASE:
            yield from upgrade_doubts(before, after)
            yield from namespace_doubts(before, after)
            yield from unnamed_doubts(before, after)
        if self.claim != CARRY:
            yield from identity_doubts(before, after)
        if self.claim == CARRY or self.tags_end:
            yield from probe_doubts(before)
        if self.claim == LIVE and not (before.state.complete and after.state.complete):
            yield from workload_doubts(before, after)
        if self.claim == LIVE and before.release != after.release:
            yield Doubt(
                DoubtKind.CLAIM,
                f"claim live compares states on one release, not {before.release.name} with"
                f" {after.release.name}; ask for claim release",
            )
