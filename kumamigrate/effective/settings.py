"""What of a conf reaches Envoy: one flat normal form for each policy type and place.

A setting maps a field path to a value; equal settings mean the same Envoy configuration. A field
whose value is Kuma's default anyway stands there with that value (`tables/defaults.json`), so that
leaving it out and writing it down are equal. matcher-notes §3 numbers the rules.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from kumamigrate.model import duration
from kumamigrate.model.packed import packed
from kumamigrate.source.node import json_value
from kumamigrate.source.reading.load import read_file

Conf = Mapping[str, Any]
Settings = dict[str, Any]

HTTP_LIKE = ("http", "http2", "grpc")
"""The protocol of a destination that nothing in the state tells."""


def flat(value: Any, prefix: str = "") -> Settings:
    """Return the leaves of a conf by dotted path; lists and empty objects are leaves."""
    if not isinstance(value, Mapping) or not value:
        return {} if value is None or (not prefix and not value) else {prefix: value}
    out: Settings = {}
    for key, inner in value.items():
        out.update(flat(inner, f"{prefix}.{key}" if prefix else key))
    return out


def timeout_route(conf: Conf | None, *, service_tag: bool) -> Settings:
    """Return what a route reads of MeshTimeout (rules 2, 3, 4).

    A service-tag outbound that no conf reaches has no request timeout and no idle timeout; any
    conf fills what it lacks with the defaults.
    """
    if conf is None and service_tag:
        return {"http.requestTimeout": "0s"}
    return _with_defaults(conf, "MeshTimeout.route")


def timeout_cluster(conf: Conf | None, *, protocol: str) -> Settings:
    """Return what a cluster reads of MeshTimeout (rule 5); a gRPC one has no idle timeout."""
    settings = _with_defaults(conf, "MeshTimeout.cluster")
    if protocol == "grpc":
        del settings["idleTimeout"]
    return settings


def timeout_listener(conf: Conf | None, *, protocol: str, service_tag: bool) -> Settings:
    """Return what an outbound listener reads of MeshTimeout.

    A TCP listener reads the idle timeout itself. On service-tag outbounds it matters whether
    any conf reaches the listener at all (rule 4).
    """
    settings: Settings = {}
    headers = ((conf or {}).get("http") or {}).get("requestHeadersTimeout")
    if headers is not None and protocol not in ("tcp", "tls"):
        settings["http.requestHeadersTimeout"] = headers
    if protocol not in HTTP_LIKE:
        idle = timeout_cluster(conf, protocol=protocol)["idleTimeout"]
        settings["idleTimeout"] = None if conf is None and service_tag else idle
    return settings


def timeout_inbound(rules: Sequence[tuple[Conf | None, Conf]], merged: Conf | None) -> Settings:
    """Return what an inbound reads of MeshTimeout (rules 6, 10).

    `rules` are (match, conf) in order, `merged` the merge of those without a match.
    """
    settings = _with_defaults(merged, "MeshTimeout.inbound")
    matched = [_rule(match, conf) for match, conf in rules if match]
    if matched:
        settings["rules"] = matched
    return settings


def retry(conf: Conf | None, *, protocols: Sequence[str]) -> Settings:
    """Return what an outbound reads of MeshRetry (rule 1): the blocks of its protocols.

    `protocols` are those the outbound may have. No retries asked for is no retry policy,
    whatever else is set.
    """
    settings: Settings = {}
    for protocol in protocols:
        block = "http" if protocol == "http2" else protocol
        value = (conf or {}).get(block)
        if value is None or (block == "http" and value.get("numRetries") == 0):
            continue
        settings.update(flat(value, block))
    return settings


def balancer_route(conf: Conf | None) -> Settings:
    """Return the hash policies a route reads of MeshLoadBalancingStrategy.

    Those at the root win; those of the chosen balancer count without them.
    """
    if conf is None:
        return {}
    hashes = conf.get("hashPolicies")
    if hashes is None:
        hashes = _chosen(conf)[1].get("hashPolicies")
    return {} if hashes is None else {"hashPolicies": [_hashing(policy) for policy in hashes]}


def _hashing(policy: Any) -> Any:
    """Give the old type SourceIP its name since 2.10, where it hashes by just that."""
    if not isinstance(policy, Mapping) or policy.get("type") != "SourceIP":
        return policy
    by_address = policy.get("connection") == {"sourceIP": True}
    return {**policy, "type": "Connection"} if by_address else policy


def balancer_cluster(conf: Conf | None) -> Settings:
    """Return what a cluster reads of MeshLoadBalancingStrategy (rule 7).

    Only the chosen balancer's own object counts; round robin is what there is anyway. Any conf
    switches locality awareness on unless it says otherwise, so its presence counts.
    """
    if conf is None:
        return {}
    chosen, options = _chosen(conf)
    settings: Settings = {}
    if chosen not in ("", "RoundRobin"):
        settings["loadBalancer.type"] = chosen
        own = {k: v for k, v in options.items() if k != "hashPolicies"}
        settings.update(flat(own, f"loadBalancer.{_lower(chosen)}") if own else {})
    settings.update(flat(conf.get("localityAwareness"), "localityAwareness"))
    settings.setdefault("localityAwareness.disabled", False)
    return settings


def health_check(conf: Conf | None, *, protocol: str) -> Settings:
    """Return what a cluster reads of MeshHealthCheck.

    A TCP service is probed only as `tcp` says, a gRPC one never as `http` says; where nothing
    is left to probe by, only the panic settings count.
    """
    blocks = {"tcp": ("tcp",), "grpc": ("grpc", "tcp")}.get(protocol)
    if conf is None or blocks is None or any(conf.get(block) is not None for block in blocks):
        return flat(conf)
    return flat({k: v for k, v in conf.items() if "panic" in k.lower()})


def trace(conf: Conf | None, *, http: bool) -> Settings:
    """Return what a proxy reads of MeshTrace; without HTTP listeners only where spans would go."""
    settings = flat(conf)
    return settings if http else {k: v for k, v in settings.items() if k == "backends"}


def passthrough(conf: Conf | None, *, transparent: bool) -> Settings:
    """Return what a proxy reads of MeshPassthrough: nothing if it is no transparent proxy."""
    return flat(conf) if transparent else {}


def in_force(conf: Conf) -> Conf:
    """Return a conf of MeshCircuitBreaker without an outlier detection that is switched off."""
    off = (conf.get("outlierDetection") or {}).get("disabled") is True
    return {k: v for k, v in conf.items() if k != "outlierDetection"} if off else conf


def breaker(conf: Conf | None) -> Settings:
    """Return what a cluster reads of MeshCircuitBreaker."""
    return {} if conf is None else flat(in_force(conf))


def breaker_inbound(rules: Sequence[tuple[Conf | None, Conf]], merged: Conf | None) -> Settings:
    """Return what an inbound reads of MeshCircuitBreaker (rule 10)."""
    del rules
    return breaker(merged)


def whole(conf: Conf | None) -> Settings:
    """Return a conf as it stands: MeshAccessLog, MeshMetric, ..."""
    return flat(conf)


def base_only(rules: Sequence[tuple[Conf | None, Conf]], merged: Conf | None) -> Settings:
    """Return an inbound of a type that ignores rules with a match (rule 10)."""
    del rules
    return flat(merged)


def base_and_matched(rules: Sequence[tuple[Conf | None, Conf]], merged: Conf | None) -> Settings:
    """Return an inbound of a type whose matched rules become routes of their own (rule 10)."""
    settings = flat(merged)
    matched = [_rule(match, conf) for match, conf in rules if match]
    if matched:
        settings["rules"] = matched
    return settings


def each_rule(rules: Sequence[tuple[Conf | None, Conf]], merged: Conf | None) -> Settings:
    """Return an inbound of a type that takes every rule separately, in order."""
    del merged
    return {"rules": [_rule(match, conf) for match, conf in rules]} if rules else {}


def permission_from(rules: Iterable[tuple[Any, Conf]]) -> Settings:
    """Return what the old MeshTrafficPermission rules let in (rule 8).

    Deny is the default, so rules that deny are nothing, and neither is their order anything.
    """
    allowed = [
        {"from": subset, "action": conf.get("action")}
        for subset, conf in rules
        if conf.get("action") not in (None, "Deny", "DENY")
    ]
    unique = {_text(rule): rule for rule in allowed}
    return {"from": [unique[k] for k in sorted(unique)]} if unique else {}


def permission_rules(rules: Sequence[tuple[Conf | None, Conf]], mesh: str) -> Settings:
    """Return the matchers of MeshTrafficPermission rules: all that deny, then the others.

    An inbound with rules, even empty ones, no longer reads `from`. Rules that deny the whole mesh
    and allow nobody let in whom `from` lets in that only denies: nobody.
    """
    denied: dict[str, Any] = {}
    allowed: list[Any] = []
    for _, conf in rules:
        denied.update({_text(m): m for m in conf.get("deny") or ()})
        for key in ("allow", "allowWithShadowDeny"):
            allowed.extend({key: match} for match in conf.get(key) or ())
    if not allowed and any(_is_all(match, mesh) for match in denied.values()):
        return {}
    return {"rules.deny": [denied[k] for k in sorted(denied)], "rules.allow": allowed}


def _is_all(match: Any, mesh: str) -> bool:
    spiffe = match.get("spiffeID") if isinstance(match, Mapping) else None
    everybody = {"type": "Prefix", "value": f"spiffe://{mesh}"}
    return set(match) == {"spiffeID"} and spiffe == everybody


def patches(conf: Conf | None) -> Settings:
    """Return MeshProxyPatch modifications with their YAML values read (rule 9)."""
    found = (conf or {}).get("appendModifications") or ()
    return {"appendModifications": [_patch(p) for p in found]} if found else {}


def names_matter(conf: Conf | None) -> bool:
    """Say whether a MeshProxyPatch may depend on how routes are called.

    A matcher on a name does, and so does everything inside virtual hosts, where routes stand.
    """
    for modification in (conf or {}).get("appendModifications") or ():
        for kind, body in modification.items():
            match = body.get("match") if isinstance(body, Mapping) else None
            if kind in ("virtualHost", "httpFilter", "networkFilter"):
                return True
            if isinstance(match, Mapping) and any("name" in key.lower() for key in match):
                return True
    return False


INBOUND: Mapping[str, Callable[[Sequence[tuple[Conf | None, Conf]], Conf | None], Settings]] = {
    "MeshTimeout": timeout_inbound,
    "MeshCircuitBreaker": breaker_inbound,
    "MeshTLS": base_only,
    "MeshRateLimit": base_and_matched,
    "MeshAccessLog": each_rule,
    "MeshFaultInjection": each_rule,
}
SINGLE = ("MeshMetric", "MeshTrace", "MeshPassthrough", "MeshProxyPatch")


def _with_defaults(conf: Conf | None, place: str) -> Settings:
    given = flat(conf)
    return {field: given.get(field, default) for field, default in _defaults()[place].items()}


@cache
def _defaults() -> Mapping[str, Mapping[str, Any]]:
    found: dict[str, dict[str, Any]] = packed("effective", "defaults.json")
    return found


def _chosen(conf: Conf) -> tuple[str, Mapping[str, Any]]:
    balancer = conf.get("loadBalancer") or {}
    chosen = str(balancer.get("type") or "")
    return chosen, balancer.get(_lower(chosen)) or {}


def _lower(name: str) -> str:
    return name[:1].lower() + name[1:]


def _rule(match: Conf | None, conf: Conf) -> dict[str, Any]:
    return {"match": match, "conf": conf} if match else {"conf": conf}


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _patch(modification: Any) -> Any:
    if not isinstance(modification, Mapping):
        return modification
    out: dict[str, Any] = {}
    for kind, body in modification.items():
        if isinstance(body, Mapping) and isinstance(body.get("value"), str):
            out[kind] = {**body, "value": read_patch_value(body["value"])}
        else:
            out[kind] = body
    return out


def read_patch_value(text: str) -> Any:
    """Return a patch as Kuma reads it, durations as numbers; what is no YAML as it stands."""
    file = read_file("", text.encode("utf-8", "surrogatepass"))
    if file.refusals or len(file.documents) != 1 or file.documents[0].root is None:
        return text
    if file.documents[0].root.templated or "{{" in text:
        return text
    return _numbers(json_value(file.documents[0].root))


def _numbers(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _numbers(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_numbers(inner) for inner in value]
    if isinstance(value, str) and value[:1].isdigit() and value[-1:].isalpha():
        nanoseconds = duration.parse(value)
        if nanoseconds is not None:
            return {"duration": nanoseconds}
    return value
