"""Documents become resources, whichever form the manifest has (product.md §3)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from kumamigrate.dataclass import replace
from kumamigrate.errors import fault
from kumamigrate.model.kinds import (
    CLUSTER_SCOPED,
    CONTROL_PLANE_CONFIG,
    CONTROL_PLANE_KEYS,
    ENTERPRISE,
    ENTERPRISE_GLOBAL,
    GLOBAL_SCOPED,
    HELM_KEYS,
    HELM_VALUES,
    KUBERNETES,
    MESH_SCOPED,
)
from kumamigrate.model.resource import FAULTY, MESH, Form, Resource, Where, mapping
from kumamigrate.source.node import node_at, walk
from kumamigrate.source.reading.locks import SOPS
from kumamigrate.source.reading.mask import branch_words
from kumamigrate.source.reading.sift import universal_type_pattern
from kumamigrate.source.text import Document, FieldPath, SourceFile

KUMA_GROUP = "kuma.io/"
GATEWAY_GROUP = "gateway.networking.k8s.io/"
FLAGGER_GROUP = "flagger.app/"
SECRET_TYPES = "system.kuma.io/"
"""How the types of the Secrets begin that a control plane on Kubernetes reads as its own."""
_UNIVERSAL_IDENTITY = (
    *("type", "mesh", "name", "labels", "creationTime", "modificationTime", "kri"),
    SOPS,
)


def read_resources(file: SourceFile) -> tuple[Resource, ...]:
    """Return the resources of a file in text order, lists taken apart.

    Labels are as written: `model.labels` computes what a control plane makes of them.
    Documents that hold nothing Kuma or a rule reads give nothing.
    """
    read = [
        (resource, document)
        for document in file.documents
        if document.holds
        for resource in _isolated(file, document)
    ]
    if not file.may_be_templated:
        return tuple(resource for resource, _ in read)
    templated = [_is_templated(resource, document) for resource, document in read]
    branches = (branch_words(file.text),) if any(templated) else ()
    return tuple(
        replace(resource, templated=True, branches=branches) if filled_in else resource
        for (resource, _), filled_in in zip(read, templated, strict=True)
    )


def read_manifest(manifest: Mapping[str, Any], where: Where) -> Resource | None:
    """Return the resource that a manifest is, None for one that neither Kuma nor a rule reads."""
    return _kubernetes(manifest, where) or _universal(manifest, where)


def _read_document(file: SourceFile, document: Document) -> Iterator[Resource]:
    body = document.value
    if not isinstance(body, dict):
        return
    for item, manifest in manifests(body):
        node = node_at(document.root, item) if item else None
        if item and node is None:
            continue
        line, _ = file.position(document.start if node is None else node.start)
        where = Where(path=file.path, document=document.index, item=item, line=line)
        resource = read_manifest(manifest, where)
        if resource is None and not item:
            resource = _settings(manifest, where)
        if resource is not None:
            yield resource


def manifests(
    body: Mapping[str, Any], item: FieldPath = ()
) -> Iterator[tuple[FieldPath, Mapping[str, Any]]]:
    """Yield the manifests of a document with where they stand in it, lists taken apart."""
    items = body.get("items")
    if isinstance(items, list) and str(body.get("kind", "List")).endswith("List"):
        for index, inner in enumerate(items):
            if isinstance(inner, dict):
                yield from manifests(_typed(body, inner), (*item, "items", index))
    else:
        yield item, body


def _typed(listed: Mapping[str, Any], inner: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an item of a typed list (`kind: MeshTimeoutList`) with the kind that the list says.

    Whoever applies such a list does the same.
    """
    kind = str(listed.get("kind", "")).removesuffix("List")
    if not kind or "kind" in inner or "apiVersion" in inner or "type" in inner:
        return inner
    return {"apiVersion": listed.get("apiVersion"), "kind": kind, **inner}


