"""Drift: a resource stands in Git and in the inventory, and they do not say the same.

The proof takes what stands in Git. Where the control plane holds something else, nobody knows from
the files which of the two is in force; that is said, and decided by whoever applies them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kumamigrate.dataclass import replace
from kumamigrate.model import duration
from kumamigrate.model.labels import is_kumas
from kumamigrate.model.release import Release, release
from kumamigrate.model.resource import Resource
from kumamigrate.model.shown import value_words
from kumamigrate.rewrite.finding import Danger, Finding
from kumamigrate.scene.outside import names_of
from kumamigrate.scene.scene import Scene
from kumamigrate.targetref.items import from_entries, rule_entries, single_entry, to_entries, top_of

DRIFT = "inventory-drift"
_HIDDEN = ("Secret", "GlobalSecret")
_REWRITTEN = ("mtls", "skipCreatingInitialPolicies")
"""What `kumactl export` writes otherwise into a Mesh than the control plane holds it."""

Leaves = dict[tuple[str | int, ...], Any]
Difference = tuple[tuple[str | int, ...], Any, Any]


def drift(scene: Scene) -> Iterator[Finding]:
    """Yield a finding for each resource that the inventory holds otherwise, in file order."""
    if not scene.inventory:
        return
    exported = {name: r for r in scene.inventory for name in names_of(r, scene.environment)}
    known = release(scene.source)
    for resource in scene.repository.resources:
        other = exported.get(resource.identity)
        if other is None or resource.templated or not is_kumas(resource):
            continue
        if resource.type not in _HIDDEN and (found := _difference(resource, other, known)):
            yield _finding(scene, resource, other, found)


def _difference(resource: Resource, other: Resource, known: Release) -> Difference | None:
    """Return the first field that differs, in the order of its path."""
    if resource.type in known.policy_types:
        # Defaults are filled in by the form of the manifest: an export may have the other one.
        left, right = (_said(r, known) for r in (resource, replace(other, form=resource.form)))
        paths = [*left, *right]
    else:
        # A control plane fills in what the manifest leaves out, and that is no drift.
        left, right = _leaves(resource.spec, ()), _leaves(other.spec, ())
        paths = [*left]
    made_up = other.type == "Mesh" and other.spec.get("skipCreatingInitialPolicies") == ["*"]
    differing = [
        path
        for path in paths
        if left.get(path) != right.get(path) and not (made_up and path[0] in _REWRITTEN)
    ]
    if not differing:
        return None
    first = min(differing, key=str)
    return first, left.get(first), right.get(first)


def _said(policy: Resource, known: Release) -> Leaves:
    """Return what Kuma reads of a policy: whom it selects, and every entry in normal form."""
    kind = known.policy_types[policy.type]
    found: Leaves = {("targetRef",): top_of(policy, known)}
    readers = (to_entries, from_entries, rule_entries)
    entries = [entry for read in readers for entry in read(policy, kind, known)]
    if kind.single_item:
        entries.append(single_entry(policy, kind, known))
    for entry in entries:
        found[*entry.path, "targetRef"] = (entry.target, entry.match)
        found |= _leaves(entry.conf, entry.path)
    return found


def _leaves(value: Any, path: tuple[str | int, ...]) -> Leaves:
    """Return the scalars below a value by path, and how long its lists are."""
    if isinstance(value, Mapping):
        inner = [_leaves(child, (*path, str(key))) for key, child in value.items()]
        return {key: leaf for leaves in inner for key, leaf in leaves.items()}
    if isinstance(value, list):
        found: Leaves = {(*path, "length"): len(value)} if value else {}
        for at, child in enumerate(value):
            found |= _leaves(child, (*path, at))
        return found
    if value is None:
        return {}
    return {path: duration.normal(value) if isinstance(value, str) else value}


def _finding(scene: Scene, resource: Resource, other: Resource, found: Difference) -> Finding:
    path, own, theirs = found
    written = tuple(part for part in path if part != "length")
    at = (*resource.spec_path, *written)
    file, line, column = scene.repository.place(resource.where, at)
    there = f"{other.where.path}:{other.where.line}" if other.where is not None else "the inventory"
    field = ".".join(str(part) for part in (*resource.spec_path, *path))
    values = (
        f"{field} is {_words(own)} here and {_words(theirs)} there"
        if not isinstance(own or theirs, tuple) and path[-1] != "targetRef"
        else f"{field} differs"
    )
    return Finding(
        rule=DRIFT,
        resource=resource,
        path=at,
        message=f"The inventory holds another {resource.type} {resource.name} ({there}): {values}",
        action="see which is in force: apply this file, or take the inventory anew; until then"
        " the verdict holds for what stands in Git",
        danger=Danger.ADVICE,
        file=file,
        line=line,
        column=column,
    )


def _words(value: Any) -> str:
    return "absent" if value is None else value_words(value)
