"""What a command cost and met: files, resources by type, seconds by stage, proofs (`--stats`)."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

from kumamigrate.flow.told import PROVING, WHOLE, Progress, silent
from kumamigrate.scene.repository import Repository

READING, PLANNING, REPORT = "reading", "planning", "report"
_STAGES = (READING, PLANNING, PROVING, WHOLE, REPORT)


class Stopwatch:
    """Seconds by stage: the time since the last stage began is that stage's.

    It is told of a run's progress, and tells on.
    """

    def __init__(self, stage: str = READING) -> None:
        self._stage, self._since = stage, time.perf_counter()
        self._seconds: dict[str, float] = {}
        self.proofs = 0

    def begin(self, stage: str) -> None:
        """Begin a stage, and end the one before."""
        now = time.perf_counter()
        self._seconds[self._stage] = self._seconds.get(self._stage, 0.0) + now - self._since
        self._stage, self._since = stage, now

    def telling(self, on: Progress = silent) -> Progress:
        """Return what a run tells of its progress."""

        def tell(what: str, done: int, total: int) -> None:
            stage = what if what in _STAGES else PLANNING
            if stage in (PROVING, WHOLE) and done == 0:
                self.proofs += 1
            self.begin(PLANNING if stage == PROVING and done else stage)
            on(what, done, total)

        return tell

    def seconds(self) -> dict[str, float]:
        """Return the seconds of each stage that was begun, in their order, and of all."""
        self.begin(self._stage)
        told = {stage: self._seconds[stage] for stage in _STAGES if stage in self._seconds}
        return {**told, "all": sum(told.values())}


def stats_json(watch: Stopwatch, repository: Repository) -> dict[str, Any]:
    """Return the stats for programs."""
    types = Counter(resource.type for resource in repository.resources)
    return {
        "files": repository.examined,
        "bytes": sum(map(len, repository.data.values())),
        "resources": dict(sorted(types.items())),
        "proofs": watch.proofs,
        "seconds": {stage: round(seconds, 4) for stage, seconds in watch.seconds().items()},
    }


def tell_stats(stats: Mapping[str, Any]) -> None:
    """Say the stats aside: what a command prints stays the same."""
    types = sorted(stats["resources"].items(), key=lambda item: (-item[1], item[0]))
    met = ", ".join(f"{number:,} {name}" for name, number in types) or "no resources"
    times = ", ".join(f"{stage} {seconds:.2f} s" for stage, seconds in stats["seconds"].items())
    size = f"{stats['bytes']:,} bytes with resources"
    sys.stderr.write(
        f"stats: {stats['files']:,} files, {size}: {met}\n"
        f"stats: {stats['proofs']:,} proof{'' if stats['proofs'] == 1 else 's'}; {times}\n"
    )
