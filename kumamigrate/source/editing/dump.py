"""Plain values as YAML documents that people can read, and that read back as they were."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from kumamigrate.source.reading.export import BrokenError, parts_of

_BASE: Any = yaml.CSafeDumper if yaml.__with_libyaml__ else yaml.SafeDumper


class _Dumper(_BASE):  # type: ignore[misc]  # one of two classes
    def ignore_aliases(self, data: Any) -> bool:
        """Write every value out: no anchors."""
        del data
        return True


def documents_text(values: Iterable[Mapping[str, Any]]) -> str:
    """Return values as documents of one file."""
    return "".join(f"---\n{_document(value)}" for value in values)


def _document(value: Mapping[str, Any]) -> str:
    """Return one document; JSON, which is YAML as well, where YAML would read back otherwise.

    The writer knows YAML as Python has it, and Kuma's readers take more words for booleans.
    """
    text: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1000)
    try:
        if [part.value for part in parts_of(text)] == [value]:
            return text
    except BrokenError:
        pass
    return f"{json.dumps(value)}\n"
