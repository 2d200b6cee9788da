"""Kustomizations as values: what each of them says and names.

Field names are those of kustomize.config.k8s.io/v1beta1 and v1alpha1.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Any

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.deployment.tree import KUSTOMIZATIONS, Tree, joined
from kumamigrate.model.resource import mapping, sequence
from kumamigrate.source.node import node_at
from kumamigrate.source.reading.load import read_file
from kumamigrate.source.text import FieldPath, Reason, Refusal, SourceFile

GROUP = "kustomize.config.k8s.io/"
LISTING = frozenset({"apiVersion", "kind", "metadata", "resources", "bases", "sortOptions"})
"""Fields of a kustomization that change nothing of what it lists."""
SAYS_NOTHING = frozenset({"apiVersion", "kind", "metadata"})
"""Fields that make a kustomization of a file, and by themselves an empty one."""


class KustomizationRole(StrEnum):
    """As what a kustomization uses a file."""

    RESOURCE = "resource"
    COMPONENT = "component"
    PATCH = "patch"
    SETTING = "setting"
    CONTENT = "content"


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """A file or folder that a kustomization names. `at` is where it says so."""

    path: str
    written: str
    role: KustomizationRole
    at: FieldPath


@dataclass(frozen=True, kw_only=True)
class Kustomization:
    """One kustomization: its file, what it says, and what it names."""

    file: SourceFile
    body: Mapping[str, Any]
    uses: tuple[Use, ...] = ()

    @property
    def path(self) -> str:
        """Return the path of the file."""
        return self.file.path

    @property
    def folder(self) -> str:
        """Return the folder it stands in, empty for the root."""
        return posixpath.dirname(self.file.path)

    @property
    def does(self) -> tuple[str, ...]:
        """Return its fields that do more than list resources."""
        return tuple(key for key, value in self.body.items() if value and key not in LISTING)

    @property
    def lists_only(self) -> bool:
        """Say whether it does nothing but list resources."""
        return not self.does

    def refusal(self, at: FieldPath, detail: str, advice: str) -> Refusal:
        """Return why something in it bars the build, at its place."""
        document = self.file.documents[0] if self.file.documents else None
        node = None
        for length in range(len(at), -1, -1):
            node = node_at(document.root, at[:length]) if document is not None else None
            if node is not None:
                break
        line, column = self.file.position(node.start) if node is not None else (1, 1)
        return Refusal(
            path=self.path,
            line=line,
            column=column,
            reason=Reason.UNBUILDABLE,
            detail=detail,
            advice=advice,
            hides=True,
        )


def kustomization_in(folder: str, tree: Tree) -> Kustomization | None:
    """Return the kustomization of a folder, None where there is none."""
    for name in KUSTOMIZATIONS:
        path = joined(folder, name)
        data = tree.read(path)
        if data is not None and (found := kustomization_of(path, data)) is not None:
            return found
    return None


@lru_cache(maxsize=4096)
def kustomization_of(path: str, data: bytes) -> Kustomization | None:
    """Return what a file says as a kustomization, None if it is another thing of that name.

    A file that cannot be parsed is a kustomization that says nothing: its refusals are in it.
    """
    if posixpath.basename(path) not in KUSTOMIZATIONS:
        return None
    file = read_file(path, data)
    body = file.documents[0].value if file.documents else None
    says = body if isinstance(body, dict) else {}
    if not str(says.get("apiVersion", GROUP)).startswith(GROUP):
        return None
    folder = posixpath.dirname(path)
    return Kustomization(file=file, body=says, uses=tuple(_uses(folder, says)))


_PATHS: tuple[tuple[str, KustomizationRole], ...] = (
    ("resources", KustomizationRole.RESOURCE),
    ("bases", KustomizationRole.RESOURCE),
    ("components", KustomizationRole.COMPONENT),
    ("crds", KustomizationRole.SETTING),
    ("configurations", KustomizationRole.SETTING),
)
_INLINE_OR_PATHS: tuple[tuple[str, KustomizationRole], ...] = (
    ("patchesStrategicMerge", KustomizationRole.PATCH),
    ("generators", KustomizationRole.SETTING),
    ("transformers", KustomizationRole.SETTING),
    ("validators", KustomizationRole.SETTING),
)
_WITH_PATH: tuple[tuple[str, KustomizationRole], ...] = (
    ("patches", KustomizationRole.PATCH),
    ("patchesJson6902", KustomizationRole.PATCH),
    ("replacements", KustomizationRole.SETTING),
)


def _uses(folder: str, body: Mapping[str, Any]) -> Iterator[Use]:
    for key, role in _PATHS:
        yield from _named(folder, body.get(key), role, (key,))
    for key, role in _INLINE_OR_PATHS:
        for use in _named(folder, body.get(key), role, (key,)):
            if "\n" not in use.written and ": " not in use.written:
                yield use
    for key, role in _WITH_PATH:
        for index, entry in enumerate(sequence(body.get(key))):
            path = mapping(entry).get("path")
            yield from _named(folder, path, role, (key, index, "path"))
    openapi = body.get("openapi")
    if isinstance(openapi, Mapping):
        yield from _named(
            folder, openapi.get("path"), KustomizationRole.SETTING, ("openapi", "path")
        )
    for key in ("configMapGenerator", "secretGenerator"):
        for index, entry in enumerate(sequence(body.get(key))):
            yield from _contents(folder, entry, (key, index))


def _contents(folder: str, entry: Any, at: FieldPath) -> Iterator[Use]:
    """Yield the files that a generator puts into a ConfigMap or Secret."""
    if not isinstance(entry, Mapping):
        return
    for key in ("files", "envs", "env"):
        for use in _named(folder, entry.get(key), KustomizationRole.CONTENT, (*at, key)):
            _, equals, path = use.written.partition("=")
            yield replace(use, path=joined(folder, path)) if equals else use


def _named(folder: str, value: Any, role: KustomizationRole, at: FieldPath) -> Iterator[Use]:
    if isinstance(value, str) and value:
        yield Use(path=joined(folder, value), written=value, role=role, at=at)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for index, inner in enumerate(value):
            if isinstance(inner, str):
                yield from _named(folder, inner, role, (*at, index))
