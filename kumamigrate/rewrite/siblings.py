"""New resources beside old ones: their names and manifests (product.md §1 law 6)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from kumamigrate.model.labels import is_export, name_in_two
from kumamigrate.model.resource import DISPLAY_NAME, ENV, ROLE, ZONE, Form, Resource, mapping
from kumamigrate.model.state import State
from kumamigrate.source.value import Value

LONGEST = 253
_OF_THE_STORE = ("creationTime", "modificationTime", "kri", "status")
_OF_THE_CLUSTER = (
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "managedFields",
    "selfLink",
    "ownerReferences",
)
_COMPUTED = (DISPLAY_NAME, ENV, ROLE, ZONE)
"""Labels that the control plane writes: a manifest must not (catalogue §0.5)."""
_OBJECT = frozenset(
    {
        DISPLAY_NAME,
        "argocd.argoproj.io/tracking-id",
        "kapp.k14s.io/identity",
        "kapp.k14s.io/original",
        "kapp.k14s.io/original-diff",
        "kubectl.kubernetes.io/last-applied-configuration",
    }
)
_OBJECT_GROUPS = ("config.k8s.io/", "internal.config.kubernetes.io/", "objectset.rio.cattle.io/")


def sibling(resource: Resource, name: str, spec: Value) -> dict[str, Any]:
    """Return the manifest of a sibling: same form, mesh, namespace, labels; own name and spec.

    What a control plane, a cluster or kubectl wrote about the old object stays behind.
    """
    fresh: dict[str, Any] = {"spec": spec}
    kept = {k: v for k, v in resource.body.items() if k not in _OF_THE_STORE}
    if resource.form is Form.KUBERNETES:
        fresh["metadata"] = _metadata(kept.get("metadata"), name)
    else:
        fresh["name"] = name
        if isinstance(kept.get("labels"), Mapping):
            fresh["labels"] = _labels(kept["labels"])
            if is_export(resource):
                # Labels of an export are final: without them role and zone would be others.
                fresh["labels"] = {**kept["labels"], DISPLAY_NAME: shown_as(resource, name)}
    return {k: fresh.get(k, v) for k, v in kept.items() if fresh.get(k, v) != {}}


def shown_as(resource: Resource, name: str) -> str:
    """Return the display name of a sibling: its name, but in an export, where a label tells."""
    if resource.form is Form.KUBERNETES or not is_export(resource):
        return name
    own, home = name_in_two(resource)
    return resource.display_name + name.removesuffix(home).removeprefix(own)


def is_beside(new: Resource, old: Resource) -> bool:
    """Say whether a resource has a name as `free_names` gives those that come of another one."""
    if (new.type, new.mesh, new.namespace) != (old.type, old.mesh, old.namespace):
        return False
    (mine, home), (stem, away) = name_in_two(new), name_in_two(old)
    return home == away and mine.startswith(f"{stem}-")


def free_names(resource: Resource, what: str, state: State) -> Iterator[str]:
    """Yield names for a sibling, the plainest first, that nothing of its type has.

    All but the last ones sort right behind the old name: the smaller name wins a tie.
    """
    taken = {
        r.name
        for r in state.of_type(resource.type)
        if r.namespace == resource.namespace
        and (resource.form is Form.KUBERNETES or r.mesh == resource.mesh)
    }
    (old, home), tail = name_in_two(resource), plain(what)
    joints = (f"-{tail}", f"-0-{tail}", f"--{tail}", *(f"-{tail}-{n}" for n in range(2, 100)))
    for joint in joints:
        name = shortened(old + joint, LONGEST - len(home)) + home
        if name not in taken:
            yield name


def name_behind(
    resource: Resource,
    what: str,
    state: State,
    counts: Callable[[Resource], bool] = lambda _: True,
    taken: Collection[str] = (),
) -> str | None:
    """Return a free name that no other one that counts comes before, where it lost to the old.

    A tie goes to the smaller name (product.md §1 law 6).
    """
    old = resource.display_name
    others = [
        other.display_name
        for other in state.of_type(resource.type)
        if other.mesh == resource.mesh and counts(other)
    ]
    for name in free_names(resource, what, state):
        new = shown_as(resource, name)
        if name not in taken and not any(old < other <= new for other in others):
            return name
    return None


def plain(text: str) -> str:
    """Return text as a part of a resource name."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "other"


def shortened(name: str, longest: int = LONGEST) -> str:
    """Return a name that is short enough, told apart by a hash of the whole where cut."""
    if len(name) <= longest:
        return name
    import hashlib

    mark = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{name[: longest - 9].rstrip('-.')}-{mark}"


def _metadata(value: Any, name: str) -> dict[str, Any]:
    kept = {key: inner for key, inner in mapping(value).items() if key not in _OF_THE_CLUSTER}
    fresh: dict[str, Any] = {"name": name}
    if isinstance(kept.get("annotations"), Mapping):
        fresh["annotations"] = inherited(kept["annotations"])
    if isinstance(kept.get("labels"), Mapping):
        fresh["labels"] = _labels(kept["labels"])
    return {k: fresh.get(k, v) for k, v in kept.items() if fresh.get(k, v) != {}}


def _labels(labels: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in labels.items() if key not in _COMPUTED}


def inherited(annotations: Any) -> dict[str, Any]:
    """Return what of an object's annotations holds for its successor, in order."""
    given = mapping(annotations).items()
    return {key: value for key, value in given if not names_object(str(key))}


def names_object(key: str) -> bool:
    """Say whether an annotation tells a tool which object, or which text of it, it stands on."""
    return key in _OBJECT or key.startswith(_OBJECT_GROUPS)
