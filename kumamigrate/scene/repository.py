"""A repository in memory: files, the resources in them, and the state a control plane has of it."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from kumamigrate.dataclass import dataclass, field, replace
from kumamigrate.model.foreign import not_modelled
from kumamigrate.model.kubernetes.pods import injecting
from kumamigrate.model.read import read_resources
from kumamigrate.model.resource import FAULTY, Identity, Resource, Where
from kumamigrate.scene.indoubt import as_applied, templated
from kumamigrate.scene.storedstate import _faulty
from kumamigrate.source.node import key_start, node_at
from kumamigrate.source.reading.embedded import MARKDOWN, commands_of, embeds
from kumamigrate.source.reading.find import find_all, generates, is_script
from kumamigrate.source.reading.load import read_file
from kumamigrate.source.reading.seen import seen_of
from kumamigrate.source.reading.sift import (
    Kind,
    classify,
    is_partial,
    may_hold_kuma,
    pods_only,
)
from kumamigrate.source.text import FieldPath, Reason, Refusal, SourceFile


@dataclass(frozen=True, kw_only=True)
class Repository:
    """The files of some paths below one root.

    `files` holds those that were parsed (they may hold something Kuma or a rule reads), by
    path relative to the root; `data` their bytes as read; `examined` counts all files seen.
    `apart` are the files that each of several environments applies as they are: what stands in
    two of them does not stand twice. None: all are applied together.
    """

    root: Path
    files: Mapping[str, SourceFile] = field(default_factory=dict)
    data: Mapping[str, bytes] = field(default_factory=dict)
    refusals: tuple[Refusal, ...] = ()
    examined: int = 0
    apart: tuple[frozenset[str], ...] | None = None

    @cached_property
    def resources(self) -> tuple[Resource, ...]:
        """Return the resources of all files, in path and text order, labels as written."""
        return tuple(r for r in self._read if r.type != FAULTY)

    @cached_property
    def _read(self) -> tuple[Resource, ...]:
        return tuple(r for path in sorted(self.files) for r in self._of_file[path])

    @cached_property
    def standing(self) -> dict[Identity, list[Where]]:
        """Return where each resource stands, by identity; several places for doubles."""
        places: dict[Identity, list[Where]] = defaultdict(list)
        for resource in self.resources:
            if resource.where is not None:
                places[resource.identity].append(resource.where)
        return dict(places)

    @cached_property
    def by_place(self) -> dict[Where, Resource]:
        """Return the resource that stands at each place."""
        return {r.where: r for r in self.resources if r.where is not None}

    @cached_property
    def _of_file(self) -> dict[str, tuple[Resource, ...]]:
        return {path: read_resources(file) for path, file in self.files.items()}

    @cached_property
    def unread(self) -> tuple[Refusal, ...]:
        """Return everything that could not be read, in path order, and what stands twice.

        Where the text that was refused names its mesh or its kind, only these are in doubt.
        Which of two manifests of one identity is in force depends on the order in which they
        are applied.
        """
        # What a build made of a file is read there; the file need not be readable by itself.
        bare = self.files if self.apart is None else frozenset().union(*self.apart)
        inner = (
            seen_of(refusal, self.files[path], self.data.get(path, b""))
            for path in sorted(self.files)
            for refusal in self.files[path].refusals
            if path in bare
        )
        own = [r for r in self.resources if r.where is None or r.where.path in bare]
        # Of what cannot be opened nobody knows whether it is the same elsewhere.
        closed = (
            r if r.digest else replace(r, digest=f"{self.root}/{r.path}") for r in self.refusals
        )
        faults = (_faulty(r.where, r.name, "") for r in self._read if r.type == FAULTY)
        return (
            *closed,
            *inner,
            *faults,
            *templated(own),
            *not_modelled(own),
            *as_applied(own, self.apart),
        )

    def with_texts(self, texts: Mapping[str, str | None]) -> Repository:
        """Return the repository with some files changed (None removes one) and read again."""
        files, of_file = dict(self.files), dict(self._of_file)
        for path, text in texts.items():
            old = files.pop(path, None)
            of_file.pop(path, None)
            if text is not None:
                bom = b"\xef\xbb\xbf" if old is not None and old.bom else b""
                files[path] = read_file(path, bom + text.encode())
                of_file[path] = read_resources(files[path])
        changed = replace(self, files=files)
        changed.__dict__["_of_file"] = of_file
        return changed

    def only(self, paths: Collection[str], refusals: Iterable[Refusal]) -> Repository:
        """Return the repository without all but some of its files."""
        mine = [path for path in self.files if path in paths]
        part = Repository(
            root=self.root,
            files={path: self.files[path] for path in mine},
            data={path: self.data[path] for path in mine if path in self.data},
            refusals=tuple(refusals),
            examined=self.examined,
        )
        part.__dict__["_of_file"] = {path: self._of_file[path] for path in mine}
        return part

    def standing_at(self, home: Callable[[Resource], Where | None]) -> Repository:
        """Return the repository with its resources said to stand elsewhere."""
        moved = replace(self)
        moved.__dict__["_of_file"] = {
            path: tuple(replace(r, where=home(r)) for r in found)
            for path, found in self._of_file.items()
        }
        return moved

    def in_namespaces(self, namespaces: Mapping[Where, str]) -> Repository:
        """Return the repository with resources in the namespaces that a build puts them in."""
        if not namespaces:
            return self
        moved = replace(self)
        moved.__dict__["_of_file"] = {
            path: tuple(
                r if r.where is None else replace(r, namespace=namespaces.get(r.where, r.namespace))
                for r in found
            )
            for path, found in self._of_file.items()
        }
        return moved

    def place(self, where: Where | None, path: FieldPath) -> tuple[str, int, int]:
        """Return file, line and column (from 1) of a field, or of the nearest thing above it."""
        if where is None or where.path not in self.files:
            return ("", 0, 0)
        file = self.files[where.path]
        if where.document >= len(file.documents):
            return (where.path, where.line, 1)
        start = file.documents[where.document].start_of((*where.item, *path))
        at = (where.line, 1) if start is None else file.position(start)
        return (where.path, *at)

    def lines(self, where: Where, path: FieldPath) -> tuple[int, int]:
        """Return the first and last line of a field with its key, or of the nearest thing above
        it."""
        file = self.files.get(where.path)
        if file is None or where.document >= len(file.documents):
            return (where.line, where.line)
        root = file.documents[where.document].root
        full = (*where.item, *path)
        for length in range(len(full), -1, -1):
            node = node_at(root, full[:length])
            if node is not None:
                start = key_start(root, full[:length])
                start = node.start if start is None else start
                return file.position(start)[0], file.position(max(start, node.end - 1))[0]
        return (where.line, where.line)


def load_repository(
    paths: Sequence[Path], root: Path, *, inventory: Sequence[Resource] = ()
) -> Repository:
    """Read all files below some paths that may hold something Kuma or a rule reads.

    Workload manifests (Pods, Namespaces, Services) are parsed only if there is something of
    Kuma's at all, and Pods without a word of Kuma's only if a Namespace that they name, of the
    repository or the inventory, gives them a sidecar: most repositories have many more of them
    than of ours.
    """
    read = contents_of(paths, root)
    return repository_of(read.files, root=root, refusals=read.refusals, inventory=inventory)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileContents:
    """The bytes of files by path, what cannot be read, what may hold YAML inside, and scripts
    that call kumactl or kubectl, with what makes resources of Kuma's in languages not run here."""

    files: dict[str, bytes]
    refusals: list[Refusal]
    beside: dict[str, bytes]
    scripts: dict[str, bytes] = field(default_factory=dict)


