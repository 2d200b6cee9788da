"""What a control plane says of a policy that goes: where a proxy notices, it is not called dead."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path

import pytest

from kumamigrate.flow.noticed import MeshWorld, Noticed, removing, worlds_of
from kumamigrate.library import load, read
from kumamigrate.model.conf import canonical
from kumamigrate.model.kinds import OLD_POLICIES
from kumamigrate.model.release import release
from kumamigrate.model.resource import Identity, Resource
from kumamigrate.scene.loadfiles import repository_of
from tests.cases import GOLDEN, SHARED
from tests.frontdoor import command, some

SETS = {"live": "2.14", "mixed-2.14": "2.14", "features-2.14": "2.14", "mixed-2.9": "2.9"}
DEAD = ("unreached-policy", "overruled-setting", "repeated-setting")


def _root() -> Path:
    full = SHARED / "goldens"
    return full if os.environ.get("KUMAMIGRATE_GOLDENS") and full.is_dir() else GOLDEN


@cache
def _removals() -> list[tuple[str, Path, str]]:
    """The pairs in which one policy goes and nothing else changes, and some proxy notices: the
    set, the pair, and what the policy is called."""
    found = []
    for name in SETS:
        for folder in sorted((_root() / name).iterdir()):
            before, after = (_bodies(folder / f"{side}.yaml") for side in ("before", "after"))
            gone = [one for one in before if one not in after]
            stays = {k: v for k, v in before.items() if k not in gone}
            verdict = json.loads((folder / "verdict.json").read_text())
            noticed = any(p.get("same") is False for p in verdict["dataplanes"].values())
            if len(gone) == 1 and stays == after and noticed:
                found.append((name, folder, f"{gone[0][0]} {gone[0][3]}"))
    return found


def _bodies(file: Path) -> dict[Identity, str]:
    repository = repository_of({"a.yaml": file.read_bytes()}, root=Path())
    return {r.identity: canonical(r.body) for r in repository.resources}


def test_what_a_proxy_misses_is_not_called_dead() -> None:
    """Nor with the proxies as an inventory, which says that there are no others."""
    every = os.environ.get("KUMAMIGRATE_GOLDENS")
    asked = _removals() if every else _removals()[::2]
    assert len(asked) > 2
    for name, folder, policy in asked:
        file = folder / "before.yaml"
        for more in ((), ("--inventory", file)):
            words = ("check", file, "--dead", "--target", SETS[name], *more, "--format", "json")
            said = command(*words).json["findings"]
            dead = [f["message"] for f in said if f["rule"] in DEAD]
            assert not [one for one in dead if one.startswith(f"{policy}: ")], folder


def _verdict(noticed: Noticed) -> str:
    return "alive" if noticed.witnesses else "unknown" if noticed.unknown else "dead"


def _policies(world: MeshWorld) -> list[Resource]:
    known = {*release(world.state.release).policy_types, *OLD_POLICIES}
    return [r for r in world.state.resources if r.type in known and r.where is not None]


@pytest.mark.parametrize("folder", some(sorted((GOLDEN / "mixed-2.14").iterdir()))[::8], ids=str)
def test_policies_of_other_types_have_no_say(folder: Path) -> None:
    """prover.md §4: a verdict does not depend on them, so it may be asked without them."""
    reading = read(load(folder / "before.yaml", alone=True, initial_policies="none"))
    for world in worlds_of(reading.estate.sites[0].applied, "default"):
        known = {*release(world.state.release).policy_types, *OLD_POLICIES}
        for policy in _policies(world):
            every = world.without(removing(policy))
            alone = world.about(policy.type, known).without(removing(policy))
            assert _verdict(every) == _verdict(alone), policy.name
