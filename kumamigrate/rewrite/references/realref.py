"""What references by name mean in labels, which 3.0 wants: all of a resource or none.

On 2.x a name means one resource of the policy's own zone and namespace, or, spelled as a service
tag, the service of every zone. Labels mean every resource that has them (matcher.md Traps 2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kumamigrate.dataclass import replace
from kumamigrate.model.digits import is_number
from kumamigrate.model.kubernetes.kubeservices import is_headless
from kumamigrate.model.labels import PRODUCER, policy_role
from kumamigrate.model.resource import (
    DISPLAY_NAME,
    NAMESPACE,
    ORIGIN,
    SERVICE,
    ZONE,
    Resource,
    mapping,
    mappings,
    sequence,
)
from kumamigrate.pattern import pattern
from kumamigrate.rewrite.references.lookups import (
    services_named,
    services_to_come,
    shown_as,
    zones_of,
)
from kumamigrate.rewrite.references.oldrefs import (
    Meaning,
    Reference,
    is_tag_backend,
    references,
    tag_parts,
)
from kumamigrate.rewrite.references.shares import known_to, share_of
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import at_path
from kumamigrate.targetref.resolve import sections

_SYNCED = pattern(r"(.+)-(?=[a-z]*[0-9])[bcdfghjklmnpqrstvwxz2456789]{14,20}")
"""A name with the hash that Kuma's sync puts behind it (kumahq/kuma 13668)."""


def meaning(
    view: View, owner: Resource, reference: Reference, *, as_tag: bool = True
) -> Meaning | str:
    """Return what a reference means in labels, or a sentence that says why that is not known.

    `as_tag`: where a name works both as a service tag and for real resources, what it means as
    a tag; else what it means once the mesh's mode is Exclusive.
    """
    found = _meaning(view, owner, reference, as_tag=as_tag)
    if isinstance(found, str) or not _is_sent_requests(view, owner, reference):
        return found
    return _unfit(view, owner, reference, found) or found


def hindered(view: View, owner: Resource) -> list[Reference]:
    """Return the references of a policy or route whose meaning in labels is not known."""
    return [one for one in references(owner) if isinstance(meaning(view, owner, one), str)]


def waiting_rules(view: View, owner: Resource) -> set[tuple[int, int | None]]:
    """Return the entries of `to`, and of routes their rules, that have such a reference.

    None stands for all rules: the entry itself refers to something that is not known.
    """
    return set(_places(owner, hindered(view, owner)))


def _places(owner: Resource, found: list[Reference]) -> Iterator[tuple[int, int | None]]:
    depth = len(owner.spec_path)
    for one in found:
        match one.path[depth:]:
            case ("to", int(at), "rules", int(number), *_):
                yield at, number
            case ("to", int(at), *_):
                yield at, None


def _is_sent_requests(view: View, owner: Resource, reference: Reference) -> bool:
    """Whether a backend gets requests, other than copies and those that a filter answers."""
    if view.target.subset_rules or not reference.backend or reference.path[-2] != "backendRefs":
        return False
    filters = at_path(owner.body, (*reference.path[:-2], "filters"))
    return not any(one.get("requestRedirect") for one in mappings(filters))


def _unfit(view: View, owner: Resource, reference: Reference, found: Meaning) -> str:
    """Return why the target sends a backend nothing, by what its port speaks."""
    from kumamigrate.rewrite.references.carried import not_carried  # only on the way to 3.0

    share = found.share
    if share is not None and share.manifest is not None:
        services = [replace(share.base, spec=share.manifest["spec"], body={})]
    else:
        kind = str(reference.ref.get("kind")).removesuffix("Subset")
        services = _labelled(view, owner, kind, found.labels) or _to_come(view, owner, found.labels)
    port = reference.ref.get("port") if found.port is None else found.port
    return not_carried(view, owner, services, port)


def _meaning(view: View, owner: Resource, reference: Reference, *, as_tag: bool) -> Meaning | str:
    ref = reference.ref
    if ref.get("kind") == "MeshServiceSubset" and ref.get("tags"):
        return _subset_backend(view, owner, ref)
    if reference.backend and is_tag_backend(ref):
        return _tag_backend(view, owner, ref)
    parts = tag_parts(ref) if not reference.top and not reference.backend else None
    if parts is not None:
        return _tag(view, owner, parts)
    return _name(view, owner, reference, as_tag=as_tag)


