"""Random values, written in random layouts, and random edits of them."""

from __future__ import annotations

import json
import random
from typing import Any

from kumamigrate.source.editing.emit import plain_is_safe, quoted
from kumamigrate.source.value import UNCHANGED, Moved

KEYS = ["kind", "name", "to", "from", "spec", "labels", "default", "kuma.io/mesh", "http", "y"]
STRINGS = [
    "a",
    "15s",
    "yes",
    "010",
    "on",
    "",
    "x: y",
    "# no",
    "a b",
    "it's",
    "é😀",
    "1e3",
    "~",
    "-",
    "*",
    "{x}",
]


def value(rng: random.Random, depth: int = 0) -> Any:
    """Return a random value: maps and lists of scalars."""
    roll = rng.random()
    if depth < 4 and roll < 0.42:
        keys = rng.sample(KEYS, rng.randint(0 if depth else 1, 4))
        return {key: value(rng, depth + 1) for key in keys}
    if depth < 4 and roll < 0.6:
        return [value(rng, depth + 1) for _ in range(rng.randint(0, 3))]
    return scalar(rng)


def scalar(rng: random.Random) -> Any:
    """Return a random scalar."""
    kinds = [
        lambda: rng.choice(STRINGS),
        lambda: rng.randint(-3, 99),
        lambda: rng.choice([True, False, None, 1.5]),
    ]
    if rng.random() < 0.1:
        return "line one\nline two" + rng.choice(["", "\n"])
    return rng.choice(kinds)()


