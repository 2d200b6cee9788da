"""A progress bar on stderr, where somebody watches and the work takes over a second."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from kumamigrate.flow.told import PROVING, Progress, silent

_PATIENCE = 1.0


@contextmanager
def progress() -> Iterator[Progress]:
    """Yield a function that shows what is being done; one that does nothing in CI and pipes."""
    if not sys.stderr.isatty() or os.environ.get("CI") or os.environ.get("TERM") == "dumb":
        yield silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    started = time.monotonic()
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=30))
    # A thread that draws would be cut off in the copies of the process that proofs are made in.
    console = Console(stderr=True)
    with Bar(*columns, console=console, transient=True, auto_refresh=False) as bar:
        task = bar.add_task("reading", total=None, visible=False)

        def tell(what: str, done: int, total: int) -> None:
            if what == PROVING:
                return
            late = time.monotonic() - started > _PATIENCE
            bar.update(task, description=what[:60], completed=done, total=total, visible=late)
            bar.refresh()

        yield tell
