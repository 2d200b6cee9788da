"""Pairs that a control plane judged with and without its initial policies, through the front door.

Without an inventory a proxy is only called equivalent where it is in both worlds; with one, in the
world of the inventory. `stock/` holds the policies that the control plane gives a new mesh.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cases import GOLDEN, SHARED
from tests.frontdoor import command, some

STRICTER = 50
"""At most one proxy of so many may be called different although it is not (product.md §6)."""
# These pairs were recorded in a mesh of another name: in a mesh `default` the name of the half
# that was split off no longer sorts before that of the mesh's own policy.
OF_ANOTHER_NAME = {"50-0016"}


def pairs(root: Path) -> list[Path]:
    return sorted(path.parent for path in root.glob("stock-pairs/*/verdict.json"))


def said(folder: Path, *flags: str | Path) -> dict[str, str]:
    """Return what the command says of each Dataplane."""
    files = (folder / "before.yaml", folder / "after.yaml")
    answer = command("prove", *files, "--format", "json", "--target", "2.14", *flags, given=None)
    found = answer.json["claims"]["live"]["dataplanes"]
    return {name: proxy["verdict"] for name, proxy in found.items()}


def same(folder: Path, verdict: str) -> dict[str, bool]:
    golden = json.loads((folder / f"{verdict}.json").read_text())["dataplanes"]
    return {name: proxy["same"] for name, proxy in golden.items()}


def judged(root: Path, chosen: list[Path], world: str) -> tuple[list[str], list[str], int]:
    """Return who was called equivalent wrongly, who was not and is, and how many were asked."""
    stock = ("--inventory", root / "stock" / "2.14.yaml")
    flags: dict[str, tuple[str | Path, ...]] = {
        "open": (),
        "none": ("--initial-policies", "none"),
        "2.6": ("--initial-policies", "2.6"),
        "inventory": stock,
    }
    lax, strict, seen = [], [], 0
    for folder in chosen:
        without, within = same(folder, "verdict"), same(folder, "verdict-with-stock")
        verdicts = said(folder, *flags[world])
        for name in without:
            truths = {"open": (without[name], within[name]), "none": (without[name],)}
            truth = all(truths.get(world, (within[name],)))
            seen += 1
            if verdicts[name] == "equivalent" and not truth:
                lax.append(f"{folder.name} {name}")
            if verdicts[name] != "equivalent" and truth and folder.name not in OF_ANOTHER_NAME:
                strict.append(f"{folder.name} {name}")
    return lax, strict, seen


WORLDS = ["open", "none", "2.6", "inventory"]


@pytest.mark.parametrize("world", WORLDS)
def test_committed_pairs(world: str) -> None:
    lax, strict, seen = judged(GOLDEN, pairs(GOLDEN), world)
    assert (lax, strict) == ([], [])
    assert seen > 0


@pytest.mark.parametrize("world", WORLDS)
def test_all_pairs(world: str) -> None:
    found = pairs(SHARED / "goldens")
    if not found:
        pytest.skip("the goldens are not beside this checkout")
    lax, strict, seen = judged(SHARED / "goldens", list(some(found)), world)
    assert lax == []
    assert len(strict) * STRICTER <= seen


def test_what_differs_in_one_world_alone_is_unknown_and_says_how_to_settle_it() -> None:
    folder = next(f for f in pairs(GOLDEN) if f.name == "50-0014")
    files = (folder / "before.yaml", folder / "after.yaml")
    answer = command("prove", *files, "--format", "json", "--target", "2.14", given=None)
    live = answer.json["claims"]["live"]
    assert (answer.code, live["verdict"]) == (3, "unknown")
    reasons = "\n".join(live["unknown"])
    assert "--initial-policies none|2.5|2.6" in reasons
    assert "with none or those up to 2.5 nothing changes" in reasons
    assert (
        "with those since 2.6 it goes 9m0s (mesh-timeout) → 2h0m0s (mesh-timeout-all-default)"
        in reasons
    )
    assert any("not known, and each was tried" in fact for fact in answer.json["assumptions"])
