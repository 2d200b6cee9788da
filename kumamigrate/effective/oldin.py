"""Inbounds and whole proxies of a mesh with old policies: what both engines come to together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import permutations, product
from typing import Any

from kumamigrate.effective.fields import rest
from kumamigrate.effective.mtlsmode import MTLS_UNKNOWN, OFF, PERMISSIVE, STRICT, inbound_mode
from kumamigrate.effective.oldside import Asked, OldSide, Options, Outcome, Place, Places, outcome
from kumamigrate.effective.picture import has_http, writes_defaults
from kumamigrate.effective.settings import HTTP_LIKE, patches, permission_rules
from kumamigrate.model.resource import SERVICE, ZONE, Resource, mapping
from kumamigrate.sourcedest.clients import Clients, admits_before, bears, clients_before
from kumamigrate.sourcedest.goduration import ZERO, seconds
from kumamigrate.sourcedest.oldconf import read_conf
from kumamigrate.sourcedest.proxy import PROTOCOL, Inbound, Proxy
from kumamigrate.sourcedest.selector import ANY, Rank, Tags, matches, rank, selectors_of
from kumamigrate.sourcedest.sinks import (
    faults_after,
    faults_before,
    limit_after,
    limit_before,
    traces_after,
    traces_before,
)
from kumamigrate.sourcedest.values import Effect, as_duration
from kumamigrate.sourcedest.winners import inbound_list, inbound_winner, proxy_winner
from kumamigrate.targetref.entry import Found
from kumamigrate.targetref.inbound import InboundPoint
from kumamigrate.targetref.selection import Point

OTHER = "\x00other"
BARE = frozenset[tuple[str, str]]()
"""A client without a sidecar: it sends no header x-kuma-tags (notes C20)."""
MOST_CLIENTS = 400
MOST_ORDERS = 24

Identity = frozenset[tuple[str, str]]
Named = Mapping[str, Identity]
"""Clients by what a reader is shown of them."""

_INBOUND = {
    "connectionTimeout": seconds(10),
    "idleTimeout": seconds(7200),
    "http.requestTimeout": ZERO,
    "http.streamIdleTimeout": seconds(3600),
    "http.maxStreamDuration": ZERO,
}
"""What the old engine gives every inbound, without any policy (§1.3 (d))."""
_REWRITTEN = {
    "connectionTimeout": seconds(5),
    "idleTimeout": seconds(3600),
    "http.requestTimeout": seconds(15),
    "http.streamIdleTimeout": seconds(1800),
    "http.maxStreamDuration": ZERO,
}


def inbound_places(
    side: OldSide, asked: Asked, kinds: frozenset[str], clients: Mapping[str, Named]
) -> Places:
    """Return what the inbounds of a proxy come to. `clients` are those to ask for, by new type."""
    return dict(_inbounds(side, asked, kinds, clients))


def _inbounds(
    side: OldSide, asked: Asked, kinds: frozenset[str], clients: Mapping[str, Named]
) -> Iterator[tuple[Place, Outcome]]:
    for inbound in asked.proxy.inbounds:
        read = _Inbound(side, asked, inbound)
        if "MeshTrafficPermission" in kinds:
            for name, one in clients["MeshTrafficPermission"].items():
                yield ("MeshTrafficPermission", "inbound", inbound.name, name), read.admitted(one)
        if "MeshFaultInjection" in kinds:
            for name, one in clients["MeshFaultInjection"].items():
                yield ("MeshFaultInjection", "inbound", inbound.name, name), read.faults(one)
        if "MeshRateLimit" in kinds:
            for name, one in clients["MeshRateLimit"].items():
                yield ("MeshRateLimit", "inbound", inbound.name, name), read.limit(one)
        if "MeshTimeout" in kinds:
            yield ("MeshTimeout", "inbound", inbound.name), read.timeouts()


class _Inbound:
    """One inbound of one proxy."""

    def __init__(self, side: OldSide, asked: Asked, inbound: Inbound) -> None:
        self.side, self.asked, self.inbound = side, asked, inbound

    def _point(self, policy_type: str) -> tuple[Point | None, InboundPoint | None]:
        if policy_type not in self.side.side.types:
            return None, None
        selection = self.side.matcher.selection(self.asked.dataplane, policy_type)
        key = self.inbound.name.rsplit(":", 1)[0]
        point = next((p for p in selection.points if p.key == key), None)
        if point is None:
            return None, None
        return point, self.side.matcher.inbound(selection, point)

    @cached_property
    def _mtls(self) -> str | None:
        """The mode of the inbound: STRICT keeps clients without a sidecar away; None: unknown."""
        return inbound_mode(self.side.mesh, self._point("MeshTLS")[1])

    def _met(self, client: Identity, effects: Sequence[Effect]) -> tuple[Sequence[Effect], str]:
        """Return what a client meets, if it can get here, and why that is undecided."""
        if client != BARE or self._mtls in (OFF, PERMISSIVE):
            return effects, "creation time"
        return ([{}], "") if self._mtls == STRICT else ([{}, *effects], MTLS_UNKNOWN)

    @cached_property
    def _permission(self) -> InboundPoint | None:
        return self._point("MeshTrafficPermission")[1]

    @cached_property
    def _permitted(self) -> tuple[Options, tuple[Clients, ...]]:
        """The old policies of which one decides, and whom each lets in."""
        old = self.side.old
        found = inbound_winner(old.of("TrafficPermission"), self.inbound.tags, old.ties)
        options = self.side.options(found)
        return options, tuple(map(clients_before, options))

    def admitted(self, client: Identity) -> Outcome:
        """Return whether a client is let in."""
        read = self._permission
        if read is not None and (read.from_rules or read.rules):
            if read.rules:
                rules = [(r.match, r.conf) for r in read.rules]
                if not permission_rules(rules, self.side.side.mesh):
                    return outcome([{"allowed": False}], (), _whole(read))
                return outcome([{"rules": repr(rules)}], (), _whole(read))
            return outcome([_lets_in(read, client)], (), _whole(read))
        options, let_in = self._permitted
        effects = [{"allowed": admits_before(clients, client)} for clients in let_in]
        return outcome(effects, options, None, "creation time")

    def faults(self, client: Identity) -> Outcome:
        """Return the faults a client meets; any FaultInjection keeps the new ones away (§3)."""
        old = self.side.old
        listed = inbound_list(old.of("FaultInjection"), self.inbound.tags, old.ties)
        if listed.policies:
            orders = [listed.policies] if listed.known else _orders(listed.policies, client)
            before: list[Effect] = [{"faults": faults_before(o, client)} for o in orders]
            effects, why = self._met(client, before)
            return outcome(effects, listed.policies, None, why)
        _, read = self._point("MeshFaultInjection")
        # It does nothing to TCP, and to gRPC only from 2.14 on (§1.7).
        kinds = HTTP_LIKE if writes_defaults(self.side.side) else ("http", "http2")
        if not self._may_speak(kinds):
            return outcome([{"faults": ()}], (), _whole(read))
        if read is not None and read.rules:
            return outcome([{"rules": repr([(r.match, r.conf) for r in read.rules])}], (), None)
        confs = _all_met(read, client) if read is not None else []
        effects, why = self._met(client, [{"faults": faults_after(confs)}])
        return outcome(effects, (), _whole(read), why)

    def _may_speak(self, protocols: Sequence[str]) -> bool:
        """Whether the inbound may be of one of some protocols: one made up may be of any."""
        undecided = self.asked.dataplane.made_up and PROTOCOL not in self.inbound.tags
        return undecided or self.inbound.protocol in protocols

    def limit(self, client: Identity) -> Outcome:
        """Return the limit a client meets first; any RateLimit keeps the new ones away (§3)."""
        policies = [
            p
            for p in self.side.old.of("RateLimit")
            if any(matches(s, self.inbound.tags) for s in selectors_of(p.spec, "destinations"))
        ]
        if policies:
            options = _first_limits(policies, client)
            if not self._may_speak(HTTP_LIKE):  # its limits are of HTTP requests
                return outcome([{}], (), None)
            before = [limit_before(p) if p is not None else {} for p in options]
            effects, why = self._met(client, before)
            return outcome(effects, options, None, why)
        _, read = self._point("MeshRateLimit")
        if read is None:
            return outcome([{}])
        if any(rule.match for rule in read.rules):
            return outcome([{"rules": repr([(r.match, r.conf) for r in read.rules])}], (), None)
        confs = [r.conf for r in read.rules] or [r.conf for r in read.from_rules if not r.subset]
        conf = _merged(confs)
        effect = {**limit_after(conf), **rest("MeshRateLimit", "inbound", conf)}
        effects, why = self._met(client, [effect])
        return outcome(effects, (), _whole(read), why)

    def timeouts(self) -> Outcome:
        """Return the timeouts of the inbound; any MeshTimeout on the proxy rewrites it (C5)."""
        if not self.side.reached(self.asked, "MeshTimeout"):
            return outcome([{**_INBOUND, "http.idleTimeout (downstream)": seconds(7200)}])
        _, read = self._point("MeshTimeout")
        confs: list[Mapping[str, Any]] = []
        matched: list[Any] = []
        if read is not None:
            confs = [r.conf for r in read.rules if not r.match]
            matched = [(r.match, r.conf) for r in read.rules if r.match]
            confs = confs if read.rules else [r.conf for r in read.from_rules]
        conf = _merged(confs)
        http = mapping(conf.get("http"))
        effect: dict[str, Any] = rest("MeshTimeout", "inbound", conf)
        if matched:
            effect["rules"] = repr(matched)
        for name, default in _REWRITTEN.items():
            value = http.get(name[5:]) if name.startswith("http.") else conf.get(name)
            effect[name] = default if value is None else as_duration(value) or ZERO
        effect["http.idleTimeout (downstream)"] = ZERO
        return outcome([effect], (), _whole(read))


def _whole(read: InboundPoint | None) -> Found | None:
    """Return the entries of an inbound as something a witness can point at."""
    if read is None:
        return None
    rules: Sequence[Any] = read.rules or read.from_rules
    entries = tuple(dict.fromkeys(e for rule in rules for e in rule.entries))
    return Found(confs=(rules[0].conf,), entries=entries, level="mesh") if entries else None


def _merged(confs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return confs over each other, the last on top, objects merged."""
    result: dict[str, Any] = {}
    for conf in confs:
        for key, value in conf.items():
            known = result.get(key)
            both = isinstance(known, Mapping) and isinstance(value, Mapping)
            result[key] = _merged([known, value]) if both else value  # type: ignore[list-item]
    return result


