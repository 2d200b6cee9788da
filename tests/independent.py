"""What ruamel.yaml's round trip makes of a text: a second reader, that shares no code with ours.

Values are told as text, since the two readers differ in types of scalars that Kuma never sees
(dates, sexagesimal numbers). A comment belongs to the last key on its line or, where it stands
alone, to the first key below it.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import YAMLError
from ruamel.yaml.tokens import CommentToken

END = "(end)"
"""What a comment belongs to below which nothing stands."""


@dataclass(frozen=True)
class Independent:
    """Values document by document, comments with the key each belongs to, and how often which
    key stands in the text."""

    values: tuple[Any, ...]
    owners: Counter[tuple[str, str]]
    keys: Counter[str]


def independent(text: str) -> Independent | None:
    """Return what the second reader has, None where it cannot read the text."""
    try:
        with warnings.catch_warnings(action="ignore"):
            documents = [_read(part) for part in _documents(text)]
    except (YAMLError, ValueError, OverflowError, RecursionError, AssertionError, TypeError):
        return None  # a fault of its own, on what is no YAML
    lines = text.splitlines()
    places: dict[int, list[tuple[int, str]]] = {}
    for document in documents:
        for line, column, key in _keys(document):
            places.setdefault(line, []).append((column, key))
    for number, line in enumerate(lines):
        if line.startswith(("---", "...")):  # a comment above belongs to no key of the next
            places.setdefault(number, []).append((0, END))
    named = {line: [key for _, key in sorted(found)] for line, found in places.items()}
    comments = {place for document in documents for place in _comments(document)}
    owners = Counter((text, _owner(line, named)) for line, text in comments)
    keys = Counter(key for found in named.values() for key in found)
    return Independent(tuple(plain(d) for d in documents if d is not None), owners, keys)


def _documents(text: str) -> list[str]:
    """Return the documents of a text, each below as many empty lines as stand before it.

    The reader forgets what `version` says where a document begins with a marker: none does.
    """
    starts = [0, *(found.start() for found in re.finditer(r"^---(?=\s|$)", text, re.MULTILINE))]
    ends = [*starts[1:], len(text)]
    parts = zip(starts, ends, strict=True)
    bare = re.compile(r"\A---")
    return [
        "\n" * text.count("\n", 0, start) + bare.sub("   ", text[start:end]) for start, end in parts
    ]


def _read(text: str) -> Any:
    reader = YAML(typ="rt", pure=True)
    reader.version = (1, 1)
    return reader.load(text)


def plain(value: Any) -> Any:
    """Return a value in which every scalar is text, as far as two readers agree on it."""
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(inner) for key, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(inner) for inner in value]
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return repr(float(value)) if abs(value) < 1e300 else str(value)
    return str(value)


def loosely(value: Any) -> Any:
    """Return a plain value in which scalars that the two readers type differently are the same.

    Ours reads as Go does: no sexagesimal numbers, and octal ones with `0o`.
    """
    if isinstance(value, dict):
        return {key.lower(): loosely(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [loosely(inner) for inner in value]
    text = str(value).lower().removeprefix("+").replace("_", "")
    try:
        sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text)
        if re.fullmatch(r"[0-9]+(:[0-5]?[0-9])+(\.[0-9]*)?", digits):
            parts = [float(part) for part in digits.split(":")]
            return sign * sum(part * 60**at for at, part in enumerate(reversed(parts)))
        if re.fullmatch(r"0[box]?[0-9a-f]+", digits):
            return float(sign * int(digits if digits[1].isalpha() else f"0o{digits}", 0))
        return float(text.replace(".inf", "inf").replace(".nan", "nan"))
    except (ValueError, OverflowError):
        return text


def moved_comments(before: Independent, after: Independent) -> list[tuple[str, str, str]]:
    """Return comments that belong to another key than before although theirs is still there:
    text, old owner, new owners.

    A key that is there less often than before was renamed or taken away; what spoke of it then
    speaks of what came instead.
    """
    moved = []
    for (comment, owner), count in (before.owners - after.owners).items():
        gone = before.keys[owner] - after.keys[owner]
        if owner != END and count > gone:
            now = sorted(o for c, o in after.owners - before.owners if c == comment)
            moved.append((comment, owner, ", ".join(now)))
    return moved


def _keys(value: Any) -> Iterator[tuple[int, int, str]]:
    if isinstance(value, CommentedMap):
        for key in value:
            if key in (value.lc.data or {}):
                line, column = value.lc.key(key)
                yield line, column, str(key)
            yield from _keys(value[key])
    elif isinstance(value, CommentedSeq):
        for index, item in enumerate(value):
            if not isinstance(item, CommentedMap | CommentedSeq):
                line, column = value.lc.item(index)
                yield line, column, f"- {item}"
            yield from _keys(item)


def _comments(value: Any) -> Iterator[tuple[int, str]]:
    if not isinstance(value, CommentedMap | CommentedSeq):
        return
    held: list[Any] = [value.ca.comment, value.ca.end, *value.ca.items.values()]
    while held:
        one = held.pop()
        if isinstance(one, CommentToken):
            for number, line in enumerate(one.value.split("\n")):
                if line.strip().startswith("#"):
                    yield one.start_mark.line + number, line.strip()
        elif isinstance(one, list | tuple):
            held.extend(one)
    for inner in value.values() if isinstance(value, CommentedMap) else value:
        yield from _comments(inner)


def _owner(line: int, named: Mapping[int, Sequence[str]]) -> str:
    if named.get(line):
        return named[line][-1]
    below = min((number for number in named if number > line), default=None)
    return END if below is None else named[below][0]
