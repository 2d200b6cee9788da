"""What a run is asked to do: releases, environments, rules, and what may differ."""

from __future__ import annotations

import os
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from kumamigrate.dataclass import dataclass, field
from kumamigrate.deployment.environment import Deployment
from kumamigrate.effective.difference import HARMLESS
from kumamigrate.errors import UsageError
from kumamigrate.model.release import UnknownRelease, newest_two, release
from kumamigrate.model.state import Environment
from kumamigrate.prover import Effect
from kumamigrate.world.accepted import Accepted
from kumamigrate.world.baseline import Baseline


def today() -> date:
    """Return the day it is, or the one that SOURCE_DATE_EPOCH says: a run can be repeated."""
    said = os.environ.get("SOURCE_DATE_EPOCH", "")
    known = said.isdecimal() and len(said) < 12
    return (datetime.fromtimestamp(int(said), UTC) if known else datetime.now(UTC)).date()


@dataclass(frozen=True, kw_only=True)
class Options:
    """What a run is asked to do. `source` is `--from`; empty means the newest 2.x ≤ target.

    `exclude` is relative to `home`, the folder of the settings. `allow` holds the kinds of
    differences with which a change may be written, `hold` those of them that are left for a
    change of their own. `accept` are rules taken on the user's word, `accept_at` single places.
    `dead` asks for settings that no proxy would miss. `skip` is what somebody said no to
    (flow/declined.py) who is asked about each change, if the run is `interactive`. `baseline` are
    findings known before, `fail_on` says how dangerous one is that makes an exit code (empty: all
    that asks for something). `today` decides what was to be ignored until some day.
    """

    target: str = "2.14"
    source: str = ""
    stage: str = "auto"
    environment: Environment = field(default_factory=Environment)
    inventory: tuple[Path, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    accept: tuple[str, ...] = ()
    accept_at: tuple[Accepted, ...] = ()
    environments: tuple[Deployment, ...] = ()
    exclude: tuple[str, ...] = ()
    home: Path | None = None
    allow: frozenset[Effect] = HARMLESS
    hold: frozenset[Effect] = frozenset()
    dead: bool = False
    interactive: bool = False
    skip: frozenset[Any] = frozenset()
    baseline: Baseline | None = None
    fail_on: str = ""
    today: date = field(default_factory=today)
    jobs: int = 1


def jobs_of(said: str | int | None) -> int:
    """Return how many processes may work at a time: one for each processor that this one may use,
    unless somebody says. Raises UsageError for what is no number."""
    if said is None:
        usable = getattr(os, "sched_getaffinity", None)
        return len(usable(0)) if usable is not None else os.cpu_count() or 1
    words = str(said)
    if not (words.isascii() and words.isdecimal() and len(words) < 4 and int(words)):
        raise UsageError(f"--jobs {words[:20]}: write how many processes may work, from 1 to 999")
    return int(words)


def releases_of(options: Options) -> tuple[str, str]:
    """Return the release in use and the one to reach. Raises UsageError for unknown ones."""
    try:
        target = release(options.target).name
        source = release(options.source).name if options.source else newest_two(target)
    except UnknownRelease as error:
        raise UsageError(str(error)) from error
    return source, target
