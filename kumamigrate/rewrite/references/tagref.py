"""What references by service tag mean in labels: a service, a port of it, a share by further tags.

A service tag spells name, namespace and port of a Service, or is any word that inbounds carry.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kumamigrate.model.digits import is_number
from kumamigrate.model.resource import (
    DISPLAY_NAME,
    NAMESPACE,
    SERVICE,
    Resource,
    mappings,
    sequence,
)
from kumamigrate.rewrite.references.candidates import (
    labelled,
    placed,
    services_at,
    services_of_tag,
)
from kumamigrate.rewrite.references.newshares import known_to, share_of
from kumamigrate.rewrite.references.oldrefs import Meaning
from kumamigrate.rewrite.view import View
from kumamigrate.targetref.resolve import sections


def meaning_of_tag(view: View, owner: Resource, parts: list[str]) -> Meaning | str:
    labels = {DISPLAY_NAME: parts[0], NAMESPACE: parts[1]}
    port = parts[3] if len(parts) == 4 else ""
    names: set[str | None] = {
        _port_name(r, port) for r in labelled(view, owner, "MeshService", labels)
    }
    if not names:
        names = {_service_port_name(s, port) for s in services_at(view, parts[0], parts[1])}
    if not names:
        known = f"no MeshService or Service {parts[0]} of namespace {parts[1]} is known"
        return f"{known} to take its port's name from"
    if not port:
        return Meaning(labels=labels)
    if len(names) > 1 or None in names:
        return f"{parts[0]} of namespace {parts[1]} does not have port {port} under one name"
    return Meaning(labels=labels, section=names.pop())


def meaning_of_tag_backend(view: View, owner: Resource, ref: Mapping[str, Any]) -> Meaning | str:
    tag = str(ref.get("name"))
    parts = tag.split("_")
    if len(parts) == 4 and parts[2] == "svc" and is_number(parts[3]):
        labels = {DISPLAY_NAME: parts[0], NAMESPACE: parts[1]}
        found = services_of_tag(view, owner, labels)
        if not found and not any(
            _service_port_name(s, parts[3]) for s in services_at(view, parts[0], parts[1])
        ):
            known = f"no MeshService or Service with port {parts[3]} is known"
            return f"{known} for the service tag {tag}"
        if found and all(_port_name(r, parts[3]) is None for r in found):
            return f"MeshService {parts[0]} has no port {parts[3]}, so 3.0 would answer 500"
        port: int | None = int(parts[3])
    else:
        labels = {DISPLAY_NAME: tag}
        found = services_of_tag(view, owner, labels)
        if not found:
            return f"no MeshService is known for the service tag {tag}"
        port = port_of_tag(view, found[0], tag)
        if port is None:
            return f"which port of MeshService {tag} the service tag {tag} stands for is not known"
    if len(found) > 1:
        return (
            f"the service tag {tag} means its instances in every zone, a MeshService those of one:"
            " name a MeshMultiZoneService or choose the zone"
        )
    return Meaning(labels=placed(view, owner, labels, found), port=port)


def meaning_of_subset(view: View, owner: Resource, ref: Mapping[str, Any]) -> Meaning | str:
    """Return the MeshService that selects what tags select, written where it is not there."""
    tag = str(ref.get("name"))
    if not isinstance(ref["tags"], Mapping):
        return "a template fills in its tags, so what they select is not known"
    tags = {SERVICE: tag, **{str(k): str(v) for k, v in ref["tags"].items()}}
    if "*" in tags.values():
        return "labels know no wildcard for the value `*`"
    whole = meaning_of_tag_backend(view, owner, {"kind": "MeshService", "name": tag})
    if isinstance(whole, str):
        return whole
    found = services_of_tag(view, owner, whole.labels)
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
        labels=placed(view, owner, dict(share.labels), found),
        port=share.port,
        note=note,
        share=share,
    )


def port_of_tag(view: View, service: Resource, tag: str) -> int | None:
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
