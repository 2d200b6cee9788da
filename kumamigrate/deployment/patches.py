"""The patches of a kustomization: where they stand, whom they change, and how they follow."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.deployment.build import resources_of
from kumamigrate.deployment.kustomization import Kustomization
from kumamigrate.deployment.moves import Gone, Moves
from kumamigrate.deployment.repatch import merge, operations
from kumamigrate.deployment.tree import Tree, joined
from kumamigrate.model.resource import Resource, mapping, sequence
from kumamigrate.pattern import pattern
from kumamigrate.source.editing.patch import patch
from kumamigrate.source.reading.load import read_file
from kumamigrate.source.text import Document, FieldPath, Refusal, SourceFile, at_path, path_text
from kumamigrate.source.value import Replacement, Value


@dataclass(frozen=True, kw_only=True)
class Edited:
    """A resource of a source, before an edit, and what became of it."""

    kind: str
    name: str
    moves: Moves


@dataclass(frozen=True, kw_only=True)
class Patch:
    """A patch of a kustomization: in a file of its own, or `inline` in the kustomization.

    `at` is its entry there. Without a `target` each of its documents says whom it changes.
    """

    part: Kustomization
    at: FieldPath
    file: SourceFile
    target: Mapping[str, Any] | None = None
    path: str | None = None
    inline: FieldPath = ()

    def refusal(self, detail: str, offset: int | None = None) -> Refusal:
        """Return why an edit is held for this patch, at its place."""
        advice = "move the patch by hand together with what it changes"
        found = self.part.refusal(self.inline or self.at, detail, advice)
        if self.path is None or offset is None:
            return found
        line, column = self.file.position(offset)
        return Refusal(
            path=self.path,
            line=line,
            column=column,
            reason=found.reason,
            detail=detail,
            advice=advice,
        )


@dataclass(frozen=True, kw_only=True)
class Rewritten:
    """A patch as it has to be: its text, and the name of its target where that is another."""

    text: str | None = None
    name: str = ""
    refusals: tuple[Refusal, ...] = ()


def edited_resources(path: str, old: bytes | None, new: bytes | None) -> list[Edited]:
    """Return the resources of a file that an edit changes, and what became of each.

    The first manifest an edit leaves stands where the old one stood, under its name as a rule;
    further ones follow it.
    """
    before = resources_of(path, old) if old is not None else ()
    after = resources_of(path, new) if new is not None else ()
    heirs: list[list[Resource]] = [[] for _ in before]
    at = -1
    for one in after:
        later = range(max(at, 0), len(before)) if at < 0 else range(at + 1, len(before))
        twin = next((i for i in later if _same(before[i], one)), None)
        at = max(at, 0) if twin is None else twin
        if before:
            heirs[at].append(one)
    return [
        Edited(
            kind=str(one.body.get("kind", "")),
            name=one.name,
            moves=Moves(_json(one), [_json(heir) for heir in found]),
        )
        for one, found in zip(before, heirs, strict=True)
        if [heir.body for heir in found] != [one.body]
    ]


def _same(one: Resource, other: Resource) -> bool:
    return (one.type, one.namespace, one.name) == (other.type, other.namespace, other.name)


def _json(resource: Resource) -> dict[str, Any]:
    return dict(resource.body)


def patches_of(part: Kustomization, tree: Tree) -> Iterator[Patch]:
    """Yield the patches of a kustomization, in the order in which it says them."""
    for key in ("patches", "patchesJson6902"):
        for index, entry in enumerate(sequence(part.body.get(key))):
            says, at = mapping(entry), (key, index)
            target = says.get("target")
            known = mapping(target) if isinstance(target, Mapping) else None
            if isinstance(says.get("path"), str):
                yield from _in_file(part, at, says["path"], known, tree)
            elif isinstance(says.get("patch"), str):
                yield _inside(part, at, (*at, "patch"), says["patch"], known)
    for index, entry in enumerate(sequence(part.body.get("patchesStrategicMerge"))):
        if not isinstance(entry, str):
            continue
        at = ("patchesStrategicMerge", index)
        if "\n" in entry:
            yield _inside(part, at, at, entry, None)
        else:
            yield from _in_file(part, at, entry, None, tree)


def _in_file(
    part: Kustomization,
    at: FieldPath,
    name: str,
    target: Mapping[str, Any] | None,
    tree: Tree,
) -> Iterator[Patch]:
    path = joined(part.folder, name)
    data = tree.read(path)
    if data is not None:
        real = tree.real(path) or path
        yield Patch(part=part, at=at, file=read_file(real, data), target=target, path=real)


def _inside(
    part: Kustomization,
    at: FieldPath,
    inline: FieldPath,
    text: str,
    target: Mapping[str, Any] | None,
) -> Patch:
    file = read_file(part.path, text.encode())
    return Patch(part=part, at=at, file=file, target=target, inline=inline)


def rewritten(patched: Patch, edited: Sequence[Edited]) -> Rewritten | None:
    """Return a patch as it has to be after some edits, None where they do not concern it."""
    replacements: list[Replacement] = []
    refusals: list[Refusal] = []
    names: set[str] = set()
    for document in patched.file.documents:
        mine = [one for one in edited if _concerns(patched, document, one)]
        try:
            found = _agreed(document, mine)
        except Gone as gone:
            refusals.append(patched.refusal(_says(gone, mine), document.start))
            continue
        if found is not None:
            value, name = found
            names |= {name} - {""}
            replacements.append(Replacement(document=document, values=(value,)))
    if refusals:
        return Rewritten(refusals=tuple(refusals))
    if not replacements:
        return None
    text = patch(patched.file, replacements)
    if not isinstance(text, str):
        detail = f"the patch has to move along with what it changes: {text[0].detail}"
        return Rewritten(refusals=(patched.refusal(detail, 0),))
    name = names.pop() if len(names) == 1 and patched.target else ""
    return Rewritten(text=text if text != patched.file.text else None, name=name)


def _says(gone: Gone, edited: Iterable[Edited]) -> str:
    what = ", ".join(f"{one.kind} {one.name}" for one in edited)
    field = path_text(gone.path) or "fields of more than one manifest"
    return f"this patch changes {field}, which is not there any more once {what} is rewritten"


def _agreed(document: Document, edited: Sequence[Edited]) -> tuple[Value, str] | None:
    """Return one document of a patch as all resources that it changes need it. Raises Gone."""
    body = document.value
    found: list[tuple[Value, str]] = []
    for one in edited:
        if isinstance(body, list):
            value, at = operations(body, one.moves)
        elif isinstance(body, dict):
            value, at = merge(body, one.moves)
        else:
            continue
        name = str(at_path(one.moves.new[at], ("metadata", "name"))) if at else ""
        if (value, name) not in found:
            found.append((value, name))
    if len(found) > 1:
        raise Gone(())
    return found[0] if found else None


def _concerns(patched: Patch, document: Document, one: Edited) -> bool:
    if patched.target is not None:
        wanted = ((patched.target.get("kind"), one.kind), (patched.target.get("name"), one.name))
        return all(not said or _matches(str(said), is_) for said, is_ in wanted)
    body = mapping(document.value)
    named = mapping(body.get("metadata")).get("name")
    return bool(body.get("kind") == one.kind and named == one.name)


_REPEATED_GROUP = pattern(r"\)[*+{]")
_REPEATED = pattern(r"[*+{]")
_MOST_REPEATED = 4


def _matches(pattern: str, text: str) -> bool:
    """Say whether a target means a name; kustomize reads it as a whole regular expression.

    It may mean any where Python, unlike Go, could search for ever.
    """
    repeated = len(_REPEATED.findall(pattern))
    if repeated > _MOST_REPEATED or _REPEATED_GROUP.search(pattern):
        return True
    try:
        return re.fullmatch(pattern, text) is not None
    except re.error:
        return pattern == text
