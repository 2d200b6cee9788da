"""One state of one mesh as the prover asks it: selections, contents, protocols, kept."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Set
from copy import copy
from functools import cached_property
from typing import Any, TypeVar

from kumamigrate.model.identity import (
    IDENTITY,
    Holder,
    holder_of,
    identities_of,
    is_ready,
    match_labels,
    mode_of,
)
from kumamigrate.model.kri import Kri, kri_of
from kumamigrate.model.protocols import UNKNOWN_PROTOCOL
from kumamigrate.model.resource import Resource, mappings
from kumamigrate.model.state import State
from kumamigrate.model.versions import at_least
from kumamigrate.sourcedest.winners import OldPolicies, old_policies
from kumamigrate.targetref.backendref import Places
from kumamigrate.targetref.matcher import Matcher
from kumamigrate.targetref.permission import reads_both
from kumamigrate.targetref.resolve import REAL
from kumamigrate.targetref.route import Destination, ServiceTag
from kumamigrate.targetref.selection import Selection
from kumamigrate.universe.contents import Contents, Signature
from kumamigrate.universe.dataplaneparts import networking
from kumamigrate.universe.endpoints import common_protocol
from kumamigrate.universe.successors import Successors
from kumamigrate.universe.tagprotocols import real_protocol, tag_protocols, tags_of

ROUTES = ("MeshHTTPRoute", "MeshTCPRoute")
REMOVED = "3.0"
"""The release that knows no old policies any more."""
T = TypeVar("T")


class Side:
    """A state of one mesh and its matcher. Proxies asked about are kept alive.

    `winners` keeps which old policies may win a connection.
    """

    def __init__(self, state: State, mesh: str, contents: Contents) -> None:
        self.state = state
        self.mesh = mesh
        self.contents = contents
        self.tags_mean_services = False
        self.shares: Mapping[Kri, Any] = {}
        self.matcher = Matcher(state)
        self.release = self.matcher.release
        known = self.release.policy_types
        self.types = frozenset(r.type for r in state.resources if r.type in known)
        self.kinds = _kinds(state, contents)
        self.routes = tuple(sorted(contents.of_all(tuple(state.of_type(*ROUTES)))))
        self.real = {kri_of(r): r for r in reversed(tuple(state.of_type(*REAL)))}
        self.places = Places(release=self.release, mesh=mesh, real=self.real)
        self._protocols = tag_protocols(state)
        both = reads_both(self.release)
        self._giving = identities_of(state, mesh)
        self._identities = self._giving if both else ()
        self._unknown: Set[Kri] = frozenset()
        ground = sorted(contents.of_all(tuple(state.of_type(*REAL, "MeshGateway", IDENTITY))))
        protocols = tuple(sorted((s, tuple(sorted(p))) for s, p in self._protocols.items()))
        self.ground = (tuple(ground), protocols)
        self._signatures: dict[tuple[int, str], int] = {}
        self._of_proxies: dict[tuple[int, str], int] = {}
        self.winners: dict[Hashable, tuple[Resource | None, ...]] = {}
        self._alive: dict[int, Resource] = {}
        self._of_one: dict[tuple[str, int], Any] = {}

    @cached_property
    def old(self) -> OldPolicies:
        """The old policies that count: those the control plane accepts; from 3.0 on none."""
        if at_least(self.release.name, REMOVED):
            return OldPolicies(mesh=self.mesh, by_kind={})
        return old_policies(self.state, self.mesh)

    @cached_property
    def successors(self) -> Successors:
        """The MeshServices, by the service tags that they replace."""
        return Successors(self.real.values())

    @cached_property
    def mesh_resource(self) -> Resource | None:
        """The Mesh, None where the state lacks it."""
        return next((r for r in self.state.of_type("Mesh") if r.name == self.mesh), None)

    @property
    def mesh_spec(self) -> Mapping[str, Any]:
        """What the Mesh says; nothing where the state lacks it."""
        return self.mesh_resource.spec if self.mesh_resource is not None else {}

    def selection(self, proxy: Resource, policy_type: str) -> Selection:
        """Return what of a policy type reaches a proxy."""
        self._alive[id(proxy)] = proxy
        return self.matcher.selection(proxy, policy_type)

    @cached_property
    def surroundings(self) -> Hashable:
        """All that decides what references of a policy mean: equal ones mean the same."""
        state = self.state
        there = self.contents.of_all(tuple(state.of_type(*REAL, *ROUTES)))
        meshes = tuple(sorted(r.name for r in state.of_type("Mesh"))) if state.complete else None
        return (self.release.name, self.mesh, repr(state.environment), meshes, there)

    def proxy_class(self, proxy: Resource) -> int:
        """Return a number that proxies share which the policies cannot tell apart."""
        self._alive[id(proxy)] = proxy
        return self.matcher.proxy_class(proxy)

    def signature(self, proxy: Resource, policy_type: str) -> int:
        """Return a number for the policies that reach a proxy, in merge order, by content."""
        if policy_type not in self.types:
            return 0
        mine = (id(proxy), policy_type)
        if mine not in self._of_proxies:
            key = (self.proxy_class(proxy), policy_type)
            if key not in self._signatures:
                policies = self.selection(proxy, policy_type).policies
                self._signatures[key] = self.contents.of_list(policies)
            self._of_proxies[mine] = self._signatures[key]
        return self._of_proxies[mine]

    def once(self, what: str, proxy: Resource, work: Callable[[Side, Resource], T]) -> T:
        """Return what comes of a proxy here, worked out once; of no protocol (`knowing`)."""
        mine = (what, id(proxy))
        if mine not in self._of_one:
            self._alive[id(proxy)] = proxy
            self._of_one[mine] = work(self, proxy)
        found: T = self._of_one[mine]
        return found

    def identified(self, proxy: Resource) -> bool | None:
        """Whether a proxy has its certificate from a MeshIdentity, on a release where that ends
        `from`; None where it may have."""
        return _has(holder_of(proxy, self.state)) if self._identities else False

    def certified(self, proxy: Resource) -> bool | None:
        """Whether a proxy has its certificate from a MeshIdentity; of one that is made up nobody
        knows the labels by which only some have it."""
        found = _has(holder_of(proxy, self.state)) if self._giving else False
        if not proxy.made_up or found is None:
            return found
        mode = mode_of(self.state, self.mesh)
        gives = {is_ready(one, mode) for one in self._giving if match_labels(one)}
        return found if gives <= {found} else None

    def not_knowing(self, tags: Set[str], real: Set[Kri]) -> Side:
        """Return the same side without the protocols of some service tags and real resources."""
        other = copy(self)
        other._protocols = {k: v for k, v in self._protocols.items() if k not in tags}
        other._unknown = real
        return other

    def knowing(self, protocols: Mapping[str, str]) -> Side:
        """Return the same side with the protocols of some more service tags."""
        other = copy(self)
        other._protocols = {**self._protocols, **{tag: {p} for tag, p in protocols.items()}}
        return other

    def protocol(self, destination: Destination) -> str:
        """Return the protocol an outbound to a destination has, "" where nothing tells."""
        if isinstance(destination, ServiceTag):
            return self._protocol_of(destination.service)
        if destination.kri in self._unknown:
            return UNKNOWN_PROTOCOL
        resource = self.real.get(destination.kri.of_section(""))
        if resource is None:
            return UNKNOWN_PROTOCOL
        if resource.made_up:
            tags = [tag for tag, _ in tags_of(resource, destination.kri.section)]
            known = {self._protocol_of(tag) for tag in tags} - {UNKNOWN_PROTOCOL}
            return known.pop() if len(known) == 1 else UNKNOWN_PROTOCOL
        return real_protocol(resource, destination.kri)

    def _protocol_of(self, service: str) -> str:
        found = self._protocols.get(service)
        if not found:
            return UNKNOWN_PROTOCOL
        return common_protocol(found)


def is_zone_egress(side: Side, proxy: Resource) -> bool:
    """Whether traffic to what lies outside the mesh leaves it through a proxy."""
    if not side.release.zone_proxy_listeners:
        return False
    return any(
        one.get("type") == "ZoneEgress" for one in mappings(networking(proxy).get("listeners"))
    )


def _kinds(state: State, contents: Contents) -> dict[str, Signature]:
    """Return what there is of each type, in no order."""
    found: dict[str, list[int]] = {}
    for resource in state.resources:
        found.setdefault(resource.type, []).append(contents.of(resource))
    return {kind: tuple(sorted(numbers)) for kind, numbers in found.items()}


def _has(holder: Holder | None) -> bool | None:
    return False if holder is None else True if holder.sure else None
