"""Confs that hold whatever they are merged over: the new engine merges, the old one did not.

A field that a broader policy sets and this conf leaves out would be inherited. Where a neutral
value is known (`neutral.json`) it is written out; what is left has no equivalent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from typing import Any

from kumamigrate.effective.policies.meshtimeout import ALWAYS_SINCE
from kumamigrate.model.conf import patch
from kumamigrate.model.packed import packed
from kumamigrate.model.versions import at_least
from kumamigrate.rewrite.sourcedest.conversion import Json
from kumamigrate.rewrite.sourcedest.known import KnownWorld


def table() -> Mapping[str, Any]:
    """Return neutral.json."""
    loaded: Mapping[str, Any] = packed("rewrite/sourcedest", "neutral.json")
    return loaded


def off(type_: str) -> Json:
    """Return the conf that switches a type off."""
    switched_off: Json = deepcopy(table()[type_]["off"])
    return switched_off


def off_at(type_: str, service: str, world: KnownWorld) -> Json:
    """Return the conf that leaves a service as it is where no old policy speaks of it.

    Since 2.10 idle connections to HTTP services end after an hour without any (legacy.md fact 6).
    """
    conf = off(type_)
    http = world.protocol(service) in ("http", "http2")
    if type_ == "MeshTimeout" and http and at_least(world.state.release, ALWAYS_SINCE):
        conf["idleTimeout"] = "1h"
    return conf


def exhaustive(type_: str, conf: Json, below: Iterable[Json]) -> tuple[Json, tuple[str, ...]]:
    """Return a conf that comes out the same merged over each conf below, and what it would inherit.

    The second value names the fields, dotted, for which no neutral value exists.
    """
    rules = table()[type_]
    result = deepcopy(conf)
    inherited: list[str] = []
    for lower in below:
        for name, neutral in rules["sections"].items():
            if name in lower and name not in result:
                result[name] = deepcopy(neutral)
        for path in _leaves(lower):
            inherited.extend(_settle(result, path, rules))
    return result, tuple(dict.fromkeys(inherited))


def beside(type_: str, conf: Json, broad: Json) -> Json:
    """Return what a conf says that an entry for all traffic of the same policy does not.

    Only where each field stands for itself (`neutral.json`, apart): others are read as sections.
    """
    if not table()[type_].get("apart"):
        return conf
    found: Json = {}
    for key, value in conf.items():
        other = broad.get(key)
        if isinstance(value, Mapping) and isinstance(other, Mapping):
            value = {k: v for k, v in value.items() if k not in other or other[k] != v}
            other = {}
        if value != other:
            found[key] = value
    return found or conf


def kept_out(type_: str, said: Mapping[str, Any], broad: Json) -> tuple[Json, tuple[str, ...]]:
    """Return what has to be said of a service so that an entry for all traffic adds nothing to
    what another policy says of it, and what cannot be kept out."""
    conf = deepcopy(dict(said))
    if (unsaid := table()[type_].get("unsaid")) is None:
        whole, inherited = exhaustive(type_, conf, (broad,))
    else:
        whole, inherited = patch(_of_leaves(unsaid, broad), conf), ()
    return _without(whole, conf), inherited


def _of_leaves(values: Mapping[str, Any], broad: Json) -> Json:
    """Return the values of what an entry says."""
    return {
        key: _of_leaves(value, broad[key]) if isinstance(value, Mapping) else value
        for key, value in values.items()
        if key in broad
    }


def _without(whole: Mapping[str, Any], said: Mapping[str, Any]) -> Json:
    """Return the leaves of a conf that another one does not have."""
    found: Json = {}
    for key, value in whole.items():
        if isinstance(value, Mapping) and isinstance(said.get(key), Mapping):
            if inner := _without(value, said[key]):
                found[key] = inner
        elif key not in said:
            found[key] = value
    return found


def _settle(conf: Json, path: tuple[str, ...], rules: Mapping[str, Any]) -> Iterator[str]:
    node: Any = conf
    for depth, key in enumerate(path):
        if not isinstance(node, dict):
            return
        if _switched_off(node) and key != "disabled":
            return
        if key in node:
            node = node[key]
            continue
        yield from _set_neutral(conf, path, depth, rules)
        return


def _set_neutral(
    conf: Json, path: tuple[str, ...], depth: int, rules: Mapping[str, Any]
) -> Iterator[str]:
    if path[0] in rules.get("harmless", ()) and path[0] not in conf:
        return
    for end in range(depth + 1, len(path) + 1):
        dotted = ".".join(path[:end])
        if dotted in rules["fields"]:
            node = conf
            for key in path[: end - 1]:
                node = node.setdefault(key, {})
            node[path[end - 1]] = deepcopy(rules["fields"][dotted])
            return
    yield ".".join(path)


def _switched_off(node: Mapping[str, Any]) -> bool:
    return node.get("disabled") is True or node.get("numRetries") == 0


def _leaves(conf: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for key, value in conf.items():
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, (*path, key))
        else:
            yield (*path, key)
