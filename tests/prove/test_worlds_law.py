"""The law behind `can_feel`: where it says no, a verdict is the same in every world."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumamigrate.model.conf import canonical
from kumamigrate.model.initial import initial_policies
from kumamigrate.model.read import read_resources
from kumamigrate.model.resource import Form
from kumamigrate.model.state import Environment, State
from kumamigrate.prover.proof import Proof
from kumamigrate.prover.prover import prove
from kumamigrate.scene.storedstate import state_of
from kumamigrate.scene.worlds import can_feel
from kumamigrate.source.reading.load import read_file
from tests.cases import GOLDEN, SHARED
from tests.frontdoor import some

EAST = Environment(zone="east")
WORLDS = ("2.5", "2.6")


def read(path: Path, world: str = "none") -> State:
    own = read_resources(read_file(path.name, path.read_bytes()))
    made = initial_policies(world, "default", Form.UNIVERSAL, "kuma-system")
    return state_of((*own, *made), release="2.14", environment=EAST)[0]


def types(state: State) -> set[tuple[str, str]]:
    return {(r.type, canonical(r.body)) for r in state.resources}


def verdicts(proof: Proof) -> dict[str, str]:
    return {p.name: p.verdict.value for p in proof.meshes["default"].claims["live"].proxies}


def pairs(root: Path) -> list[Path]:
    found = [*root.glob("live/*/before.yaml"), *root.glob("features-2.14/*/before.yaml")]
    return sorted(path.parent for path in found)


@pytest.mark.parametrize("root", [GOLDEN, SHARED / "goldens"], ids=["committed", "all"])
def test_what_a_world_has_no_say_in_it_does_not_change(root: Path) -> None:
    asked = 0
    for folder in some(pairs(root)):
        before, after = (read(folder / f"{name}.yaml") for name in ("before", "after"))
        old, new = types(before), types(after)
        touched, present = {t for t, _ in old ^ new}, {t for t, _ in old | new}
        unfelt = [w for w in WORLDS if touched and not can_feel(w, touched, present)]
        least = verdicts(prove(before, after, claims=("live",))) if unfelt else {}
        for world in unfelt:
            sides = (read(folder / f"{name}.yaml", world) for name in ("before", "after"))
            listed = verdicts(prove(*sides, claims=("live",)))
            assert {n: v for n, v in listed.items() if n in least} == least, (folder.name, world)
            asked += 1
    if root != GOLDEN and not pairs(root):
        pytest.skip("the goldens are not beside this checkout")
    assert asked > 0
