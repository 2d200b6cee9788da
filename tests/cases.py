"""Where fixtures and goldens lie, and how a fixture case is read. Knows every path of the tests."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures"
GOLDEN = ROOT / "tests" / "golden"
SHARED = ROOT.parent / "shared"
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Reads YAML as plain values, and quickly: tests load thousands of documents with it."""
EXAMPLE = "example"
EXAMPLES = "examples"


@dataclass(frozen=True)
class Case:
    """One fixture: `before/`, `after/` (absent: nothing may change) and `proof.json`."""

    rule: str
    name: str
    folder: Path

    @property
    def before(self) -> Path:
        return self.folder / "before"

    @property
    def expected(self) -> dict[str, bytes]:
        """The files that must be there afterwards, by path."""
        after = self.folder / "after"
        return contents(after if after.is_dir() else self.before)

    @property
    def proof(self) -> dict[str, Any]:
        path = self.folder / "proof.json"
        return json.loads(path.read_text()) if path.is_file() else {}


@cache
def cases() -> tuple[Case, ...]:
    """All fixture cases, by rule and name."""
    return tuple(
        Case(rule=folder.parent.name, name=folder.name, folder=folder)
        for folder in sorted(FIXTURES.glob("*/*"))
        if (folder / "before").is_dir() and folder.parent.name != EXAMPLES
    )


def contents(folder: Path) -> dict[str, bytes]:
    """The files below a folder, by path relative to it."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def shared(name: str) -> Path:
    """A folder of the material beside the checkout; skips the test where it is not there."""
    folder = SHARED / name
    if not folder.exists():
        pytest.skip(f"shared/{name} is not beside this checkout")
    return folder
