"""A repository in memory: files, the resources in them, and where they stand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path

from kumamigrate.dataclass import dataclass, field, replace
from kumamigrate.model.foreign import not_modelled
from kumamigrate.model.read import read_resources
from kumamigrate.model.resource import FAULTY, Identity, Resource, Where
from kumamigrate.scene.indoubt import as_applied, templated
from kumamigrate.scene.storedstate import faulty
from kumamigrate.source.node import key_start, node_at
from kumamigrate.source.reading.load import read_file
from kumamigrate.source.reading.seen import seen_of
from kumamigrate.source.text import FieldPath, Refusal, SourceFile


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
        return tuple(self._in(self.files))

    def _in(self, paths: Container[str]) -> Iterator[Resource]:
        """Yield what stands in some of the files, wherever a build says that it comes from."""
        return (r for path in sorted(self.files) if path in paths for r in self.of_file[path])

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
    def of_file(self) -> dict[str, tuple[Resource, ...]]:
        """Return the resources of each file, in text order."""
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
        own = [r for r in self._in(bare) if r.type != FAULTY]
        # Of what cannot be opened nobody knows whether it is the same elsewhere.
        closed = (
            r if r.digest else replace(r, digest=f"{self.root}/{r.path}") for r in self.refusals
        )
        faults = (faulty(r.where, r.name, "") for r in self._read if r.type == FAULTY)
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
        files, of_file = dict(self.files), dict(self.of_file)
        for path, text in texts.items():
            old = files.pop(path, None)
            of_file.pop(path, None)
            if text is not None:
                bom = b"\xef\xbb\xbf" if old is not None and old.bom else b""
                files[path] = read_file(path, bom + text.encode())
                of_file[path] = read_resources(files[path])
        return replace(self, files=files).holding(of_file)

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
        return part.holding({path: self.of_file[path] for path in mine})

    def standing_at(self, home: Callable[[Resource], Where | None]) -> Repository:
        """Return the repository with its resources said to stand elsewhere."""
        return self._each(lambda r: replace(r, where=home(r)))

    def in_namespaces(self, namespaces: Mapping[Where, str]) -> Repository:
        """Return the repository with resources in the namespaces that a build puts them in."""
        if not namespaces:
            return self
        return self._each(
            lambda r: (
                r if r.where is None else replace(r, namespace=namespaces.get(r.where, r.namespace))
            )
        )

    def _each(self, changed: Callable[[Resource], Resource]) -> Repository:
        return self.holding(
            {path: tuple(map(changed, found)) for path, found in self.of_file.items()}
        )

    def holding(self, of_file: Mapping[str, tuple[Resource, ...]]) -> Repository:
        """Return the repository with resources of its files that are read already."""
        held = replace(self)
        held.__dict__["of_file"] = of_file
        return held

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