def _holds(rule: Any, client: Identity) -> bool:
    return all(((t.key, t.value) in client) != t.negated for t in rule.subset)


def _lets_in(read: InboundPoint, client: Identity) -> Effect:
    """Return whether `from` lets a client in, and whether it notes that it should not have."""
    actions = {rule.conf.get("action") for rule in read.from_rules if _holds(rule, client)}
    noted = {"shadow denied": True} if "AllowWithShadowDeny" in actions else {}
    return {"allowed": bool(actions & {"Allow", "AllowWithShadowDeny"}), **noted}


def _all_met(read: InboundPoint, client: Identity) -> list[Mapping[str, Any]]:
    """Return the confs of all rules that a client's header matches (notes C19).

    Envoy gets the negated tags of a rule as one inverted expression, with the last value of each
    key, so a client meets each rule of whose tags in it it lacks any: rules that differ in several
    tags, or in several values, overlap.
    """
    found: list[Mapping[str, Any]] = []
    for rule in read.from_rules:
        asked = [(t.key, t.value) in client for t in rule.subset if not t.negated]
        inverted = {t.key: t.value for t in sorted(rule.subset) if t.negated}
        negated = [pair in client for pair in inverted.items()]
        if all(asked) and not (negated and all(negated)):
            found.append(rule.conf)
    return found


