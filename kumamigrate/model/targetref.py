"""targetRef as a value: absent and empty are told apart, as Kuma does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.model.resource import SERVICE


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetRef:
    """A reference to proxies (at the top) or to traffic (in `to` and `from`).

    None = absent. `labels` and `tags` are sorted pairs so that equal references are equal keys.
    """

    kind: str
    name: str | None = None
    namespace: str | None = None
    labels: tuple[tuple[str, str], ...] | None = None
    tags: tuple[tuple[str, str], ...] | None = None
    section_name: str | None = None
    mesh: str | None = None
    proxy_types: tuple[str, ...] | None = None

    @property
    def asked_tags(self) -> tuple[tuple[str, str], ...]:
        """The tags that an inbound needs for a reference at the top to select it.

        One for the service beside the name of a MeshServiceSubset overrules that
        (matcher-2.14/99-service-subset-by-its-tag).
        """
        named = {SERVICE: self.name or ""} if self.kind in SERVICE_TAGS else {}
        return tuple({**named, **dict(self.tags or ())}.items())


SERVICE_TAGS = ("MeshService", "MeshServiceSubset")
"""Kinds whose name is the value of the tag kuma.io/service."""
MESH = TargetRef(kind="Mesh")


def read_target_ref(value: Any, fields: Iterable[str]) -> TargetRef:
    """Return a targetRef as a release reads it; `fields` are the keys its type has.

    Anything that is no mapping is the whole mesh (an omitted targetRef). Keys the release does
    not know are ignored, which is how 3.0 takes `name` (matcher.md Traps 1).
    """
    if not isinstance(value, Mapping):
        return MESH
    known = {k: v for k, v in value.items() if k in fields and v is not None}
    types = known.get("proxyTypes")
    return TargetRef(
        kind=str(value.get("kind") or "Mesh"),
        name=_text(known.get("name")),
        namespace=_text(known.get("namespace")),
        labels=_pairs(known.get("labels")),
        tags=_pairs(known.get("tags")),
        section_name=_text(known.get("sectionName")),
        mesh=_text(known.get("mesh")),
        proxy_types=tuple(str(t) for t in types) if isinstance(types, list) else None,
    )


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _pairs(value: Any) -> tuple[tuple[str, str], ...] | None:
    if not isinstance(value, Mapping):
        return None
    return tuple(sorted((str(k), str(v)) for k, v in value.items()))
