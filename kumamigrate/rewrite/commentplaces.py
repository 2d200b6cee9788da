"""Comments of old policies in new ones, each at the field that carries on what it was said of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kumamigrate.model.resource import SERVICE, Resource, mapping, sequence
from kumamigrate.source.text import FieldPath, at_path, common_end
from kumamigrate.source.value import Moved
from kumamigrate.sourcedest.goduration import parse_duration

_NAMES = {
    "connectTimeout": "connectionTimeout", "maxConnectAttempts": "maxConnectAttempt",
    "thresholds": "connectionLimits", "totalErrors": "totalFailures",
    "gatewayErrors": "gatewayFailures", "localErrors": "localOriginFailures",
    "standardDeviation": "successRate", "failure": "failurePercentage",
    "factor": "standardDeviationFactor", "requests": "num",
}  # fmt: skip
_BACKEND: FieldPath = ("conf", "backend")
"""The name of a backend of the Mesh, which stands in full where the name stood."""
_SIDES = (("to", "sources", "destinations"), ("from", "destinations", "sources"),
          ("rules", "destinations", "sources"))  # fmt: skip
"""A section of a new policy, what of an old one its targetRef comes of, and what its entries do."""


def carried(
    spec: Mapping[str, Any],
    home: Resource,
    roots: Iterable[FieldPath] = (("conf",),),
    *,
    alone: bool = True,
) -> dict[str, Any]:
    """Return a spec in which values that stand below the roots of its home are moved from there.

    A field carries on another if it has its name (or the one that took its place) and means the
    same; each old field goes to the first that does, one below the same parent first. A mapping
    or list that is the same goes as a whole, with what is said behind its last line. What is said
    of all whom a policy is for stays with a successor that is `alone`.
    """
    taken: dict[FieldPath, FieldPath] = {}
    fields = list(_fields(spec))
    for root in roots:
        for old_path, old in _fields(at_path(home.spec, root)):
            if any(_within((*root, *old_path), gone) for gone in taken.values()):
                continue
            wanted = tuple(_NAMES.get(k, k) if isinstance(k, str) else k for k in old_path)
            fits = [
                path
                for path, new in fields
                if path[-1] == wanted[-1] and _same(old, new) and not _met(path, taken)
            ]
            best = max(fits, key=lambda path: common_end(path, wanted), default=None)
            if best is not None:
                taken[best] = (*root, *old_path)
    from_home = {path: (*home.spec_path, *old) for path, old in taken.items()}
    if isinstance(at_path(home.spec, _BACKEND), str):
        inlined = next((p for p, _ in fields if _says_its_backend(p, spec, home)), None)
        spec = spec if inlined is None else _told_at(spec, inlined, home, _BACKEND)
    orders = {path[-1]: at_path(home.spec, old) for path, old in taken.items() if len(path) > 1}
    result: dict[str, Any] = _moved(_as_ordered(spec, "", orders), (), from_home)
    return _beside_selectors(result, home, alone=alone)


def shared_fields(home: Resource) -> tuple[FieldPath, ...]:
    """Return the fields that say whom a policy is for, of which each of several successors has a
    part."""
    named = ("sources", "destinations", "selectors")
    return tuple((*home.spec_path, key) for key in named if isinstance(home.spec.get(key), list))


def _says_its_backend(path: FieldPath, spec: Mapping[str, Any], home: Resource) -> bool:
    """Say whether backends are those that a policy names: of an entry, for what it is about."""
    if path[-1] != "backends" or path[0] != "to":
        return path == ("default", "backends")
    tags = _tags(mapping(at_path(spec, (*path[:2], "targetRef"))))
    listed = (mapping(mapping(one).get("match")) for one in sequence(home.spec.get("destinations")))
    return any(match == (tags or {SERVICE: "*"}) for match in listed)


def _told_at(node: Any, path: FieldPath, home: Resource, old: FieldPath) -> Any:
    """Return a value to a part of which the comments of a place of its home go."""
    if not path:
        return _with_comments(node, home, [old])
    if isinstance(node, Mapping):
        return {k: _told_at(v, path[1:], home, old) if k == path[0] else v for k, v in node.items()}
    return [_told_at(v, path[1:], home, old) if i == path[0] else v for i, v in enumerate(node)]


def _beside_selectors(spec: dict[str, Any], home: Resource, *, alone: bool) -> dict[str, Any]:
    """Return a spec with what is said of whom an old policy is for where the new one says so."""
    section, top, listed = next((s for s in _SIDES if s[0] in spec), ("", "selectors", ""))
    result = dict(spec)
    if isinstance(spec.get("targetRef"), Mapping) and isinstance(home.spec.get(top), list):
        told, ref = _reference(spec["targetRef"], home, top)
        whole: list[FieldPath] = [(top,)] if alone else []
        result["targetRef"] = _with_comments(ref, home, [*whole, *told])
    entries = spec.get(section)
    if isinstance(entries, list) and isinstance(home.spec.get(listed), list):
        written = [_entry(entry, home, listed) for entry in entries]
        result[section] = _with_comments(written, home, [(listed,)] if alone else [])
    return result


def _entry(entry: Any, home: Resource, listed: str) -> Any:
    """Return an entry with the comments of the selectors that it comes of."""
    ref = mapping(entry).get("targetRef")
    if not isinstance(ref, Mapping) or not _tags(ref):
        return entry
    told, ref = _reference(ref, home, listed)
    return _with_comments({**entry, "targetRef": ref}, home, told)


def _reference(
    ref: Mapping[str, Any], home: Resource, listed: str
) -> tuple[list[FieldPath], dict[str, Any]]:
    """Return the selectors that a reference comes of, and it with the comments at their tags."""
    matches = [mapping(mapping(one).get("match")) for one in home.spec[listed]]
    tags, result = _tags(ref), dict(ref)
    mine = [at for at, match in enumerate(matches) if (match == tags if tags else not matches[1:])]
    for at in mine if tags else ():
        if SERVICE in tags and "name" in ref:
            place: FieldPath = (listed, at, "match", SERVICE)
            result["name"] = _with_comments(result["name"], home, [place])
        for key in mapping(ref.get("tags")):
            told = _with_comments(result["tags"][key], home, [(listed, at, "match", key)])
            result["tags"] = {**result["tags"], key: told}
    return [(listed, at) for at in mine], result


def _tags(ref: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tags by which a reference chooses, the service's among them."""
    named = {SERVICE: ref["name"]} if ref.get("name") else {}
    return {**named, **mapping(ref.get("tags"))}