def _name(view: View, owner: Resource, reference: Reference, *, as_tag: bool) -> Meaning | str:
    ref, kind = reference.ref, str(reference.ref["kind"])
    name = str(ref["name"])
    namespace = str(ref.get("namespace") or owner.namespace_label)
    labels = {DISPLAY_NAME: name, **({NAMESPACE: namespace} if namespace else {})}
    loose = _labelled(view, owner, kind, labels)
    exact = [r for r in loose if r.zone == owner.zone and r.namespace_label == namespace]
    if not loose and kind == "MeshHTTPRoute":
        return f"there is no {kind} {name}; if it stands elsewhere, add it with --inventory"
    by_tag = as_tag and kind == "MeshService" and not reference.backend and bool(loose)
    if by_tag and _by_tag_today(view, owner, loose, name):
        note = f"as the service tag {name} does today, it means MeshService {name} of every zone"
        section = _section_of_tag(view, loose, name, str(ref.get("sectionName") or ""))
        return Meaning(labels=labels, section=section, note=note)
    if not loose and (stem := _SYNCED.fullmatch(name)) is not None:
        return (
            f"{name} looks like a name that syncing gave a {kind} of another zone; labels need its"
            f" display name, {stem[1]} it seems, and its zone"
        )
    if len(exact) == len(loose):
        note = "" if exact else _unseen(view, owner, kind, labels)
        return Meaning(labels=_at_home(view, owner, labels, exact), note=note)
    home = owner.zone
    at_home = [r for r in loose if r.zone == home]
    if home and at_home == exact and (exact or _says_zone(owner)):
        note = "" if exact else f"zone {home} has no {kind} {name}; it selects nothing, as today"
        return Meaning(labels={**labels, ZONE: home}, note=note)
    of_global = [r for r in loose if r.labels.get(ORIGIN) == "global"]
    if not home and owner.labels.get(ORIGIN) == "global" and exact == of_global:
        none = "" if exact else ", and there is none; it selects nothing, as today"
        note = f"it means {kind} {name} of the global control plane{none}"
        return Meaning(labels={**labels, ORIGIN: "global"}, note=note)
    zones = ", ".join(sorted({r.zone or "none" for r in loose if r not in exact}))
    here = f"zone {home}" if home else "no zone"
    return (
        f"on 2.x it means {kind} {name} of {here} only, while labels would also select that of"
        f" zone {zones}"
    )


def _unseen(view: View, owner: Resource, kind: str, labels: Mapping[str, str]) -> str:
    """Say why a real resource is not at hand: its Service may be, and not be enough. Nothing where
    the upgrade makes it."""
    name, namespace = labels[DISPLAY_NAME], labels.get(NAMESPACE, "")
    if kind == "MeshService" and _to_come(view, owner, labels):
        return ""
    services = _services(view, name, namespace) if kind == "MeshService" else []
    if any(is_headless(service) for service in services):
        return (
            f"Service {name} is headless: its MeshServices are called after its Pods, and none"
            f" {name}"
        )
    if services:
        return f"whether Service {name} is a MeshService depends on Namespace {namespace}"
    return f"{kind} {name} is in neither repository nor inventory"


def _at_home(
    view: View, owner: Resource, labels: dict[str, str], found: list[Resource]
) -> dict[str, str]:
    """Return labels with the zone that a name means: its own, where the service is yet to come."""
    if found or not owner.zone or not _tells_zones(view, owner):
        return _placed(view, owner, labels, found)
    return {**labels, ZONE: owner.zone}


def _placed(
    view: View, owner: Resource, labels: dict[str, str], found: list[Resource]
) -> dict[str, str]:
    """Return labels with the zone of what is found, where several zones are known: a service of
    that name may come up in another one."""
    zone = next((r.zone for r in found), "")
    return {**labels, ZONE: zone} if zone and _tells_zones(view, owner) else labels


