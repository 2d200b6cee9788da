"""Kustomizations as values: what each names, and all that a build of one would read.

Nothing is built here. Field names are those of kustomize.config.k8s.io/v1beta1 and v1alpha1.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from typing import Any

from kumamigrate.deployment.tree import KUSTOMIZATIONS, Tree, joined
from kumamigrate.source.load import read_file
from kumamigrate.source.node import node_at
from kumamigrate.source.text import FieldPath, Reason, Refusal, SourceFile

GROUP = "kustomize.config.k8s.io/"
LISTING = frozenset({"apiVersion", "kind", "metadata", "resources", "bases", "sortOptions"})
"""Fields of a kustomization that change nothing of what it lists."""
_REMOTE = re.compile(r"^(?:[a-z][a-z0-9+.-]*::?//|git@|[^/]+@[^/]+:|github\.com[/:])|\?ref=|//")
_WORD = re.compile(r"[\w./-]+\.[\w]+")
_NESTED = ("helmCharts", "helmChartInflationGenerator")


class Role(StrEnum):
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
    role: Role
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


@dataclass(frozen=True, kw_only=True)
class Closure:
    """All that a build of one folder reads, or why it cannot be built.

    `files` are paths as kustomizations name them. `parts` are the kustomizations, the one of
    the folder first. `roles` tells as what each file is used.
    """

    parts: tuple[Kustomization, ...] = ()
    files: frozenset[str] = frozenset()
    roles: Mapping[str, frozenset[Role]] = field(default_factory=dict)
    refusals: tuple[Refusal, ...] = ()
    circular: bool = False

    @property
    def lists_only(self) -> bool:
        """Say whether all of its kustomizations only list resources."""
        return all(part.lists_only for part in self.parts)


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


def closure_of(folder: str, tree: Tree) -> Closure:
    """Return all that a build of a folder reads: kustomizations below each other, and files."""
    return _closed(folder, tree, (), {})


def _closed(folder: str, tree: Tree, above: tuple[str, ...], known: dict[str, Closure]) -> Closure:
    if folder in known:
        return known[folder]
    own = kustomization_in(folder, tree)
    if own is None:
        return Closure()
    refusals = [*_faults(own, tree)]
    parts, files, circular = [own], {own.path}, False
    roles: dict[str, set[Role]] = {}
    for use in own.uses:
        inner = _used(own, use, tree, (*above, folder), known)
        refusals.extend(inner.refusals)
        circular = circular or inner.circular
        known_paths = {part.path for part in parts}
        parts.extend(part for part in inner.parts if part.path not in known_paths)
        files |= inner.files
        for path, as_what in inner.roles.items():
            roles.setdefault(path, set()).update(as_what)
    known[folder] = Closure(
        parts=tuple(parts),
        files=frozenset(files),
        roles={path: frozenset(as_what) for path, as_what in roles.items()},
        refusals=tuple(dict.fromkeys(refusals)),
        circular=circular,
    )
    return known[folder]


def _used(
    own: Kustomization,
    use: Use,
    tree: Tree,
    above: tuple[str, ...],
    known: dict[str, Closure],
) -> Closure:
    """Return what one named file or folder brings along."""
    data = tree.read(use.path)
    if data is not None:
        more = _mentioned(own.folder, data, tree) if use.role is Role.SETTING else {}
        roles = {**more, use.path: frozenset({use.role})}
        return Closure(files=frozenset(roles), roles=roles)
    if use.path == ".." or use.path.startswith(("../", "/")):
        return _barred(
            own,
            use,
            f"{use.written} leads outside the repository",
            "run from a folder that holds it, or bring it inside",
        )
    if tree.is_folder(use.path):
        return _folder(own, use, tree, above, known)
    if _REMOTE.search(use.written):
        return _barred(
            own,
            use,
            f"{use.written} is fetched from elsewhere; nothing is fetched",
            "vendor it into the repository to be told everything",
        )
    return _barred(
        own, use, f"{use.written} does not exist", "correct the path or remove the entry"
    )


def _mentioned(folder: str, data: bytes, tree: Tree) -> dict[str, frozenset[Role]]:
    """Return the files that the settings of a transformer or generator name."""
    words = set(_WORD.findall(data.decode("utf-8", "replace")))
    paths = {joined(folder, word) for word in words}
    return {path: frozenset({Role.PATCH}) for path in paths if tree.read(path) is not None}


def _folder(
    own: Kustomization,
    use: Use,
    tree: Tree,
    above: tuple[str, ...],
    known: dict[str, Closure],
) -> Closure:
    real = tree.real(use.path)
    place = use.path if real is None else real
    if use.path in above or place in above:
        circle = " → ".join((*above[above.index(place) :], place))
        barred = _barred(own, use, f"kustomizations in a circle: {circle}", "remove one entry")
        return replace(barred, circular=True)
    inner = _closed(place, tree, above, known)
    if not inner.parts:
        return _barred(
            own, use, f"{use.written} holds no kustomization.yaml", "add one, or list the files"
        )
    return inner if place == use.path else replace(inner, files=inner.files | {use.path})


def _barred(own: Kustomization, use: Use, detail: str, advice: str) -> Closure:
    return Closure(refusals=(own.refusal(use.at, detail, advice),))


def _faults(own: Kustomization, tree: Tree) -> Iterator[Refusal]:
    """Yield what keeps a kustomization itself from being built here."""
    for refusal in own.file.refusals:
        # An inline patch is no manifest that stands at the wrong place.
        if refusal.reason is not Reason.NOT_AT_ROOT:
            yield replace(refusal, hides=True)
    twins = [n for n in KUSTOMIZATIONS if tree.read(joined(own.folder, n)) is not None]
    if len(twins) > 1:
        yield own.refusal((), f"{' and '.join(twins)} stand in one folder", "remove one")
    for key in _NESTED:
        if own.body.get(key):
            yield own.refusal(
                (key,),
                f"{key} makes kustomize run helm, which is not done here",
                "render the chart into the repository, or name it as an environment of its own",
            )


_PATHS: tuple[tuple[str, Role], ...] = (
    ("resources", Role.RESOURCE),
    ("bases", Role.RESOURCE),
    ("components", Role.COMPONENT),
    ("crds", Role.SETTING),
    ("configurations", Role.SETTING),
)
_INLINE_OR_PATHS: tuple[tuple[str, Role], ...] = (
    ("patchesStrategicMerge", Role.PATCH),
    ("generators", Role.SETTING),
    ("transformers", Role.SETTING),
    ("validators", Role.SETTING),
)
_WITH_PATH: tuple[tuple[str, Role], ...] = (
    ("patches", Role.PATCH),
    ("patchesJson6902", Role.PATCH),
    ("replacements", Role.SETTING),
)


def _uses(folder: str, body: Mapping[str, Any]) -> Iterator[Use]:
    for key, role in _PATHS:
        yield from _named(folder, body.get(key), role, (key,))
    for key, role in _INLINE_OR_PATHS:
        for use in _named(folder, body.get(key), role, (key,)):
            if "\n" not in use.written and ": " not in use.written:
                yield use
    for key, role in _WITH_PATH:
        for index, entry in enumerate(_list(body.get(key))):
            path = entry.get("path") if isinstance(entry, Mapping) else None
            yield from _named(folder, path, role, (key, index, "path"))
    openapi = body.get("openapi")
    if isinstance(openapi, Mapping):
        yield from _named(folder, openapi.get("path"), Role.SETTING, ("openapi", "path"))
    for key in ("configMapGenerator", "secretGenerator"):
        for index, entry in enumerate(_list(body.get(key))):
            yield from _contents(folder, entry, (key, index))


def _contents(folder: str, entry: Any, at: FieldPath) -> Iterator[Use]:
    """Yield the files that a generator puts into a ConfigMap or Secret."""
    if not isinstance(entry, Mapping):
        return
    for key in ("files", "envs", "env"):
        for use in _named(folder, entry.get(key), Role.CONTENT, (*at, key)):
            _, equals, path = use.written.partition("=")
            yield replace(use, path=joined(folder, path)) if equals else use


def _named(folder: str, value: Any, role: Role, at: FieldPath) -> Iterator[Use]:
    if isinstance(value, str) and value:
        yield Use(path=joined(folder, value), written=value, role=role, at=at)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for index, inner in enumerate(value):
            if isinstance(inner, str):
                yield from _named(folder, inner, role, (*at, index))


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()
