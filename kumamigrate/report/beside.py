"""What is named because nobody reads it: resources in other languages; and who reads files."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from kumamigrate.report.screen.counted import count
from kumamigrate.report.styled import Line, line
from kumamigrate.world.estate import Estate
from kumamigrate.world.otherfiles import Embedded, embedded_in, readers_of

MOST = 10
_SAID = {
    "Markdown": "examples, which nobody applies; run --markdown changes them, too",
    "Terraform": "applied by Terraform; what it decides is not in this result",
}


def beside_lines(estate: Estate, changed: Collection[str]) -> list[Line]:
    """Return what stands in other languages, and where Terraform reads what changes."""
    return [*_embedded_lines(embedded_in(estate.beside)), *_reader_lines(estate, changed)]


def beside_json(estate: Estate, changed: Collection[str]) -> dict[str, Any]:
    """Return the same for programs."""
    return {
        "embedded": [
            {
                "file": one.path,
                "line": one.line,
                "type": one.kind,
                "name": one.name or None,
                "in": one.language.lower(),
            }
            for one in embedded_in(estate.beside)
        ],
        "readBy": [
            {"file": path, "line": reading.line, "reads": target}
            for path, reading, target in readers_of(estate.beside, changed)
        ],
    }


def _embedded_lines(found: tuple[Embedded, ...]) -> list[Line]:
    lines: list[Line] = []
    for language, said in _SAID.items():
        mine = [one for one in found if one.language == language]
        if not mine:
            continue
        files = len({one.path for one in mine})
        counted = f"{count(len(mine), 'resource')} inside {language}, in {count(files, 'file')}"
        lines += [(), line((counted, "strong"), f": {said}")]
        for one in mine[:MOST]:
            place = f"{one.path}:{one.line}"
            lines.append(line("  ", (place, "place"), f"   {one.kind} {one.name}".rstrip()))
        lines += _more(len(mine))
    return lines


def _reader_lines(estate: Estate, changed: Collection[str]) -> list[Line]:
    found = readers_of(estate.beside, changed)
    if not found:
        return []
    title = f"Terraform reads {count(len({t for _, _, t in found}), 'file')} that changes"
    title = title if len({t for _, _, t in found}) == 1 else title.replace("changes", "change")
    lines: list[Line] = [(), line((title, "strong"), ": apply it as well")]
    for path, reading, target in found[:MOST]:
        lines.append(line("  ", (f"{path}:{reading.line}", "place"), f"   reads {target}"))
    return lines + _more(len(found))


def _more(number: int) -> list[Line]:
    if number <= MOST:
        return []
    return [line(f"  … and {number - MOST} more; --format json has them all")]
