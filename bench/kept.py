"""What functions of the project keep from one test for the next, and how it is forgotten.

A fault shows only where its code runs, and a test runs what nothing keeps for it from another.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

OURS = ("kumamigrate", "tests")


class Kept:
    """The caches of all modules of ours that are loaded."""

    def __init__(self) -> None:
        self._modules: set[str] = set()
        self._caches: list[Any] = []

    def forget(self) -> None:
        """Empty all of them; modules that were loaded since the last time are looked at first."""
        if new := sys.modules.keys() - self._modules:
            self._modules |= new
            for name in new:
                if name.partition(".")[0] in OURS:
                    self._caches += _caches(sys.modules[name])
        for cache in self._caches:
            cache.cache_clear()


def _caches(module: ModuleType) -> Iterator[Any]:
    for value in vars(module).values():
        if isinstance(value, type) and value.__module__ == module.__name__:
            yield from (one for one in vars(value).values() if _is_cache(one))
        elif _is_cache(value):
            yield value


def _is_cache(value: object) -> bool:
    return isinstance(value, functools._lru_cache_wrapper)