def contents_of(paths: Sequence[Path], root: Path) -> FileContents:
    """Return the bytes of all files below some paths that are read, and what cannot be."""
    found = find_all(paths, root=root)
    refusals = [*found.refusals]
    files: dict[str, bytes] = {}
    for path in found.files:
        try:
            files[path] = _read_bytes(root, path)
        except OSError as error:
            refusals.append(_unreadable(path, error))
    named = [path for path, data in files.items() if embeds(path, data)]
    beside = {path: files.pop(path) for path in named}
    scripts = {path: said for path, data in beside.items() if (said := _calling(path, data))}
    for path in found.embedding:
        with suppress(OSError):  # such a file is named if it holds something, and never needed
            data = _read_bytes(root, path)
            scripts |= {path: said} if (said := _calling(path, data)) else {}
            if is_script(path) or generates(path):
                continue
            if path.endswith(".tf") or may_hold_kuma(data):
                beside[path] = data
    return FileContents(files=files, refusals=refusals, beside=beside, scripts=scripts)


def _calling(path: str, data: bytes) -> bytes:
    """Return a script, or the examples in Markdown, that calls what asks a control plane, and
    what makes resources of Kuma's in a language that is not run; nothing of other files."""
    if generates(path):
        return data if may_hold_kuma(data) else b""
    if b"kumactl" not in data and b"kubectl" not in data:
        return b""
    if path.endswith(MARKDOWN):
        return commands_of(data.decode("utf-8", "surrogateescape")).encode(
            "utf-8", "surrogateescape"
        )
    return data if is_script(path) else b""


