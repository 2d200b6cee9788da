"""One state of one mesh as the prover asks it: selections, contents, protocols, kept."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from copy import copy
from functools import cached_property
from typing import Any, TypeVar

from kumamigrate.model.conf import canonical
from kumamigrate.model.identity import (
    IDENTITY,
    Holder,
    holder_of,
    identities_of,
    is_ready,
    match_labels,
    mode_of,
)
from kumamigrate.model.kinds import OLD_POLICIES
from kumamigrate.model.kri import Kri, kri_of
from kumamigrate.model.kubernetes.workloads import port_protocol, service_tag
from kumamigrate.model.protocols import UNKNOWN_PROTOCOL
from kumamigrate.model.release import release as release_of
from kumamigrate.model.resource import SERVICE, Resource, mappings
from kumamigrate.model.state import State
from kumamigrate.model.versions import at_least
from kumamigrate.sourcedest.winners import OldPolicies, old_policies
from kumamigrate.targetref.backendref import DEFAULT_PROTOCOL, Places, ports_of, protocols_at
from kumamigrate.targetref.matcher import Matcher
from kumamigrate.targetref.permission import reads_both
from kumamigrate.targetref.resolve import REAL
from kumamigrate.targetref.route import Destination, ServiceTag
from kumamigrate.targetref.selection import Selection
from kumamigrate.universe.endpoints import PROTOCOL, common_protocol, endpoint_protocols
from kumamigrate.universe.successors import Successors

ROUTES = ("MeshHTTPRoute", "MeshTCPRoute")
REMOVED = "3.0"
"""The release that knows no old policies any more."""

Signature = tuple[int, ...]
T = TypeVar("T")


def _content(resource: Resource) -> str:
    said = [resource.type, resource.mesh, resource.namespace, resource.name]
    said += [resource.created] if resource.type in OLD_POLICIES else []  # decides ties
    filled_in = [resource.templated, *resource.branches]
    return canonical([*said, dict(resource.labels), resource.spec, filled_in])


class Contents:
    """Numbers for what resources say, shared by all sides: equal numbers, equal resources.

    `kept` is what was read of resources, by all that it depends on; it outlives a proof.
    """

    def __init__(self) -> None:
        self.kept: dict[Hashable, Any] = {}
        self._numbers: dict[str, int] = {}
        self._known: dict[int, tuple[Resource, int]] = {}
        self._lists: dict[Signature, int] = {(): 0}

    def of(self, resource: Resource) -> int:
        """Return the number of a resource's identity, labels and spec."""
        known = self._known.get(id(resource))
        if known is None:
            text = resource.kept.get("content")
            if text is None:
                text = resource.kept["content"] = _content(resource)
            # The resource is kept, so that its id stays its own.
            known = (resource, self._numbers.setdefault(text, len(self._numbers)))
            self._known[id(resource)] = known
        return known[1]

    def of_all(self, resources: Sequence[Resource]) -> Signature:
        """Return the numbers of resources, in their order."""
        known = self._known
        try:
            return tuple([known[id(r)][1] for r in resources])
        except KeyError:
            return tuple(self.of(r) for r in resources)

    def of_list(self, resources: Sequence[Resource]) -> int:
        """Return a number for a list of resources; equal lists have equal numbers, none has 0."""
        signature = self.of_all(resources)
        return self._lists.setdefault(signature, len(self._lists))


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
        self._protocols = _tag_protocols(state)
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
        return _real_protocol(resource, destination.kri)

    def _protocol_of(self, service: str) -> str:
        found = self._protocols.get(service)
        if not found:
            return UNKNOWN_PROTOCOL
        return common_protocol(found)


def protocol_of(inbound: Mapping[str, Any]) -> str:
    """Return the protocol of an inbound: its field, else its tag, else TCP."""
    tags = inbound.get("tags")
    by_tag = tags.get(PROTOCOL) if isinstance(tags, Mapping) else None
    return str(inbound.get("protocol") or by_tag or DEFAULT_PROTOCOL)


def inbounds_of(dataplane: Resource) -> list[Mapping[str, Any]]:
    """Return the inbounds of a Dataplane, in order."""
    return _list(networking(dataplane).get("inbound"))


def networking(dataplane: Resource) -> Mapping[str, Any]:
    """Return the networking section of a Dataplane."""
    found = dataplane.spec.get("networking")
    return found if isinstance(found, (dict, Mapping)) else {}


def may_be_transparent(proxy: Resource) -> bool:
    """Whether traffic may be redirected to a proxy: if its Dataplane says so, or is made up."""
    return proxy.made_up or bool(networking(proxy).get("transparentProxying"))


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


def _tag_protocols(state: State) -> dict[str, set[str]]:
    """Return the protocols of service tags.

    Dataplanes and ExternalServices give them; of other services the MeshService says the same,
    as long as its ports agree: which of them the tag means the MeshService does not say. A Service
    of Kubernetes gives its inbounds the tag and its protocol.
    """
    found = endpoint_protocols(
        (
            *(i for d in state.of_type("Dataplane") for i in inbounds_of(d)),
            *(r.spec for r in state.of_type("ExternalService")),
        ),
        release_of(state.release),
    )
    told: dict[str, set[str]] = {}
    for service in state.of_type("MeshService"):
        for port in ports_of(service.spec) if not service.made_up else ():
            section = str(port.get("name") or port.get("port", ""))
            protocol = str(port.get("appProtocol") or DEFAULT_PROTOCOL)
            for tag, _ in tags_of(service, section):
                told.setdefault(tag, set()).add(protocol)
    for kubernetes in state.of_type("Service"):
        for port in ports_of(kubernetes.spec) if not kubernetes.templated else ():
            told[service_tag(kubernetes, port)] = {port_protocol(kubernetes, port)}
    agreed = {tag: protocols for tag, protocols in told.items() if len(protocols) == 1}
    return {**agreed, **found}


def tags_of(service: Resource, section: str) -> list[tuple[str, str]]:
    """Return the service tags that a port of a MeshService replaces, with the port's number.

    By label `kuma.io/service`, else `name_namespace_svc_port`, else the plain name.
    """
    label = service.labels.get(SERVICE)
    if label:
        return [(label, "")]
    name, space = service.display_name, service.namespace_label
    if not space:
        return [(name, "")]
    numbers = [
        str(port.get("port", ""))
        for port in ports_of(service.spec)
        if str(port.get("name") or port.get("port", "")) == section
    ]
    return [(f"{name}_{space}_svc_{number}", number) for number in numbers]


def _real_protocol(resource: Resource, kri: Kri) -> str:
    protocols = protocols_at(resource, kri.section) if not resource.made_up else frozenset[str]()
    return next(iter(protocols)) if len(protocols) == 1 else UNKNOWN_PROTOCOL


def _list(value: Any) -> list[Mapping[str, Any]]:
    return [v for v in value if isinstance(v, Mapping)] if isinstance(value, list) else []


def _has(holder: Holder | None) -> bool | None:
    return False if holder is None else True if holder.sure else None
