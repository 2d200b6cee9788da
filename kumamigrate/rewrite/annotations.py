"""Annotations of an object that goes to another: all but those that name the object itself."""

from __future__ import annotations

from typing import Any

from kumamigrate.model.resource import DISPLAY_NAME, mapping

_OWN = frozenset(
    {
        DISPLAY_NAME,
        "argocd.argoproj.io/tracking-id",
        "kapp.k14s.io/identity",
        "kapp.k14s.io/original",
        "kapp.k14s.io/original-diff",
        "kubectl.kubernetes.io/last-applied-configuration",
    }
)
_OWN_GROUPS = ("config.k8s.io/", "internal.config.kubernetes.io/", "objectset.rio.cattle.io/")


def inherited(annotations: Any) -> dict[str, Any]:
    """Return what of an object's annotations holds for its successor, in order."""
    given = mapping(annotations).items()
    return {key: value for key, value in given if not names_object(str(key))}


def names_object(key: str) -> bool:
    """Say whether an annotation tells a tool which object, or which text of it, it stands on."""
    return key in _OWN or key.startswith(_OWN_GROUPS)
