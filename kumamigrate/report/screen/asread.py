"""Which reading of old policies a verdict is about, where the release in use has another."""

from __future__ import annotations

from collections.abc import Collection

from kumamigrate.effective.policies.meshtimeout import OVERRULED_SINCE
from kumamigrate.model.versions import at_least

TIMEOUTS = "legacy-timeout"
"""The rule whose proof reads old Timeouts as up to 2.9 (legacy.md fact 6)."""


def as_read(fixed: Collection[str], release: str) -> str:
    """Return the end of a sentence that calls a run proven; `fixed` are the rules that wrote."""
    if TIMEOUTS not in fixed or not at_least(release, OVERRULED_SINCE):
        return ""
    return f", with old Timeouts read as up to 2.9 ({release} itself overrules half of them)"
