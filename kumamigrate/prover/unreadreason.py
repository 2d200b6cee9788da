"""What could not be read, as a reason why a verdict cannot be given."""

from __future__ import annotations

from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.source.text import Reason, Refusal

READ = (Reason.DUPLICATE_IDENTITY, Reason.NOT_APPLIED, Reason.NO_NAMESPACE)
"""Reasons why something is in doubt although its text could be read."""


def unread_reason(refusal: Refusal) -> Doubt:
    """Return what makes a verdict unknown where something was not read."""
    at = f"{refusal.path}:{refusal.line}:{refusal.column}" if refusal.line else refusal.path
    advice = f"; {refusal.advice}" if refusal.advice else ""
    words = f"{at} was not read ({refusal.detail}){advice}"
    if refusal.reason in READ:
        words = f"{at}: {refusal.detail}{advice}"
    return Doubt(DoubtKind.UNREAD, words)
