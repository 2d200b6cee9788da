"""A value as people read it."""

from __future__ import annotations

import json
from typing import Any


def value_words(value: Any) -> str:
    """Return a value as a reader wants it: none, a word, or compact JSON."""
    if value is None:
        return "none"
    text = (
        value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
    )
    return text if len(text) <= 80 else text[:77] + "…"
