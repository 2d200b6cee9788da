"""What a check came to, as it is kept in JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kumamigrate.report.exit import Exit
from kumamigrate.report.forms import Answer

Asked = tuple[str, str, str]
"""What was looked at beside the files, where, and what was found (`Tree.asked`)."""


def answer_json(answer: Answer, asked: Sequence[Asked]) -> dict[str, Any]:
    """Return an answer and what it rests on for JSON."""
    return {
        "code": int(answer.code),
        "lines": [[[text, style] for text, style in line] for line in answer.lines],
        "data": answer.data,
        "asked": [list(one) for one in sorted(set(asked))],
    }


def answer_of(kept: object) -> tuple[Answer, list[Asked]] | None:
    """Return what was kept, None where it is not of that shape."""
    if not isinstance(kept, dict) or kept.keys() != {"code", "lines", "data", "asked"}:
        return None
    code, lines, data, asked = kept["code"], kept["lines"], kept["data"], kept["asked"]
    if code not in (Exit.CLEAN, Exit.FINDINGS, Exit.INCONCLUSIVE) or not isinstance(code, int):
        return None
    if not (data is None or isinstance(data, dict)) or not _words(asked, 3):
        return None
    if not isinstance(lines, list) or not all(_words(line, 2) for line in lines):
        return None
    told = tuple(tuple((text, style) for text, style in line) for line in lines)
    return Answer(code=Exit(code), lines=told, data=data), [(a, b, c) for a, b, c in asked]


def _words(value: object, number: int) -> bool:
    """Say whether a value is a list of lists of so many words."""
    return isinstance(value, list) and all(
        isinstance(one, list) and len(one) == number and all(isinstance(w, str) for w in one)
        for one in value
    )
