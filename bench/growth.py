"""How a check grows with the repository: `python bench/growth.py --plot docs/growth.svg`.

A fifth of the files are Kuma's, a quarter workloads. Each size is checked anew, then asked again
the same. Seconds are of processor time, memory is the most that was resident. A straight line in
the plot (both axes double) with the slope of the grey one is linear growth.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from math import floor, log10
from pathlib import Path

from repository import make_repository

SIZES = (100, 1_000, 10_000, 100_000)
KUMA, WORKLOADS = 0.2, 0.25
CHECK = """
import json, resource, sys
sys.argv = ["kumamigrate", "check"]
from kumamigrate.__main__ import main
try:
    main()
except SystemExit:
    pass
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss]), file=sys.stderr)
"""

Point = tuple[int, float, float, float]
"""Files, seconds anew, seconds again, MiB."""


def main() -> None:
    """Measure a check of each size, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--plot", type=Path, help="write the plot to this SVG file")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        _measured(Path(folder) / "once", SIZES[0])  # Python compiles what is new to it
        points = [_measured(Path(folder) / str(size), size) for size in given.sizes]
    print(table(points))
    if given.plot is not None:
        given.plot.write_text(plot(points), encoding="utf-8")


def _measured(root: Path, size: int) -> Point:
    (root / "repository").mkdir(parents=True)
    make_repository(root / "repository", files=size, kuma=KUMA, workloads=WORKLOADS)
    (root / "repository" / "kumamigrate.toml").touch()
    seconds, mebibytes = _check(root)
    again, _ = _check(root)
    return size, seconds, again, mebibytes


def _check(root: Path) -> tuple[float, float]:
    kept = {"XDG_CACHE_HOME": str(root / "kept"), "XDG_STATE_HOME": str(root / "state")}
    done = subprocess.run(
        [sys.executable, "-c", CHECK],
        cwd=root / "repository",
        env={**os.environ, **kept},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    seconds, kibibytes = (float(n) for n in done.stderr.splitlines()[-1].strip("[]").split(","))
    return seconds, kibibytes / 1024


def table(points: Sequence[Point]) -> str:
    """Return one line a size: what it took, and what each file did."""
    lines = [f"{'files':>9}{'seconds':>10}{'ms a file':>11}{'again':>9}{'ratio':>7}{'MiB':>7}"]
    lines += [
        f"{files:>9,}{seconds:>10.2f}{seconds / files * 1000:>11.2f}{again:>9.2f}"
        f"{again / seconds:>7.2f}{mebibytes:>7.0f}"
        for files, seconds, again, mebibytes in points
    ]
    return "\n".join(lines) + "\n"


WIDTH, HEIGHT, EDGE = 480, 320, 48
INK = (("anew", "#2266aa"), ("again", "#228855"))


def plot(points: Sequence[Point]) -> str:
    """Return the seconds by size as a picture, both axes logarithmic, with a line of slope 1."""
    sizes = [one[0] for one in points]
    times = [time for one in points for time in one[1:3]]
    across = _scale(sizes, EDGE, WIDTH - EDGE)
    up = _scale([10.0 ** floor(log10(min(times))), max(times) * 1.5], HEIGHT - EDGE, EDGE // 2)
    _, last, _, _ = points[-1]
    slope = [(across(n), up(max(last * n / sizes[-1], 10.0 ** floor(log10(min(times))))))
             for n in sizes]  # fmt: skip
    parts = [_line(slope, "#bbbbbb"), _text(WIDTH - EDGE, HEIGHT - 8, "files", "end")]
    parts += [_text(across(n), HEIGHT - EDGE + 16, f"{n:,}", "middle") for n in sizes]
    for at, (name, ink) in enumerate(INK, start=1):
        line = [(across(one[0]), up(one[at])) for one in points]
        parts += [_line(line, ink), *(_dot(x, y, ink) for x, y in line)]
        parts += [
            _text(x, y - 8, f"{one[at]:.2f} s", "middle", ink)
            for (x, y), one in zip(line, points, strict=True)
        ]
        parts.append(_text(EDGE, 14 * at, f"checked {name}", "start", ink))
    inner = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
        f' aria-label="seconds of a check by number of files">\n{inner}\n</svg>\n'
    )


def _scale(values: Sequence[float], first: int, last: int) -> Callable[[float], float]:
    low, high = log10(min(values)), log10(max(values))
    return lambda value: first + (log10(value) - low) / ((high - low) or 1) * (last - first)


def _line(points: Sequence[tuple[float, float]], ink: str) -> str:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{path}" fill="none" stroke="{ink}" stroke-width="1.5"/>'


def _dot(x: float, y: float, ink: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{ink}"/>'


def _text(x: float, y: float, text: str, anchor: str, ink: str = "#555555") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-family="sans-serif" font-size="11"'
        f' text-anchor="{anchor}" fill="{ink}">{text}</text>'
    )


if __name__ == "__main__":
    main()
