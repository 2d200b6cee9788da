"""What a run tells of itself while it is at work."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Trial = TypeVar("Trial")
Verdict = TypeVar("Verdict")

Progress = Callable[[str, int, int], None]
"""Told what is being done, how many steps are done and how many there are."""
PROVING = "proving"
"""Told before (0 of 1) and after (1 of 1) some changes are judged."""
WHOLE = "the whole"
"""Told before everything that was kept is proven at once."""


def silent(_what: str, _done: int, _total: int) -> None:
    """Report no progress."""


def telling(
    judge: Callable[[Trial, Trial], Verdict], progress: Progress
) -> Callable[[Trial, Trial], Verdict]:
    """Return a judge that tells when it is asked and when it has answered."""

    def told(current: Trial, candidate: Trial) -> Verdict:
        progress(PROVING, 0, 1)
        verdict = judge(current, candidate)
        progress(PROVING, 1, 1)
        return verdict

    return told
