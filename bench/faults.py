"""The faults that mutants.py seeds: what may stand in the place of what, and a fair choice of them.

A fault is one decision of one module taken otherwise: a comparison, a boundary, a condition, a
branch, a constant, the order of two arguments, an element of a table, a call without a result.
"""

from __future__ import annotations

import ast
import copy
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

COMPARED = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE,
    ast.GtE: ast.Gt, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
NAMED = {"any": "all", "all": "any", "min": "max", "max": "min"}
WORD = re.compile(r"[A-Za-z][A-Za-z0-9_./-]{0,40}")
"""A text that is a key or a kind, and no sentence."""
SAYS = frozenset(
    {"Doubt", "Finding", "ValueError", "TypeError", "AssertionError", "assert_never", "TypeVar"}
)
"""Calls whose order of arguments types hold."""


@dataclass(frozen=True)
class Fault:
    """One decision of one module taken otherwise.

    `number` counts the faults of a module, `mark` is the line of the statement without which it
    shows nothing: the one it belongs to, or the first of a block that it leaves out. `function` is
    the outermost function around it: name and first line, None in a table or a class.
    """

    path: Path
    number: int
    line: int
    mark: int
    function: tuple[str, int] | None
    sort: str
    said: str


@dataclass(frozen=True)
class _Place:
    mark: int = 0
    names: tuple[str, ...] = ()
    function: tuple[str, int] | None = None


_Put = Callable[[ast.AST], None]


def _decided(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield what may stand in the place of a node, by the sort of fault."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARED:
        other = copy.deepcopy(node)
        other.ops[0] = COMPARED[type(node.ops[0])]()
        yield "comparison", other
    elif isinstance(node, ast.BoolOp):
        other = copy.deepcopy(node)
        other.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield "condition", other
        yield "condition", node.values[0]
        yield "condition", node.values[-1]
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "condition", node.operand
    elif isinstance(node, ast.Name) and node.id in NAMED and isinstance(node.ctx, ast.Load):
        yield "condition", ast.Name(NAMED[node.id], ast.Load())
    elif isinstance(node, ast.IfExp):
        yield "branch", node.body
        yield "branch", node.orelse
    elif isinstance(node, ast.If):
        for decided in (True, False):
            other = copy.deepcopy(node)
            other.test = ast.Constant(decided)
            yield "branch", other
    elif isinstance(node, ast.comprehension) and node.ifs:
        other = copy.deepcopy(node)
        other.ifs = other.ifs[1:]
        yield "branch", other
    elif isinstance(node, ast.Match):
        for at in range(len(node.cases)):
            other = copy.deepcopy(node)
            del other.cases[at]
            yield "branch", other if other.cases else ast.Pass()
    elif isinstance(node, ast.Continue):
        yield "branch", ast.Break()
    elif isinstance(node, ast.Constant):
        yield from _otherwise(node)
    elif isinstance(node, ast.AugAssign) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call | ast.Yield | ast.YieldFrom)
    ):
        yield "call", ast.Pass()
    elif isinstance(node, ast.Call):
        yield from _swapped(node)
    elif isinstance(node, ast.Dict | ast.Tuple | ast.List | ast.Set):
        yield from _shortened(node)


def _otherwise(node: ast.Constant) -> Iterator[tuple[str, ast.AST]]:
    value = node.value
    if isinstance(value, bool):
        yield "constant", ast.Constant(not value)
    elif isinstance(value, int):
        yield "constant", ast.Constant(value + 1)
    elif isinstance(value, str) and WORD.fullmatch(value):
        yield "constant", ast.Constant(value + "x")


def _swapped(node: ast.Call) -> Iterator[tuple[str, ast.AST]]:
    """Yield a call with two neighbouring arguments in the other order."""
    plain = all(not isinstance(one, ast.Starred) for one in node.args)
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if not plain or name in {"isinstance", "getattr", "cast", "replace", *SAYS}:
        return
    for at in range(len(node.args) - 1):
        first, second = node.args[at], node.args[at + 1]
        if _are_alike(first, second) and ast.dump(first) != ast.dump(second):
            other = copy.deepcopy(node)
            other.args[at], other.args[at + 1] = other.args[at + 1], other.args[at]
            yield "order", other


