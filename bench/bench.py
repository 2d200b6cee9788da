"""Measures kumamigrate against plain Python and its peers: `python bench/bench.py`.

Everything runs as a fresh process on generated files below a temporary folder, best of N; only
ratios within one run mean anything. Seconds are of processor time, user and system: all of it is
single-threaded, and other work on the machine disturbs that least. Peers are measured where they
are installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from repository import make_repository

FLOOR = """
import os, sys
found, pending = 0, [sys.argv[1]]
while pending:
    with os.scandir(pending.pop()) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                pending.append(entry.path)
            else:
                with open(entry.path, "rb") as file:
                    found += b"kuma.io" in file.read()
"""
"""Plain Python: read all files, search each for Kuma's name."""

LOAD = """
import pathlib, sys, yaml
for path in pathlib.Path(sys.argv[1]).rglob("*.yaml"):
    text = path.read_text()
    if "kuma.io" in text or "type:" in text:
        list(yaml.load_all(text, Loader=yaml.CSafeLoader))
"""

ROUND_TRIP = """
import pathlib, sys
from ruamel.yaml import YAML
for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.yaml"))[:500]:
    text = path.read_text()
    if "kuma.io" in text:
        list(YAML().load_all(text))
"""

SHARES = {"mixed": (0.05, 0.25), "fifth": (0.2, 0.25), "kuma": (1.0, 0.0)}
"""Which part of the files is Kuma's, and which workloads, by the name of the repository."""
KUBECONFORM = "kubeconform"
COMMAND = (sys.executable, "-m", "kumamigrate")
MESHES = ((2_000, 200, 400, 40), (10_000, 500, 1_000, 100))


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table; `goal` is the most that seconds or ratio may be."""

    name: str
    seconds: float
    ratio: float | None = None
    goal: str = ""
    met: bool | None = None


def main() -> None:
    """Measure and print two tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--best-of", type=int, default=5)
    parser.add_argument("--no-meshes", action="store_true", help="leave out the proofs")
    parser.add_argument("--no-run", action="store_true", help="leave out run --dry-run")
    parser.add_argument(
        "--only", nargs="*", default=SHARES, choices=SHARES, help="these repositories; default: all"
    )
    parser.add_argument("--no-files", action="store_true", help="leave out the repositories")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PYTHONPYCACHEPREFIX"] = str(Path(folder) / "cache")
        os.environ["XDG_CACHE_HOME"] = str(Path(folder) / "kept")
        os.environ["XDG_STATE_HOME"] = str(Path(folder) / "state")
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        if not given.no_files:
            _print(list(_repositories(Path(folder), given)))
    if not given.no_meshes:
        _proofs()


def _repositories(folder: Path, given: argparse.Namespace) -> Iterator[Row]:
    files, best_of = given.files, given.best_of
    mixed, kuma = folder / "mixed", folder / "kuma"
    for name in {**dict.fromkeys(given.only), "kuma": None}:
        root, (share, workloads) = folder / name, SHARES[name]
        root.mkdir()
        size = make_repository(root, files=files, kuma=share, workloads=workloads)
        print(f"{root.name}: {files} files, {size / 1e6:.1f} MB, {share:.0%} Kuma's")
    one = next(p for p in sorted(kuma.rglob("file-*.yaml")))
    start = _best(best_of, [sys.executable, "-c", "pass"])
    yield Row(name="interpreter start", seconds=start)
    yield Row(name="kumamigrate --version", seconds=_best(best_of, [*COMMAND, "--version"]))
    hook = _best(best_of, [*COMMAND, "check", str(one)], folder=kuma)
    yield Row(name="hook: check of one file", seconds=hook, goal="0.15 s", met=hook <= 0.15)
    for root in (folder / name for name in given.only):
        floor = _best(best_of, [sys.executable, "-c", FLOOR, str(root)])
        yield Row(name=f"{root.name}: Python reads and searches", seconds=floor, ratio=1)
        check = _best(best_of, [*COMMAND, "check", "--no-cache"], folder=root)
        ratio = check / floor
        goal = "4 x" if root is not kuma else ""
        met = ratio <= 4 if goal else None
        yield Row(name=f"{root.name}: check", seconds=check, ratio=ratio, goal=goal, met=met)
        again = _best(best_of, [*COMMAND, "check"], folder=root)
        goal, met = "0.3 checks", again <= check * 0.3
        ratio = again / floor
        yield Row(
            name=f"{root.name}: the same check again",
            seconds=again,
            ratio=ratio,
            goal=goal,
            met=met,
        )
        for name, command in _peers(root):
            if command is None:
                print(f"{root.name}: {name} is not installed, and not measured")
                continue
            seconds = _best(1, command, folder=root)
            goal, met = "", None
            if name == KUBECONFORM:  # the goal is about the check beside it
                goal, met = "2 checks", check <= seconds / 2
            ratio = seconds / floor
            yield Row(name=f"{root.name}: {name}", seconds=seconds, ratio=ratio, goal=goal, met=met)
    if given.no_run or "mixed" not in given.only:
        return
    floor = _best(best_of, [sys.executable, "-c", FLOOR, str(mixed)])
    dry = _best(1, [*COMMAND, "run", "--dry-run"], folder=mixed)
    yield Row(name="mixed: run --dry-run", seconds=dry, ratio=dry / floor)


