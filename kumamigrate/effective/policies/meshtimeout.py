"""MeshTimeout, and the Timeout before it (legacy.md §1.3, matcher-notes §3.2 to §3.6)."""

from __future__ import annotations

from kumamigrate.effective.reading import (
    At,
    Conf,
    Rules,
    SlotKind,
    TypeReading,
    Values,
    as_read,
    leaf,
    matched,
    read,
)
from kumamigrate.model.protocols import HTTP_LIKE, UNKNOWN_PROTOCOL
from kumamigrate.model.resource import Resource
from kumamigrate.sourcedest.oldconf import OldConf, conf_of

CONNECT, IDLE = "connectionTimeout", "idleTimeout"
REQUEST, STREAM = "http.requestTimeout", "http.streamIdleTimeout"
LONGEST, CONNECTION = "http.maxStreamDuration", "http.maxConnectionDuration"
HEADERS = "http.requestHeadersTimeout"
DOWNSTREAM = "http.idleTimeout (downstream)"
"""The idle timeout of clients' HTTP connections: no targetRef policy sets it (notes C4)."""
OFF = "0s"
ALWAYS_SINCE = "2.10"
"""Since then proxies have the defaults of a MeshTimeout without any (notes C16), which overrule
half of what an old Timeout says (legacy.md fact 6)."""

FIELDS = {
    CONNECT: leaf(SlotKind.CLUSTER, SlotKind.INBOUND, default="5s"),
    IDLE: leaf(SlotKind.CLUSTER, SlotKind.LISTENER, SlotKind.INBOUND, default="1h0m0s"),
    REQUEST: leaf(SlotKind.ROUTE, SlotKind.INBOUND, default="15s"),
    STREAM: leaf(SlotKind.ROUTE, SlotKind.INBOUND, default="30m0s"),
    LONGEST: leaf(SlotKind.CLUSTER, SlotKind.INBOUND, default=OFF),
    CONNECTION: leaf(SlotKind.CLUSTER, SlotKind.INBOUND, default=OFF),
    HEADERS: leaf(SlotKind.LISTENER, SlotKind.INBOUND, default=OFF),
}
_UNREACHED = {REQUEST: OFF, STREAM: "5m0s"}
"""What a service-tag outbound has whose listener no conf reaches: Envoy's own (§3.4)."""
_UNWRITTEN = "Envoy's own (1h)"
"""The idle timeout of a TCP listener that no conf reaches: as long as the one that is written then,
and yet Envoy is configured anew when one comes or goes (features-2.14/40-0002)."""
_UNTOUCHED = {
    CONNECT: "10s",
    IDLE: "2h0m0s",
    REQUEST: OFF,
    STREAM: "1h0m0s",
    LONGEST: OFF,
    CONNECTION: OFF,
    HEADERS: OFF,
    DOWNSTREAM: "2h0m0s",
}
"""What inbounds have of Kuma itself, where no MeshTimeout rewrites them (§1.3 (d))."""


def of_conf(conf: Conf | None, at: At) -> Values:
    """Return the timeouts of a route, a listener or a cluster."""
    found = read(FIELDS, at.part, conf)
    if at.part is SlotKind.ROUTE and conf is None and at.tag:
        return dict(_UNREACHED)
    if at.part is SlotKind.LISTENER:
        # A TCP listener reads the idle timeout itself; headers there are none of.
        # A MeshTCPRoute makes one of TCP to an HTTP service, too, on real resources alone.
        http = at.protocol in HTTP_LIKE
        unread = {HEADERS} if at.protocol in ("tcp", "tls") else set()
        unread |= {IDLE} if http and not at.tcp else set()
        unwritten = conf is None and at.protocol != UNKNOWN_PROTOCOL
        if unwritten or (http and at.by_protocol):
            found[IDLE] = _UNWRITTEN
        return {path: value for path, value in found.items() if path not in unread}
    if at.part is SlotKind.CLUSTER:
        return _of_protocol(found, at.protocol)
    return found


def by_meaning(values: Values) -> Values:
    """Return timeouts, told by how long they are and not by whether anybody wrote them down."""
    return {**values, IDLE: FIELDS[IDLE].default} if values.get(IDLE) == _UNWRITTEN else values


def _of_protocol(found: Values, protocol: str) -> Values:
    """Return what a cluster takes: gRPC has neither idle timeout nor longest stream (§1.3 (c))."""
    if protocol == "grpc":
        return {**found, IDLE: FIELDS[IDLE].default, LONGEST: OFF}
    if protocol in (*HTTP_LIKE, UNKNOWN_PROTOCOL):
        return found
    return {CONNECT: found[CONNECT]}


def of_rules(rules: Rules, merged: Conf | None, at: At) -> Values:
    """Return the timeouts of an inbound. Any MeshTimeout on a proxy rewrites all of its own."""
    if not at.reached and not at.always:
        return dict(_UNTOUCHED)
    return {**read(FIELDS, at.part, merged), DOWNSTREAM: OFF, **matched(rules)}