def _first_limits(policies: Sequence[Resource], client: Identity) -> tuple[Resource | None, ...]:
    """Return whose limit a client may meet first: by rank of the source that fits it (G1)."""
    best: Rank | None = None
    found: list[Resource] = []
    for policy in policies:
        for tags in selectors_of(policy.spec, "sources"):
            if not bears(client, tags):
                continue
            own = rank(tags)
            if best is None or own > best:
                best, found = own, [policy]
            elif own == best and policy not in found:
                found.append(policy)
    return tuple(found) or (None,)


def _orders(policies: Sequence[Resource], client: Identity) -> Iterable[Sequence[Resource]]:
    """Return the orders in which policies of equal rank may stand; too many: two that differ."""
    groups: dict[Rank, list[Resource]] = {}
    for policy in policies:
        if any(bears(client, s) for s in selectors_of(policy.spec, "sources")):
            groups.setdefault(rank(selectors_of(policy.spec, "sources")[0]), []).append(policy)
    count = 1
    for group in groups.values():
        for size in range(2, len(group) + 1):
            count *= size
    ordered = [groups[key] for key in sorted(groups, reverse=True)]
    if count > MOST_ORDERS:
        plain = [p for group in ordered for p in group]
        return [plain, plain[::-1]]
    return [
        [p for group in chosen for p in group]
        for chosen in product(*(permutations(group) for group in ordered))
    ]


