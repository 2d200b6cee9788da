"""The published schema of what run, check and prove print, as a validator that others wrote."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from tests.cases import ROOT

FILE = ROOT / "kumamigrate" / "report" / "schemas" / "reports.schema.json"


def schema() -> dict[str, Any]:
    """Return the schema."""
    read: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return read


def closed(part: Any) -> Any:
    """Return a schema that takes nothing but what it lists."""
    if isinstance(part, list):
        return [closed(one) for one in part]
    if not isinstance(part, Mapping):
        return part
    inner = {key: closed(one) for key, one in part.items()}
    if "properties" in part and "required" in part and "$defs" not in part:
        return {"additionalProperties": False, **inner}
    return inner


@cache
def _validator(*, strict: bool) -> Draft202012Validator:
    return Draft202012Validator(closed(schema()) if strict else schema())


def against_the_schema(data: Any, *, strict: bool = False) -> str:
    """Return what is wrong with a report, and where; empty where it is as published."""
    found = best_match(_validator(strict=strict).iter_errors(data))
    return f"{found.json_path}: {found.message[:500]}" if found is not None else ""


def shortened(data: Any, most: int = 2) -> Any:
    """Return a report with the first of each list: so much is validated wherever one is read."""
    if isinstance(data, list):
        return [shortened(one, most) for one in data[:most]]
    if isinstance(data, Mapping):
        cut = {key: shortened(value, most) for key, value in data.items() if key != "dataplanes"}
        if "dataplanes" in data:
            proxies = list(data["dataplanes"].items())[:most]
            cut["dataplanes"] = {name: shortened(one, most) for name, one in proxies}
        return cut
    return data
