"""Data files that come with the package: read once, never changed."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any


@cache
def packed(folder: str, name: str) -> Any:
    """Return a JSON file of the package: `packed("model/tables", "conf.json")`."""
    file = resources.files("kumamigrate").joinpath(*folder.split("/"), name)
    return json.loads(file.read_text(encoding="utf-8"))