def _with_comments(value: Any, home: Resource, paths: Iterable[FieldPath]) -> Any:
    """Return a value to which the comments of some places of its home go, in their order."""
    for path in reversed([*paths]):
        value = Moved((*home.spec_path, *path), value, anew=True)
    return value


def _within(path: FieldPath, outer: FieldPath) -> bool:
    return path[: len(outer)] == outer


def _met(path: FieldPath, taken: Iterable[FieldPath]) -> bool:
    """Say whether a field, what it is part of or a part of it has what it carries on."""
    return any(_within(path, other) or _within(other, path) for other in taken)


def _moved(node: Any, path: FieldPath, taken: Mapping[FieldPath, FieldPath]) -> Any:
    if path in taken:
        return Moved(taken[path], node)
    if isinstance(node, Mapping):
        return {key: _moved(value, (*path, key), taken) for key, value in node.items()}
    if isinstance(node, list):
        return [_moved(value, (*path, at), taken) for at, value in enumerate(node)]
    return node


def _as_ordered(node: Any, key: str | int, orders: Mapping[str | int, Any]) -> Any:
    """Return a value in which what equals something moved has its keys in the same order."""
    if isinstance(node, Mapping):
        order = orders.get(key)
        known = order if isinstance(order, Mapping) and order == node else node
        return {name: _as_ordered(node[name], name, orders) for name in known}
    if isinstance(node, list):
        return [_as_ordered(one, at, orders) for at, one in enumerate(node)]
    return node


def _fields(node: Any, path: FieldPath = ()) -> Iterator[tuple[FieldPath, Any]]:
    """Yield what stands under a key, the outer first."""
    if path and isinstance(path[-1], str) and node not in ({}, []):
        yield path, node
    if isinstance(node, Mapping):
        for key, value in node.items():
            yield from _fields(value, (*path, str(key)))
    elif isinstance(node, list):
        for at, value in enumerate(node):
            yield from _fields(value, (*path, at))


def _same(old: Any, new: Any) -> bool:
    if isinstance(old, Mapping | list) or isinstance(new, Mapping | list):
        return type(old) is type(new) and bool(old == new)
    if isinstance(old, bool) or isinstance(new, bool):
        return old is new
    if isinstance(old, str) and isinstance(new, str):
        spans = parse_duration(old), parse_duration(new)
        return old.lower() == new.lower() or (spans[0] is not None and spans[0] == spans[1])
    return str(old) == str(new)
