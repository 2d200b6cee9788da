"""The step to a release that has real services and labels only, and what is known of it as data."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from kumamigrate.model.packed import packed
from kumamigrate.source.text import at_path
from kumamigrate.universe.side import Side


def is_last_step(before: Side, after: Side) -> bool:
    """Whether a step is the one to such a release."""
    return before.release.subset_rules and not after.release.subset_rules


@cache
def table() -> Mapping[str, Mapping[str, Any]]:
    """Return what the step words differently, ends or does not read."""
    found: Mapping[str, Mapping[str, Any]] = packed("prover/tables", "upgrade.json")
    return found


def at_dotted(spec: Any, path: str) -> Any:
    """Return the value at a dotted path, None where there is none."""
    return at_path(spec, tuple(path.split(".")))
