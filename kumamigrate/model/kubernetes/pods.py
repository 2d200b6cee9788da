"""Which Pods get a sidecar, and in which mesh: what their labels and their Namespace say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kumamigrate.model.resource import MESH, Resource, mapping, sequence, texts
from kumamigrate.model.versions import at_least

INJECTION = "kuma.io/sidecar-injection"
GATEWAY = "kuma.io/gateway"
ON = ("enabled", "true", "yes")
_INJECTED = "kuma.io/sidecar-injected"
_SIDECAR = "kuma-sidecar"
_ZONE_PROXIES = ("kuma.io/ingress", "kuma.io/egress")
WITHOUT_TAGS = "3.0"
"""From this release on no annotation names a mesh, service tags, or makes a zone proxy."""


def pod_templates(workload: Resource) -> Iterator[Mapping[str, Any]]:
    """Yield the templates of a workload's Pods; a Pod is its own."""
    if workload.type == "Pod":
        yield workload.body
        return
    spec: Any = workload.spec
    if workload.type == "CronJob":
        spec = mapping(mapping(spec.get("jobTemplate")).get("spec"))
    template = spec.get("template")
    if isinstance(template, Mapping):
        yield template


def meta_of(pod: Mapping[str, Any], part: str) -> dict[str, str]:
    """Return the labels or annotations of a Pod or its template."""
    metadata = mapping(pod.get("metadata"))
    return texts(metadata.get(part))


def has_sidecar(pod: Mapping[str, Any], namespace: Resource | None, release: str) -> bool | None:
    """Say whether a Pod becomes a Dataplane; None where its namespace, which is unknown, decides.

    Its label comes first, then that of the Namespace; an annotation of that name does nothing
    since 2.2. One exported from a cluster says that it was injected; one that brings a container
    called like the sidecar gets no other. A built-in gateway is a Dataplane by its annotation,
    without a sidecar; a zone ingress or egress is none.
    """
    notes = meta_of(pod, "annotations")
    if not at_least(release, WITHOUT_TAGS) and any(notes.get(one) in ON for one in _ZONE_PROXIES):
        return False
    if notes.get(GATEWAY) == "builtin":
        return True
    if notes.get(_INJECTED) in ON:
        return True
    if any(_SIDECAR in _containers(pod, kind) for kind in ("containers", "initContainers")):
        return False
    own = meta_of(pod, "labels").get(INJECTION)
    if own is not None:
        return own in ON
    return None if namespace is None else injects(namespace)


def _containers(pod: Mapping[str, Any], kind: str) -> list[object]:
    return [mapping(one).get("name") for one in sequence(mapping(pod.get("spec")).get(kind))]


def injects(namespace: Resource) -> bool:
    """Say whether the Pods of a Namespace get a sidecar without asking for it."""
    return namespace.labels.get(INJECTION) in ON


def injecting(resources: Iterable[Resource]) -> frozenset[str]:
    """Return the names of the Namespaces whose Pods get a sidecar without asking for it."""
    return frozenset(r.name for r in resources if r.type == "Namespace" and injects(r))


def mesh_of_pod(pod: Mapping[str, Any], namespace: Resource | None, release: str) -> str:
    """Return the mesh of a Pod: its own word, else that of its Namespace, else the default."""
    around = "default" if namespace is None else mesh_of_namespace(namespace, release)
    return own_mesh(pod, release) or around


def own_mesh(pod: Mapping[str, Any], release: str) -> str:
    """Return the mesh that a Pod names itself, empty where it names none."""
    return _named(meta_of(pod, "labels"), meta_of(pod, "annotations"), release)


def mesh_of_namespace(namespace: Resource, release: str) -> str:
    """Return the mesh of the Pods of a Namespace that name none themselves."""
    return _named(namespace.labels, namespace.annotations, release) or "default"


def _named(labels: Mapping[str, str], notes: Mapping[str, str], release: str) -> str:
    noted = "" if at_least(release, WITHOUT_TAGS) else notes.get(MESH, "")
    return labels.get(MESH) or noted
