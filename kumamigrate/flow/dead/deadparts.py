"""The parts of a policy that may be dead by themselves: entries, and single settings of a conf."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kumamigrate.admit.check import refusals_of
from kumamigrate.dataclass import dataclass, replace
from kumamigrate.effective.difference import Witness
from kumamigrate.model.resource import Resource, mapping, sequence
from kumamigrate.model.state import State
from kumamigrate.rewrite.manifest import cut, put
from kumamigrate.scene.scene import Scene
from kumamigrate.source.text import FieldPath

SECTIONS = ("to", "rules", "from")
ROUTES = ("MeshHTTPRoute", "MeshTCPRoute")
BY_FIELD = frozenset(
    (
        "MeshCircuitBreaker",
        "MeshHealthCheck",
        "MeshLoadBalancingStrategy",
        "MeshRateLimit",
        "MeshRetry",
        "MeshTimeout",
    )
)
"""Policy types whose confs are merged field by field: a field may be overruled alone."""
MOST_PARTS = 60


@dataclass(frozen=True, kw_only=True)
class PolicyPart:
    """A part of a policy at a path in its spec; the policy without it, and with nothing else."""

    path: FieldPath
    rest: Resource
    only: Resource


def parts_of(policy: Resource, state: State) -> list[PolicyPart]:
    """Return the parts of a policy that may be taken out: entries, then settings of entries.

    Without some parts a release would refuse the policy: these stay.
    """
    if policy.type in ROUTES:
        return []
    found = [part for part in _parts(policy) if not _is_refused(part.rest, policy, state)]
    return found[:MOST_PARTS]


def untouched(
    parts: Iterable[PolicyPart], witnesses: Iterable[Witness], scene: Scene
) -> Iterator[PolicyPart]:
    """Yield the parts on whose lines nobody looks, the smaller not again where a larger one is."""
    places = {_place(w.before.at) for w in witnesses}
    whole: list[FieldPath] = []
    for part in parts:
        if any(part.path[: len(path)] == path for path in whole):
            continue
        where = part.rest.where
        if where is None:
            continue
        full = (*part.rest.spec_path, *part.path)
        first, last = scene.repository.lines(where, full)
        if not any(file == where.path and first <= at <= last for file, at in places):
            whole.append(part.path)
            yield part


def _parts(policy: Resource) -> Iterator[PolicyPart]:
    entries = [
        (section, at, entry)
        for section in SECTIONS
        for at, entry in enumerate(sequence(policy.spec.get(section)))
    ]
    for section, at, entry in entries if len(entries) > 1 else ():
        bare = {k: v for k, v in policy.spec.items() if k not in SECTIONS}
        yield _part(policy, (section, at), {**bare, section: [entry]})
    for section, at, entry in entries if policy.type in BY_FIELD else ():
        conf = mapping(entry).get("default")
        leaves = list(_leaves(conf)) if isinstance(conf, Mapping) else []
        for path, value in leaves if len(leaves) > 1 else ():
            bare = {k: v for k, v in policy.spec.items() if k not in SECTIONS}
            alone = {**entry, "default": put({}, path, value)}
            yield _part(policy, (section, at, "default", *path), {**bare, section: [alone]})


def _part(policy: Resource, path: FieldPath, only: Mapping[str, Any]) -> PolicyPart:
    return PolicyPart(
        path=path,
        rest=_with_spec(policy, cut(policy.spec, path)),
        only=_with_spec(policy, only),
    )


def _with_spec(policy: Resource, spec: Mapping[str, Any]) -> Resource:
    return replace(policy, spec=spec, body={**policy.body, "spec": spec})


def _leaves(value: Mapping[str, Any], path: FieldPath = ()) -> Iterator[tuple[FieldPath, Any]]:
    for key, inner in value.items():
        if isinstance(inner, Mapping) and inner:
            yield from _leaves(inner, (*path, key))
        else:
            yield (*path, key), inner


def _is_refused(rest: Resource, policy: Resource, state: State) -> bool:
    """Say whether a release takes a policy, and not without a part of it."""
    old, new = (
        {p.path for p in refusals_of(one, release=state.release, environment=state.environment)}
        for one in (policy, rest)
    )
    return not new <= old


def _place(at: str) -> tuple[str, int]:
    parts = at.rsplit(":", 2)
    known = len(parts) == 3 and parts[1].isdecimal()
    return (parts[0], int(parts[1])) if known else ("", 0)
