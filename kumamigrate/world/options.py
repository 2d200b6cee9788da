"""What a run is asked to do: releases, environments, rules, and what may differ."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from kumamigrate.deployment.environment import Deployment
from kumamigrate.effective.difference import HARMLESS
from kumamigrate.errors import UsageError
from kumamigrate.model.release import UnknownRelease, release
from kumamigrate.model.state import Environment
from kumamigrate.model.versions import newest_two
from kumamigrate.prove import Effect
from kumamigrate.world.accepted import Accepted


@dataclass(frozen=True, kw_only=True)
class Options:
    """What a run is asked to do. `source` is `--from`; empty means the newest 2.x ≤ target.

    `exclude` is relative to `home`, the folder of the settings. `allow` holds the kinds of
    differences with which a change may be written, `hold` those of them that are left for a
    change of their own. `accept` are rules taken on the user's word, `accept_at` single places.
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


def releases_of(options: Options) -> tuple[str, str]:
    """Return the release in use and the one to reach. Raises UsageError for unknown ones."""
    try:
        target = release(options.target).name
        source = release(options.source).name if options.source else newest_two(target)
    except UnknownRelease as error:
        raise UsageError(str(error)) from error
    return source, target
