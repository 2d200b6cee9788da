"""How a check grows with the repository: `python bench/growth.py`, a table and a plot.

A fifth of the files are Kuma's, a quarter workloads. Seconds are of processor time, and memory is
the most that was resident. A straight line in the plot (both axes double) is linear growth.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from repository import make_repository

SIZES = (100, 1_000, 10_000, 100_000)
KUMA, WORKLOADS = 0.2, 0.25
WIDTH = 48
CHECK = """
import json, resource, sys
sys.argv = ["kumamigrate", "check", "--format", "json"]
from kumamigrate.__main__ import main
try:
    main()
except SystemExit:
    pass
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss]), file=sys.stderr)
"""

Point = tuple[int, float, float]
"""Files, seconds, MiB."""


def main() -> None:
    """Measure a check of each size, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        points = [_measured(Path(folder) / str(size), size) for size in given.sizes]
    print(table(points))
    print(plot(points))


def _measured(root: Path, size: int) -> Point:
    root.mkdir()
    make_repository(root, files=size, kuma=KUMA, workloads=WORKLOADS)
    (root / "kumamigrate.toml").touch()
    done = subprocess.run(
        [sys.executable, "-c", CHECK],
        cwd=root,
        env=os.environ,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    seconds, kibibytes = (float(n) for n in done.stderr.splitlines()[-1].strip("[]").split(","))
    return size, seconds, kibibytes / 1024


def table(points: Sequence[Point]) -> str:
    """Return one line a size: what it took, and what each file did."""
    lines = [f"{'files':>9}{'seconds':>10}{'ms a file':>11}{'MiB':>8}"]
    lines += [
        f"{files:>9,}{seconds:>10.2f}{seconds / files * 1000:>11.2f}{mebibytes:>8.0f}"
        for files, seconds, mebibytes in points
    ]
    return "\n".join(lines) + "\n"


def plot(points: Sequence[Point]) -> str:
    """Return the seconds as bars, each character twice as long as the one before."""
    least = min(seconds for _, seconds, _ in points)
    most = max(seconds for _, seconds, _ in points)
    lines = ["seconds, each column a factor:"]
    for files, seconds, _ in points:
        share = 1.0 if most == least else _log(seconds / least) / _log(most / least)
        lines.append(f"{files:>9,} |{'█' * max(1, round(share * WIDTH))} {seconds:.2f} s")
    return "\n".join(lines)


def _log(value: float) -> float:
    from math import log

    return log(value)


if __name__ == "__main__":
    main()
