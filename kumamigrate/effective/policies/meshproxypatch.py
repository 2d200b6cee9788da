"""MeshProxyPatch, and the ProxyTemplate before it (legacy.md §1.11, matcher-notes §3.9)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kumamigrate.effective.reading import At, Conf, SlotKind, TypeReading, Values, leaf
from kumamigrate.model import duration
from kumamigrate.model.resource import Resource, mapping
from kumamigrate.source.node import json_value
from kumamigrate.source.reading.load import read_file
from kumamigrate.sourcedest.oldconf import conf_of

CHANGES = "appendModifications"
FIELDS = {CHANGES: leaf(SlotKind.PROXY)}
_ELSEWHERE = ("listener", "networkFilter", "httpFilter", "virtualHost")
"""What a modification may be about but for clusters."""
_OPERATIONS = {
    "add": "Add", "remove": "Remove", "patch": "Patch", "addFirst": "AddFirst",
    "addLast": "AddLast", "addBefore": "AddBefore", "addAfter": "AddAfter",
}  # fmt: skip


def of_conf(conf: Conf | None, _at: At) -> Values:
    """Return the modifications of a conf with their YAML values read."""
    return _as_values([_read(one) for one in (conf or {}).get(CHANGES) or ()])


def of_old(policy: Resource | None, _at: At) -> Values:
    """Return the modifications of a ProxyTemplate; what has no such form as it stands."""
    return _as_values([_read(one) for one in _template(policy)])


def beside(policy: Resource | None, conf: Conf, at: At) -> Values:
    """Return what both come to: the template works on what the patches left (§1.11)."""
    both = (one.get(CHANGES, []) for one in (of_conf(conf, at), of_old(policy, at)))
    return _as_values([change for changes in both for change in changes])


def _as_values(changes: Sequence[Any]) -> Values:
    return {CHANGES: _by_place(_once(list(changes)))} if changes else {}


def _by_place(changes: Iterable[Any]) -> list[Any]:
    """Return changes with those of each cluster together, in the order that they have.

    One cluster knows nothing of another, and of what is no cluster. What may concern any of them
    stays between what stands before it and what follows.
    """
    ordered: list[Any] = []
    apart: list[tuple[str, Any]] = []
    for change in changes:
        place = cluster_touched(change)
        if place is None:
            ordered += [*_told_apart(apart), change]
            apart = []
        else:
            apart.append((place, change))
    return [*ordered, *_told_apart(apart)]


def _told_apart(changes: Iterable[tuple[str, Any]]) -> list[Any]:
    return [change for _, change in sorted(changes, key=lambda one: one[0])]


def cluster_touched(change: Any) -> str | None:
    """Return the name of the one cluster that a change concerns, nothing where it is about no
    cluster; None where it may concern any, as one that adds a cluster: the name is in its value."""
    if not isinstance(change, Mapping) or len(change) != 1:
        return None
    (kind, body), *_ = change.items()
    if kind in _ELSEWHERE:
        return ""
    name = mapping(mapping(body).get("match")).get("name")
    named = kind == "cluster" and mapping(body).get("operation") in ("Patch", "Remove")
    return name if named and isinstance(name, str) and name else None


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


def _template(policy: Resource | None) -> list[Any]:
    """Return a ProxyTemplate as modifications."""
    if policy is None:
        return []
    conf = conf_of(policy)
    result: list[Any] = []
    if "default-proxy" not in (conf.get("imports") or ()):
        result.append({"without default-proxy": policy.name})
    for item in conf.get("resources") or ():
        text = str(mapping(item).get("resource", ""))
        kind = "listener" if ".Listener" in text else "cluster" if ".Cluster" in text else "other"
        result.append({kind: {"operation": "Add", "value": text}})
    for item in conf.get("modifications") or ():
        known = item if isinstance(item, Mapping) else {"not known": item}
        result.append({kind: _change(body) for kind, body in known.items()})
    return result


def _change(body: Any) -> Any:
    if not isinstance(body, Mapping):
        return body
    operation = str(body.get("operation", ""))
    kept = {k: body[k] for k in ("match", "value") if body.get(k)}
    return {"operation": _OPERATIONS.get(operation, operation), **kept}


def names_matter(conf: Conf | None) -> bool:
    """Say whether patches may depend on how routes are called.

    A matcher on a name does, and so does everything inside virtual hosts, where routes stand.
    """
    for modification in (conf or {}).get(CHANGES) or ():
        for kind, body in modification.items():
            match = mapping(body).get("match")
            if kind in ("virtualHost", "httpFilter", "networkFilter"):
                return True
            if isinstance(match, Mapping) and any("name" in key.lower() for key in match):
                return True
    return False


def _read(modification: Any) -> Any:
    if not isinstance(modification, Mapping):
        return modification
    out: Values = {}
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


READING = TypeReading(
    policy_type="MeshProxyPatch",
    fields=FIELDS,
    of_conf=of_conf,
    old="ProxyTemplate",
    old_parts=(SlotKind.PROXY,),
    of_old=of_old,
    beside=beside,
)
