"""Which part of an old value becomes which part of the new one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import pairwise

from kumamigrate.dataclass import dataclass
from kumamigrate.source.node import JSON

LIKE = 0.3
"""How much two values must share for one to count as an edited form of the other."""


def same(left: JSON, right: JSON) -> bool:
    """Say whether two plain values are equal; true is not 1, key order does not matter."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(same(v, right[k]) for k, v in left.items())
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return left == right
    return type(left) is type(right) and left == right


def _leaves(value: JSON) -> Iterator[str]:
    pending: list[tuple[str, JSON]] = [("", value)]
    while pending:
        path, node = pending.pop()
        if isinstance(node, Mapping) and node:
            pending.extend((f"{path}/{key}", child) for key, child in node.items())
        elif isinstance(node, list) and node:
            pending.extend((f"{path}/", child) for child in node)
        else:
            yield f"{path}={json.dumps(node)}"


def likeness(left: JSON, right: JSON) -> float:
    """Return how much of two values is the same, from 0 to 1."""
    if same(left, right):
        return 1.0
    first, second = set(_leaves(left)), set(_leaves(right))
    return len(first & second) / max(len(first), len(second), 1)


def align_items(
    old: Sequence[JSON], new: Sequence[JSON], pinned: Mapping[int, int]
) -> list[int | None]:
    """Return for each new item the old item it continues, or None. The indexes rise.

    `pinned` says for some new items which old item they must continue.
    """
    result: list[int | None] = [None] * len(new)
    kept = _rising(sorted(pinned.items()))
    taken = set(pinned.values())
    corners = [(-1, -1), *kept, (len(new), len(old))]
    for position, source in kept:
        result[position] = source
    for (new_from, old_from), (new_to, old_to) in pairwise(corners):
        news = [i for i in range(new_from + 1, new_to) if i not in pinned]
        olds = [i for i in range(old_from + 1, old_to) if i not in taken]
        _align_gap(old, new, olds, news, result)
    return result


def _rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest part of the pairs whose second members rise."""
    best: list[list[tuple[int, int]]] = []
    for index, pair in enumerate(pairs):
        before = [best[i] for i in range(index) if pairs[i][1] < pair[1]]
        best.append([*max(before, key=len, default=[]), pair])
    return max(best, key=len, default=[])


def _align_gap(
    old: Sequence[JSON],
    new: Sequence[JSON],
    olds: list[int],
    news: list[int],
    result: list[int | None],
) -> None:
    left = [json.dumps(old[i], sort_keys=True) for i in olds]
    right = [json.dumps(new[i], sort_keys=True) for i in news]
    blocks = SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks()
    equal = sum(a == b for a, b in zip(left, right, strict=False))
    if len(left) == len(right) and equal >= sum(block.size for block in blocks):
        for source, position in zip(olds, news, strict=True):
            result[position] = source
        return
    at_old = at_new = 0
    for block in blocks:
        _pair(old, new, olds[at_old : block.a], news[at_new : block.b], result)
        for step in range(block.size):
            result[news[block.b + step]] = olds[block.a + step]
        at_old, at_new = block.a + block.size, block.b + block.size


def _pair(
    old: Sequence[JSON],
    new: Sequence[JSON],
    olds: list[int],
    news: list[int],
    result: list[int | None],
) -> None:
    """Pair what is left between equal items: by position, or by likeness if numbers differ."""
    if len(olds) == len(news) or len(olds) * len(news) > 2500:
        for source, position in zip(olds, news, strict=False):
            result[position] = source
        return
    width = len(news) + 1
    best: list[list[tuple[float, list[tuple[int, int]]]]] = [[(0.0, [])] * width]
    for source in olds:
        above = best[-1]
        row = [above[0]]
        for column, position in enumerate(news, 1):
            score = likeness(old[source], new[position])
            options = [above[column], row[column - 1]]
            if score >= LIKE:
                total, pairs = above[column - 1]
                options.append((total + score, [*pairs, (source, position)]))
            row.append(max(options, key=lambda option: option[0]))
        best.append(row)
    for source, position in best[-1][-1][1]:
        result[position] = source


@dataclass(frozen=True, slots=True)
class Slot:
    """One place in a new mapping: an old entry kept (maybe renamed), dropped, or a new entry.

    `old` is the index of the old entry, `key` the new key.
    """

    old: int | None
    key: str | None


def align_keys(
    old: Sequence[str], new: Sequence[str], *, replaced: frozenset[str] = frozenset()
) -> list[Slot]:
    """Return the entries of the new mapping in the order they shall be written, dropped ones
    where they stood.

    Old keys keep their order. A new key follows the one before it in the new mapping; new keys
    at its end take the place of the first dropped one. `replaced` names keys whose value comes
    from elsewhere: the old entry is dropped and a new one takes its place.
    """
    kept = [k for k in old if k in set(new) and k not in replaced]
    dropped = [k for k in old if k not in kept]
    keeps = frozenset(kept)
    written: list[str] = [*kept]
    behind: str | None = None
    last_kept = max((i for i, k in enumerate(new) if k in keeps), default=-1)
    trailing: list[str] = []
    for index, key in enumerate(new):
        if key in keeps:
            behind = key
            continue
        if key in replaced and key in old:
            place = _kept_before(old, keeps, key)
        elif index > last_kept and dropped:
            trailing.append(key)
            continue
        else:
            place = behind
        written.insert(_after(written, place, keeps), key)
        behind = key
    if trailing:
        spot = _kept_before(old, keeps, dropped[0])
        at = _after(written, spot, keeps)
        written[at:at] = trailing
    slots: list[Slot] = []
    position = 0
    for key in written:
        if key in keeps:
            index = list(old).index(key)
            slots.extend(Slot(i, None) for i in range(position, index))
            slots.append(Slot(index, key))
            position = index + 1
        else:
            slots.append(Slot(None, key))
    slots.extend(Slot(i, None) for i in range(position, len(old)))
    return slots


def _kept_before(old: Sequence[str], keeps: frozenset[str], key: str) -> str | None:
    before = [k for k in old[: list(old).index(key)] if k in keeps]
    return before[-1] if before else None


def _after(written: list[str], key: str | None, keeps: frozenset[str]) -> int:
    """Return where to insert behind a key: behind the new ones that follow it already, too."""
    at = written.index(key) + 1 if key is not None else 0
    if key is None or key in keeps:
        while at < len(written) and written[at] not in keeps:
            at += 1
    return at