def _peers(root: Path) -> Iterator[tuple[str, list[str] | None]]:
    """Yield peers with what runs them, None for one that is not installed."""
    yield "PyYAML's C loader on Kuma's files", [sys.executable, "-c", LOAD, str(root)]
    round_trip = [sys.executable, "-c", ROUND_TRIP, str(root)]
    there = importlib.util.find_spec("ruamel") is not None
    yield "ruamel.yaml on Kuma's among 500", round_trip if there else None
    # Without schemas at hand it parses and validates nothing: as quick as it can be.
    schemas = ["-schema-location", str(root / "{{.ResourceKind}}.json")]
    options = ["-ignore-missing-schemas", *schemas, "-n", str(os.cpu_count()), "."]
    yield KUBECONFORM, _found("kubeconform", *options)
    yield "yamlfmt -lint", _found("yamlfmt", "-lint", "-quiet", ".")
    yield "prettier --check", _found("prettier", "--check", "--log-level", "error", "**/*.yaml")


def _found(program: str, *options: str) -> list[str] | None:
    path = shutil.which(program)
    return None if path is None else [path, *options]


def _best(times: int, command: Sequence[str], *, folder: Path | None = None) -> float:
    """Return the least processor time; the first of several runs only warms up."""
    best = float("inf")
    for _ in range(times + 1 if times > 1 else 1):
        start = _spent()
        done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
        best = min(best, _spent() - start)
        failed = b"internal error" in done.stderr or done.returncode == 2
        if failed and command[: len(COMMAND)] == list(COMMAND):
            sys.exit(f"{' '.join(command)}: {done.stderr.decode()}")
    return best


def _spent() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _proofs() -> None:
    title = "mesh: proxies x services x policies"
    print(f"\n{title:44}{'claims':>14}{'equal':>9}{'changed':>9}{'x C load':>10}{'MiB':>7}")
    script = str(Path(__file__).parent / "mesh.py")
    for size in MESHES:
        for claims in ("live", "live,carry"):
            command = [sys.executable, script, *map(str, size), claims]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            found = json.loads(done.stdout)
            proxies, services, policies, routes = size
            name = f"{proxies:,} x {services} x {policies:,} ({routes} for routes)"
            times = f"{found['equal']:8.2f}s{found['mutated']:8.2f}s"
            ratio = f"{found['mutated'] / found['loaded']:10.1f}"
            print(f"{name:44}{claims:>14}{times}{ratio}{found['mebibytes']:7.0f}")


def _print(rows: Sequence[Row]) -> None:
    print(f"\n{'':40}{'seconds':>9}{'ratio':>8}{'goal':>12}")
    for row in rows:
        ratio = f"{row.ratio:.1f} x" if row.ratio is not None else ""
        met = "" if row.met is None else "  met" if row.met else "  missed"
        print(f"{row.name:40}{row.seconds:9.3f}{ratio:>8}{row.goal:>12}{met}")


if __name__ == "__main__":
    main()