def whole_places(side: OldSide, asked: Asked, kinds: frozenset[str]) -> Places:
    """Return what a proxy as a whole comes to: traces and patches."""
    found: Places = {}
    old, sets = side.old, asked.proxy.tag_sets
    if "MeshTrace" in kinds:
        conf = side.single(asked, "MeshTrace")
        new = traces_after(conf.conf if conf else None)
        options = side.options(proxy_winner(old.of("TrafficTrace"), sets, old.ties))
        if new and has_http(side.side, asked.dataplane):
            assert conf is not None
            new = {**new, **rest("MeshTrace", "proxy", conf.conf)}
        effects = [new or traces_before(p, side.mesh) for p in options]
        found["MeshTrace", "proxy"] = outcome(effects, options, conf, "creation time")
    if "MeshProxyPatch" in kinds:
        conf = side.single(asked, "MeshProxyPatch")
        first = _patched(side.patched(asked)[1])  # the others belong to the clusters
        options = side.options(proxy_winner(old.of("ProxyTemplate"), sets, old.ties))
        listed: list[Effect] = [{"modifications": _once([*first, *_template(p)])} for p in options]
        found["MeshProxyPatch", "proxy"] = outcome(listed, options, conf, "creation time")
    return found


def _once(changes: list[Any]) -> list[Any]:
    """Return changes that stand there twice in a row once, where once more changes nothing.

    That holds for patches without lists, which Envoy's messages append to, and for removals.
    """
    half = len(changes) // 2
    twice = half and not len(changes) % 2 and changes[:half] == changes[half:]
    return _once(changes[:half]) if twice and all(map(_idempotent, changes)) else changes


def _idempotent(change: Any) -> bool:
    bodies = change.values() if isinstance(change, Mapping) else ()
    return bool(bodies) and all(
        isinstance(body, Mapping)
        and (
            body.get("operation") == "Remove"
            or (body.get("operation") == "Patch" and not _has_list(body.get("value")))
        )
        for body in bodies
    )


