"""What policies and routes ask for: services, by labels or by name, that may not be there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.model.resource import (
    DISPLAY_NAME,
    NAMESPACE,
    SERVICE,
    ZONE,
    Form,
    Resource,
)
from kumamigrate.model.state import State
from kumamigrate.targetref.items import top_of
from kumamigrate.targetref.resolve import REAL
from kumamigrate.universe.namedresources import Labels, named_in
from kumamigrate.universe.successors import service_parts


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A reference to a real resource: what it must carry, and a port it must have ("" = none).

    `tag` is the service tag that the same words mean, "" where they mean none. `chosen` are labels
    that any resource may carry, so that policies tell by them which it is.
    """

    kind: str
    labels: Labels
    port: str = ""
    number: str = ""
    tag: str = ""
    chosen: bool = False


def references(state: State) -> tuple[Asked, ...]:
    """Return every reference to a real resource in the policies of a state, read once."""
    if "references" not in state.known:
        state.known["references"] = tuple(_references(state))
    found: tuple[Asked, ...] = state.known["references"]
    return found


def _references(state: State) -> Iterator[Asked]:
    from kumamigrate.model.release import release

    known = release(state.release)
    for policy in state.resources:
        if policy.type not in known.policy_types:
            continue
        top = top_of(policy, known)
        for ref in _refs(policy.spec.get("to"), targets=top.kind != "MeshHTTPRoute"):
            kind = str(ref.get("kind") or "")
            if kind in REAL or kind == "MeshServiceSubset":
                yield from _asked(ref, kind, policy, state)


def _refs(value: Any, *, targets: bool) -> Iterator[Mapping[str, Any]]:
    """Yield targetRefs of `to` items and every backendRef below them."""
    if not isinstance(value, list):
        return
    for item in value:
        if not isinstance(item, Mapping):
            continue
        if targets and isinstance(item.get("targetRef"), Mapping):
            yield item["targetRef"]
        yield from backend_refs(item)


def backend_refs(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield every backendRef below a value, those of mirrors too."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key == "backendRef" and isinstance(inner, Mapping):
                yield inner
            elif key == "backendRefs" and isinstance(inner, list):
                yield from (ref for ref in inner if isinstance(ref, Mapping))
            else:
                yield from backend_refs(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from backend_refs(inner)


def _asked(ref: Mapping[str, Any], kind: str, policy: Resource, state: State) -> Iterator[Asked]:
    name = str(ref.get("name") or "")
    labels = ref.get("labels")
    section, number = str(ref.get("sectionName") or ""), str(ref.get("port") or "")
    if isinstance(labels, Mapping) and labels:
        pairs = frozenset((str(k), str(v)) for k, v in labels.items())
        yield Asked(kind=kind, labels=pairs, port=section, number=number, chosen=True)
        return
    if not name:
        return
    tag = _tag(name, policy, state) if kind in ("MeshService", "MeshServiceSubset") else ""
    short, space, port = service_parts(name)
    if kind == "MeshServiceSubset":
        yield Asked(kind="MeshService", labels=frozenset({(SERVICE, name)}), tag=tag)
        return
    if kind == "MeshService" and space and not section:
        pairs = frozenset({(DISPLAY_NAME, short), (NAMESPACE, space)})
        # The name means the service of every zone; where none has it, ours may.
        placed = pairs if named_in(state).has(kind, pairs) else _placed(pairs, state)
        yield Asked(kind=kind, labels=placed, number=port or number, tag=tag)
        return
    space = str(ref.get("namespace") or policy.namespace_label)
    wanted = ((DISPLAY_NAME, name), (NAMESPACE, space), (ZONE, policy.zone))
    exact = frozenset((k, v) for k, v in wanted if v)
    yield Asked(kind=kind, labels=exact, port=section, number=number, tag=tag)


def _placed(pairs: Labels, state: State) -> Labels:
    zone = state.environment.zone if state.environment.mode == "zone" else ""
    return pairs | {(ZONE, zone)} if zone else pairs


def _tag(name: str, policy: Resource, state: State) -> str:
    """Return the service tag a name may be.

    On Kubernetes a plain name in a workload's namespace is a MeshService; tags there are called
    `name_namespace_svc_port`. In the system namespace it may be the tag of a Universal zone.
    """
    if policy.form is Form.UNIVERSAL or "_svc" in name:
        return name
    system = state.environment.system_namespace
    return name if policy.namespace_label in ("", system) else ""
