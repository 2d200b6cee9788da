"""What a reference by name means in labels: of which zone, whether there yet, or as a service tag.

On 2.x a name means one resource of the policy's own zone and namespace (matcher.md Traps 2).
"""

from __future__ import annotations

from collections.abc import Mapping

from kumamigrate.model.kri import section_of
from kumamigrate.model.kubernetes.kubeservices import is_headless
from kumamigrate.model.resource import (
    DISPLAY_NAME,
    NAMESPACE,
    ORIGIN,
    SERVICE,
    ZONE,
    Resource,
    mapping,
    mappings,
)
from kumamigrate.pattern import pattern
from kumamigrate.rewrite.references.candidates import (
    labelled,
    placed,
    services_at,
    tells_zones,
    to_come,
)
from kumamigrate.rewrite.references.oldrefs import Meaning, Reference
from kumamigrate.rewrite.references.tagref import port_of_tag
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import at_path

_SYNCED = pattern(r"(.+)-(?=[a-z]*[0-9])[bcdfghjklmnpqrstvwxz2456789]{14,20}")
"""A name with the hash that Kuma's sync puts behind it (kumahq/kuma 13668)."""


def meaning_of_name(
    view: View, owner: Resource, reference: Reference, *, as_tag: bool
) -> Meaning | str:
    ref, kind = reference.ref, str(reference.ref["kind"])
    name = str(ref["name"])
    namespace = str(ref.get("namespace") or owner.namespace_label)
    labels = {DISPLAY_NAME: name, **({NAMESPACE: namespace} if namespace else {})}
    loose = labelled(view, owner, kind, labels)
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
    if kind == "MeshService" and to_come(view, owner, labels):
        return ""
    services = services_at(view, name, namespace) if kind == "MeshService" else []
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
    if found or not owner.zone or not tells_zones(view, owner):
        return placed(view, owner, labels, found)
    return {**labels, ZONE: owner.zone}


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
        section_of(port)
        for service in found
        for port in mappings(service.spec.get("ports"))
        if port_of_tag(view, service, tag) == port.get("port")
    }
    return named.pop() if len(named) == 1 else None


def _says_zone(owner: Resource) -> bool:
    body = owner.body
    metadata = body.get("metadata") if isinstance(body.get("metadata"), Mapping) else body
    labels = mapping(metadata).get("labels")
    return isinstance(labels, Mapping) and ZONE in labels