class Writer:
    """Writes a value with its own habits: indents, quotes, comments, blank lines, flow style."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.step = rng.choice([2, 2, 2, 4, 3])
        self.dash = rng.choice([0, 2])
        self.gap = rng.choice([2, 2, 2, 4])
        self.flow = rng.choice([0.0, 0.1, 0.4])
        self.noise = rng.choice([0.0, 0.1, 0.3])
        self.blank = rng.choice([0.0, 0.1])
        self.quote = rng.choice(['"', "'"])
        self.count = 0

    def comment(self) -> str:
        self.count += 1
        return f"# note {self.count}"

    def scalar(self, item: Any, flow: bool = False) -> str:
        if isinstance(item, str):
            if plain_is_safe(item, flow=flow) and self.rng.random() < 0.8:
                return item
            return quoted(item, self.quote)
        return json.dumps(item, ensure_ascii=False)

    def flowed(self, item: Any) -> str:
        if isinstance(item, dict):
            return (
                "{"
                + ", ".join(f"{self.scalar(k, True)}: {self.flowed(v)}" for k, v in item.items())
                + "}"
            )
        if isinstance(item, list):
            return "[" + ", ".join(map(self.flowed, item)) + "]"
        return self.scalar(item, True)

    def before(self, column: int, lines: list[str]) -> None:
        if self.rng.random() < self.blank:
            lines.append("")
        if self.rng.random() < self.noise:
            lines.append(" " * column + self.comment())
            if self.rng.random() < self.blank:
                lines.append("")

    def side(self) -> str:
        return "  " + self.comment() if self.rng.random() < self.noise else ""

    def block(self, item: Any, column: int) -> list[str]:
        """Return the lines of a non-empty collection."""
        lines: list[str] = []
        if isinstance(item, dict):
            for key, child in item.items():
                self.before(column, lines)
                self.child(" " * column + self.scalar(key) + ":", child, column, lines, False)
        else:
            for child in item:
                self.before(column, lines)
                self.child(" " * column + "-", child, column, lines, True)
        return lines

    def child(self, head: str, child: Any, column: int, lines: list[str], item: bool) -> None:
        if isinstance(child, str) and "\n" in child and self.rng.random() < 0.8:
            lines.append(f"{head} {'|' if child.endswith(chr(10)) else '|-'}")
            pad = " " * (column + self.step)
            lines.extend(pad + line for line in child.rstrip("\n").split("\n"))
        elif not isinstance(child, (dict, list)) or not child or self.rng.random() < self.flow:
            text = self.flowed(child) if isinstance(child, (dict, list)) else self.scalar(child)
            lines.append(f"{head} {text}{self.side()}")
        elif item:
            inner = self.block(child, column + self.gap)
            over = 0
            while not inner[over].strip() or inner[over].lstrip().startswith("#"):
                over += 1
            lines.extend(
                " " * column + line.strip() if line.strip() else "" for line in inner[:over]
            )
            inner = inner[over:]
            lines.append(head + " " * (self.gap - 1) + inner[0].lstrip(" "))
            lines.extend(inner[1:])
        else:
            lines.append(head + self.side())
            inner_column = column + (self.step if isinstance(child, dict) else self.dash)
            lines.extend(self.block(child, inner_column))


def written(rng: random.Random, item: dict[str, Any]) -> str:
    """Return a mapping as text in some layout, ending in a newline or not, with LF or CRLF."""
    style = rng.random()
    if style < 0.1:
        text = json.dumps(item, ensure_ascii=False)
    elif style < 0.2:
        text = json.dumps(item, ensure_ascii=False, indent=rng.choice([2, 4]))
    elif style < 0.25:
        text = json.dumps(item, ensure_ascii=False, separators=(",", ":"))
    else:
        writer = Writer(rng)
        text = "\n".join(writer.block(item, 0))
        if rng.random() < writer.noise:
            text += "\n" + writer.comment()
    text += rng.choice(["\n", "\n", ""])
    return text.replace("\n", "\r\n") if rng.random() < 0.2 else text


def edited(rng: random.Random, item: Any, depth: int = 0) -> Any:
    """Return a value with a few random edits."""
    if isinstance(item, dict) and item:
        result = {}
        for key, child in item.items():
            roll = rng.random()
            if roll < 0.1 and (depth or len(item) > 1):
                continue
            name = rng.choice(KEYS) if roll > 0.92 else key
            if name in result or (name != key and name in item):
                name = key
            result[name] = edited(rng, child, depth + 1) if rng.random() < 0.5 else child
        if rng.random() < 0.2:
            key = rng.choice(KEYS)
            if key not in result:
                result[key] = value(rng, depth + 1)
        return result or {"kind": "x"}
    if isinstance(item, list):
        kept = [
            edited(rng, c, depth + 1) if rng.random() < 0.4 else c
            for c in item
            if rng.random() < 0.85
        ]
        if rng.random() < 0.2:
            kept.insert(rng.randint(0, len(kept)), value(rng, depth + 1))
        if rng.random() < 0.1:
            rng.shuffle(kept)
        return kept
    return value(rng, depth + 1) if rng.random() < 0.5 else item


def paths(item: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of all values below a value."""
    found = [path] if path else []
    if isinstance(item, dict):
        for key, child in item.items():
            found += paths(child, (*path, key))
    elif isinstance(item, list):
        for index, child in enumerate(item):
            found += paths(child, (*path, index))
    return found


def at(item: Any, path: tuple[Any, ...]) -> Any:
    """Return what stands at a path."""
    for part in path:
        item = item[part]
    return item


def with_moves(rng: random.Random, old: Any, new: Any, chance: float = 0.15) -> Any:
    """Put moved parts of the old value into a new one, some of them edited."""
    if rng.random() < chance and paths(old):
        path = rng.choice(paths(old))
        if rng.random() < 0.5:
            return Moved(path)
        return Moved(path, with_moves(rng, old, edited(rng, at(old, path), 1), chance / 3))
    if isinstance(new, dict):
        return {key: with_moves(rng, old, child, chance) for key, child in new.items()}
    if isinstance(new, list):
        return [with_moves(rng, old, child, chance) for child in new]
    return new


def without_moves(old: Any, new: Any) -> Any:
    """Return the plain value that a value with moved parts stands for."""
    if isinstance(new, Moved):
        return at(old, new.path) if new.value is UNCHANGED else without_moves(old, new.value)
    if isinstance(new, dict):
        return {key: without_moves(old, child) for key, child in new.items()}
    if isinstance(new, list):
        return [without_moves(old, child) for child in new]
    return new
