"""A plugin of pytest that notes which statements of the rooms in question each test runs.

Every statement of a function sets a mark before it runs, in memory only; after each test the marks
are read and wiped. Nothing is kept between tests meanwhile: else what one has worked out would be
no other's.
"""

from __future__ import annotations

import ast
import os
import pickle
import sys
from collections.abc import Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import pytest

from bench.kept import Kept

ROOT = Path(__file__).resolve().parent.parent
ROOMS = tuple(os.environ["KUMAMIGRATE_WATCHED"].split(","))
FOLDER = Path(os.environ["KUMAMIGRATE_WATCH"])
MARKS = "_marks_"


class _Marking(ast.NodeTransformer):
    """Puts a mark before each statement of each function."""

    inside = False

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        was, self.inside = self.inside, True
        self.generic_visit(node)
        self.inside = was
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for name in ("body", "orelse", "finalbody") if self.inside else ():
            block = getattr(node, name, None)
            if isinstance(block, list):
                setattr(node, name, [one for line in block for one in _marked(line)])
        return node


def _marked(line: ast.stmt) -> Iterator[ast.stmt]:
    said = isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant)
    if not said and not isinstance(line, ast.Global | ast.Nonlocal):
        (mark,) = ast.parse(f"{MARKS}[{line.lineno}] = 1").body
        yield mark
    yield line


class _Loader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        path = Path(self.get_filename(fullname))
        tree = _Marking().visit(ast.parse(path.read_text(encoding="utf-8")))
        return compile(ast.fix_missing_locations(tree), str(path), "exec", dont_inherit=True)

    def exec_module(self, module: ModuleType) -> None:
        path = Path(self.path)
        marks = bytearray(len(path.read_bytes().splitlines()) + 2)
        MODULES[path.relative_to(ROOT).as_posix()] = marks
        vars(module)[MARKS] = marks
        super().exec_module(module)


MODULES: dict[str, bytearray] = {}


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith(ROOMS):
            return None
        found = PathFinder.find_spec(fullname, path)
        if found is None or found.origin is None or not found.origin.endswith(".py"):
            return None
        loader = _Loader(fullname, found.origin)
        inner = found.submodule_search_locations
        return spec_from_file_location(
            fullname, found.origin, loader=loader, submodule_search_locations=inner
        )


sys.meta_path.insert(0, _Finder())
SEEN: list[tuple[str, float, dict[str, bytes]]] = []
FAILED: set[str] = set()
KEPT = Kept()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[Any]:
    """Note what runs between the start and the end of a test."""
    KEPT.forget()
    _wipe()
    start = sum(os.times()[:4])
    result = yield
    taken = sum(os.times()[:4]) - start
    if item.nodeid not in FAILED:
        SEEN.append((item.nodeid, taken, _ran()))
    return result


def pytest_collection_finish() -> None:
    """Note what ran before the first test, when modules were imported."""
    SEEN.append(("", 0.0, _ran()))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note tests that fail as they are: they notice no fault."""
    if report.failed:
        FAILED.add(report.nodeid)


def _wipe() -> None:
    for marks in MODULES.values():
        marks[:] = bytes(len(marks))


def _ran() -> dict[str, bytes]:
    return {path: _packed(marks) for path, marks in MODULES.items() if any(marks)}


def _packed(marks: bytes) -> bytes:
    number = sum(1 << at for at, mark in enumerate(marks) if mark)
    return number.to_bytes(len(marks) // 8 + 1, "little")


def pytest_sessionfinish() -> None:
    """Write what this process saw; each worker writes a file of its own."""
    if SEEN:
        name = os.environ.get("PYTEST_XDIST_WORKER", "alone")
        (FOLDER / f"{name}-{os.getpid()}.pickle").write_bytes(pickle.dumps(SEEN))
