"""Regular expressions that are compiled when they are first used.

A check of one file imports a hundred of them and uses thirty; to compile the others would take a
tenth of its time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pattern = re.compile
else:

    class pattern:  # noqa: N801  # it stands for the function `re.compile`
        """What `re.compile` returns, as far as anybody can tell by using it."""

        def __init__(self, text, flags=0):
            self._made = text, flags

        def __getattr__(self, name):
            found = getattr(re.compile(*self._made), name)
            setattr(self, name, found)  # the next one finds it without asking here
            return found

        def __repr__(self):
            return repr(re.compile(*self._made))


@contextmanager
def late_patterns() -> Iterator[None]:
    """Let what is imported meanwhile have its expressions compiled when they are first used."""
    original = re.compile
    re.compile = pattern  # type: ignore[assignment, unused-ignore]
    try:
        yield
    finally:
        re.compile = original
