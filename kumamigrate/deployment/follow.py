"""What has to move along with an edit so that no build breaks: entries of lists, patches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kumamigrate.source.text import Refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """What else changes, by path, and what forbids the edit."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    refusals: tuple[Refusal, ...] = ()


def follow(
    files: Mapping[str, bytes],  # noqa: ARG001  # nothing is built yet
    edited: Mapping[str, bytes | None],  # noqa: ARG001
    root: Path,  # noqa: ARG001
) -> Followed:
    """Return what has to change beside some edits (None removes a file).

    `files` are all files before the edits. Whatever is returned is read, rendered and proven
    together with the edits.
    """
    return Followed()
