"""References that 3.0 does not take: where they stand, and how they are written in labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.model.resource import DISPLAY_NAME, NAMESPACE, Resource, mapping, numbered
from kumamigrate.rewrite.references.shares import BACKEND, Share
from kumamigrate.source.text import FieldPath
from kumamigrate.source.value import Moved
from kumamigrate.targetref.resolve import REAL

BY_NAME, BY_TAG = "reference-by-name", "service-tag-name"
_TARGETS = (*REAL, "MeshHTTPRoute")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A reference that 3.0 does not take. `path` leads to it from the resource's root."""

    path: FieldPath
    ref: Mapping[str, Any]
    rule: str
    backend: bool = False
    top: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """What a reference says in labels. `section` and `port` are None where they stay.

    `share` is the MeshService that a part of a service by tags gets.
    """

    labels: Mapping[str, str]
    section: str | None = None
    port: int | None = None
    note: str = ""
    share: Share | None = None


def references(resource: Resource) -> Iterator[Reference]:
    """Yield the references of a policy or route that 3.0 does not take, in text order."""
    at = resource.spec_path
    top = resource.spec.get("targetRef")
    if isinstance(top, Mapping) and top.get("kind") == "Dataplane" and top.get("name"):
        yield Reference(path=(*at, "targetRef"), ref=top, rule=BY_NAME, top=True)
    for index, item in numbered(resource.spec.get("to")):
        ref = item.get("targetRef")
        if isinstance(ref, Mapping) and ref.get("kind") in _TARGETS and ref.get("name"):
            rule = BY_TAG if tag_parts(ref) else BY_NAME
            yield Reference(path=(*at, "to", index, "targetRef"), ref=ref, rule=rule)
        if resource.type in ("MeshHTTPRoute", "MeshTCPRoute"):
            yield from _backends(item, (*at, "to", index))


def _backends(item: Mapping[str, Any], at: FieldPath) -> Iterator[Reference]:
    for number, rule in numbered(item.get("rules")):
        conf = rule.get("default")
        if not isinstance(conf, Mapping):
            continue
        inside = (*at, "rules", number, "default")
        for index, one in numbered(conf.get("filters")):
            ref = mapping(one.get("requestMirror")).get("backendRef")
            if isinstance(ref, Mapping):
                path = (*inside, "filters", index, "requestMirror", "backendRef")
                yield from _backend(ref, path)
        for index, ref in numbered(conf.get("backendRefs")):
            yield from _backend(ref, (*inside, "backendRefs", index))


def _backend(ref: Mapping[str, Any], path: FieldPath) -> Iterator[Reference]:
    subset = ref.get("kind") == "MeshServiceSubset"
    if subset or (ref.get("kind") in REAL and ref.get("name")):
        rule = BACKEND if subset or is_tag_backend(ref) else BY_NAME
        yield Reference(path=path, ref=ref, rule=rule, backend=True)


def is_tag_backend(ref: Mapping[str, Any]) -> bool:
    """Whether a backend names a service tag: 2.x takes a name without port for one."""
    kinds = ("MeshService", "MeshServiceSubset")
    return ref.get("kind") in kinds and not (ref.get("port") or ref.get("sectionName"))


def tag_parts(ref: Mapping[str, Any]) -> list[str] | None:
    """Return the parts of a name like `web_shop_svc_80`, None for any other target."""
    parts = str(ref.get("name", "")).split("_")
    plain = ref.get("kind") == "MeshService" and not ref.get("sectionName")
    return parts if plain and len(parts) in (3, 4) else None


def rewritten(reference: Reference, meant: Meaning) -> dict[str, Any]:
    """Return a reference in labels, in the old order of keys, old text standing in it."""
    out: dict[str, Any] = {}
    for key, value in reference.ref.items():
        if key == "name":
            out["labels"] = _labels(reference, meant)
        elif key == "sectionName" and meant.section is not None:
            out[key] = meant.section
        elif key == "kind" and value == "MeshServiceSubset":
            out[key] = "MeshService"
        elif key not in ("namespace", "tags", "mesh", "proxyTypes"):
            out[key] = value
        if key == "name" and meant.section is not None and "sectionName" not in reference.ref:
            out["sectionName"] = meant.section
        if key == "name" and meant.port is not None:
            out["port"] = meant.port
    return out


def _labels(reference: Reference, meant: Meaning) -> dict[str, Any]:
    olds = {DISPLAY_NAME: "name", NAMESPACE: "namespace"}
    labels: dict[str, Any] = {}
    for key, value in meant.labels.items():
        old = olds.get(key, "")
        if old in reference.ref:
            path = (*reference.path, old)
            same = reference.ref[old] == value
            labels[key] = Moved(path) if same else Moved(path, value)
        else:
            labels[key] = value
    return labels