def repository_of(
    contents: Mapping[str, bytes],
    *,
    root: Path,
    refusals: Iterable[Refusal] = (),
    inventory: Sequence[Resource] = (),
    known: Repository | None = None,
) -> Repository:
    """Return the repository that some files make up, given as bytes by path.

    What `known` holds of the same bytes under the same path is not read again.
    """

    def read_one(path: str) -> SourceFile:
        file = known.files.get(path) if known is not None else None
        same = file is not None and file.render() == contents[path]
        return file if file is not None and same else read_file(path, contents[path])

    kinds = {
        path: Kind.NONE if is_partial(path, data) else classify(data)
        for path, data in contents.items()
    }
    wanted = (Kind.KUMA, Kind.WORKLOAD) if Kind.KUMA in kinds.values() else ()
    read: dict[str, SourceFile] = {}
    pods: list[str] = []
    for path in contents:
        if kinds[path] in wanted:
            if kinds[path] is Kind.WORKLOAD and pods_only(contents[path]):
                pods.append(path)
            else:
                read[path] = read_one(path)
    namespaces = _injecting(read.values(), inventory)
    for path in pods:
        if any(name in contents[path] for name in namespaces):
            read[path] = read_one(path)
    files = {path: read[path] for path in sorted(read)}
    found = Repository(
        root=root,
        files=files,
        data={path: contents[path] for path in files},
        refusals=tuple(refusals),
        examined=len(contents),
    )
    if known is not None:
        found.__dict__["_of_file"] = {
            path: known._of_file[path] if known.files.get(path) is file else read_resources(file)
            for path, file in files.items()
        }
    return found


def _injecting(files: Iterable[SourceFile], inventory: Sequence[Resource]) -> list[bytes]:
    """Return what a file must hold to name a Namespace that gives its Pods a sidecar.

    A name with a template in it may be any.
    """
    telling = [file for file in files if "sidecar-injection" in file.text]
    found = [r for file in telling for r in read_resources(file)]
    names = injecting((*found, *inventory))
    return [name.encode() if "{{" not in name else b"" for name in sorted(names)]


def _read_bytes(root: Path, path: str) -> bytes:
    with open(os.path.join(root, path), "rb") as stream:  # noqa: PTH118, PTH123  # hot loop
        return stream.read()


def _unreadable(path: str, error: OSError) -> Refusal:
    return Refusal(
        path=path,
        line=0,
        column=0,
        reason=Reason.UNREADABLE,
        detail=error.strerror or str(error),
        advice="make it readable or leave it out",
        hides=True,
    )
