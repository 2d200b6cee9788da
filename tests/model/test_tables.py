"""The tables are what the script makes of tools/acceptance.json, and hold no citations."""

from __future__ import annotations

import importlib.util
import json
from importlib import resources
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_GENERATED = ("releases", "policies", "conf")


def _committed(name: str) -> str:
    file = resources.files("kumamigrate.model").joinpath("tables", f"{name}.json")
    return file.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [*_GENERATED, "behaviour", "between"])
def test_tables_are_json_without_citations(name: str) -> None:
    text = _committed(name)
    assert isinstance(json.loads(text), dict)
    assert ".go:" not in text


def test_tables_are_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("tables", _ROOT / "tools" / "tables.py")
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    monkeypatch.setattr(script, "OUT", tmp_path)
    script.main()
    for name in _GENERATED:
        assert (tmp_path / f"{name}.json").read_text(encoding="utf-8") == _committed(name)
