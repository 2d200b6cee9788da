"""Health checks that a MeshProxyPatch sets on the cluster of a service, as effects.

For services that a MeshHealthCheck does not probe (legacy.md §1.6). Only one shape is read: a JSON
patch that adds `/healthChecks` to the cluster of one name, which replaces what stands there. Any
other modification is left as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from kumamigrate.effective.policies.meshhealthcheck import FIELDS, PANIC, UNPROBED, tcp_probe
from kumamigrate.effective.policies.meshproxypatch import cluster_touched
from kumamigrate.effective.reading import Conf, SlotKind, Values, as_read, read
from kumamigrate.model import duration
from kumamigrate.model.resource import SERVICE, Resource, mapping
from kumamigrate.model.state import State, mesh_services_mode
from kumamigrate.pattern import pattern
from kumamigrate.sourcedest.proxy import TaggedProxy
from kumamigrate.sourcedest.winners import OldPolicies, ends_of

PATCH = "MeshProxyPatch"
Checks = tuple[Values, ...]

_ON_KUBERNETES = "k8s.kuma.io/"
_DURATION = pattern(r"[0-9]+(\.[0-9]{1,9})?s")
_HEX = pattern(r"([0-9a-f]{2})+")
_DEFAULTS = {
    name: value for name, value in read(FIELDS, SlotKind.CLUSTER, None).items() if name not in PANIC
}
_REQUIRED = ("interval", "timeout", "unhealthyThreshold", "healthyThreshold")


def plain_services(
    state: State, old: OldPolicies, proxies: Sequence[TaggedProxy], protocols: Mapping[str, str]
) -> frozenset[str]:
    """Return the services that no MeshHealthCheck probes and that have one cluster, named alike.

    An outbound or a TrafficRoute with further tags makes a cluster whose name ends in their hash.
    The control plane makes such outbounds itself for VirtualOutbounds, and on Kubernetes for
    headless services; real resources (`meshServices`) have names of their own.
    """
    if mesh_services_mode(state, old.mesh) != "Disabled" or old.of("VirtualOutbound"):
        return frozenset()
    unprobed = {s for s, protocol in protocols.items() if protocol in UNPROBED}
    if not all(proxy.outbounds for proxy in proxies):
        unprobed -= {
            inbound.service
            for proxy in proxies
            for inbound in proxy.inbounds
            if any(key.startswith(_ON_KUBERNETES) for key in inbound.tags)
        }
    for proxy in proxies if unprobed else ():
        unprobed -= set(_reached_in_part(old, proxy, protocols))
    return frozenset(unprobed)


def _reached_in_part(
    old: OldPolicies, proxy: TaggedProxy, services: Iterable[str]
) -> Iterator[str]:
    """Yield the services of which a proxy has a cluster for some tags only.

    A TrafficRoute keeps what tags an outbound has (§1.2); a proxy without outbounds has one for
    each of `services`.
    """
    outbounds = [o.tags for o in proxy.outbounds] or [{SERVICE: s} for s in services]
    for tags in ends_of(old, proxy, outbounds):
        if set(tags) > {SERVICE}:
            yield tags[SERVICE]


def split(modifications: Iterable[Any], services: Collection[str]) -> tuple[dict[str, Checks], Any]:
    """Return what modifications set as health checks of some services, and all the others.

    One that follows another which may touch the same cluster is among the others, as there the
    order counts.
    """
    found: dict[str, Checks] = {}
    others: list[Any] = []
    for modification in modifications:
        read = read_patch(modification)
        if (
            read is not None
            and read[0] in services
            and not any(may_touch(other, read[0]) for other in others)
        ):
            found[read[0]] = read[1]
        else:
            others.append(modification)
    return found, others


def only_probes(policy: Resource) -> bool:
    """Say whether a MeshProxyPatch does nothing but set health checks."""
    found = mapping(policy.spec.get("default")).get("appendModifications")
    read = isinstance(found, list) and all(read_patch(m) is not None for m in found)
    return policy.type == PATCH and read


def may_touch(modification: Any, service: str) -> bool:
    """Say whether a modification may concern the cluster that is named by a service."""
    return cluster_touched(modification) in (None, service)


def read_patch(modification: Any) -> tuple[str, Checks] | None:
    """Return the service and its health checks, None for any other modification."""
    body = _fields(modification, ("cluster",)).get("cluster")
    patch = _fields(body, ("operation", "match", "jsonPatches"))
    name = _fields(patch.get("match"), ("name",)).get("name")
    changes = patch.get("jsonPatches")
    if patch.get("operation") != "Patch" or not isinstance(name, str) or not name:
        return None
    if not isinstance(changes, list) or len(changes) != 1:
        return None
    change = _fields(changes[0], ("op", "path", "value"))
    value = change.get("value")
    if change.get("op") != "add" or change.get("path") != "/healthChecks":
        return None
    if not isinstance(value, list):
        return None
    checks = [_check(one) for one in value]
    known = tuple(one for one in checks if one is not None)
    return (name, known) if len(known) == len(checks) else None


def _fields(node: Any, names: Sequence[str]) -> Conf:
    """Return a mapping that has just these fields, else an empty one."""
    return node if isinstance(node, Mapping) and set(node) == set(names) else {}


def _check(node: Any) -> Values | None:
    """Return a health check as a MeshHealthCheck says it, None for what is not known."""
    if not isinstance(node, Mapping) or any(name not in node for name in _REQUIRED):
        return None
    probe = _tcp(node.get("tcpHealthCheck"))
    rest = {name: _value(name, value) for name, value in node.items() if name != "tcpHealthCheck"}
    if probe is None or any(value is None for value in rest.values()):
        return None
    return {**_DEFAULTS, **rest, **probe}


def _value(name: str, value: Any) -> Any:
    like = _DEFAULTS.get(name)
    if isinstance(like, bool) or like in (None, ""):
        return value if like is not None and isinstance(value, type(like)) else None
    if isinstance(like, int):
        positive = name in _REQUIRED
        whole = isinstance(value, int) and not isinstance(value, bool)
        return value if whole and value >= int(positive) else None
    fits = isinstance(value, str) and _DURATION.fullmatch(value) is not None
    return duration.normal(value) if fits else None


def _tcp(node: Any) -> Values | None:
    if not isinstance(node, Mapping) or not set(node) <= {"send", "receive"}:
        return None
    received = node.get("receive", [])
    if not isinstance(received, list):
        return None
    sent = "" if "send" not in node else _text(node["send"])
    parts = [_text(one) for one in received]
    if sent is None or any(part is None for part in parts):
        return None
    return tcp_probe(sent, [part for part in parts if part is not None])


def _text(node: Any) -> str | None:
    text = _fields(node, ("text",)).get("text")
    fits = isinstance(text, str) and _HEX.fullmatch(text) is not None
    return as_read(bytes.fromhex(str(text))) if fits else None
