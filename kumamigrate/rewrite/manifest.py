"""Small changes to manifests as plain JSON, the old text standing in them where it moves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kumamigrate.model.resource import Resource, mapping, sequence
from kumamigrate.rewrite.change import Change, ResourceEdit, Rollout
from kumamigrate.rewrite.finding import Finding, Status
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import FieldPath, at_path, path_text
from kumamigrate.source.value import UNCHANGED, Moved

Json = Any
"""Plain JSON in which `Moved` may stand."""


def put(value: Json, path: FieldPath, new: Json) -> Json:
    """Return a copy with `new` at a path; mappings on the way are made."""
    if not path:
        return new
    head, rest = path[0], path[1:]
    if isinstance(head, int):
        return [put(v, rest, new) if i == head else v for i, v in enumerate(value)]
    old = mapping(value)
    return {**old, head: put(old.get(head), rest, new)}


def cut(value: Json, path: FieldPath) -> Json:
    """Return a copy without what stands at a path, nor what is empty without it."""
    head, rest = path[0], path[1:]
    if isinstance(value, list):
        inner = cut(value[int(head)], rest) if rest else None
        return [
            inner if i == head else v for i, v in enumerate(value) if i != head or not _empty(inner)
        ]
    inner = cut(value[head], rest) if rest else None
    return {
        k: inner if k == head else v for k, v in value.items() if k != head or not _empty(inner)
    }


def rename(value: Json, path: FieldPath, key: str, new: Json = UNCHANGED) -> Json:
    """Return a copy in which the key at the end of a path has another name, in its place."""
    parent = at_path(value, path[:-1])
    moved = Moved(path, new)
    return put(value, path[:-1], {key if k == path[-1] else k: moved if k == path[-1] else v
                                  for k, v in parent.items()})  # fmt: skip


def items(value: Json, path: FieldPath = ()) -> list[Json]:
    """Return the list at a path, an empty one where none stands."""
    return sequence(at_path(value, path))


def _empty(value: Json) -> bool:
    return value is None or (isinstance(value, (Mapping, list)) and not value)


def finding(
    view: View,
    resource: Resource,
    path: FieldPath,
    *,
    pending: bool = False,
    message: str = "",
    action: str = "",
    notes: Sequence[str] = (),
    **words: object,
) -> Finding:
    """Return what the rule says about a field of a resource, in its own words unless given.

    `path` counts from the root of the resource. `{field}`, `{value}`, `{name}` and further
    words given stand in the rule's texts.
    """
    rule = view.rule
    value = at_path(resource.body, path)
    known = {
        "field": path_text(path),
        "value": value if isinstance(value, (str, int, float)) else "",
        "name": resource.name,
        "type": resource.type,
        **words,
    }
    return Finding(
        rule=rule.id,
        resource=resource,
        path=path,
        message=message or rule.message.format(**known),
        action=action or ("" if pending else rule.action.format(**known)),
        status=Status.PENDING if pending else Status.MANUAL,
        safety=rule.safety,
        danger=rule.danger,
        notes=tuple(notes),
    )


def change(
    view: View,
    resource: Resource,
    manifests: Iterable[Json],
    findings: Iterable[Finding],
    *,
    others: Iterable[ResourceEdit] = (),
    steps: Sequence[str] = (),
) -> Change:
    """Return the change that turns one resource into some manifests."""
    assert resource.where is not None
    return Change(
        rule=view.rule.id,
        mesh=resource.mesh,
        group=f"{resource.type} {resource.mesh}",
        edits=(ResourceEdit(where=resource.where, manifests=tuple(manifests)), *others),
        findings=tuple(findings),
        rollout=Rollout.WITH_UPGRADE if view.rule.upgrade else Rollout.NOW,
        steps=tuple(steps),
    )


def metadata_path(resource: Resource) -> FieldPath:
    """Return where labels and annotations stand that Kuma reads of a Kubernetes object.

    For workloads that is the Pod template: Kuma reads Pods, not what made them.
    """
    match resource.type:
        case "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet" | "Job":
            return ("spec", "template", "metadata")
        case "CronJob":
            return ("spec", "jobTemplate", "spec", "template", "metadata")
        case _:
            return ("metadata",)


def words_of(resource: Resource, kind: str) -> Mapping[str, str]:
    """Return the `labels` or `annotations` that Kuma reads of a Kubernetes object, as written."""
    return mapping(at_path(resource.body, (*metadata_path(resource), kind)))
