"""Labels that a control plane gives to resources from Git (matcher.md (a), (b); legacy-notes §2).

Releases differ in `tables/labels.json`, each entry from its release on. "if-absent" keeps what the
manifest says, "always" overwrites it, "never" and "kept" leave the label alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.model.kinds import GLOBAL_SCOPED, KUBERNETES, MESH_SCOPED, OLD_POLICIES
from kumamigrate.model.packed import packed
from kumamigrate.model.release import release as release_of
from kumamigrate.model.resource import (
    DISPLAY_NAME,
    ENV,
    MESH,
    NAMESPACE,
    ORIGIN,
    PROXY_TYPE,
    ROLE,
    ZONE,
    Form,
    Resource,
    mapping,
)
from kumamigrate.model.state import Environment
from kumamigrate.model.versions import newest_entry
from kumamigrate.source.text import FieldPath

DEFAULT_MESH = "default"
SYSTEM, PRODUCER, CONSUMER, WORKLOAD_OWNER = "system", "producer", "consumer", "workload-owner"
SERVICE_ACCOUNT = "k8s.kuma.io/service-account"

NOT_FROM_A_ZONE = OLD_POLICIES | {
    "Config",
    "ExternalService",
    "GlobalSecret",
    "Mesh",
    "MeshGatewayRoute",
    "MeshInsight",
    "Secret",
    "ServiceInsight",
    "Zone",
    "ZoneInsight",
}
"""Kinds that only a global control plane hands out: a zone writes no zone label on them."""

_PROXY_TYPES = {"ZoneIngress": "zoneingress", "ZoneEgress": "zoneegress"}
_LISTENERS = {
    "ZoneIngress": "kuma.io/listener-zoneingress",
    "ZoneEgress": "kuma.io/listener-zoneegress",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The control plane cannot label the resource and refuses it. `path` is from its root."""

    message: str
    path: FieldPath


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelling:
    """How one release labels; the words are explained in the module's first lines."""

    origin: str
    zone: str
    namespace: str
    display_name: str
    proxy_type: str
    producer_kinds: tuple[str, ...]
    producer_by: str
    global_only: frozenset[str]
    immutable: tuple[str, ...]


@cache
def labelling(release_name: str) -> Labelling:
    """Return how a release labels: the newest entry of the table that is not newer."""
    table = packed("model/tables", "labels.json")
    row = table[newest_entry(table, release_of(release_name).name)]
    role = row["role"] or {"kinds": [], "by": ""}
    return Labelling(
        origin=row["origin"],
        zone=row["zone"],
        namespace=row["namespace"],
        display_name=row["displayName"],
        proxy_type=row["proxyType"],
        producer_kinds=tuple(role["kinds"]),
        producer_by=role["by"],
        global_only=NOT_FROM_A_ZONE.union(row["globalOnly"]),
        immutable=tuple(row["immutable"]),
    )


def mesh_of(resource: Resource) -> str:
    """Return the mesh a resource belongs to: label, annotation, old `mesh:` field, "default".

    Empty for kinds that belong to no mesh. On Universal the field alone says it.
    """
    if not resource.mesh or resource.form is Form.UNIVERSAL:
        return resource.mesh
    written = resource.labels.get(MESH) or resource.annotations.get(MESH)
    return written or _text(resource.body.get("mesh")) or resource.mesh or DEFAULT_MESH


def is_export(resource: Resource) -> bool:
    """Tell whether the labels were read from a control plane's store, so that they are final.

    Who writes the name and the mesh by hand gets the rest from the control plane; a store says
    when it was given a resource, or at least where it is from: Universal has no namespaces.
    """
    labels = written_labels(resource)
    if DISPLAY_NAME not in labels or MESH not in labels:
        return False
    if resource.created or labels.get(ORIGIN) == "global":
        return True
    if resource.form is Form.UNIVERSAL and NAMESPACE in labels:
        return True
    return ENV in labels or (ZONE in labels and ORIGIN in labels)


def written_labels(resource: Resource) -> Mapping[str, Any]:
    """Return the labels of a resource as they stand in its text, none added."""
    if not resource.body:
        return resource.labels
    kubernetes = resource.form is Form.KUBERNETES
    holder = mapping(resource.body.get("metadata")) if kubernetes else resource.body
    return mapping(holder.get("labels"))


def name_in_two(resource: Resource) -> tuple[str, str]:
    """Return a name without the namespace that an export of Kubernetes has behind it, and that.

    What sorts is the display name: a word for what is split off may stand before the namespace.
    """
    home = f".{resource.namespace_label}"
    exported = resource.form is Form.UNIVERSAL and is_export(resource)
    if exported and resource.name == resource.display_name + home:
        return resource.display_name, home
    return resource.name, ""


def compute_labels(
    resource: Resource, *, release: str, environment: Environment
) -> Resource | Refused:
    """Return the resource as the control plane of a release stores it, or why it refuses.

    Kubernetes objects that are not Kuma's, and exports (`is_export`), come back unchanged.
    """
    if not is_kumas(resource) or is_export(resource):
        return resource
    return _computed(resource, release, environment)


def immutable_labels(
    resource: Resource, *, release: str, environment: Environment
) -> dict[str, str]:
    """Return those labels of a resource that a release lets nobody change on Universal, as its
    API makes them of what it is given."""
    stored = _computed(resource, release, environment)
    labels = resource.labels if isinstance(stored, Refused) else stored.labels
    return {key: labels[key] for key in labelling(release).immutable if key in labels}


