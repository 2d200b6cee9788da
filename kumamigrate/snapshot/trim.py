"""What of a resource a snapshot keeps: all that decides something, nothing that only reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kumamigrate.model.resource import mapping

_METADATA = ("managedFields", "resourceVersion", "uid", "generation", "selfLink")
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_UNIVERSAL = ("modificationTime", "kri", "snis", "status")


def trimmed(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manifest of either form without what changes all the time and decides nothing."""
    if "apiVersion" not in manifest:
        return {key: value for key, value in manifest.items() if key not in _UNIVERSAL}
    kept = {key: value for key, value in manifest.items() if key != "status"}
    metadata = kept.get("metadata")
    if isinstance(metadata, Mapping):
        kept["metadata"] = {k: _notes(v) if k == "annotations" else v for k, v in metadata.items()}
        kept["metadata"] = {k: v for k, v in kept["metadata"].items() if k not in _METADATA}
    return kept


def _notes(annotations: Any) -> Any:
    if not isinstance(annotations, Mapping):
        return annotations
    return {key: value for key, value in annotations.items() if key != _LAST_APPLIED}


def place(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """Return where a manifest stands in a snapshot: kinds together, names in order."""
    if "apiVersion" not in manifest:
        return tuple(str(manifest.get(key) or "") for key in ("type", "mesh", "name"))
    names = mapping(manifest.get("metadata"))
    own = (str(names.get(key) or "") for key in ("namespace", "name"))
    return (str(manifest.get("kind")), *own)