def of_old(policy: Resource | None, at: At) -> Values:
    """Return what a Timeout comes to; without one all is off but connecting.

    Where the new engine makes the outbound, a Timeout is nothing, and Envoy's own values stand.
    """
    if not at.made:
        return _unset(at)
    conf = conf_of(policy)
    if at.part is SlotKind.CLUSTER:
        # Where nobody says anything the release has a word of its own (legacy.md fact 6).
        found = _old_cluster(conf, at.treated)
        return _over(found, {}, at) if at.always else found
    if at.treated not in HTTP_LIKE:
        return {IDLE: as_read(conf.get("tcp", "idleTimeout")) or OFF}
    swept = at.always and at.protocol in (*HTTP_LIKE, UNKNOWN_PROTOCOL)
    return {
        REQUEST: as_read(conf.get("http", "requestTimeout")) or OFF,
        STREAM: _twin(conf, "streamIdleTimeout", at.treated),
        HEADERS: OFF,
        DOWNSTREAM: OFF if swept else as_read(conf.get("http", "idleTimeout")) or OFF,
    }


def unheard(policy: Resource | None, at: At) -> Values:
    """Return what a Timeout says of a cluster and the release does not hear.

    Where a MeshTimeout says it, it begins to work. What a Timeout leaves out it switches off:
    there is no other way to say so (notes G5).
    """
    if policy is None or not (at.always and at.made and at.part is SlotKind.CLUSTER):
        return {}
    said = _old_cluster(conf_of(policy), at.treated)
    had = _over(said, {}, at)
    return {name: value for name, value in said.items() if had.get(name) != value}


def _unset(at: At) -> Values:
    http = at.treated in HTTP_LIKE
    found = read(FIELDS, at.part, None)
    if at.part is SlotKind.CLUSTER:
        return found if http else {CONNECT: found[CONNECT]}
    if not http:
        return {IDLE: found[IDLE]}
    return {**_UNREACHED, HEADERS: found[HEADERS], DOWNSTREAM: found[IDLE]}


def _old_cluster(conf: OldConf, treated: str) -> Values:
    connect = conf.get("connectTimeout")
    found: Values = {CONNECT: FIELDS[CONNECT].default if connect is None else as_read(connect)}
    if treated not in HTTP_LIKE:
        return found
    return {
        **found,
        IDLE: as_read(conf.get("http", "idleTimeout")) or OFF,
        LONGEST: _twin(conf, "maxStreamDuration", treated),
        CONNECTION: OFF,
    }


def _twin(conf: OldConf, name: str, treated: str) -> str:
    """Return a field of `http`, or of `grpc` where that says nothing (§1.3)."""
    value = as_read(conf.get("http", name)) or OFF
    if value == OFF and treated == "grpc":
        value = as_read(conf.get("grpc", name)) or OFF
    return str(value)


def beside(policy: Resource | None, conf: Conf, at: At) -> Values:
    """Return what both come to: a conf takes all that it reads, which on gRPC is not all.

    It goes by the protocol of the service. Where the old engine treats the outbound otherwise,
    what that made stays as made, policy and all (notes C3, C21; asked of 2.9 and 2.14).
    """
    if at.part is SlotKind.CLUSTER:
        return _clusters_beside(policy, conf, at)
    http = at.treated in HTTP_LIKE
    if http != (at.protocol in HTTP_LIKE):
        headers = read(FIELDS, at.part, conf, HEADERS) if http else {}
        return {**of_old(policy, at), **headers}
    if not http:
        return read(FIELDS, SlotKind.LISTENER, conf, IDLE)
    return {
        **read(FIELDS, SlotKind.ROUTE, conf),
        **read(FIELDS, SlotKind.LISTENER, conf, HEADERS),
        DOWNSTREAM: OFF,
    }


def _clusters_beside(policy: Resource | None, conf: Conf, at: At) -> Values:
    if not at.made:
        return _over(_unset(at), conf, at)
    return _over(_old_cluster(conf_of(policy), at.treated), conf, at)


def _over(old: Values, conf: Conf, at: At) -> Values:
    """Return what a cluster comes to that the old engine made so, with a conf written over it."""
    found = read(FIELDS, SlotKind.CLUSTER, conf)
    if at.treated not in HTTP_LIKE:
        return {CONNECT: found[CONNECT]}
    if at.protocol not in ("http", "http2"):
        return {**old, CONNECT: found[CONNECT], CONNECTION: found[CONNECTION]}
    return found


READING = TypeReading(
    policy_type="MeshTimeout",
    fields=FIELDS,
    of_conf=of_conf,
    of_rules=of_rules,
    old="Timeout",
    old_parts=(SlotKind.LISTENER, SlotKind.CLUSTER),
    of_old=of_old,
    beside=beside,
)
