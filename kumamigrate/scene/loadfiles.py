"""From paths to a repository: which files are opened, and which of them are worth parsing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from kumamigrate.dataclass import dataclass, field
from kumamigrate.model.kubernetes.pods import injecting
from kumamigrate.model.read import read_resources
from kumamigrate.model.resource import Resource
from kumamigrate.scene.repository import Repository
from kumamigrate.source.reading.embedded import MARKDOWN, commands_of, embeds
from kumamigrate.source.reading.find import find_all, generates, is_script
from kumamigrate.source.reading.load import read_file
from kumamigrate.source.reading.sift import Kind, classify, is_partial, may_hold_kuma, pods_only
from kumamigrate.source.text import Reason, Refusal, SourceFile


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
    if known is None:
        return found
    return found.holding(
        {
            path: known.of_file[path] if known.files.get(path) is file else read_resources(file)
            for path, file in files.items()
        }
    )


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
