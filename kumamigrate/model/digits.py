"""Text that is a whole number, as ports and limits are."""

from __future__ import annotations

from kumamigrate.pattern import pattern

_DIGITS = pattern(r"[0-9]{1,19}")


def is_number(text: str) -> bool:
    """Say whether a text is a whole number in plain digits, no larger than Go could hold.

    `str.isdigit` takes superscripts as well, and no reader but Python's own.
    """
    return _DIGITS.fullmatch(text) is not None
