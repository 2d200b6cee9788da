"""All that decides what a check says, as one word: equal words, equal answers.

Nothing is taken on trust but bytes that were read just now: which files there are, what stands in
them, settings and options, exports of a control plane, the day, where the user stands, and this
tool itself. What a check looks at later (folders beside manifests, programs) is written down while
it does, and asked again (`Tree.asked`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import Enum
from hashlib import blake2b
from pathlib import Path
from typing import Any

import kumamigrate
from kumamigrate.dataclass import fields
from kumamigrate.errors import KumamigrateError
from kumamigrate.inventory.exports import files_of
from kumamigrate.library import Sources
from kumamigrate.source.reading.quick import READER
from kumamigrate.world.survey import inventories

_SIZE = 32
_TOOL = Path(kumamigrate.__file__).parent
_RULES = _TOOL.parent / "rules"


class NotKnownError(Exception):
    """Something decides the answer that cannot be told as bytes: then nothing is kept."""


def word_of(sources: Sources, given: Mapping[str, Any]) -> str:
    """Return the word of a check of some sources. Raises NotKnownError."""
    contents = sources.contents
    found = blake2b(digest_size=_SIZE)
    told = (_plain(given), _here(), _plain(sources.scope), _plain(sources.options))
    _add(found, *(repr(one).encode("utf-8", "surrogatepass") for one in told))
    _add(found, _plain_bytes(contents.refusals), *_tool())
    for group in (contents.files, contents.beside, contents.scripts):
        _add(found, str(len(group)).encode())
        for path in sorted(group):
            _add(found, os.fsencode(path), group[path])
    _add(found, *_exports(sources))
    return found.hexdigest()


def _add(found: Any, *parts: bytes) -> None:
    """Add parts, each with its length, so that no two lists of parts are the same bytes."""
    for part in parts:
        found.update(b"%d:" % len(part))
        found.update(part)


def _here() -> str:
    return os.fsencode(Path.cwd()).decode("utf-8", "surrogateescape")


def _exports(sources: Sources) -> Iterator[bytes]:
    """Yield the files of all inventories with their names."""
    try:
        for path in inventories(sources.options):
            for file in files_of(path):
                yield os.fsencode(file)
                yield file.read_bytes()
    except (OSError, KumamigrateError) as error:
        raise NotKnownError from error


def _tool() -> Iterable[bytes]:
    """Return what tells this tool from others: its version, its files, and what runs it."""
    runs = (sys.version, str(sys.flags), sys.platform, READER)
    return (kumamigrate.__version__.encode(), repr(runs).encode(), *_files(_TOOL), *_files(_RULES))


def _files(folder: Path) -> Iterator[bytes]:
    """Yield the files of a folder, told by name, size and time: Python itself asks no more."""
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(one for one in folders if one != "__pycache__")
        for name in sorted(names):
            state = os.stat(os.path.join(at, name))  # noqa: PTH116, PTH118  # some hundred
            yield f"{at}/{name} {state.st_size} {state.st_mtime_ns}".encode(errors="replace")


def _plain_bytes(value: Any) -> bytes:
    return repr(_plain(value)).encode("utf-8", "surrogatepass")


def _plain(value: Any) -> Any:
    """Return a value as lists and words, whose order does not change from run to run."""
    if isinstance(value, Enum):
        return (type(value).__name__, value.value)
    if value is None or isinstance(value, str | int | float | bytes):
        return value
    if isinstance(value, Path):
        return ("Path", str(value))
    if isinstance(value, Mapping):
        return ("of", sorted(((_plain(k), _plain(v)) for k, v in value.items()), key=repr))
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, set | frozenset):
        return ("set", sorted((_plain(one) for one in value), key=repr))
    if hasattr(value, "isoformat"):
        return (type(value).__name__, value.isoformat())
    return (type(value).__name__, _fields_of(value))


def _fields_of(value: Any) -> Collection[Any]:
    try:
        return [(one.name, _plain(getattr(value, one.name))) for one in fields(value) if one.init]
    except (TypeError, AttributeError) as error:
        raise NotKnownError from error
