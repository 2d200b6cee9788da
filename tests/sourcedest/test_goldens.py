"""`inspect --release 2.9` prints the winner table that the 2.9 control plane printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.frontdoor import command, some

_ROOT = Path(__file__).parents[2]
_SELECTED = sorted((_ROOT / "tests" / "golden" / "legacy-2.9").glob("*.yaml"))
_ALL = _ROOT.parent / "shared" / "goldens" / "legacy-2.9"


def _differences(case: Path) -> list[str]:
    golden = json.loads(case.with_suffix(".json").read_text(encoding="utf-8"))
    asked = (case, "--release", "2.9", "--zone", "east", "--format", "json")
    table = command("inspect", *asked).json["legacy"]
    resources = command("inspect", "--resources", *asked).json["resources"]
    refused = sorted([r["type"], r["name"]] for r in resources if "error" in r)
    wrong = [
        f"{case.stem}: {name}"
        for name in golden["dataplanes"]
        if table.get(name) != golden["dataplanes"][name]
    ]
    if set(table) != set(golden["dataplanes"]):
        wrong.append(f"{case.stem}: other dataplanes")
    if refused != sorted(golden["rejected"]):
        wrong.append(f"{case.stem}: refused {refused}")
    return wrong


@pytest.mark.parametrize("case", _SELECTED, ids=lambda case: case.stem)
def test_selected_goldens(case: Path) -> None:
    assert _differences(case) == []


def test_every_golden() -> None:
    if not _ALL.is_dir():
        pytest.skip("the goldens are not beside this checkout")
    cases = sorted(_ALL.glob("*.yaml"))
    assert len(cases) > 100
    assert [line for case in some(cases) for line in _differences(case)] == []
