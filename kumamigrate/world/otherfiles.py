"""What stands beside the manifests: resources inside Markdown and Terraform, and who reads files.

Nothing of it is read as a part of the mesh. It is counted and named, so that nobody takes for done
what is not; and Terraform that reads a file which changes has to be applied as well.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from kumamigrate.dataclass import dataclass
from kumamigrate.model.kinds import KUBERNETES
from kumamigrate.model.read import read_resources
from kumamigrate.source.reading.embedded import (
    MARKDOWN,
    TERRAFORM,
    Block,
    EmbeddedReading,
    content_of,
    fenced_blocks,
    here_documents,
    objects,
    readings,
)
from kumamigrate.source.reading.load import read_file
from kumamigrate.source.reading.sift import may_hold_kuma


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """A resource of Kuma's inside another language. The name is empty where it is not plain."""

    path: str
    line: int
    kind: str
    name: str

    @property
    def language(self) -> str:
        """Return what it stands in."""
        return "Markdown" if self.path.endswith(MARKDOWN) else "Terraform"


def embedded_in(files: Mapping[str, bytes]) -> tuple[Embedded, ...]:
    """Return the resources inside some files, in path and text order."""
    return tuple(
        one
        for path in sorted(files)
        if may_hold_kuma(files[path])
        for one in sorted(_inside(path, _text(files[path])), key=lambda one: one.line)
    )


def readers_of(
    files: Mapping[str, bytes], changed: Collection[str]
) -> tuple[tuple[str, EmbeddedReading, str], ...]:
    """Return where Terraform reads files that change: its file, the place, what it reads."""
    return tuple(
        (path, reading, target)
        for path in sorted(files)
        if path.endswith(TERRAFORM)
        for reading in readings(path, _text(files[path]))
        for target in sorted(changed)
        if reading.reads(target)
    )


def _inside(path: str, text: str) -> Iterator[Embedded]:
    if path.endswith(MARKDOWN):
        for block in fenced_blocks(text):
            yield from _of_block(path, text, block)
        return
    for block in here_documents(text):
        yield from _of_block(path, text, block)
    for offset, kind in objects(text):
        yield Embedded(path=path, line=_line(text, offset), kind=kind, name="")


def _of_block(path: str, text: str, block: Block) -> Iterator[Embedded]:
    content = content_of(text, block)
    if not may_hold_kuma(content.encode("utf-8", "surrogatepass")):
        return
    file = read_file(path, content.encode("utf-8", "surrogatepass"))
    first = _line(text, block.start)
    for resource in read_resources(file):
        if resource.where is not None and resource.type not in KUBERNETES:
            name = "" if resource.templated else resource.name
            line = first + resource.where.line - 1
            yield Embedded(path=path, line=line, kind=resource.type, name=name)
    for refusal in file.refusals:
        if refusal.hides:
            line = first + max(refusal.line, 1) - 1
            yield Embedded(path=path, line=line, kind="something of Kuma's", name="")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1
