"""Route moves on meshes that a real control plane answered for (goldens: recipes, live, carry)."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumamigrate.prover import Verdict, prove
from kumamigrate.rewrite.finding import Status
from tests.cases import shared
from tests.frontdoor import fewer, some
from tests.rewrite.scene import after, run

RECIPES = ("precedence-by-dataplane", "precedence-by-mesh-subset", "split-and-copy-inherited")


@pytest.mark.parametrize("name", RECIPES)
def test_run_alone_finds_a_migration_that_is_carried_over(name: str, tmp_path: Path) -> None:
    """From the mesh with the mode switched, a run reaches what the hand-made migration did."""
    folder = shared("goldens") / "recipes" / name
    outcome = run(tmp_path, {"mesh.yaml": (folder / "start.yaml").read_text()})
    assert not outcome.held
    before = run(
        tmp_path / "b",
        {"mesh.yaml": (folder / "before.yaml").read_text()},
        rules=["retry-tcp-zero"],
    )
    proof = prove(before.before.state("2.14")[0], outcome.after.state("2.14")[0], claims=("carry",))
    assert proof.verdict("carry") is Verdict.EQUIVALENT
    assert not [p for p in outcome.after.state("2.14")[0].resources if _names_route_at_top(p.spec)]


def test_recipe_copies_inherited_values_as_the_hand_made_one_does(tmp_path: Path) -> None:
    folder = shared("goldens") / "recipes" / "split-and-copy-inherited"
    outcome = run(tmp_path, {"mesh.yaml": (folder / "start.yaml").read_text()})
    by_hand = run(tmp_path / "b", {"mesh.yaml": (folder / "after.yaml").read_text()})
    mine = {r.identity: r.spec for r in outcome.after.repository.resources}
    theirs = {r.identity: r.spec for r in by_hand.before.repository.resources}
    assert set(mine) == set(theirs)
    identity = ("MeshRetry", "default", "", "m-on-route-1")
    assert mine[identity]["to"] == theirs[identity]["to"]


@pytest.mark.parametrize("kind", ["live/03-", "carry/05-"])
def test_nearly_every_move_is_proven_and_a_second_run_is_idle(kind: str, tmp_path: Path) -> None:
    """Held moves are those where two routes share a rule and one conf cannot serve both."""
    folder = shared("goldens") / kind.split("/")[0]
    fixed, open_ = 0, []
    for case in fewer(some(sorted(folder.glob(kind.split("/")[1] + "*")))):
        files = {"mesh.yaml": (case / "before.yaml").read_text()}
        outcome = run(tmp_path / case.name, files)
        moves = [f for f in outcome.findings if f.rule == "route-in-target-ref"]
        fixed += sum(f.status is Status.FIXED for f in moves)
        open_ += [(case.name, f.message) for f in moves if f.status is not Status.FIXED]
        again = run(tmp_path / case.name / "again", after(files, outcome))
        assert again.texts == {}, case.name
    assert len(open_) <= fixed // 20, open_


def _names_route_at_top(spec: object) -> bool:
    top = spec.get("targetRef") if isinstance(spec, dict) else None
    return isinstance(top, dict) and top.get("kind") == "MeshHTTPRoute"
