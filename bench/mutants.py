"""Seeds faults and counts which the tests notice.

`bench/mutants.py watch [WORD…]` runs all tests once, or those that words for pytest name, and notes
which statements each one runs, and how long it takes. `bench/mutants.py try [NUMBER] [SEED]
[ROOM…]` seeds so many faults in each room and runs the tests that run the statement, until one
fails: first those in files that name the module, then the quickest. What survives is a place that
no test looks at, or a fault that changes nothing; each is printed with its line to be looked at.
`bench/mutants.py again PATH:LINE:NUMBER…` tries faults that are known once more, with all tests
that run the statement, however long.
"""

from __future__ import annotations

import json
import os
import pickle
import random
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from faults import Fault, choose, faults_of, users_of

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".mutants"
PACKAGE = "kumamigrate"
ROOMS = (
    "targetref",
    "sourcedest",
    "effective",
    "universe",
    "prover",
    "rewrite",
    "rewrite/sourcedest",
    "admit",
    "model",
    "flow",
    "deployment",
)
SECONDS = 90
"""So long may the tests of one fault take together; what is dearer is not asked."""
PATIENCE = 10
"""A test hangs when it takes so many times what it takes otherwise, and a while."""
WHILE = 20.0
FRESH = 60
"""So many tests are asked of a fault in a table, which needs a pytest of its own."""
PLAIN = ("-p", "no:cacheprovider", "-p", "no:xdist", "-q", "-s")
NOTICED = ("failed", "hangs", "dies")


@dataclass(frozen=True)
class Watched:
    """What tests take, and which run which lines of which module."""

    seconds: dict[str, float]
    running: dict[str, dict[str, bytes]]

    def of(self, path: str, line: int) -> list[str]:
        """Return the tests that run a line of a module, the quickest first."""
        ran = self.running.get(path, {})
        return self._sorted(test for test, marks in ran.items() if _is_marked(marks, line))

    def naming(self, fault: Fault) -> list[str]:
        """Return the tests that run what names the table a fault is in, the quickest first."""
        ran: set[str] = set()
        for path, line in users_of(fault, ROOT / PACKAGE):
            ran.update(self.of(path.relative_to(ROOT).as_posix(), line))
        return self._sorted(ran)

    def all_of(self, path: str) -> list[str]:
        """Return the tests that run anything of a module, the quickest first.

        What is a table alone runs nothing: there it is those of its whole folder.
        """
        folder = path.rpartition("/")[0]
        beside = {test for p, ran in self.running.items() if p.startswith(folder) for test in ran}
        return self._sorted(self.running.get(path) or beside)

    def _sorted(self, tests: Iterable[str]) -> list[str]:
        return sorted(tests, key=lambda test: (self.seconds[test], test))


def _is_marked(marks: bytes, line: int) -> bool:
    return line // 8 < len(marks) and bool(marks[line // 8] >> line % 8 & 1)


def watch(*words: str) -> int:
    """Run all tests, or those that pytest's words name, and note what they run."""
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.pickle"):
        old.unlink()
    rooms = ",".join(f"{PACKAGE}.{room.replace('/', '.')}" for room in ROOMS)
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "KUMAMIGRATE_WATCHED": rooms,
        "KUMAMIGRATE_WATCH": str(FOLDER),
    }
    spread = ("-n", "auto", "--dist", "worksteal", "-p", "no:cacheprovider")
    command = [sys.executable, "-m", "pytest", "-p", "bench.watched", *spread, *words]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def _watched() -> Watched:
    seconds: dict[str, float] = {}
    running: dict[str, dict[str, bytes]] = defaultdict(dict)
    for file in sorted(FOLDER.glob("*.pickle")):
        for test, taken, lines in pickle.loads(file.read_bytes()):
            seconds[test] = taken
            for path, marks in lines.items():
                running[path][test] = marks
    if not seconds:
        sys.exit("bench/mutants.py: run `bench/mutants.py watch` first")
    return Watched(seconds, dict(running))


def _asked(fault: Fault, watched: Watched, seconds: float) -> list[str]:
    """Return the tests of a fault: those that run its line, or what names its table."""
    path = fault.path.relative_to(ROOT).as_posix()
    if fault.function:
        tests = watched.of(path, fault.mark)
    else:
        tests = _few_files(watched.naming(fault) or watched.all_of(path))
    chosen, left = [], seconds
    for test in _about_first(tests, path):
        left -= watched.seconds[test]
        if chosen and left < 0:
            break
        chosen.append(test)
    return chosen


def _about_first(tests: Iterable[str], path: str) -> list[str]:
    """Return tests in their order, but first those of files that name a module."""
    module = path.removesuffix(".py").replace("/", ".")
    return sorted(tests, key=lambda test: not _names(test.split("::")[0], module))


@cache
def _names(file: str, module: str) -> bool:
    """Say whether a file of tests imports a module, or is called after it."""
    short = module.rpartition(".")[2]
    return short in file or module in (ROOT / file).read_text(encoding="utf-8")


