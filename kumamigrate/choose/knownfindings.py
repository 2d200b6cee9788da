"""`baseline write` and `baseline prune`: what is known, so that only new findings count."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kumamigrate.errors import UsageError
from kumamigrate.flow.pipeline import check
from kumamigrate.library import load, read
from kumamigrate.report.exit import Exit
from kumamigrate.report.screen.counted import count
from kumamigrate.report.styled import line, show
from kumamigrate.world.baseline import DEFAULT, NONE, baseline_text, counted, read_baseline

Given = Mapping[str, Any]


def baseline(given: Given) -> Exit:
    """Write down the findings there are, or take out of what was written those that are settled.

    It is about the whole repository, whatever folder of it is named: what is not looked at
    would be taken for settled.
    """
    settings = {k: v for k, v in given.items() if k not in ("action", "path", "baseline")}
    sources = load(given.get("path", Path()), **settings, baseline=NONE)
    if sources.scope.partial:
        sources = load(sources.scope.root, **settings, baseline=NONE)
    file = Path(given.get("baseline", sources.scope.root / DEFAULT))
    outcome = check(read(sources).estate, sources.options)
    target, found = outcome.before.target, counted(outcome.findings)
    if given["action"] == "write":
        _write(file, baseline_text(target, found))
        rules = len({rule for rule, _ in found})
        said = f"{count(sum(found.values()), 'finding')} of {count(rules, 'rule')}"
        show([line((f"Wrote {file.name}", "strong"), f": {said} for Kuma {target}")])
        return Exit.CLEAN
    old = read_baseline(file)
    if old.target != target:
        raise UsageError(f"{file}: is for Kuma {old.target}; say --target {old.target}")
    left = old.needed(outcome.findings)
    settled = old.size - left.size
    if settled:
        _write(file, baseline_text(target, left.known))
    done = (
        f"Took {count(settled, 'settled finding')} out of" if settled else "Nothing to take out of"
    )
    show([line((f"{done} {file.name}", "strong"), f"; {left.size} left")])
    return Exit.CLEAN


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from error
