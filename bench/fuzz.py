"""Tries hostile inputs for as long as one likes: `python bench/fuzz.py [SECONDS] [SEED] [quick]`.

With `quick` nothing is proven or written: what rules would write is read again, many times as fast.
`python bench/fuzz.py many [FILES] [SEED] [AT ONCE]` tries so many files, a hundred of them as one
repository at a time: check, dry run, run, the patch, a second run. Where that fails, files are left
out until no more can be, and those that are left are printed.
The laws and the inputs are those of `tests/fuzz`, which holds a few at each run of the tests. What
fails is printed with the seed and the input that `tests/fuzz/inputs.py` made of it.
"""

from __future__ import annotations

import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.fuzz import inputs, laws

Files = Mapping[str, bytes]


def _try(folder: Path, seed: int, *, quick: bool) -> None:
    chance = random.Random(seed)
    if quick:
        text = inputs.damaged(chance.choice(inputs.BASES), seed)
        laws.plans_without_faults(text.encode("utf-8", "surrogatepass"))
        return
    if seed % 10 == 0:
        laws.takes_words(folder, chance.choices(inputs.WORDS, k=chance.randint(1, 6)))
        return
    text = inputs.damaged(chance.choice(inputs.BASES), seed)
    law = laws.writes_what_it_says if seed % 3 else laws.reads_without_touching
    law(folder, text.encode("utf-8", "surrogatepass"))


def main(seconds: float, seed: int, *, quick: bool = False) -> int:
    """Try seeds from one on until the time is over; return how many failed."""
    failed, end = 0, time.monotonic() + seconds
    first = seed
    with tempfile.TemporaryDirectory() as name:
        while time.monotonic() < end:
            try:
                _try(Path(name), seed, quick=quick)
            except Exception as error:
                failed += 1
                print(f"seed {seed}: {type(error).__name__}: {str(error)[:600]}", flush=True)
            seed += 1
    print(f"{seed - first} inputs from seed {first}, {failed} failed")
    return min(failed, 1)


def many(number: int, seed: int, at_once: int) -> int:
    """Try so many files, repository by repository from a seed on; return whether one failed.

    One repository in ten is on its way to 3.0, which takes many times as long.
    """
    signal.signal(signal.SIGPROF, _too_long)
    tried, failed = 0, Counter[str]()
    with tempfile.TemporaryDirectory() as name:
        while tried < number:
            target = "2.14" if seed % 10 else "3.0"
            law = laws.writes_a_repository if seed % 4 else laws.leaves_a_repository_alone

            def fault(files: Files, target: str = target, law: Law = law) -> str:
                return _fault(lambda: law(Path(name), files, target), len(files))

            files: Files = inputs.repository(at_once, seed)
            said = fault(files)
            if said:
                failed[said.partition(" ")[0]] += 1
                few = _fewest(files, lambda files: bool(fault(files)))
                print(f"seed {seed}, {law.__name__}, {target}: {fault(few) or said}", flush=True)
                for path, data in few.items() if len(few) < 5 else ():
                    print(f"--- {path}\n{data.decode(errors='replace')}", flush=True)
            tried += at_once
            seed += 1
            if seed % 10 == 0 or said:
                spent = time.process_time()
                print(f"{tried} files, {failed.total()} failures, {spent:.0f} s", flush=True)
    print(f"{tried} files, in repositories of {at_once}; failures: {dict(failed) or 'none'}")
    return int(bool(failed))


Law = Callable[[Path, Files, str], None]


def _fault(act: Callable[[], None], number: int) -> str:
    """Return what is wrong, or nothing. What takes a second of work a file is taken to hang."""
    signal.setitimer(signal.ITIMER_PROF, 60 + number)
    try:
        act()
    except Exception as error:
        return f"{type(error).__name__} {str(error)[:600]}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return ""


def _too_long(_number: int, _frame: object) -> None:
    raise TimeoutError


def _fewest(files: Files, fails: Callable[[Files], bool]) -> Files:
    """Return as few of files that fail together as can be found by leaving out parts."""
    part = len(files) // 2
    while part:
        names = list(files)
        for at in range(0, len(names), part):
            less = {name: files[name] for name in files if name not in names[at : at + part]}
            if less and fails(less):
                files = less
        part = min(part // 2, len(files) // 2)
    return files


if __name__ == "__main__":
    if sys.argv[1:2] == ["many"]:
        asked = [int(word) for word in sys.argv[2:]]
        sys.exit(many(*asked, *(100_000, 0, 100)[len(asked) :]))
    given = [float(word) for word in sys.argv[1:] if word != "quick"]
    first = int(given[1]) if len(given) > 1 else 0
    sys.exit(main(given[0] if given else 60, first, quick="quick" in sys.argv))