def _are_alike(first: ast.expr, second: ast.expr) -> bool:
    """Say whether two arguments may be of one type, so that types alone do not tell them apart."""
    if isinstance(first, ast.Attribute) and isinstance(second, ast.Attribute):
        return first.attr == second.attr
    return type(first) is type(second) and not isinstance(first, ast.Lambda)


def _shortened(node: ast.Dict | ast.Tuple | ast.List | ast.Set) -> Iterator[tuple[str, ast.AST]]:
    """Yield a table without one of its elements; what is unpacked has to keep its length."""
    if isinstance(node, ast.Dict):
        for at in range(len(node.keys) if len(node.keys) > 1 else 0):
            less = copy.deepcopy(node)
            del less.keys[at], less.values[at]
            yield "table", less
        return
    named = [e for e in node.elts if isinstance(e, ast.Constant | ast.Starred)]
    if len(node.elts) < 2 or len(named) < len(node.elts):
        return
    if not isinstance(node, ast.Set) and not isinstance(node.ctx, ast.Load):
        return
    for at in range(len(node.elts)):
        other = copy.deepcopy(node)
        del other.elts[at]
        yield "table", other


def _is_left_alone(node: ast.AST) -> bool:
    """Say whether a node decides nothing: what is said, asserted, imported or only for types."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
        return True
    if isinstance(node, ast.Assign) and "__all__" in ast.dump(node.targets[0]):
        return True
    if isinstance(node, ast.keyword) and node.arg in ("strict", "repr"):
        return True  # asserts that two lists are as long as each other; is for people
    silent = (ast.Assert, ast.Raise, ast.JoinedStr, ast.Import, ast.ImportFrom)
    inner = node.value if isinstance(node, ast.Expr) else node
    return isinstance(inner, silent) or (
        isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id in SAYS
    )


def _walk(parent: ast.AST, place: _Place) -> Iterator[tuple[_Place, _Put, ast.AST]]:
    """Yield every node that may be another, where it is, and what puts another in its place."""
    for name, value in ast.iter_fields(parent):
        if name in ("annotation", "returns", "decorator_list", "op", "ops", "ctx"):
            continue
        many = isinstance(value, list)
        for at, node in enumerate(value if many else [value]):
            if not isinstance(node, ast.AST) or _is_left_alone(node):
                continue
            here = _inside(node, place, parent)
            yield here, _putter(parent, name, at if many else None), node
            yield from _walk(node, here)


def _inside(node: ast.AST, place: _Place, parent: ast.AST) -> _Place:
    mark = node.lineno if isinstance(node, ast.stmt) else place.mark
    if isinstance(node, ast.arguments) and place.function == _named(parent, place.names):
        return _Place(mark, place.names)  # what goes without saying is worked out with the module
    if isinstance(node, ast.ClassDef) and place.function is None:
        return _Place(mark, (*place.names, node.name))
    if isinstance(node, ast.FunctionDef) and place.function is None:
        return _Place(mark, place.names, _named(node, place.names))
    return _Place(mark, place.names, place.function)


def _named(node: ast.AST, names: tuple[str, ...]) -> tuple[str, int] | None:
    """Return the name of a function, within classes, and its first line."""
    if not isinstance(node, ast.FunctionDef):
        return None
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    return ".".join((*names, node.name)), first


def _putter(parent: ast.AST, name: str, at: int | None) -> _Put:
    def put(node: ast.AST) -> None:
        if at is None:
            setattr(parent, name, node)
        else:
            getattr(parent, name)[at] = node

    return put


def _all(tree: ast.Module) -> Iterator[tuple[_Place, _Put, ast.AST, str, ast.AST]]:
    for place, put, node in _walk(tree, _Place()):
        for sort, other in _decided(node):
            yield place, put, node, sort, other


def faults_of(path: Path) -> list[Fault]:
    """Return all faults that can be seeded in a module."""
    found = []
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for number, (place, _, node, sort, other) in enumerate(_all(tree)):
        line = getattr(node, "lineno", place.mark)
        was, now = (_first_line(one) for one in (node, other))
        said = f"{was}  →  {now}"
        mark = _left_out(node, other) or place.mark
        found.append(Fault(path, number, line, mark, place.function, sort, said))
    return found


def _left_out(node: ast.AST, other: ast.AST) -> int:
    """Return the first line of the block that a fault leaves out, 0 where it leaves out none.

    Only who would run that can notice.
    """
    block: list[ast.stmt] = []
    if isinstance(node, ast.If) and isinstance(other, ast.If):
        never = isinstance(other.test, ast.Constant) and other.test.value is False
        block = node.body if never else []
    elif isinstance(node, ast.Match):
        kept = {ast.dump(case) for case in getattr(other, "cases", ())}
        block = next((c.body for c in node.cases if ast.dump(c) not in kept), [])
    return block[0].lineno if block else 0


def _first_line(node: ast.AST) -> str:
    said = ast.unparse(ast.fix_missing_locations(node)).split("\n")[0]
    return said if len(said) <= 90 else f"{said[:88]} …"


def users_of(fault: Fault, package: Path) -> Iterator[tuple[Path, int]]:
    """Yield the statements of functions that name the table a fault is in, and where they are.

    A table made of it counts as it does; so does what imports either.
    """
    tree = ast.parse(fault.path.read_text(encoding="utf-8"))
    names = _tables(tree, fault.mark)
    yield from ((fault.path, line) for line in _naming(tree, names))
    module = ".".join(fault.path.relative_to(package.parent).with_suffix("").parts)
    for path in sorted(package.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if module in text and path != fault.path:
            other = ast.parse(text)
            taken = {name for name in _imported(other, module) if name in names}
            yield from ((path, line) for line in _naming(other, taken))


def _tables(tree: ast.Module, line: int) -> set[str]:
    """Return the names of the table that a line is part of, and of those that are made of it."""
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            within = node.lineno <= line <= (node.end_lineno or line)
            if within or names & _words(node.value):
                listed = node.targets if isinstance(node, ast.Assign) else [node.target]
                names |= {name for target in listed for name in _words(target)}
    return names


def _words(node: ast.AST | None) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)} if node else set()


def _imported(tree: ast.Module, module: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == module:
            yield from (one.name for one in node.names if one.asname is None)


def _naming(node: ast.AST, names: set[str], line: int = 0) -> Iterator[int]:
    """Yield the lines of the innermost statements of functions that name one of some names."""
    for child in ast.iter_child_nodes(node):
        inside = line or isinstance(node, ast.FunctionDef)
        here = child.lineno if inside and isinstance(child, ast.stmt) else line
        if here and isinstance(child, ast.Name) and child.id in names:
            yield here
        yield from _naming(child, names, here)


def seeded(path: Path, number: int) -> ast.Module:
    """Return a module with one of its faults, every line where it was."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for at, (place, put, node, _, other) in enumerate(_all(tree)):
        if at == number:
            put(other)
            if "lineno" in other._attributes and not hasattr(other, "lineno"):
                where = node if hasattr(node, "lineno") else ast.Pass(place.mark, 0)
                ast.copy_location(other, where)
            return ast.fix_missing_locations(tree)
    raise ValueError(f"{path} has no fault {number}")


def choose(modules: Iterable[Path], number: int, chance: random.Random) -> list[Fault]:
    """Return faults spread over modules, and in each over the sorts: one of each in turn."""
    left: list[dict[str, list[Fault]]] = []
    for path in modules:
        by_sort: dict[str, list[Fault]] = defaultdict(list)
        for fault in faults_of(path):
            by_sort[fault.sort].append(fault)
        left.append(dict(by_sort))
    chance.shuffle(left)
    chosen: list[Fault] = []
    while len(chosen) < number and any(left):
        for by_sort in left:
            if by_sort and len(chosen) < number:
                sort = chance.choice(sorted(by_sort))
                chosen.append(by_sort[sort].pop(chance.randrange(len(by_sort[sort]))))
                if not by_sort[sort]:
                    del by_sort[sort]
    return chosen
