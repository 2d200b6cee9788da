"""Seeds faults and counts which the tests notice: `bench/mutants.py [NUMBER] [SEED] [ROOM…]`.

One fault at a time is put into a module of the matchers, of what is effective or of the prover, in
memory only, and the tests of that room run until the first one fails. What survives is a place that
no test looks at, or a fault that changes nothing; each is printed with its line to be looked at.
A run takes long: a fault that survives costs all tests of its room.
"""

from __future__ import annotations

import ast
import copy
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROVING = (
    "tests/prove/test_settings.py",
    "tests/prove/test_old.py",
    "tests/prove",
    "tests/test_fixtures.py",
)
TESTS = {
    "targetref": ("tests/targetref", "tests/test_fixtures.py", "tests/prove"),
    "sourcedest": ("tests/sourcedest", "tests/prove"),
    "universe": PROVING,
    "effective": PROVING,
    "prover": PROVING,
}
"""By room the tests that should notice, the quickest first."""
SECONDS = 3000
"""What takes so long hangs: noticed as well."""

PLAIN = ("-p", "mutated", "-p", "no:cacheprovider")

COMPARED = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE,
    ast.GtE: ast.Gt, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
NAMED = {"any": "all", "all": "any", "min": "max", "max": "min"}


@dataclass(frozen=True)
class Fault:
    """One change of one module: where, what it says now, and its whole new source."""

    path: Path
    line: int
    said: str
    source: str


def _replacements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what may stand in the place of a node: the same but for one decision."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARED:
        other = copy.deepcopy(node)
        other.ops[0] = COMPARED[type(node.ops[0])]()
        yield other
    elif isinstance(node, ast.BoolOp):
        other = copy.deepcopy(node)
        other.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield other
        yield node.values[0]
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield ast.Constant(node.value + 1)
    elif isinstance(node, ast.Name) and node.id in NAMED and isinstance(node.ctx, ast.Load):
        yield ast.Name(NAMED[node.id], ast.Load())
    elif isinstance(node, ast.IfExp):
        yield node.body
        yield node.orelse
    elif isinstance(node, ast.If):
        for decided in (True, False):
            other = copy.deepcopy(node)
            other.test = ast.Constant(decided)
            yield other
    elif isinstance(node, ast.comprehension) and node.ifs:
        other = copy.deepcopy(node)
        other.ifs = other.ifs[1:]
        yield other
    elif isinstance(node, ast.Continue):
        yield ast.Break()
    elif isinstance(node, ast.AugAssign) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    ):
        yield ast.Pass()


def faults_of(path: Path) -> list[Fault]:
    """Return all faults that can be seeded in a module."""
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    found = []
    for parent in list(ast.walk(tree)):
        if isinstance(parent, ast.arguments | ast.Assert):
            continue
        for name, value in list(ast.iter_fields(parent)):
            if name in ("annotation", "returns", "decorator_list"):
                continue
            many = isinstance(value, list)
            for at, node in enumerate(value if many else [value]):
                if not isinstance(node, ast.AST):
                    continue
                put = _putter(parent, name, at if many else None)
                line = getattr(node, "lineno", getattr(parent, "lineno", 0))
                for other in _replacements(node):
                    found.append(_fault(tree, path, line, put, node, other))
    return found


def _putter(parent: ast.AST, name: str, at: int | None) -> Callable[[ast.AST], None]:
    def put(node: ast.AST) -> None:
        if at is None:
            setattr(parent, name, node)
        else:
            getattr(parent, name)[at] = node

    return put


def _fault(
    tree: ast.Module,
    path: Path,
    line: int,
    put: Callable[[ast.AST], None],
    node: ast.AST,
    other: ast.AST,
) -> Fault:
    put(other)
    ast.fix_missing_locations(tree)
    source = ast.unparse(tree)
    put(node)
    was, now = (ast.unparse(one).split("\n")[0][:60] for one in (node, other))
    return Fault(path, line, f"{was}  →  {now}", source)


def notices(fault: Fault, folder: Path) -> str:
    """Return the first test that fails with a fault in place, empty where none does."""
    changed = folder / fault.path.name
    changed.write_text(fault.source, encoding="utf-8")
    module = ".".join(fault.path.relative_to(ROOT).with_suffix("").parts)
    tests = TESTS[fault.path.relative_to(ROOT / "kumamigrate").parts[0]]
    environment = {
        **os.environ,
        "PYTHONPATH": f"{ROOT}{os.pathsep}{Path(__file__).parent}",
        "KUMAMIGRATE_MUTANT": f"{module}={changed}",
    }
    command = [sys.executable, "-m", "pytest", "-x", "-q", *PLAIN, *tests]
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "(hangs)"
    if done.returncode == 0:
        return ""
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed[0].split(" - ")[0] if failed else "(does not start)"


def main(number: int, seed: int, *named: str) -> int:
    """Seed faults, print what became of each and of all; return how many survived."""
    chance = random.Random(seed)
    rooms = [ROOT / "kumamigrate" / room for room in named or TESTS]
    modules = [path for room in rooms for path in sorted(room.rglob("*.py"))]
    every = [fault for path in modules for fault in faults_of(path)]
    survived = 0
    with tempfile.TemporaryDirectory() as folder:
        for fault in chance.sample(every, min(number, len(every))):
            noticed = notices(fault, Path(folder))
            survived += not noticed
            where = f"{fault.path.relative_to(ROOT)}:{fault.line}"
            print(f"{'noticed ' if noticed else 'SURVIVED'}  {where}  {fault.said}", flush=True)
            print(f"          {noticed}" if noticed else "", flush=True)
    print(f"{survived} of {min(number, len(every))} survived ({len(every)} places, seed {seed})")
    return survived


if __name__ == "__main__":
    number, seed, *rooms = [*sys.argv[1:], *("100", "0")[len(sys.argv) - 1 :]]
    sys.exit(min(main(int(number), int(seed), *rooms), 1))
