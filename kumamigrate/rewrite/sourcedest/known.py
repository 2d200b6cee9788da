"""What is known of a mesh besides its old policies: proxies, services, protocols, defaults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from kumamigrate.dataclass import dataclass
from kumamigrate.model.initial import skips
from kumamigrate.model.kinds import OLD_POLICIES
from kumamigrate.model.resource import EFFECT, SERVICE, Form, Resource
from kumamigrate.model.state import State
from kumamigrate.model.versions import at_least
from kumamigrate.sourcedest.order import Ties
from kumamigrate.sourcedest.proxy import TaggedProxy, proxy_of
from kumamigrate.sourcedest.selector import ANY, Tags, best_rank, selectors_of, tags_of
from kumamigrate.sourcedest.targets import UNKNOWN, family_of, route_destinations, service_protocols
from kumamigrate.sourcedest.winners import OldPolicies, led_to, old_policies

_RULES_SINCE = "2.10"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownWorld:
    """A mesh as the converter sees it: the state holds nothing of other ones, `everything` does.

    `protocols` holds the services of which the state has endpoints. `onward`: other rules take the
    result on to 3.0. `on_word`: what denies or limits may go without a successor, the user said.
    `exported` are the old policies of an inventory, those that were converted since as well.
    """

    state: State
    everything: State
    mesh: str
    target: str
    old: OldPolicies
    proxies: tuple[TaggedProxy, ...]
    services: tuple[str, ...]
    protocols: Mapping[str, str]
    onward: bool = False
    on_word: bool = False
    exported: tuple[Resource, ...] = ()

    @property
    def with_rules(self) -> bool:
        """Whether target and release in use read `rules` and Dataplane references (dialect D2).

        What both read can go out before the upgrade (legacy-notes C25).
        """
        return at_least(self.target, _RULES_SINCE) and at_least(self.state.release, _RULES_SINCE)

    @property
    def mesh_resource(self) -> Resource | None:
        """The Mesh, or None when the state does not hold it."""
        return next(iter(self.state.of_type("Mesh")), None)

    @property
    def listed(self) -> bool:
        """Whether the state has the Dataplanes of the mesh, so that they settle what is open."""
        return bool(self.proxies)

    def protocol(self, service: str) -> str:
        """Return the protocol of a service as the control plane infers it."""
        return self.protocols.get(service, UNKNOWN)

    def family(self, service: str) -> str:
        """Return "http", "grpc" or "tcp": how the outbound to a service is treated."""
        return family_of(self.protocol(service))

    def no_defaults(self, kind: str) -> bool:
        """Say whether the control plane is known to have created no default policy of a kind.

        Only then is a kind that the state does not hold known to be absent.
        """
        known = self.state.complete or self.mesh in self.state.initial_known
        return known or skips(self.mesh_resource, kind)

    def existing(self, type_: str) -> tuple[Resource, ...]:
        """Return the policies of a new type that the mesh has already, shadow ones left out."""
        return tuple(r for r in self.state.of_type(type_) if r.labels.get(EFFECT) != "shadow")

    def taken(self, *types: str) -> set[str]:
        """Return the names that nothing new of some types can have: those of the mesh, and on
        Kubernetes those of every mesh in the namespace that policies of the mesh are written to."""
        space = self.state.environment.system_namespace
        return {
            r.name
            for r in self.everything.of_type(*types)
            if r.mesh == self.mesh or (r.form is Form.KUBERNETES and r.namespace == space)
        }

    def led_to(self, service: str, besides: Sequence[Tags] = ()) -> bool:
        """Say whether traffic of a listed proxy may end at a service.

        Proxies that carry the tags of any of `besides` do not count. Where no proxy is listed, or
        routes of the new kind lead, any may. A proxy without outbounds is transparent.
        """
        routed = self.existing("MeshHTTPRoute") or self.existing("MeshTCPRoute")
        if not self.listed or routed:
            return True
        others = (p for p in self.proxies if best_rank(besides, p.tag_sets) is None)
        return any(not p.outbounds or service in led_to(self.old, p) for p in others)

    def values(self, key: str, selector: Tags) -> tuple[str, ...]:
        """Return the values that a tag may have where the rest of a selector matches, sorted.

        Proxies have them, or selectors that may match the same proxy name them.
        """
        rest = {k: v for k, v in selector.items() if k != key and v != ANY}
        found = {
            tags[key]
            for proxy in self.proxies
            if _carries(proxy, rest)
            for tags in proxy.tag_sets
            if key in tags
        }
        found |= {
            tags[key]
            for tags in self._named
            if key in tags and all(tags.get(k, v) in (v, ANY) for k, v in rest.items())
        }
        return tuple(sorted(found - {ANY}))

    @property
    def _named(self) -> Iterable[Tags]:
        """The selectors of all old policies, be they converted since a control plane had them: what
        a tag may be does not hang on which of them goes first."""
        for policy in chain(*self.old.by_kind.values(), self.exported):
            for field in ("sources", "destinations", "selectors"):
                yield from selectors_of(policy.spec, field)


def _carries(proxy: TaggedProxy, wanted: Tags) -> bool:
    """Say whether a proxy has each of some tags, be it on different inbounds.

    Its clients' tags are matched all together (a header lists them), those of an inbound are not.
    """
    return all(any(tags.get(k) == v for tags in proxy.tag_sets) for k, v in wanted.items())


def world_of(
    state: State,
    mesh: str,
    target: str,
    *,
    ties: Ties | str = Ties.UNKNOWN,
    onward: bool = False,
    on_word: bool = False,
    exported: Iterable[Resource] = (),
) -> KnownWorld:
    """Return what is known of a mesh."""
    everything, state = state, state.mesh(mesh)
    proxies = _listed(state)
    external = [tags_of(r.spec.get("tags")) for r in state.of_type("ExternalService")]
    protocols = service_protocols(proxies, external)
    old = old_policies(state, mesh, Ties(ties))
    named = {o.service for p in proxies for o in p.outbounds} | set(protocols)
    return KnownWorld(
        state=state,
        everything=everything,
        mesh=mesh,
        target=target,
        old=old,
        proxies=proxies,
        services=tuple(sorted((named | _named_services(old)) - {"", ANY})),
        protocols=protocols,
        onward=onward,
        on_word=on_word,
        exported=tuple(r for r in exported if r.type in OLD_POLICIES and r.mesh == mesh),
    )


def _listed(state: State) -> tuple[TaggedProxy, ...]:
    """Return the Dataplanes of a mesh; every rule asks for them, and there may be thousands."""
    key = "old proxies"
    if key not in state.known:
        zone = state.environment.zone
        state.known[key] = tuple(proxy_of(r, zone) for r in state.of_type("Dataplane"))
    found: tuple[TaggedProxy, ...] = state.known[key]
    return found


def _named_services(old: OldPolicies) -> set[str]:
    found: set[str] = set()
    for kind in old.by_kind:
        for policy in old.of(kind):
            for field in ("sources", "destinations", "selectors"):
                found |= {tags.get(SERVICE, ANY) for tags in selectors_of(policy.spec, field)}
            if kind == "TrafficRoute":
                found |= {tags[SERVICE] for tags in route_destinations(policy) if SERVICE in tags}
    return found
