"""Exit codes: the worst of what happened (product.md §2)."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum


class Exit(IntEnum):
    """What the shell is told."""

    CLEAN = 0
    FINDINGS = 1
    FAILED = 2
    INCONCLUSIVE = 3
    DIFFERENT = 4


_BADNESS = (Exit.CLEAN, Exit.FINDINGS, Exit.INCONCLUSIVE, Exit.DIFFERENT, Exit.FAILED)


def worst(codes: Iterable[Exit]) -> Exit:
    """Return the worst code; the order of badness is 2, 4, 3, 1, 0."""
    return max(codes, key=_BADNESS.index, default=Exit.CLEAN)
