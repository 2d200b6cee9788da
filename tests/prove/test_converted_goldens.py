"""Old policies and what a conversion made of them, judged by a control plane, through the command.

What Envoy does otherwise afterwards is never without a difference of value, or left unknown.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kumamigrate.cli import app
from tests.frontdoor import some
from tests.prove.states import COMMITTED, SHARED
from tests.runner import CliRunner

STRICTER = 20
"""At most one Dataplane of so many may be called different although it is not."""


def _folders(root: Path) -> list[Path]:
    found = sorted(p.parent for p in (root / "converted-2.9").glob("*/verdict.json"))
    return list(found if root is COMMITTED else some(found))


@cache
def _claim(folder: Path) -> dict[str, Any]:
    states = [str(folder / name) for name in ("before.yaml", "after.yaml")]
    options = ["--target", "2.9", "--zone", "east", "--format", "json"]
    result = CliRunner().invoke(app, ["prove", *states, *options])
    assert result.exit_code in (0, 3, 4), result.output
    claim: dict[str, Any] = json.loads(result.stdout)["claims"]["live"]
    return claim


def _other(said: dict[str, Any]) -> bool:
    values = any(w["effect"] == "value" for w in said["witnesses"])
    return said["verdict"] == "unknown" or values


@pytest.mark.parametrize("root", [COMMITTED, SHARED], ids=["committed", "all"])
def test_what_a_conversion_changes_is_seen(root: Path) -> None:
    folders = _folders(root)
    if not folders:
        pytest.skip("the goldens are not beside the checkout")
    dataplanes, lax, strict = 0, [], []
    for folder in folders:
        claim = _claim(folder)
        for name, truth in json.loads((folder / "verdict.json").read_text())["dataplanes"].items():
            dataplanes += 1
            other = _other(claim["dataplanes"][name])
            lax += [f"{folder.name} {name}"] if not truth["same"] and not other else []
            strict += [f"{folder.name} {name}"] if truth["same"] and other else []
    assert lax == []
    assert len(strict) * STRICTER <= dataplanes, strict


@pytest.mark.parametrize("root", [COMMITTED, SHARED], ids=["committed", "all"])
def test_normalized_paths_are_listed_where_they_come(root: Path) -> None:
    folders = _folders(root)
    if not folders:
        pytest.skip("the goldens are not beside the checkout")
    for folder in folders:
        truth = json.loads((folder / "verdict.json").read_text())["dataplanes"].values()
        seen = [w for said in _claim(folder)["dataplanes"].values() for w in said["witnesses"]]
        shown = any((w["field"], w["effect"]) == ("normalized paths", "residue") for w in seen)
        changed = any("normalizePath" in said["residues"] for said in truth)
        assert shown or not changed, folder.name


@pytest.mark.parametrize("root", [COMMITTED, SHARED], ids=["committed", "all"])
def test_spans_of_what_proxies_send_are_listed_where_they_begin(root: Path) -> None:
    """Without a TrafficRoute the old engine traces only inbounds (legacy-notes C18)."""
    folders = [f for f in _folders(root) if "TrafficTrace" in (f / "before.yaml").read_text()]
    if not folders:
        pytest.skip("the goldens are not beside the checkout")
    for folder in folders:
        proxies = json.loads((folder / "verdict.json").read_text())["dataplanes"]
        for name, truth in proxies.items():
            begins = any("OUTBOUND" in a and "tracing" in a for a in truth["activations"])
            seen = _claim(folder)["dataplanes"][name]["witnesses"]
            shown = any((w["field"], w["effect"]) == ("outbounds", "activation") for w in seen)
            assert shown == begins, (folder.name, name)
