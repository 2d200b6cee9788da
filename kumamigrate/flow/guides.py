"""Examples in Markdown, migrated on request: each file is a world of its own.

An example is applied by nobody, so it says nothing of the mesh and the mesh nothing of it. Where a
file shows one resource twice, before and after or in variants, each of its blocks is a world.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.flow.pipeline import migrate, must_not_be_written
from kumamigrate.flow.runoutcome import Outcome
from kumamigrate.model.read import read_resources
from kumamigrate.source.editing.fences import count_of, put_back, sheet_of
from kumamigrate.source.reading.embedded import MARKDOWN
from kumamigrate.source.reading.load import read_file
from kumamigrate.world.estate import Estate
from kumamigrate.world.options import Options
from kumamigrate.world.otherfiles import embedded_in
from kumamigrate.world.survey import estate_of


@dataclass(frozen=True, kw_only=True)
class Guide:
    """One Markdown file: its text before and after, what was found block by block, what failed."""

    path: str
    old: bytes
    new: bytes
    outcomes: tuple[Outcome, ...] = ()
    problem: str = ""


def migrated_guides(estate: Estate, options: Options) -> Iterator[Guide]:
    """Yield every Markdown file that holds resources of Kuma's and may be written."""
    alone = replace(options, inventory=(), environments=(), exclude=())
    root = estate.whole.repository.root
    for path, data in sorted(estate.beside.items()):
        allowed = estate.scope is None or estate.scope.allows(path)
        if path.endswith(MARKDOWN) and allowed and embedded_in({path: data}):
            yield _migrated(path, data, root, alone)


def _migrated(path: str, data: bytes, root: Path, options: Options) -> Guide:
    guide = Guide(path=path, old=data, new=data)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return replace(guide, problem="it is not UTF-8")
    outcomes: list[Outcome] = []
    # From the end on: what changes in a block moves no line of those before it.
    for only in reversed(range(count_of(text))) if _repeats(path, text) else [None]:
        sheet = sheet_of(text, only)
        yaml = sheet.text
        world = estate_of({path: yaml.encode()}, (), root, options, disk=None)
        outcome = migrate(world, options)
        outcomes.insert(0, outcome)
        _, edited = outcome.texts.get(path, (None, yaml.encode()))
        if must_not_be_written(outcome):
            return replace(guide, problem="its changes do not hold together")
        written = put_back(sheet, (edited or b"").decode())
        if written is None:
            return replace(guide, problem="a change reaches beyond its block; edit it by hand")
        text = written
    return replace(guide, new=text.encode(), outcomes=tuple(outcomes))


def _repeats(path: str, text: str) -> bool:
    """Say whether some resource stands in a text more than once."""
    found = [r.identity for r in read_resources(read_file(path, sheet_of(text).text.encode()))]
    return len(set(found)) < len(found)
