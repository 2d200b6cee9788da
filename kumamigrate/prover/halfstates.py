"""Halfway: states in which old policies have been converted and nothing else has changed.

Such a state stands in no repository. It is made up so that the way to it and the way from it are
both as small as they can be, and either is proven like any other: that no state fits makes
nothing wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any

from kumamigrate.dataclass import replace
from kumamigrate.effective.bothengines.whoanswers import successors
from kumamigrate.model.kinds import OLD_POLICIES
from kumamigrate.model.kubernetes.workloads import implied_dataplanes
from kumamigrate.model.resource import (
    DISPLAY_NAME,
    NAMESPACE,
    SERVICE,
    Identity,
    Resource,
    Spec,
    mapping,
)
from kumamigrate.model.state import State
from kumamigrate.targetref.backendref import ports_of
from kumamigrate.targetref.share import WORKLOAD, Tags, match_labels, share_tags

_SERVICES = ("MeshExternalService", "MeshMultiZoneService", "MeshService")
_SAID_BY_MESH = ("MeshAccessLog", "MeshMetric", "MeshPassthrough", "MeshTLS", "MeshTrace")
"""Policies that say what fields of the Mesh say."""
_MODE = "meshServices"
_OTHERS = {"ExternalService": ("MeshExternalService",), "MeshGatewayRoute": ("MeshHTTPRoute",)}
"""What stands in place of kinds that are no policies."""


def halfway(before: State, after: State, upgraded: State) -> Iterator[State]:
    """Yield states between two of one mesh in which old forms have been converted.

    The first have beside what stood only what is new in the end, and refer to services by names, to
    shares of them and to proxies by tags, as an older release would; the last has all policies of
    the types that say now what old ones said as they are in the end. `upgraded` is the state after
    as the last release stores it: real services have the labels already that it gives them.
    """
    gone = _gone(before, after)
    types = _in_place_of(gone)
    if [*before.of_type("Mesh")] != [*after.of_type("Mesh")]:
        types |= frozenset(_SAID_BY_MESH)
    if not (gone or types):
        return
    came = _came(before, after, types)
    tried = [(gone, came), (gone | types, came)]
    shares = _shares(before, upgraded, came[0].mesh) if came else {}
    named = tuple(
        _by_name(resource, before, upgraded, shares)
        for resource in came
        if resource.type != "MeshService" or resource.display_name not in shares
    )
    if named != came:
        tried.insert(0, (gone, named))
    known = [_said(before.resources), _said(after.resources)]
    for ending, new in tried:
        resources = _labelled((*_stays(before, after, ending), *new), upgraded)
        if _said(resources) not in known:
            known.append(_said(resources))
            unread = tuple(dict.fromkeys((*before.unread, *after.unread)))
            yield replace(before, resources=resources, unread=unread)


def _said(resources: Iterable[Resource]) -> dict[Identity, tuple[Mapping[str, str], Spec]]:
    """Return what resources say, whatever their order and wherever they stand."""
    return {r.identity: (r.labels, r.spec) for r in resources}


def _gone(before: State, after: State) -> frozenset[str]:
    """Return the old kinds of which something is no more."""
    left = _by_identity(after)
    old = before.of_type(*OLD_POLICIES, *_OTHERS)
    return frozenset(resource.type for resource in old if resource.identity not in left)


def _in_place_of(gone: Set[str]) -> frozenset[str]:
    """Return the types that say now what some old kinds said."""
    table = successors()
    return frozenset(new for kind in gone for new in (*table.get(kind, ()), *_OTHERS.get(kind, ())))


def _stays(before: State, after: State, ending: Set[str]) -> Iterator[Resource]:
    """Yield what stood; the Mesh, but for its mode, and the types `ending` as they are in the
    end."""
    now = _by_identity(after)
    for identity, resource in _by_identity(before).items():
        last = now.get(identity)
        if resource.type == "Mesh" and last is not None:
            yield _in_mode_of(resource, last)
        elif resource.type not in ending:
            yield resource
        elif last is not None:
            yield last


def _in_mode_of(mesh: Resource, other: Resource) -> Resource:
    """Return another state of a Mesh in the mode that it had: a switch is no conversion."""
    spec = {key: value for key, value in other.spec.items() if key != _MODE}
    spec |= {_MODE: mesh.spec[_MODE]} if _MODE in mesh.spec else {}
    return other if spec == other.spec else replace(other, spec=spec)


def _came(before: State, after: State, types: Set[str]) -> tuple[Resource, ...]:
    """Return what is new of some types, or of those of which nothing stood."""
    was, there = _by_identity(before), {resource.type for resource in before.resources}
    return tuple(
        resource
        for identity, resource in _by_identity(after).items()
        if identity not in was and (resource.type in types or resource.type not in there)
    )


def _labelled(resources: tuple[Resource, ...], upgraded: State) -> tuple[Resource, ...]:
    """Return resources, real services with the labels that a later release adds to them."""
    later = _by_identity(upgraded)

    def one(resource: Resource) -> Resource:
        there = later.get(resource.identity) if resource.type in _SERVICES else None
        if there is None or there.labels.keys() <= resource.labels.keys():
            return resource
        return resource.with_labels({**there.labels, **resource.labels})

    return tuple(map(one, resources))


def _shares(before: State, upgraded: State, mesh: str) -> Mapping[str, Tags]:
    """Return the tags that MeshServices stand for which are new, by name: a service and more."""
    there = _by_identity(before)
    listed = (r for r in upgraded.of_type("Dataplane") if r.mesh == mesh and not r.made_up)
    known = (*listed, *implied_dataplanes(upgraded, mesh))
    found = {}
    for service in upgraded.of_type("MeshService"):
        ports = ports_of(service.spec)
        if service.mesh != mesh or service.identity in there or len(ports) != 1:
            continue
        target = ports[0].get("targetPort", ports[0].get("port"))
        tags = share_tags(match_labels(service), target, service.zone, known)
        if len(tags) > 1:
            found[service.display_name] = tags
    return found


def _by_name(
    resource: Resource, before: State, upgraded: State, shares: Mapping[str, Tags]
) -> Resource:
    """Return a policy that calls services by name or tag where it calls them by labels, and so
    proxies by labels that none has before. What it says of a share its service says.
    """
    tags = {r.display_name: r.labels[SERVICE] for r in upgraded.of_type("MeshService")
            if SERVICE in r.labels}  # fmt: skip

    def walked(node: Any) -> Any:
        if isinstance(node, list):
            return [walked(item) for item in node]
        if not isinstance(node, Mapping):
            return node
        labels = mapping(node.get("labels"))
        named = labels.get(DISPLAY_NAME)
        if node.get("kind") != "MeshService" or not named:
            return {key: walked(value) for key, value in node.items()}
        home, port = labels.get(NAMESPACE), node.get("port") or node.get("sectionName")
        parts = [named, home, "svc", *([str(port)] if port else [])]
        rest = {k: v for k, v in node.items() if k not in ("labels", "port", "sectionName")}
        if named in shares:
            more = dict(shares[named])
            whole = more.pop(SERVICE)
            return {**rest, "kind": "MeshServiceSubset", "name": whole, "tags": more}
        return {**rest, "name": tags.get(named) or ("_".join(parts) if home else named)}

    spec = {key: walked(value) for key, value in resource.spec.items()}
    if isinstance(spec.get("to"), list):
        spec["to"] = [e for e in spec["to"] if _kind(mapping(e)) != "MeshServiceSubset"]
    if "targetRef" in spec:
        spec["targetRef"] = _by_tags(spec["targetRef"], before)
    return resource if spec == resource.spec else replace(resource, spec=spec, body={})


def _by_tags(ref: Any, before: State) -> Any:
    """Return a reference to proxies by the tags that labels stand for which no proxy has yet."""
    labels = mapping(mapping(ref).get("labels"))
    there = any(labels.items() <= r.labels.items() for r in before.of_type("Dataplane"))
    if mapping(ref).get("kind") != "Dataplane" or not labels or there:
        return ref
    tags = {SERVICE if key == WORKLOAD else key: value for key, value in labels.items()}
    return {"kind": "MeshSubset", "tags": tags}


def _kind(entry: Mapping[str, Any]) -> Any:
    return mapping(entry.get("targetRef")).get("kind")


def _by_identity(state: State) -> dict[Identity, Resource]:
    return {resource.identity: resource for resource in state.resources}
