"""Proves a repository of many environments in parts, on an engine: `python bench/fleet.py`.

Engines are Dask (`pip install distributed`), Ray (`pip install ray`), or processes of this Python.
What the parts come to is compared with what one process says of all environments.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

Work = Callable[[str, str, int, int], tuple[int, str]]
Engine = Callable[[Work, Sequence[tuple[str, str, int, int]], int], list[tuple[int, str]]]

MESH = """apiVersion: kuma.io/v1alpha1
kind: Mesh
metadata: {name: default}
spec:
  skipCreatingInitialPolicies: ["*"]
  meshServices: {mode: Exclusive}
"""
TEAM = """apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {{name: {name}, namespace: kuma-system, labels: {{kuma.io/mesh: default}}}}
spec:
  targetRef: {{kind: Dataplane, labels: {{app: {name}}}}}
  to:
    - targetRef: {{kind: Mesh}}
      default: {{idleTimeout: {seconds}s}}
---
apiVersion: kuma.io/v1alpha1
kind: MeshRetry
metadata: {{name: {name}, namespace: kuma-system, labels: {{kuma.io/mesh: default}}}}
spec:
  targetRef: {{kind: Dataplane, labels: {{app: {name}}}}}
  to:
    - targetRef: {{kind: Mesh}}
      default: {{http: {{numRetries: {retries}}}}}
"""


def make(root: Path, environments: int, teams: int, *, changed: bool) -> None:
    """Write environments of some teams; where `changed`, every team of each waits a second more,
    and one team of one environment two more retries."""
    (root / "kumamigrate.toml").parent.mkdir(parents=True, exist_ok=True)
    (root / "kumamigrate.toml").touch()
    for at in range(environments):
        folder = root / "clusters" / f"prod-{at:03}"
        folder.mkdir(parents=True)
        (folder / "mesh.yaml").write_text(MESH, encoding="utf-8")
        for team in range(teams):
            seconds = 10 + team + (1 if changed and at == 0 else 0)
            text = TEAM.format(name=f"team-{team:03}", seconds=seconds, retries=1 + team % 5)
            (folder / f"team-{team:03}.yaml").write_text(text, encoding="utf-8")


def prove_part(before: str, after: str, number: int, of: int) -> tuple[int, str]:
    """Return the exit code and the report of one part."""
    words = ["prove", before, after, "--shard", f"{number}/{of}", "--format", "json"]
    done = subprocess.run(
        [sys.executable, "-m", "kumamigrate", *words], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout or done.stderr


def in_processes(
    work: Work, parts: Sequence[tuple[str, str, int, int]], workers: int
) -> list[tuple[int, str]]:
    """Run parts as processes, so many at a time."""
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda part: work(*part), parts))


def on_dask(
    work: Work, parts: Sequence[tuple[str, str, int, int]], workers: int
) -> list[tuple[int, str]]:
    """Run parts on Dask's workers, here on this machine."""
    from distributed import Client

    with Client(n_workers=workers, threads_per_worker=1, dashboard_address=None) as client:
        return list(client.gather([client.submit(work, *part, pure=False) for part in parts]))


def on_ray(
    work: Work, parts: Sequence[tuple[str, str, int, int]], workers: int
) -> list[tuple[int, str]]:
    """Run parts on Ray's workers, here on this machine."""
    import ray

    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
    remote = ray.remote(work)
    return list(ray.get([remote.remote(*part) for part in parts]))


ENGINES: dict[str, tuple[str, Engine]] = {
    "dask": ("distributed", on_dask),
    "ray": ("ray", on_ray),
    "processes": ("concurrent", in_processes),
}


def main() -> None:
    """Prove in parts, put them together, and compare with one process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environments", type=int, default=64)
    parser.add_argument("--teams", type=int, default=100)
    parser.add_argument("--parts", type=int, default=8)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--engine", choices=sorted(ENGINES), default="processes")
    parser.add_argument("--no-whole", action="store_true", help="do not compare with one process")
    given = parser.parse_args()
    module, engine = ENGINES[given.engine]
    if importlib.util.find_spec(module) is None:
        sys.exit(f"{given.engine} is not installed: pip install {module}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for side in ("before", "after"):
            make(folder / side, given.environments, given.teams, changed=side == "after")
        states = (str(folder / "before"), str(folder / "after"))
        _compare(folder, states, given, engine)


def _compare(
    folder: Path, states: tuple[str, str], given: argparse.Namespace, engine: Engine
) -> None:
    parts = [(*states, number, given.parts) for number in range(1, given.parts + 1)]
    start = time.monotonic()
    answers = engine(prove_part, parts, given.workers)
    in_parts = time.monotonic() - start
    files = []
    for number, (code, report) in enumerate(answers, start=1):
        if code == 2:
            sys.exit(f"part {number}: {report}")
        files.append(folder / f"part-{number}.json")
        files[-1].write_text(report, encoding="utf-8")
    merged = _asked("merge", *map(str, files), "--format", "json")
    print(
        f"{given.environments} environments of {given.teams} teams in {given.parts} parts on"
        f" {given.workers} workers ({given.engine}): exit code {merged[0]}, {in_parts:.1f} s"
    )
    if given.no_whole:
        return
    start = time.monotonic()
    whole = _asked("prove", *states, "--format", "json")
    alone = time.monotonic() - start
    same = merged[0] == whole[0] and _told(merged[1]) == _told(whole[1])
    print(f"one process: exit code {whole[0]}, {alone:.1f} s; the same answer: {same}")
    sys.exit(0 if same else 1)


def _asked(*words: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "kumamigrate", *words], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout


def _told(report: str) -> dict[str, tuple[str, list[str]]]:
    claims = json.loads(report)["claims"]
    return {
        name: (claim["verdict"], sorted(map(json.dumps, claim["dataplanes"].values())))
        for name, claim in claims.items()
    }


if __name__ == "__main__":
    main()
