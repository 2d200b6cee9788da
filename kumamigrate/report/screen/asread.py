"""Which reading of old policies a verdict is about, where the release in use has another."""

from __future__ import annotations

from collections.abc import Collection

from kumamigrate.effective.policies.meshtimeout import ALWAYS_SINCE, AS_READ
from kumamigrate.model.versions import at_least

TIMEOUTS = "legacy-timeout"
"""The rule whose proof reads old Timeouts as up to 2.9 (legacy.md fact 6)."""


def as_read(fixed: Collection[str], release: str) -> str:
    """Return the end of a sentence that calls a run proven; `fixed` are the rules that wrote."""
    return _words(release) if TIMEOUTS in fixed and at_least(release, ALWAYS_SINCE) else ""


def as_compared(facts: Collection[str], release: str) -> str:
    """Return the end of a sentence about two states; `facts` are those that it rests on."""
    return _words(release) if AS_READ in facts else ""


def _words(release: str) -> str:
    return f", with old Timeouts read as up to 2.9 ({release} itself overrules half of them)"
