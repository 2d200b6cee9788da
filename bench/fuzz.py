"""Tries hostile inputs for as long as one likes: `python bench/fuzz.py [SECONDS] [SEED] [quick]`.

With `quick` nothing is proven or written: what rules would write is read again, many times as fast.
The laws and the inputs are those of `tests/fuzz`, which holds a few at each run of the tests. What
fails is printed with the seed and the input that `tests/fuzz/inputs.py` made of it.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.fuzz import inputs, laws


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


if __name__ == "__main__":
    given = [float(word) for word in sys.argv[1:] if word != "quick"]
    first = int(given[1]) if len(given) > 1 else 0
    sys.exit(main(given[0] if given else 60, first, quick="quick" in sys.argv))
