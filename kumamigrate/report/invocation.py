"""The command that makes a report again, for who reads it on another machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

_NAMES = {"source": "from", "dry_run": "dry-run"}
_SAID = (str, int, Path, list, tuple)
_PRINTING = frozenset(
    ("format", "output", "diff", "paths", "before", "after", "stats", "plan", "verbose")
) | {"answers", "deletions", "no_cache", "jobs"}
"""What says where reports go, or is no option: it does not change what they say."""


def invocation(command: str, given: Mapping[str, Any], *words: str) -> str:
    """Return a command line: the command, the options given, and what it is about."""
    paths = [str(path) for path in given.get("paths") or ()]
    import shlex

    return shlex.join(["kumamigrate", command, *_options(given), *words, *paths])


def _options(given: Mapping[str, Any]) -> Iterator[str]:
    for key, value in given.items():
        name = f"--{_NAMES.get(key, key.replace('_', '-'))}"
        if key in _PRINTING or value is False or not isinstance(value, _SAID):
            continue
        if value is True:
            yield name
        else:
            for one in value if isinstance(value, list | tuple) else [value]:
                yield from (name, str(one))