def _computed(resource: Resource, release: str, environment: Environment) -> Resource | Refused:
    how, known = labelling(release), release_of(release)
    labels = dict(resource.labels)
    mesh = mesh_of(resource)
    if how.display_name == "always":
        labels[DISPLAY_NAME] = resource.name
    if mesh:
        labels.setdefault(MESH, mesh)
    _write_origin(labels, resource, how, environment)
    local = labels.get(ORIGIN, environment.mode) == environment.mode
    if local:
        _write_namespace(labels, resource, how)
        if resource.type in known.policy_types and how.producer_by:
            role = policy_role(resource, release=release, environment=environment)
            if isinstance(role, Refused):
                return role
            if role and resource.namespace:
                labels[ROLE] = role
    _write_proxy_type(labels, resource, how)
    return replace(resource, labels=labels, mesh=mesh)


def stored_labels(
    resource: Resource, *, release: str, environment: Environment
) -> Resource | Refused:
    """Return the resource as the matcher of a release sees it: stored, then read back.

    In 2.x a Kubernetes store makes up the display name on reading: annotation, else object name;
    a Universal store does not (matcher.md (b)).
    """
    stored = compute_labels(resource, release=release, environment=environment)
    if isinstance(stored, Refused) or not is_kumas(resource):
        return stored
    if labelling(release).display_name == "on-read" and resource.form is Form.KUBERNETES:
        shown = resource.annotations.get(DISPLAY_NAME) or resource.name
        return stored.with_labels({**stored.labels, DISPLAY_NAME: shown})
    return stored


def policy_role(resource: Resource, *, release: str, environment: Environment) -> str | Refused:
    """Return the role of a policy by the table of matcher.md (a), whatever its label says.

    Empty where the release has no roles.
    """
    how, policy_type = labelling(release), release_of(release).policy_types.get(resource.type)
    if not how.producer_by or policy_type is None:
        return ""
    if not resource.namespace or resource.namespace == environment.system_namespace:
        return SYSTEM
    sections = {
        name: resource.spec.get(name)
        for name in ("to", "from")
        if name in policy_type.sections and isinstance(resource.spec.get(name), list)
    }
    to, from_ = sections.get("to") or [], sections.get("from") or []
    if to and from_:
        return Refused(
            message="`to` and `from` together are only allowed in the system namespace",
            path=("spec",),
        )
    if not to:
        return WORKLOAD_OWNER
    producers = sum(_is_producer_item(item, resource.namespace, how) for item in to)
    if producers == len(to):
        return PRODUCER
    if producers == 0:
        return CONSUMER
    return Refused(
        message="`to` mixes references to this namespace's own services or routes with others, "
        "which is only allowed in the system namespace; split it into one policy for each",
        path=("spec", "to"),
    )


def _is_producer_item(item: Any, namespace: str, how: Labelling) -> bool:
    ref = mapping(mapping(item).get("targetRef"))
    if ref.get("kind") not in how.producer_kinds:
        return False
    if how.producer_by == "name":
        return bool(ref.get("name")) and ref.get("namespace") in (None, "", namespace)
    labels = mapping(ref.get("labels"))
    return (
        bool(labels.get(DISPLAY_NAME))
        and set(labels) <= {DISPLAY_NAME, NAMESPACE}
        and labels.get(NAMESPACE) in (None, "", namespace)
    )


def _write_origin(
    labels: dict[str, str], resource: Resource, how: Labelling, environment: Environment
) -> None:
    from_zone = environment.mode == "zone" and resource.type not in how.global_only
    if how.origin == "always":
        labels[ORIGIN] = environment.mode
    elif how.origin == "if-absent" and from_zone:
        labels.setdefault(ORIGIN, "zone")
    if not from_zone or how.zone == "never" or labels.get(ORIGIN) == "global":
        return
    # Where nobody names the zone, what is written is the better guess.
    if how.zone != "always" or not environment.zone_known:
        labels.setdefault(ZONE, environment.zone)
    else:
        labels[ZONE] = environment.zone
    form = resource.form.value
    labels[ENV] = form if how.zone == "always" else labels.get(ENV, form)


def _write_namespace(labels: dict[str, str], resource: Resource, how: Labelling) -> None:
    if resource.form is Form.UNIVERSAL:
        if how.namespace == "always":
            labels.pop(NAMESPACE, None)
            labels.pop(SERVICE_ACCOUNT, None)
    elif resource.namespace and how.namespace == "always":
        labels[NAMESPACE] = resource.namespace
    elif resource.namespace and how.namespace == "if-absent":
        labels.setdefault(NAMESPACE, resource.namespace)


def _write_proxy_type(labels: dict[str, str], resource: Resource, how: Labelling) -> None:
    if resource.type not in ("Dataplane", *_PROXY_TYPES) or how.proxy_type == "kept":
        return
    networking = mapping(resource.spec.get("networking"))
    if how.proxy_type == "always":
        gateway = mapping(networking.get("gateway"))
        # A delegated gateway counts as a sidecar (catalogue, targetref-proxytypes).
        sidecar = "gateway" if gateway.get("type") == "BUILTIN" else "sidecar"
        labels[PROXY_TYPE] = _PROXY_TYPES.get(resource.type, sidecar)
        return
    labels.pop(PROXY_TYPE, None)
    listeners = networking.get("listeners")
    types = {mapping(x).get("type") for x in listeners} if isinstance(listeners, list) else set()
    for listener, label in _LISTENERS.items():
        if listener in types:
            labels[label] = "enabled"
        else:
            labels.pop(label, None)


def is_kumas(resource: Resource) -> bool:
    """Tell whether a resource is Kuma's, and not a plain Kubernetes object or another tool's."""
    if resource.type in KUBERNETES:
        api = _text(resource.body.get("apiVersion"))
        return api.startswith("kuma.io/")
    known = resource.type in MESH_SCOPED or resource.type in GLOBAL_SCOPED
    return known or bool(resource.mesh)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
