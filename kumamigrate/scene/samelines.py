"""Which line of an older text each line of a newer one was: edits move lines, people do not."""

from __future__ import annotations

MOST_PAIRS = 2_000
"""In a greater part that was rewritten lines are told by their number alone."""


def text_lines(data: bytes) -> list[str]:
    """Return the lines of a file, readable or not."""
    return data.decode("utf-8", "replace").splitlines()


def old_lines(old: list[str], new: list[str]) -> tuple[int, ...]:
    """Return for each new line the old one it was, or in whose place it stands, from 1."""
    from difflib import SequenceMatcher

    found = [1] * len(new)
    for word, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        for at in range(c, d):
            near = min(a + at - c, max(a, b - 1), len(old) - 1)
            if word == "replace" and (b - a) * (d - c) <= MOST_PAIRS:
                near = _most_like(new[at], old, range(a, b))
            found[at] = max(0, near) + 1
    return tuple(found)


def _most_like(line: str, old: list[str], among: range) -> int:
    from difflib import SequenceMatcher

    compared = SequenceMatcher(None, autojunk=False)
    compared.set_seq2(line)
    likeness = {}
    for at in among:
        compared.set_seq1(old[at])
        likeness[at] = compared.quick_ratio()
    return max(likeness, key=likeness.__getitem__)
