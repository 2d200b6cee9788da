"""Seeds faults and counts which the tests notice.

`bench/mutants.py watch` runs all tests once and notes which statements each one runs, and how long
it takes; with words for pytest it does so for some tests, and what it knows of others stays.
`bench/mutants.py try [NUMBER] [SEED] [ROOM…]` seeds so many faults in each room and runs the tests
that run the statement, until one fails: first those in files that name the module, then those of
its room and all others, of each file one in turn, at first some seconds long, then much longer.
What survives all of them is a place that no test looks at, or a fault that changes nothing; each
is printed with its line to be looked at. Where the time was not enough for all, that is counted
apart: nobody knows.
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
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
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
TESTED_IN = {"prover": "prove", "universe": "prove"}
"""The folders of tests that are not called as their rooms are."""
DEAR = 3
"""Who takes longer, in seconds, is asked after all others: in its time many of them are."""
SECONDS = 15
"""So long may the tests of one fault take together at first."""
LONGER = 150
"""So long may they take where nothing has noticed it by then; what is dearer is not asked."""
PATIENCE = 10
"""A test hangs when it takes so many times what it takes otherwise, and a while."""
WHILE = 20.0
CORES = os.cpu_count() or 1
PLAIN = ("-p", "no:cacheprovider", "-p", "no:xdist", "-q", "-s")
NOTICED = ("failed", "hangs", "dies")


@dataclass(frozen=True)
class Watched:
    """What tests take, how much they run, and which run which lines of which module."""

    seconds: dict[str, float]
    statements: Counter[str]
    running: dict[str, dict[str, bytes]]
    imported: dict[str, bytes]
    """What ran before the first test, by module."""

    def is_early(self, fault: Fault) -> bool:
        """Say whether a fault has to be there when modules are imported."""
        early = self.imported.get(_path(fault), b"")
        return fault.function is None or _is_marked(early, fault.mark)

    def of(self, path: str, line: int) -> list[str]:
        """Return the tests that run a line of a module, first those that run little else."""
        ran = self.running.get(path, {})
        return self._sorted(test for test, marks in ran.items() if _is_marked(marks, line))

    def naming(self, fault: Fault) -> list[str]:
        """Return the tests that run what names the table a fault is in, in that order."""
        ran: set[str] = set()
        for path, line in users_of(fault, ROOT / PACKAGE):
            ran.update(self.of(path.relative_to(ROOT).as_posix(), line))
        return self._sorted(ran)

    def all_of(self, path: str) -> list[str]:
        """Return the tests that run anything of a module, in that order.

        What is a table alone runs nothing: there it is those of its whole folder.
        """
        folder = path.rpartition("/")[0]
        beside = {test for p, ran in self.running.items() if p.startswith(folder) for test in ran}
        return self._sorted(self.running.get(path) or beside)

    def _sorted(self, tests: Iterable[str]) -> list[str]:
        return sorted(tests, key=lambda test: (self.statements[test], test))


def _is_marked(marks: bytes, line: int) -> bool:
    return line // 8 < len(marks) and bool(marks[line // 8] >> line % 8 & 1)


def watch(*words: str) -> int:
    """Run all tests, or those that pytest's words name, and note what they run."""
    FOLDER.mkdir(exist_ok=True)
    for old in () if words else FOLDER.glob("*.pickle"):
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
    imported: dict[str, bytes] = {}
    for file in sorted(FOLDER.glob("*.pickle"), key=lambda file: file.stat().st_mtime):
        for test, taken, lines in pickle.loads(file.read_bytes()):
            if not test:
                imported |= lines
                continue
            if test in seconds:  # it was asked again
                for ran in running.values():
                    ran.pop(test, None)
            seconds[test] = taken
            for path, marks in lines.items():
                running[path][test] = marks
    if not seconds:
        sys.exit("bench/mutants.py: run `bench/mutants.py watch` first")
    statements: Counter[str] = Counter()
    for ran in running.values():
        for test, marks in ran.items():
            statements[test] += int.from_bytes(marks, "little").bit_count()
    return Watched(seconds, statements, dict(running), imported)


def _asked(fault: Fault, watched: Watched) -> list[str]:
    """Return the tests of a fault: those that run its line, or what names its table."""
    path = _path(fault)
    if fault.function:
        tests = watched.of(path, fault.mark)
    else:
        tests = watched.naming(fault) or watched.all_of(path)
    return _spread(tests, path, watched)


def _spread(tests: Iterable[str], path: str, watched: Watched) -> list[str]:
    """Return tests in their order, but the dear ones last, and of either those about a module
    first, then those of its room, then all others, and of each file one in turn: what is alike
    fails to notice the same.
    """
    turns: Counter[str] = Counter()
    order: dict[str, tuple[bool, int, int]] = {}
    for test in tests:
        file = test.split("::")[0]
        turns[file] += 1
        order[test] = (watched.seconds[test] > DEAR, _distance(file, path), turns[file])
    return sorted(order, key=order.__getitem__)