def _few_files(tests: Sequence[str]) -> list[str]:
    """Return some tests of a few files: what is collected costs more than what is run.

    They are those with most tests, and those with fewest, which are about little else.
    """
    by_file: dict[str, list[str]] = defaultdict(list)
    for test in tests:
        by_file[test.split("::")[0]].append(test)
    widest = sorted(by_file.values(), key=len, reverse=True)
    chosen = widest[:8] + widest[8:][-8:]
    return [test for listed in chosen for test in listed[:FRESH]]


def _plan(fault: Fault, tests: Sequence[str], watched: Watched) -> dict[str, Any]:
    limits = [(test, PATIENCE * watched.seconds[test] + WHILE) for test in tests]
    path = fault.path.relative_to(ROOT).as_posix()
    said = {"path": path, "number": fault.number, "function": fault.function}
    return {**said, "tests": limits}


def _run(name: str, plan: list[dict[str, Any]], fresh: str = "") -> list[dict[str, Any]]:
    """Try faults in one pytest; return what came of each."""
    file = FOLDER / f"{name}.json"
    came = file.with_suffix(".came")
    came.unlink(missing_ok=True)
    file.write_text(json.dumps(plan), encoding="utf-8")
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "KUMAMIGRATE_FAULTS": str(file),
        "KUMAMIGRATE_FAULT": fresh,
    }
    files = sorted({test.split("::")[0] for fault in plan for test, _ in fault["tests"]})
    command = [sys.executable, "-m", "pytest", "-p", "bench.mutated", *PLAIN, *files]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if not came.exists():
        # With its table at fault the package cannot even be imported; without one, we are.
        first = plan[0]
        if not fresh:
            sys.exit(done.stdout[-3000:] + done.stderr[-3000:])
        return [{**first, "how": "dies", "test": "(import)", "seconds": 0, "asked": 0}]
    return [json.loads(line) for line in came.read_text(encoding="utf-8").splitlines()]


def tried(faults: Sequence[Fault], watched: Watched, seconds: float) -> list[tuple[Fault, str]]:
    """Return for each fault what noticed it, empty where nothing did; printed as it comes."""
    results: dict[Fault, str] = {}
    asked = {fault: _asked(fault, watched, seconds) for fault in faults}
    inside = [fault for fault in faults if fault.function and asked[fault]]
    known = {(f.path.relative_to(ROOT).as_posix(), f.number): f for f in faults}
    again = [fault for fault in faults if not fault.function and asked[fault]]
    if inside:
        for came in _run("inside", [_plan(f, asked[f], watched) for f in inside]):
            fault = known[came["path"], came["number"]]
            if came["how"] == "cannot":
                again.append(fault)
            else:
                results[fault] = _told(fault, came)
    for fault in again:
        path = fault.path.relative_to(ROOT).as_posix()
        some = _few_files(asked[fault])
        (came,) = _run("fresh", [_plan(fault, some, watched)], f"{path}={fault.number}")
        results[fault] = _told(fault, came)
    for fault in faults:
        if not asked[fault]:
            results[fault] = _told(fault, {"how": "passed", "asked": 0, "seconds": 0})
    return [(fault, results[fault]) for fault in faults]


def _told(fault: Fault, came: dict[str, Any]) -> str:
    noticed = f"{came['how']}: {came['test']}" if came["how"] in NOTICED else ""
    where = f"{fault.path.relative_to(ROOT)}:{fault.line}:{fault.number}"
    print(f"{'noticed ' if noticed else 'SURVIVED'}  {where}  {fault.sort}: {fault.said}")
    print(f"          {noticed or came['how']}  ({came['asked']} tests, {came['seconds']:.0f} s)")
    sys.stdout.flush()
    return noticed


def seed(number: int, chance: int, *rooms: str) -> int:
    """Seed faults in each room, print what became of each, and of all by room."""
    watched = _watched()
    chosen: dict[str, list[Fault]] = {}
    for room in rooms or ROOMS:
        modules = sorted((ROOT / PACKAGE / room).rglob("*.py"))
        chosen[room] = choose(modules, number, random.Random(chance))
    came = tried([fault for room in chosen.values() for fault in room], watched, SECONDS)
    noticed = Counter(room for room in chosen for f, by in came if by and f in chosen[room])
    for room, faults in chosen.items():
        print(f"{room:20} {len(faults):4} seeded {noticed[room]:4} noticed")
    print(f"{noticed.total()} of {len(came)} noticed, seed {chance}")
    return int(noticed.total() < len(came))


def again(*named: str) -> int:
    """Try known faults with every test that runs their line."""
    faults = []
    for one in named:
        path, _, number = one.split(":")
        faults += [f for f in faults_of(ROOT / path) if f.number == int(number)]
    came = tried(faults, _watched(), float("inf"))
    return int(not all(noticed for _, noticed in came))


def main(words: Sequence[str]) -> int:
    """Do what the first word says."""
    what, *rest = words or ("",)
    if what == "watch":
        return watch(*rest)
    if what == "again":
        return again(*rest)
    if what == "try":
        number, chance, *rooms = [*rest, *("20", "0")[len(rest) :]]
        return seed(int(number), int(chance), *rooms)
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
