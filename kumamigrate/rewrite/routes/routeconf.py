"""The part of a conf that reaches a single route, and how two of them compare (matcher.md (g))."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from kumamigrate.model.conf import JsonConf, normal, patch
from kumamigrate.model.policytype import Conf
from kumamigrate.model.resource import mapping

Leaf = tuple[str, ...]

REACHING: Mapping[str, tuple[Leaf, ...]] = {
    "MeshTimeout": (("http", "requestTimeout"), ("http", "streamIdleTimeout")),
    "MeshRetry": (("http",), ("grpc",)),
    "MeshLoadBalancingStrategy": (("hashPolicies",),),
    "MeshAccessLog": (("backends",),),
}
"""Fields that reach a route, by policy type; everything else belongs to listener or cluster."""

_USELESS: Mapping[str, tuple[Leaf, ...]] = {"MeshTimeout": (("http", "requestHeadersTimeout"),)}
"""Fields that the old place accepted although no route ever took them."""

_DEFAULTS: Mapping[str, JsonConf] = {
    "MeshTimeout": {"http": {"requestTimeout": "15s", "streamIdleTimeout": "30m0s"}}
}
"""What a real-resource outbound has where no policy says anything (matcher-notes §3.3)."""

_HTTP = frozenset({"http", "http2"})


def reaching(policy_type: str, conf: Mapping[str, Any]) -> JsonConf:
    """Return the fields of a conf that reach a route."""
    out: JsonConf = {}
    for path in REACHING.get(policy_type, ()):
        value = _at(conf, path)
        if value is not None:
            out = patch(out, _nested(path, value))
    return out


def own_part(policy_type: str, conf: Mapping[str, Any]) -> tuple[JsonConf, tuple[Leaf, ...]]:
    """Return what a route entry shall say of a conf, and the fields left out as they do nothing."""
    dropped = tuple(p for p in _USELESS.get(policy_type, ()) if _at(conf, p) is not None)
    out = dict(conf)
    for path in dropped:
        out = _without(out, path)
    return out, dropped


def effective(
    policy_type: str, conf: Mapping[str, Any], fields: Conf, protocol: str = ""
) -> JsonConf:
    """Return what a route at a real resource does with a conf, in a form that compares.

    `protocol` of the destination, empty if unknown: then all protocols count.
    """
    known = normal(reaching(policy_type, conf), fields, defaults=True)
    known = patch(_DEFAULTS.get(policy_type, {}), known)
    if policy_type == "MeshRetry":
        if protocol in _HTTP:
            known.pop("grpc", None)
        elif protocol == "grpc":
            known.pop("http", None)
        # No retries is no retry policy, whatever else is set (matcher-notes §3.1).
        for name in ("http", "grpc"):
            part = known.get(name)
            if isinstance(part, Mapping) and part.get("numRetries") == 0:
                del known[name]
    return known


def folded(confs: Iterable[Mapping[str, Any]]) -> JsonConf:
    """Return confs merged, lowest precedence first, as they are written."""
    out: JsonConf = {}
    for conf in confs:
        out = patch(out, conf)
    return out


def filled(conf: Mapping[str, Any], below: Mapping[str, Any]) -> JsonConf:
    """Return a conf with what it lacks taken from another; its own keys stay first."""
    out = dict(conf)
    for key, value in below.items():
        if key not in out:
            out[key] = value
        elif isinstance(out[key], Mapping) and isinstance(value, Mapping):
            out[key] = filled(out[key], value)
    return out


def leaves(conf: Mapping[str, Any], at: Leaf = ()) -> Iterator[tuple[Leaf, Any]]:
    """Yield every value of a conf with its path; lists count as one value."""
    for key, value in conf.items():
        if isinstance(value, Mapping):
            yield from leaves(value, (*at, key))
        else:
            yield (*at, key), value


def from_leaves(values: Mapping[Leaf, Any]) -> JsonConf:
    """Return the conf with these values."""
    return folded(_nested(path, value) for path, value in values.items())


def contains(conf: Mapping[str, Any], part: Mapping[str, Any]) -> bool:
    """Say whether a conf says everything that another says."""
    mine = dict(leaves(conf))
    return all(mine.get(path) == value for path, value in leaves(part))


def _at(conf: Any, path: Sequence[str]) -> Any:
    for key in path:
        conf = mapping(conf).get(key)
    return conf


def _nested(path: Sequence[str], value: Any) -> JsonConf:
    for key in reversed(path):
        value = {key: value}
    return dict(value)


def _without(conf: Mapping[str, Any], path: Sequence[str]) -> JsonConf:
    if len(path) == 1:
        return {k: v for k, v in conf.items() if k != path[0]}
    inner = _without(conf[path[0]], path[1:])
    return {k: inner if k == path[0] else v for k, v in conf.items() if k != path[0] or inner}
