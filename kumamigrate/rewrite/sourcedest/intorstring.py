"""Numbers as fields want them that are an IntOrString."""

from __future__ import annotations


def int_or_text(number: float) -> int | str:
    """Return a number as IntOrString wants it: whole as int, else as decimal text."""
    return int(number) if float(number).is_integer() else repr(float(number))