@cache
def _distance(file: str, path: str) -> int:
    """Return 0 for tests that import a module or are called after it, 1 for those of its room."""
    module = path.removesuffix(".py").replace("/", ".")
    short = module.rpartition(".")[2]
    if short in file or module in (ROOT / file).read_text(encoding="utf-8"):
        return 0
    room = module.split(".")[1]
    return 1 if file.startswith(f"tests/{TESTED_IN.get(room, room)}/") else 2


def _within(tests: Sequence[str], watched: Watched, seconds: float) -> list[str]:
    """Return as many of the first tests as take so long, and one at least."""
    taken = list(accumulate(watched.seconds[test] for test in tests))
    return list(tests[: max(1, bisect(taken, seconds))])


def _plan(fault: Fault, tests: Sequence[str], watched: Watched) -> dict[str, Any]:
    limits = [(test, PATIENCE * watched.seconds[test] + WHILE) for test in tests]
    said = {"path": _path(fault), "number": fault.number, "function": fault.function}
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


def tried(
    faults: Sequence[Fault], watched: Watched, seconds: float, after: float = 0
) -> dict[Fault, str]:
    """Return for each fault what noticed it, empty where nothing did; printed as it comes.

    Those tests are asked that take so many seconds, without the first, that were asked before.
    """
    results: dict[Fault, str] = {}
    asked = {}
    for fault in faults:
        tests = _asked(fault, watched)
        before = len(_within(tests, watched, after)) if after else 0
        asked[fault] = _within(tests, watched, seconds)[before:]
    known = {(_path(fault), fault.number): fault for fault in faults}

    def note(came: dict[str, Any]) -> None:
        fault = known[came["path"], came["number"]]
        results[fault] = _told(fault, came)

    def inside(at: int) -> list[Fault]:
        mine = [f for f in faults if asked[f] and not watched.is_early(f)][at::CORES]
        if not mine:
            return []
        came = _run(f"inside-{at}", [_plan(f, asked[f], watched) for f in mine])
        for one in came:
            if one["how"] != "cannot":
                note(one)
        return [known[one["path"], one["number"]] for one in came if one["how"] == "cannot"]

    def anew(fault: Fault) -> None:
        named = f"{_path(fault)}={fault.number}"
        (came,) = _run(f"fresh-{known_at[fault]}", [_plan(fault, asked[fault], watched)], named)
        note(came)

    known_at = {fault: at for at, fault in enumerate(faults)}
    with ThreadPoolExecutor(CORES) as pool:
        again = [fault for cannot in pool.map(inside, range(CORES)) for fault in cannot]
        again += [fault for fault in faults if asked[fault] and watched.is_early(fault)]
        list(pool.map(anew, again))
    for fault in faults:
        if not asked[fault]:
            results[fault] = _told(fault, {"how": "passed", "asked": 0, "seconds": 0})
    return results


def _path(fault: Fault) -> str:
    return fault.path.relative_to(ROOT).as_posix()


def _where(fault: Fault) -> str:
    return f"{_path(fault)}:{fault.line}:{fault.number}"


def _told(fault: Fault, came: dict[str, Any]) -> str:
    noticed = f"{came['how']}: {came['test']}" if came["how"] in NOTICED else ""
    print(
        f"{'noticed ' if noticed else 'SURVIVED'}  {_where(fault)}  {fault.sort}: {fault.said}\n"
        f"          {noticed or came['how']}  ({came['asked']} tests, {came['seconds']:.0f} s)",
        flush=True,
    )
    return noticed


def seed(number: int, chance: int, *rooms: str) -> int:
    """Seed faults in each room, print what became of each, and of all by room."""
    watched = _watched()
    chosen: dict[str, list[Fault]] = {}
    for room in rooms or ROOMS:
        modules = sorted((ROOT / PACKAGE / room).rglob("*.py"))
        chosen[room] = choose(modules, number, random.Random(chance))
    all_ = [fault for room in chosen.values() for fault in room]
    came = tried(all_, watched, SECONDS)
    left = [fault for fault in all_ if not came[fault]]
    print(f"{len(left)} of {len(all_)} are tried once more, with all tests", flush=True)
    came |= tried(left, watched, LONGER, after=SECONDS)
    open_ = {f for f in all_ if not came[f] and _is_left(_asked(f, watched), watched)}
    total = Counter[str]()
    for room, faults in chosen.items():
        found = Counter(
            "noticed" if came[f] else "not asked to the end" if f in open_ else "survived"
            for f in faults
        )
        total += found
        print(f"{room:20} {len(faults):4} seeded {found['noticed']:4} noticed")
    print(
        f"of {len(all_)}, seed {chance}: " + ", ".join(f"{n} {what}" for what, n in total.items())
    )
    if open_:
        print("bench/mutants.py again", *(_where(f) for f in all_ if f in open_))
    return int(total["noticed"] < len(all_))


def _is_left(tests: Sequence[str], watched: Watched) -> bool:
    """Say whether some tests were too dear to be asked."""
    return len(_within(tests, watched, LONGER)) < len(tests)


def again(*named: str) -> int:
    """Try known faults with every test that runs their line."""
    faults = []
    for one in named:
        path, _, number = one.split(":")
        faults += [f for f in faults_of(ROOT / path) if f.number == int(number)]
    came = tried(faults, _watched(), float("inf"))
    return int(not all(came.values()))


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
