"""Old engine before, new engine after: what differs for the proxies of a mesh, as lines of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from kumamigrate.effective.policies.meshfault import faults_of, old_faults
from kumamigrate.effective.policies.meshhealthcheck import probed
from kumamigrate.effective.policies.meshtimeout import DOWNSTREAM
from kumamigrate.effective.policies.patched import Checks, split
from kumamigrate.effective.reading import At, SlotKind, Values
from kumamigrate.effective.readings import READINGS
from kumamigrate.model.resource import ZONE, Resource
from kumamigrate.model.state import State
from kumamigrate.rewrite.sourcedest.conversion import Conversion
from kumamigrate.rewrite.sourcedest.known import KnownWorld
from kumamigrate.sourcedest.clients import admits_before, bears
from kumamigrate.sourcedest.proxy import PASS_THROUGH, TaggedProxy, proxy_of
from kumamigrate.sourcedest.selector import ANY, Tags, selectors_of
from kumamigrate.targetref.matcher import Matcher
from kumamigrate.targetref.selection import Point
from kumamigrate.targetref.subset import contains
from tests.sourcedest.facts import Facts, facts_of


def identities(selectors: Iterable[Tags]) -> tuple[tuple[tuple[str, str], ...], ...]:
    """Return one client for each combination of tags that the selectors can tell apart.

    `'*'` counts as a value that nobody names. The client without any named tag comes first.
    """
    seeds = {
        frozenset((k, "\x00other" if v == ANY else v) for k, v in tags.items())
        for tags in selectors
    }
    closed: set[frozenset[tuple[str, str]]] = {frozenset()}
    for seed in sorted(seeds, key=sorted):
        joined = {tags | seed for tags in closed}
        closed |= {tags for tags in joined if len({k for k, _ in tags}) == len(tags)}
    return tuple(tuple(sorted(tags)) for tags in sorted(closed, key=lambda t: (len(t), sorted(t))))


def as_resource(policy: Any, mesh: str) -> Resource:
    return Resource(type=policy.type, mesh=mesh, name=policy.name, spec=policy.spec)


def after_of(before: State, conversions: list[Conversion], mesh: str, release: str) -> State:
    """Return the state with the policies of the conversions in place of the old ones."""
    gone = {r.identity for c in conversions for r in c.removed()}
    kept = tuple(r for r in before.resources if r.identity not in gone)
    new = tuple(as_resource(p, mesh) for c in conversions for p in c.policies)
    zoned = tuple(_with_zone(r, before.environment.zone) for r in kept)
    return replace(before, resources=(*zoned, *new), release=release)


def _with_zone(resource: Resource, zone: str) -> Resource:
    if resource.type != "Dataplane":
        return resource
    networking = dict(resource.spec["networking"])
    inbounds = [{**i, "tags": {ZONE: zone, **i["tags"]}} for i in networking.get("inbound") or ()]
    networking["inbound"] = inbounds
    if "gateway" in networking:
        gateway = networking["gateway"]
        networking["gateway"] = {**gateway, "tags": {ZONE: zone, **gateway.get("tags", {})}}
    return replace(resource, spec={**resource.spec, "networking": networking})


def differences(world: KnownWorld, conversions: list[Conversion]) -> list[str]:
    """Return what changes for the Dataplanes of a mesh, kinds that were not written left out."""
    written = [c for c in conversions if c.writable]
    kinds = {c.kind for c in written}
    after = after_of(world.state, written, world.mesh, world.target)
    matcher = Matcher(after)
    lines: list[str] = []
    for dataplane in after.of_type("Dataplane"):
        proxy = proxy_of(dataplane, world.state.environment.zone)
        facts = facts_of(world.old, proxy, world.protocols, world.mesh_resource)
        asked = _Asked(matcher, dataplane, proxy, facts, world, kinds)
        lines += [f"{dataplane.name}: {line}" for line in asked.lines()]
    return lines


class _Asked:
    def __init__(
        self,
        matcher: Matcher,
        dataplane: Resource,
        proxy: TaggedProxy,
        facts: Facts,
        world: KnownWorld,
        kinds: set[str],
    ) -> None:
        self.matcher, self.dataplane, self.proxy = matcher, dataplane, proxy
        self.facts, self.world, self.kinds = facts, world, kinds

    def lines(self) -> Iterator[str]:
        if self.facts.live:
            yield from self._connections()
        yield from self._logs()
        yield from self._inbounds()
        yield from self._whole()

    def _to(self, type_: str, service: str) -> Mapping[str, Any] | None:
        selection = self.matcher.selection(self.dataplane, type_)
        found = self.matcher.service(selection, service)
        return found.conf if found is not None else None

    def _said(self, kind: str, service: str, part: SlotKind, treated: str = "") -> Values:
        """Return what a place reads of a new policy type, with nothing of old policies left."""
        reading = READINGS[kind]
        protocol = self.world.protocol(service)
        at = At(part=part, protocol=protocol, treated=treated or protocol, tag=True, always=False)
        conf = self._to(kind, service)
        assert reading.of_old is not None and reading.beside is not None
        return reading.of_old(None, at) if conf is None else reading.beside(None, conf, at)

    def _connections(self) -> Iterator[str]:
        for service, effect in self.facts.timeouts.items():
            if "Timeout" in self.kinds:
                treated = self.facts.treated.get(service, "")
                parts = (SlotKind.LISTENER, SlotKind.CLUSTER)
                got: Values = {}
                for part in parts:
                    got |= self._said("MeshTimeout", service, part, treated)
                unsaid = {DOWNSTREAM}  # no MeshTimeout can say it
                if service not in self.facts.routes:
                    unsaid |= got.keys() - {"connectionTimeout"}
                unlike = {k for k in {*got, *effect} - unsaid if got.get(k) != effect.get(k)}
                if unlike:
                    yield f"Timeout {service} {effect} != {got}"
        for service, effect in self.facts.retries.items():
            got = self._said("MeshRetry", service, SlotKind.LISTENER)
            if "Retry" in self.kinds and got != effect:
                yield f"Retry {service} {effect} != {got}"
        for service, effect in self.facts.breakers.items():
            got = self._said("MeshCircuitBreaker", service, SlotKind.CLUSTER)
            if "CircuitBreaker" in self.kinds and got != effect:
                yield f"CircuitBreaker {service} {effect} != {got}"
        set_by_patch = self._patches()
        for service, effect in self.facts.probes.items():
            if service not in self.world.protocols:
                continue  # no endpoint, nothing to probe
            conf = self._to("MeshHealthCheck", service)
            at = At(part=SlotKind.CLUSTER, protocol=self.world.protocol(service), always=False)
            # the HealthCheck is gone, so only `conf` says what panic is
            got = probed(set_by_patch.get(service, ()), None, conf, at)
            if "HealthCheck" in self.kinds and got != effect:
                yield f"HealthCheck {service} {effect} != {got}"

    def _patches(self) -> Mapping[str, Checks]:
        selection = self.matcher.selection(self.dataplane, "MeshProxyPatch")
        found = self.matcher.single(selection)
        changes = found.conf["appendModifications"] if found is not None else ()
        return split(changes, self.world.protocols)[0]

    def _logs(self) -> Iterator[str]:
        for service, effect in self.facts.logs.items():
            if "TrafficLog" in self.kinds:
                got = self._said("MeshAccessLog", service, SlotKind.LISTENER)
                if got != effect:
                    yield f"TrafficLog {service} {effect} != {got}"
        if not self.facts.live and "TrafficLog" in self.kinds:
            assert set(self.facts.logs) == {PASS_THROUGH}

    def _points(self, type_: str) -> dict[str, Point]:
        selection = self.matcher.selection(self.dataplane, type_)
        return {point.key: point for point in selection.points}

    def _from(self, type_: str, inbound: str, client: Mapping[str, str]) -> Any:
        point = self._points(type_).get(inbound.rsplit(":", 1)[0])
        if point is None:
            return None
        selection = self.matcher.selection(self.dataplane, type_)
        rules = self.matcher.inbound(selection, point).from_rules
        return next((rule.conf for rule in rules if contains(rule.subset, client)), None)

    def _inbounds(self) -> Iterator[str]:
        old = self.world.old
        if "TrafficPermission" in self.kinds:
            sources = [
                t for p in old.of("TrafficPermission") for t in selectors_of(p.spec, "sources")
            ]
            for inbound in self.proxy.inbounds:
                clients = self.facts.clients[inbound.name]
                for identity in _real(identities(sources)):
                    client = {"kuma.io/service": "\x00other", **dict(identity)}
                    conf = self._from("MeshTrafficPermission", inbound.name, client)
                    got = bool(conf) and conf["action"] == "Allow"
                    if got != admits_before(clients, client.items()):
                        yield f"TrafficPermission {inbound.name} {client} got {got}"
        if "FaultInjection" in self.kinds:
            yield from self._faults()

    def _faults(self) -> Iterator[str]:
        old = self.world.old
        sources = [t for p in old.of("FaultInjection") for t in selectors_of(p.spec, "sources")]
        remaining = {r.name for r in self.matcher.state.of_type("FaultInjection")}
        for inbound in self.proxy.inbounds:
            listed = self.facts.faults[inbound.name]
            if any(p.name in remaining for p in listed):
                continue
            for identity in _real(identities(sources)):
                client = {"kuma.io/service": "\x00other", ZONE: "\x00other", **dict(identity)}
                want = old_faults(_met(listed, client.items()))
                # Which rules Envoy makes of `from` overlap is for the prover (notes C19).
                conf = self._from("MeshFaultInjection", inbound.name, client)
                got = faults_of([conf] if conf is not None else [])
                if want != got:
                    yield f"FaultInjection {inbound.name} {client} {want} != {got}"

    def _whole(self) -> Iterator[str]:
        if "TrafficTrace" in self.kinds:
            found = self.matcher.single(self.matcher.selection(self.dataplane, "MeshTrace"))
            at = At(part=SlotKind.PROXY, release=self.matcher.release.name)
            got = READINGS["MeshTrace"].of_conf(found.conf if found is not None else None, at)
            if got != self.facts.traces:
                yield f"TrafficTrace {self.facts.traces} != {got}"
        if "ProxyTemplate" in self.kinds:
            found = self.matcher.single(self.matcher.selection(self.dataplane, "MeshProxyPatch"))
            changes = list((found.conf if found is not None else {}).get("appendModifications", ()))
            template = self.facts.template
            wanted = (template.spec["conf"].get("modifications") or []) if template else []
            names = [m["cluster"]["match"]["name"] for m in changes]
            if names != [m["cluster"]["match"]["name"] for m in wanted]:
                yield f"ProxyTemplate {wanted} != {changes}"


def _real(found: Iterable[tuple[tuple[str, str], ...]]) -> list[tuple[tuple[str, str], ...]]:
    """Leave out clients with a value that nobody has yet (legacy-notes.md C7)."""
    always = ("kuma.io/service", ZONE)
    return [t for t in found if all(k in always or v != "\x00other" for k, v in t)]


def _met(policies: Iterable[Resource], client: Iterable[tuple[str, str]]) -> list[Resource]:
    own = tuple(client)
    return [p for p in policies if any(bears(own, s) for s in selectors_of(p.spec, "sources"))]
