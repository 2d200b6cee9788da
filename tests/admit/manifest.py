"""Resources from plain manifests, without the reader of files: the facts under test are Kuma's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kumamigrate.model.kinds import GLOBAL_SCOPED
from kumamigrate.model.resource import MESH, Form, Resource

IDENTITY = ("type", "mesh", "name", "labels", "creationTime", "modificationTime", "kri")


def resource_of(manifest: Mapping[str, Any]) -> Resource:
    """Return the resource that a manifest in either form describes."""
    kubernetes = "apiVersion" in manifest
    metadata: Mapping[str, Any] = manifest["metadata"] if kubernetes else manifest
    kind = manifest["kind" if kubernetes else "type"]
    labels = dict(metadata.get("labels") or {})
    annotations = dict(metadata.get("annotations") or {})
    said = (labels.get(MESH) or annotations.get(MESH)) if kubernetes else None
    written = said or manifest.get("mesh") or "default"
    rest = {k: v for k, v in manifest.items() if k not in IDENTITY}
    in_spec = kubernetes or "spec" in manifest
    return Resource(
        type=kind,
        mesh="" if kind in GLOBAL_SCOPED else written,
        name=metadata["name"],
        namespace=metadata.get("namespace", "") if kubernetes else "",
        labels=labels,
        annotations=annotations,
        spec=(manifest.get("spec") or {}) if in_spec else rest,
        form=Form.KUBERNETES if kubernetes else Form.UNIVERSAL,
        spec_path=("spec",) if in_spec else (),
        body=manifest,
    )