def _has_list(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(_has_list(inner) for inner in value.values())
    return isinstance(value, list) or (isinstance(value, str) and "\n" in value)


_OPERATIONS = {
    "add": "Add", "remove": "Remove", "patch": "Patch", "addFirst": "AddFirst",
    "addLast": "AddLast", "addBefore": "AddBefore", "addAfter": "AddAfter",
}  # fmt: skip


def _template(policy: Resource | None) -> list[Any]:
    """Return a ProxyTemplate as modifications; what has no such form as it stands."""
    if policy is None:
        return []
    conf = read_conf("ProxyTemplate", policy.spec)
    result: list[Any] = []
    if "default-proxy" not in (conf.get("imports") or ()):
        result.append({"without default-proxy": policy.name})
    for item in conf.get("resources") or ():
        text = str(mapping(item).get("resource", ""))
        kind = "listener" if ".Listener" in text else "cluster" if ".Cluster" in text else "other"
        result += _patched([{kind: {"operation": "Add", "value": text}}])
    changes = []
    for item in conf.get("modifications") or ():
        known = item if isinstance(item, Mapping) else {"not known": item}
        changes.append({kind: _change(body) for kind, body in known.items()})
    return [*result, *_patched(changes)]


def _patched(changes: list[Any]) -> list[Any]:
    return list(patches({"appendModifications": changes}).get("appendModifications") or ())


def _change(body: Any) -> Any:
    if not isinstance(body, Mapping):
        return body
    operation = str(body.get("operation", ""))
    kept = {k: body[k] for k in ("match", "value") if body.get(k)}
    return {"operation": _OPERATIONS.get(operation, operation), **kept}


def shown(client: Identity) -> str:
    """Return a client as a reader calls it, different ones differently."""
    if client == BARE:
        return "a client without a sidecar"
    several = {k for k, v in client if v != OTHER}
    parts = [
        f"{k}={'any other' if v == OTHER else v}"
        for k, v in sorted(client)
        if v != OTHER or k in several or k not in (SERVICE, ZONE)
    ]
    return ", ".join(parts) or "any other client"


def existing(proxies: Iterable[Proxy], selectors: Sequence[Tags]) -> frozenset[Identity]:
    """Return proxies as the clients that selectors take them for.

    A certificate names the tags of all inbounds together, a header those of each.
    """
    values = _named(selectors)
    found: set[Identity] = set()
    for proxy in proxies:
        sets = [frozenset(tags.items()) for tags in proxy.tag_sets]
        for tags in {*sets, frozenset(pair for one in sets for pair in one)}:
            read = {(k, v if v in values[k] else OTHER) for k, v in tags if k in values}
            found.add(_filled(frozenset(read)))
    return frozenset(found)


def clients(selectors: Iterable[Tags], *, several: bool) -> list[Identity] | None:
    """Return one client for each set of tags that selectors tell apart; None: too many.

    Every client carries a service and a zone. `several`: also clients with two values of a tag,
    as the certificate of a proxy with two inbounds has.
    """
    seeds = _seeds(selectors)
    closed: set[Identity] = {frozenset()}
    for seed in sorted(seeds, key=sorted):
        joined = {tags | seed for tags in closed}
        closed |= {tags for tags in joined if len({k for k, _ in tags}) == len(tags)}
        if len(closed) > MOST_CLIENTS:
            return None
    full = [_filled(tags) for tags in sorted(closed, key=lambda t: (len(t), sorted(t)))]
    if several and len(full) <= 24:
        full += [a | b for i, a in enumerate(full) for b in full[i + 1 :] if a | b not in full]
    return list(dict.fromkeys(full))


def _seeds(selectors: Iterable[Tags]) -> set[Identity]:
    """Return the tags of selectors, "present" as every value that is named, and as one more."""
    listed = list(selectors)
    values = _named(listed)
    seeds: set[Identity] = set()
    for tags in listed:
        ways = [
            [(k, v)] if v != ANY else [(k, one) for one in sorted(values[k])]
            for k, v in sorted(tags.items())
            if not (v == ANY and k in (SERVICE, ZONE))
        ]
        seeds |= {frozenset(way) for way in product(*ways)}
    return seeds


def _named(selectors: Iterable[Tags]) -> dict[str, set[str]]:
    """Return the values that selectors name for each key, and one that stands for all others."""
    values: dict[str, set[str]] = {}
    for tags in selectors:
        for key, value in tags.items():
            values.setdefault(key, {OTHER}).add(OTHER if value == ANY else value)
    return values


def is_loose(client: Identity) -> bool:
    """Whether a client has a value of some tag that nobody names, service and zone apart."""
    return any(v == OTHER and k not in (SERVICE, ZONE) for k, v in client)


def _filled(tags: Identity) -> Identity:
    keys = {k for k, _ in tags}
    return tags | {(key, OTHER) for key in (SERVICE, ZONE) if key not in keys}
