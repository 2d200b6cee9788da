"""What has to move along with an edit so that no build breaks: entries of lists, patches."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from kumamigrate.dataclass import dataclass, field
from kumamigrate.deployment.filegraph import layout_of
from kumamigrate.deployment.inline import with_content
from kumamigrate.deployment.kustomization import (
    SAYS_NOTHING,
    Kustomization,
    KustomizationRole,
)
from kumamigrate.deployment.patches import (
    Patch,
    Rewritten,
    edited_resources,
    patches_of,
    rewritten,
)
from kumamigrate.deployment.tree import Tree
from kumamigrate.source.editing.patch import patch
from kumamigrate.source.node import ScalarNode, node_at
from kumamigrate.source.reading.load import read_file
from kumamigrate.source.text import FieldPath, Refusal, SourceFile
from kumamigrate.source.value import Moved, Replacement, Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """What else changes, by path, and what forbids the edit."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    refusals: tuple[Refusal, ...] = ()


def follow(tree: Tree, edited: Mapping[str, bytes | None]) -> Followed:
    """Return what has to change beside some edits of a tree (None removes a file).

    Whatever is returned is read, rendered and proven together with the edits.
    """
    changed: dict[str, bytes] = {}
    refusals: list[Refusal] = []
    for part, near in layout_of(tree).beside.values():
        paths = sorted(edited.keys() & near)
        if not paths and not any(posixpath.dirname(path) == part.folder for path in edited):
            continue
        found = list(_rewritten(part, paths, edited, tree))
        refusals += [refusal for _, one in found for refusal in one.refusals]
        texts = _written(part, found, edited, tree)
        refusals += texts.refusals
        changed |= texts.files
    return Followed(files=changed, refusals=tuple(dict.fromkeys(refusals)))


def _rewritten(
    part: Kustomization,
    paths: Sequence[str],
    edited: Mapping[str, bytes | None],
    tree: Tree,
) -> Iterator[tuple[Patch, Rewritten]]:
    """Yield the patches of a kustomization that some edits concern, as they have to be."""
    patches = list(patches_of(part, tree)) if paths else []
    if not patches:
        return
    resources = [r for p in paths for r in edited_resources(p, tree.read(p), edited[p])]
    for place in patches:
        new = rewritten(place, resources)
        if new is not None:
            yield place, new


def _written(
    part: Kustomization,
    found: Iterable[tuple[Patch, Rewritten]],
    edited: Mapping[str, bytes | None],
    tree: Tree,
) -> Followed:
    """Return the files of patches, and the kustomization that names them, as they have to be."""
    files: dict[str, bytes] = {}
    refusals: list[Refusal] = []
    own, names = part.file, dict[FieldPath, str]()
    for place, new in found:
        if new.name:
            names[(*place.at, "target", "name")] = new.name
        if new.text is None:
            continue
        if place.path is not None:
            files[place.path] = _bytes(place.file, new.text)
            continue
        node = node_at(own.documents[0].root, place.inline)
        text = with_content(own, node, new.text) if isinstance(node, ScalarNode) else None
        if text is None:
            refusals.append(
                place.refusal("the way this patch is quoted keeps it from moving along")
            )
        else:
            own = read_file(part.path, text.encode())
    listed = _listed(part, edited, tree, names)
    if listed is not None:
        again = patch(own, [Replacement(document=own.documents[0], values=(listed,))])
        if isinstance(again, str):
            own = read_file(part.path, again.encode())
        else:
            refusals += again
    if own.text != part.file.text:
        files[part.path] = _bytes(part.file, own.text)
    return Followed(files=files, refusals=tuple(refusals))


def _bytes(file: SourceFile, text: str) -> bytes:
    return (b"\xef\xbb\xbf" if file.bom else b"") + text.encode()


def _listed(
    part: Kustomization,
    edited: Mapping[str, bytes | None],
    tree: Tree,
    names: Mapping[FieldPath, str],
) -> Value:
    """Return what a kustomization says once its lists follow, None where they stay.

    Inline patches that have moved along already stand in it as they are now.
    """
    gone = {
        use.at
        for use in part.uses
        if use.role is KustomizationRole.RESOURCE
        and use.path in edited
        and edited[use.path] is None
    }
    new = list(_new_names(part, edited, tree))
    if not gone and not new and not names:
        return None
    value: dict[str, Value] = {}
    for key, old in part.body.items():
        value[key] = Moved((key,))
        if key in ("resources", "bases") and isinstance(old, list):
            kept: list[Value] = [
                Moved((key, at)) for at in range(len(old)) if (key, at) not in gone
            ]
            added = new if key == "resources" else []
            value[key] = [*kept, *added]
            if not value[key]:
                del value[key]
    # One that says nothing at all cannot be built: the list stays, if as an empty one.
    if "resources" not in value and (new or not value.keys() - SAYS_NOTHING):
        value["resources"] = new
    for key in {str(path[0]) for path in names}:
        value[key] = _renamed(key, part.body[key], names)
    return value


def _renamed(key: str, entries: Sequence[Any], names: Mapping[FieldPath, str]) -> Value:
    """Return the patches of a kustomization, some of which are for another manifest now."""
    found: list[Value] = []
    for at, entry in enumerate(entries):
        name = names.get((key, at, "target", "name"))
        if name is None:
            found.append(Moved((key, at)))
            continue
        target = {
            word: name if word == "name" else Moved((key, at, "target", word))
            for word in entry["target"]
        }
        found.append(
            {word: target if word == "target" else Moved((key, at, word)) for word in entry}
        )
    return found


def _new_names(
    part: Kustomization, edited: Mapping[str, bytes | None], tree: Tree
) -> Iterator[str]:
    """Yield the new files of a folder whose kustomization lists files of that folder."""
    beside = any(posixpath.dirname(use.path) == part.folder for use in part.uses)
    for path in sorted(edited):
        new = edited[path] is not None and tree.read(path) is None
        if new and beside and posixpath.dirname(path) == part.folder:
            yield posixpath.basename(path)
