"""What stands on a command line, and what is read for it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kumamigrate.library import Sources, load

Given = Mapping[str, Any]


def loaded(given: Given) -> Sources:
    """Return what is read and may be written, and the options asked for."""
    return load(*given.get("paths") or (), **_settings(given))


def alone(given: Given, *paths: Path) -> Sources:
    """Return files and folders that are all there is, whatever stands around them."""
    return load(*paths, alone=True, **_settings(given))


def _settings(given: Given) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name != "paths"}