def _tells_zones(view: View, owner: Resource) -> bool:
    """Whether there are several zones, and naming one leaves the policy's role alone."""
    return len(zones_of(view.state, owner.mesh)) > 1 and not _is_producer(view, owner)


def _is_producer(view: View, owner: Resource) -> bool:
    """Whether a zone label would make a consumer of a policy, whatever role is written on it."""
    there = replace(owner, namespace=owner.namespace_label)
    return policy_role(there, release=view.source.name, environment=view.environment) == PRODUCER


def _by_tag_today(view: View, owner: Resource, found: list[Resource], name: str) -> bool:
    """Whether a name works through service-tag outbounds, which know no zones (MADR 060).

    They read it as a value of kuma.io/service; in mode Exclusive there are none. They read
    nothing of a policy that has an entry for a route (product.md §1 law 2).
    """
    routes = any(
        at_path(item, ("targetRef", "kind")) == "MeshHTTPRoute"
        for item in mappings(owner.spec.get("to"))
    )
    if view.mode(owner.mesh) == "Exclusive" or routes:
        return False
    return all(r.labels.get(SERVICE, r.display_name) == name for r in found)


def _section_of_tag(view: View, found: list[Resource], tag: str, section: str) -> str | None:
    """Return the name of the port that a service tag stands for; it has no other, whatever
    section is asked for."""
    if not section:
        return None
    named = {
        str(port.get("name") or port.get("port"))
        for service in found
        for port in mappings(service.spec.get("ports"))
        if _port_of_tag(view, service, tag) == port.get("port")
    }
    return named.pop() if len(named) == 1 else None


def _says_zone(owner: Resource) -> bool:
    body = owner.body
    metadata = body.get("metadata") if isinstance(body.get("metadata"), Mapping) else body
    labels = mapping(metadata).get("labels")
    return isinstance(labels, Mapping) and ZONE in labels


def _tag(view: View, owner: Resource, parts: list[str]) -> Meaning | str:
    labels = {DISPLAY_NAME: parts[0], NAMESPACE: parts[1]}
    port = parts[3] if len(parts) == 4 else ""
    names: set[str | None] = {
        _port_name(r, port) for r in _labelled(view, owner, "MeshService", labels)
    }
    if not names:
        names = {_service_port_name(s, port) for s in _services(view, parts[0], parts[1])}
    if not names:
        known = f"no MeshService or Service {parts[0]} of namespace {parts[1]} is known"
        return f"{known} to take its port's name from"
    if not port:
        return Meaning(labels=labels)
    if len(names) > 1 or None in names:
        return f"{parts[0]} of namespace {parts[1]} does not have port {port} under one name"
    return Meaning(labels=labels, section=names.pop())


def _port_name(service: Resource, number: str) -> str | None:
    ports = sequence(service.spec.get("ports"))
    for name, port in zip(sections(service), ports, strict=False):
        if str(port.get("port")) == number:
            return name
    return None


def _service_port_name(service: Resource, number: str) -> str | None:
    for port in mappings(service.spec.get("ports")):
        if str(port.get("port")) == number:
            return str(port.get("name") or number)
    return None


def _tag_backend(view: View, owner: Resource, ref: Mapping[str, Any]) -> Meaning | str:
    tag = str(ref.get("name"))
    parts = tag.split("_")
    if len(parts) == 4 and parts[2] == "svc" and is_number(parts[3]):
        labels = {DISPLAY_NAME: parts[0], NAMESPACE: parts[1]}
        found = _services_of_tag(view, owner, labels)
        if not found and not any(
            _service_port_name(s, parts[3]) for s in _services(view, parts[0], parts[1])
        ):
            known = f"no MeshService or Service with port {parts[3]} is known"
            return f"{known} for the service tag {tag}"
        if found and all(_port_name(r, parts[3]) is None for r in found):
            return f"MeshService {parts[0]} has no port {parts[3]}, so 3.0 would answer 500"
        port: int | None = int(parts[3])
    else:
        labels = {DISPLAY_NAME: tag}
        found = _services_of_tag(view, owner, labels)
        if not found:
            return f"no MeshService is known for the service tag {tag}"
        port = _port_of_tag(view, found[0], tag)
        if port is None:
            return f"which port of MeshService {tag} the service tag {tag} stands for is not known"
    if len(found) > 1:
        return (
            f"the service tag {tag} means its instances in every zone, a MeshService those of one:"
            " name a MeshMultiZoneService or choose the zone"
        )
    return Meaning(labels=_placed(view, owner, labels, found), port=port)


