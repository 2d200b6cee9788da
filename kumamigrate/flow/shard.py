"""A part of the environments, for machines that prove them side by side (docs/scale.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from kumamigrate.dataclass import dataclass
from kumamigrate.errors import UsageError
from kumamigrate.pattern import pattern

T = TypeVar("T")
_WORDS = pattern(r"([1-9][0-9]{0,5})/([1-9][0-9]{0,5})")


@dataclass(frozen=True, slots=True)
class Shard:
    """The part with a number, from 1, of so many. Each environment is in exactly one."""

    number: int = 1
    of: int = 1

    def mine(self, environments: Sequence[T]) -> list[T]:
        """Return the environments of this part: every so many-th, so that parts are alike."""
        return list(environments[self.number - 1 :: self.of])


def shard_of(words: str | None) -> Shard | None:
    """Return the part that `I/N` names, None for all. Raises UsageError for anything else."""
    if words is None:
        return None
    match = _WORDS.fullmatch(words)
    if match is None or int(match[1]) > int(match[2]):
        raise UsageError(f"--shard {words}: write I/N, the part and how many there are, as in 2/8")
    return Shard(int(match[1]), int(match[2]))
