"""A report printed and saved, in the forms that were asked for."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from kumamigrate.commands.given import Given
from kumamigrate.errors import OutputError, UsageError
from kumamigrate.prover.claimed import RELEASE
from kumamigrate.report.forms import JSON, TEXT, Forms
from kumamigrate.report.stats import Stopwatch, stats_json, tell_stats
from kumamigrate.report.styled import Line, show
from kumamigrate.world.estate import Estate


def save(path: Path, text: str) -> None:
    try:
        # Names of files need not be UTF-8.
        path.write_text(text, encoding="utf-8", errors="surrogateescape", newline="")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error


def with_stats(
    given: Given, data: dict[str, Any] | None, watch: Stopwatch, estate: Estate
) -> dict[str, Any] | None:
    """Return a report's data with the stats, and say them aside, where that was asked for."""
    if not given.get("stats"):
        return data
    stats = stats_json(watch, estate.whole.repository)
    tell_stats(stats)
    return None if data is None else {**data, "stats": stats}


def tell(
    forms: Forms,
    data: Mapping[str, Any] | None,
    lines: Sequence[Line],
    more: Mapping[str, Callable[[], Mapping[str, Any]]] = MappingProxyType({}),
) -> None:
    """Save a report in the forms asked for, then print it; some forms show `more`."""
    if data is None or (forms.printed == JSON and not forms.saved):
        print_report(data is not None, data, lines)
        return
    from kumamigrate.report.formats import formatted

    def formed(form: str) -> str:
        return formatted(form, {**data, **more[form]()} if form in more else data)

    for form, file in forms.saved:
        save(file, formed(form))
    if forms.printed in (TEXT, JSON):
        print_report(forms.printed == JSON, data, lines)
    else:
        print_text(formed(forms.printed))


def drawn(before: Estate, after: Estate, claim: str) -> Mapping[str, Any]:
    from kumamigrate.report.reachpicture import pictures

    scene = after.whole
    return {"pictures": pictures(before, after, scene.target if claim == RELEASE else scene.source)}


def print_text(text: str) -> None:
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))


def print_report(as_json: bool, data: Any, lines: Sequence[Line]) -> None:
    try:
        if as_json:
            print_json(data)
        else:
            show(lines)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"cannot print the report: {error.strerror}") from error


def print_json(data: Any) -> None:
    encoding = (sys.stdout.encoding or "ascii").replace("-", "").lower()
    text = json.dumps(data, indent=1, ensure_ascii=encoding != "utf8")
    # What is no character, from names of files, is an escape in JSON too.
    sys.stdout.write(text.encode("utf-8", "backslashreplace").decode() + "\n")
