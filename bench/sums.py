"""Whether what a run writes is the same as a whole: `python bench/sums.py FOLDER [--target 2.14]`.

Every manifest file of a folder is a mesh of its own, or every `before.yaml` of its folders. Each is
migrated in memory, and named where the state that the run leaves differs for some proxy from the
one that it began with, although each step was accepted: a fault of ours. On the way to another
release that is the state before what goes out with the upgrade. `--inventory` gives each mesh an
export of itself in which what stands later was created later.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from kumamigrate.effective.difference import HARMLESS, Witness
from kumamigrate.flow.pipeline import migrate
from kumamigrate.flow.runoutcome import Outcome
from kumamigrate.flow.sumproof import prove_scenes
from kumamigrate.rewrite.change import Rollout
from kumamigrate.world.options import Options
from kumamigrate.world.survey import scene_of

_START = datetime(2024, 1, 1, tzinfo=UTC)


def main() -> None:
    """Migrate each file and name those whose sum is another."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--target", default="2.14")
    parser.add_argument("--every", type=int, default=1, help="one file of so many")
    parser.add_argument("--inventory", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    files = sorted((*given.folder.glob("*.yaml"), *given.folder.glob("*/before.yaml")))
    files = files[:: given.every]
    ask = partial(_different, target=given.target, dated=given.inventory)
    faults = 0
    with ProcessPoolExecutor(given.jobs) as pool:
        for file, found in zip(files, pool.map(ask, files), strict=True):
            faults += bool(found)
            for line in found[:3]:
                print(f"{file.relative_to(given.folder)}: {line}", flush=True)
    print(f"{len(files)} meshes to {given.target}, {faults} that differ as a whole")


def _different(file: Path, *, target: str, dated: bool) -> list[str]:
    """Return what differs between a mesh and what a run leaves of it."""
    with TemporaryDirectory() as folder:
        here = Path(folder) / "mesh"
        here.mkdir()
        shutil.copy(file, here / "mesh.yaml")
        exported = Path(folder) / "inventory.yaml"
        if dated:
            exported.write_text(_export(file), encoding="utf-8")
        inventory = (exported,) if dated else ()
        options = Options(target=target, inventory=inventory, interactive=True)
        outcome = migrate(scene_of([Path()], here, options), options)
        return [_told(w) for w in _witnesses(outcome) if w.effect not in HARMLESS]


def _export(file: Path) -> str:
    bodies = [body for body in yaml.safe_load_all(file.read_text(encoding="utf-8")) if body]
    for age, body in enumerate(bodies):
        body["creationTime"] = (_START + timedelta(seconds=age)).isoformat()
    return yaml.safe_dump_all(bodies)


def _witnesses(outcome: Outcome) -> Iterator[Witness]:
    """Yield what differs today once all that goes out now is there."""
    states = [*outcome.grounds, outcome.ended]
    late = (at for at, c in enumerate(outcome.kept) if c.rollout is not Rollout.NOW)
    then = states[next(late, len(outcome.kept))]
    for old, new in zip(outcome.began.sites, then.sites, strict=True):
        yield from prove_scenes(old.applied, new.applied).witnesses("live")


def _told(one: Witness) -> str:
    values = f"{one.before.value} → {one.after.value}"
    return f"{one.policy_type} {one.field} of {one.proxy} at {one.place}: {values}"


if __name__ == "__main__":
    main()