def _subset_backend(view: View, owner: Resource, ref: Mapping[str, Any]) -> Meaning | str:
    """Return the MeshService that selects what tags select, written where it is not there."""
    tag = str(ref.get("name"))
    if not isinstance(ref["tags"], Mapping):
        return "a template fills in its tags, so what they select is not known"
    tags = {SERVICE: tag, **{str(k): str(v) for k, v in ref["tags"].items()}}
    if "*" in tags.values():
        return "labels know no wildcard for the value `*`"
    whole = _tag_backend(view, owner, {"kind": "MeshService", "name": tag})
    if isinstance(whole, str):
        return whole
    found = _services_of_tag(view, owner, whole.labels)
    ports = [p for r in found for p in mappings(r.spec.get("ports")) if p.get("port") == whole.port]
    if len(found) != 1 or len(ports) != 1:
        return f"no MeshService is known for the service tag {tag}"
    share = share_of(view, found[0], ports[0], tags)
    if isinstance(share, str):
        return share
    shown = "these tags" if share.listed else "these tags, which no known proxy has,"
    made = "written with it" if share.manifest is not None else "there"
    note = f"proxies: listed; MeshService {share.name}, {made}, selects by labels what {shown} mean"
    if share.guessed:
        note = f"on your word MeshService {share.name} has the proxies that these tags would have"
    return Meaning(
        labels=_placed(view, owner, dict(share.labels), found),
        port=share.port,
        note=note,
        share=share,
    )


def _port_of_tag(view: View, service: Resource, tag: str) -> int | None:
    """Return the one port of a MeshService that leads to the inbounds with a service tag."""
    ports = mappings(service.spec.get("ports"))
    if len(ports) > 1:
        targets = _targets(view, service.mesh, tag)
        ports = [p for p in ports if str(p.get("targetPort", p.get("port"))) in targets]
    number = ports[0].get("port") if len(ports) == 1 else None
    return number if isinstance(number, int) else None


def _targets(view: View, mesh: str, tag: str) -> set[str]:
    """Return the ports of the inbounds with a service tag, by number and by name."""
    return {
        str(told)
        for dataplane in known_to(view.state, mesh)
        for inbound in mappings((dataplane.spec.get("networking") or {}).get("inbound"))
        if (inbound.get("tags") or {}).get(SERVICE) == tag
        for told in (inbound.get("port"), inbound.get("name"))
        if told is not None
    }


def _labelled(view: View, owner: Resource, kind: str, labels: Mapping[str, str]) -> list[Resource]:
    """Return the resources of a kind, in the mesh of a policy, that have some labels."""
    named = shown_as(view.state, kind, owner.mesh, labels[DISPLAY_NAME])
    return [resource for resource in named if _has(resource, labels)]


def _services_of_tag(view: View, owner: Resource, labels: Mapping[str, str]) -> list[Resource]:
    """Return the MeshServices that a service tag may stand for: there, or with the upgrade."""
    return _labelled(view, owner, "MeshService", labels) or _to_come(view, owner, labels)


def _to_come(view: View, owner: Resource, labels: Mapping[str, str]) -> list[Resource]:
    """Return the MeshServices with some labels that the target makes of what is known, in a mesh
    that has none today."""
    made = services_to_come(view.state, view.target.name)
    return [one for one in made if one.mesh == owner.mesh and _has(one, labels)]


def _has(resource: Resource, labels: Mapping[str, str]) -> bool:
    return all(
        (resource.display_name if key == DISPLAY_NAME else resource.labels.get(key)) == value
        for key, value in labels.items()
    )


def _services(view: View, name: str, namespace: str) -> Sequence[Resource]:
    return services_named(view.state, name, namespace)
