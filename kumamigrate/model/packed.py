"""Data files that come with the package: read once, never changed."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

_PACKAGE = Path(__file__).resolve().parent.parent
"""`importlib.resources` knows it as well, and takes 15 ms to import at every start."""


@cache
def packed(folder: str, name: str) -> Any:
    """Return a JSON file of the package: `packed("model/tables", "conf.json")`."""
    return json.loads((_PACKAGE / folder / name).read_text(encoding="utf-8"))
