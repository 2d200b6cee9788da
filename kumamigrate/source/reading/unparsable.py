"""What is not read though YAML permits it: readers disagree on it, or it is too deep or large."""

from __future__ import annotations

from kumamigrate.source.node import (
    MapNode,
    Node,
    ScalarNode,
    SeqNode,
    followed,
    is_merge,
    key_text,
    merge_sources,
)
from kumamigrate.source.text import Reason

MAX_DEPTH = 100
MAX_VALUES = 2_000_000
"""How many values a document may hold once its aliases are followed."""


class UnparsableError(Exception):
    """A document that cannot be read, at an offset. Never leaves the reader."""

    def __init__(self, reason: Reason, offset: int, detail: str, other: int | None = None) -> None:
        self.reason = reason
        self.offset = offset
        self.detail = detail
        self.other = other
        super().__init__(detail)


def check_depth(depth: int, start: int) -> None:
    """Refuse what goes too deep."""
    if depth > MAX_DEPTH:
        raise UnparsableError(Reason.TOO_DEEP, start, f"nested deeper than {MAX_DEPTH} levels")


def check_size(size: int, start: int) -> None:
    """Refuse what stands for too many values."""
    if size > MAX_VALUES:
        detail = f"aliases make more than {MAX_VALUES} values"
        raise UnparsableError(Reason.TOO_LARGE, start, detail)


def check_keys(node: MapNode) -> None:
    """Refuse a mapping that has a key twice, which no two readers take alike."""
    seen: dict[str, int] = {}
    for key, child in node.entries:
        name = key_text(key)
        if is_merge(key):
            _check_merge(key, child, seen)
        if name in seen:
            detail = f"key {name!r} stands twice"
            raise UnparsableError(Reason.DUPLICATE_KEY, key.start, detail, seen[name])
        seen[name] = key.start


def _check_merge(key: ScalarNode, value: Node, seen: dict[str, int]) -> None:
    """Refuse what readers disagree about: a merge that comes behind a key it also holds."""
    sources = merge_sources(value)
    target = followed(value)
    wanted = len(target.items) if isinstance(target, SeqNode) else 1
    if len(sources) != wanted:
        raise UnparsableError(
            Reason.UNPARSABLE, key.start, "'<<' merges something that is no mapping"
        )
    for source in sources:
        for other, _ in source.entries:
            name = key_text(other)
            if name in seen:
                detail = f"key {name!r} comes again through '<<'; readers disagree which one wins"
                raise UnparsableError(Reason.DUPLICATE_KEY, key.start, detail, seen[name])