def _kubernetes(body: Mapping[str, Any], where: Where) -> Resource | None:
    api, kind = body.get("apiVersion"), body.get("kind")
    if not isinstance(api, str) or not isinstance(kind, str):
        return None
    secret = kind == "Secret" and str(body.get("type")).startswith(SECRET_TYPES)
    known = api.startswith((KUMA_GROUP, GATEWAY_GROUP, FLAGGER_GROUP)) or kind in KUBERNETES
    if not (known or secret):
        return None
    metadata = mapping(body.get("metadata"))
    labels, annotations = _strings(metadata.get("labels")), _strings(metadata.get("annotations"))
    kuma = api.startswith(KUMA_GROUP)
    old_field = body.get("mesh")
    written = labels.get(MESH) or annotations.get(MESH) or (old_field if kuma else None)
    scoped = (kuma and kind not in GLOBAL_SCOPED | ENTERPRISE_GLOBAL) or secret
    if secret and body["type"] == f"{SECRET_TYPES}global-secret":
        kind, scoped = "GlobalSecret", False
    at = "spec" if not secret else "stringData" if "stringData" in body else "data"
    has_spec = isinstance(body.get(at), dict)
    return Resource(
        type=kind,
        mesh=str(written or "default") if scoped else "",
        name=_text(metadata.get("name")),
        namespace=_text(metadata.get("namespace")) if kind not in CLUSTER_SCOPED else "",
        labels=labels,
        annotations=annotations,
        spec=body[at] if has_spec else {},
        form=Form.KUBERNETES,
        created=_text(metadata.get("creationTimestamp")),
        where=where,
        spec_path=(at,),
        body=body,
    )


def _universal(body: Mapping[str, Any], where: Where) -> Resource | None:
    type_ = body.get("type")
    if not isinstance(type_, str) or "apiVersion" in body or not _is_universal(type_, body):
        return None
    scoped = type_ not in GLOBAL_SCOPED | ENTERPRISE_GLOBAL
    has_spec = isinstance(body.get("spec"), dict)
    rest = {key: value for key, value in body.items() if key not in _UNIVERSAL_IDENTITY}
    return Resource(
        type=type_,
        mesh=(_text(body.get("mesh")) or "default") if scoped else "",
        name=_text(body.get("name")),
        labels=_strings(body.get("labels")),
        spec=body["spec"] if has_spec else rest,
        form=Form.UNIVERSAL,
        created=_text(body.get("creationTime")),
        where=where,
        spec_path=("spec",) if has_spec else (),
        body=body,
    )


def _is_universal(type_: str, body: Mapping[str, Any]) -> bool:
    """Say whether a manifest is for Kuma's own API.

    Its name need not be text: Kuma's reader makes text of `n`, `on` or `1`, and refuses nothing.
    """
    if type_ in MESH_SCOPED or type_ in GLOBAL_SCOPED:
        return "name" in body or "mesh" in body
    if "mesh" in body:
        return type_[:1].isupper() and type_.isalnum()
    named = "name" in body and (type_ in ENTERPRISE or "spec" in body)
    return named and re.fullmatch(universal_type_pattern(), type_) is not None


def _settings(body: Mapping[str, Any], where: Where) -> Resource | None:
    """Recognise Helm values of Kuma's chart, and the control plane's own configuration."""
    if "apiVersion" in body or "kind" in body or "type" in body:
        return None
    chart = body["kuma"] if isinstance(body.get("kuma"), dict) else body
    if HELM_KEYS & set(mapping(chart.get("controlPlane"))):
        type_ = HELM_VALUES
    elif CONTROL_PLANE_KEYS & set(body) and all(isinstance(key, str) for key in body):
        type_, chart = CONTROL_PLANE_CONFIG, body
    else:
        return None
    name = where.path.rsplit("/", 1)[-1]
    at: FieldPath = ("kuma",) if chart is not body else ()
    return Resource(
        type=type_, mesh="", name=name, spec=chart, where=where, spec_path=at, body=body
    )


def _isolated(file: SourceFile, document: Document) -> tuple[Resource, ...]:
    """Return the resources of a document; a fault of ours costs no other document."""
    try:
        return tuple(_read_document(file, document))
    except Exception as error:
        line, _ = file.position(document.span.start)
        where = Where(path=file.path, document=document.index, line=line)
        return (Resource(type=FAULTY, mesh="", name=fault(error), where=where),)


def _is_templated(resource: Resource, document: Document) -> bool:
    """Say whether a template fills in some part of a resource."""
    assert resource.where is not None
    node = node_at(document.root, resource.where.item)
    return node is not None and any(
        inner.templated for path, inner in walk(node) if path[:1] != (SOPS,)
    )


def _strings(value: Any) -> dict[str, str]:
    return {str(key): _text(inner) for key, inner in mapping(value).items()}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)
