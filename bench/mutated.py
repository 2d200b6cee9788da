"""A plugin of pytest that tries faults one after another, each in a process split off from this.

What is to be tried stands in the file that KUMAMIGRATE_FAULTS names, and what came of each goes
into another beside it, line by line. A fault in a function takes the place of its code in the
split-off process; one in a table has to be there when its module is imported, so it is tried in a
pytest of its own (KUMAMIGRATE_FAULT: module and number).
"""

from __future__ import annotations

import functools
import gc
import json
import os
import select
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from bench.faults import seeded

ROOT = Path(__file__).resolve().parent.parent
PLAN = Path(os.environ["KUMAMIGRATE_FAULTS"])
IMPORTED, _, NUMBER = os.environ.get("KUMAMIGRATE_FAULT", "").partition("=")


class _Loader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        path = Path(self.get_filename(fullname))
        return compile(seeded(path, int(NUMBER)), str(path), "exec", dont_inherit=True)


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != ".".join(Path(IMPORTED).with_suffix("").parts).removesuffix(".__init__"):
            return None
        path = str(ROOT / IMPORTED)
        inner = [str(Path(path).parent)] if path.endswith("__init__.py") else None
        loader = _Loader(fullname, path)
        return spec_from_file_location(
            fullname, path, loader=loader, submodule_search_locations=inner
        )


if IMPORTED:
    sys.meta_path.insert(0, _Finder())


class CannotSeedError(Exception):
    """The code of a function cannot be put in the place of the other."""


def _codes(code: CodeType) -> Iterator[tuple[tuple[str, int], CodeType]]:
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield (one.co_qualname, one.co_firstlineno), one
            yield from _codes(one)


def _seed(fault: dict[str, Any], functions: dict[str, list[FunctionType]]) -> None:
    """Put a fault into the functions that are there, and forget what was found without it."""
    path = ROOT / fault["path"]
    new = dict(_codes(compile(seeded(path, fault["number"]), str(path), "exec", dont_inherit=True)))
    name, line = fault["function"]
    mine = [f for f in functions[str(path)] if _is_within(f.__code__, name, line)]
    try:
        for function in mine:
            key = (function.__code__.co_qualname, function.__code__.co_firstlineno)
            function.__code__ = new[key]
    except (ValueError, KeyError) as error:
        raise CannotSeedError(str(error)) from error
    if not mine:
        raise CannotSeedError("no such function is there")


def _is_within(code: CodeType, name: str, line: int) -> bool:
    """Say whether code is that of a function, or of one inside it."""
    same = (code.co_qualname, code.co_firstlineno) == (name, line)
    return same or code.co_qualname.startswith(f"{name}.<locals>.")


def _child(items: list[pytest.Item], fault: dict[str, Any], told: int, found: _Found) -> None:
    """Run tests with a fault until one fails; say of each when it starts, and what came of all."""
    try:
        if fault["function"] is not None and not IMPORTED:
            _seed(fault, found.functions)
        for kept in found.caches:
            kept.cache_clear()
    except CannotSeedError as error:
        os.write(told, f"cannot {error}\n".encode())
        return
    for at, item in enumerate(items):
        os.write(told, f"start {at}\n".encode())
        following = items[at + 1] if at + 1 < len(items) else None
        reports = runtestprotocol(item, log=False, nextitem=following)
        if any(report.failed for report in reports):
            os.write(told, f"failed {at}\n".encode())
            return
    os.write(told, b"passed\n")


class _Found:
    """What stands in memory when all tests are collected."""

    def __init__(self) -> None:
        self.functions: dict[str, list[FunctionType]] = defaultdict(list)
        self.caches: list[Any] = []
        here = str(ROOT / "kumamigrate")
        gc.unfreeze()  # tests/conftest.py hides what was collected
        for one in gc.get_objects():
            if type(one) is FunctionType and one.__code__.co_filename.startswith(here):
                self.functions[one.__code__.co_filename].append(one)
            elif isinstance(one, functools._lru_cache_wrapper):
                self.caches.append(one)


def _tried(items: list[pytest.Item], fault: dict[str, Any], found: _Found) -> str:
    """Return what came of a fault: `failed N`, `hangs N`, `dies N`, `passed` or `cannot …`."""
    listening, told = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        try:
            _child(items, fault, told, found)
        except BaseException:
            os.write(told, b"dies\n")
        finally:
            os._exit(0)
    os.close(told)
    try:
        return _followed(listening, fault)
    finally:
        os.close(listening)
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _followed(listening: int, fault: dict[str, Any]) -> str:
    said, running = "", 0
    until = time.monotonic() + 60
    while True:
        ready, _, _ = select.select([listening], [], [], max(0, until - time.monotonic()))
        if not ready:
            return f"hangs {running}"
        heard = os.read(listening, 4096).decode()
        if not heard:
            return f"dies {running}"
        said += heard
        *lines, said = said.split("\n")
        for line in lines:
            if not line.startswith("start "):
                return line if line != "dies" else f"dies {running}"
            running = int(line.split()[1])
            until = time.monotonic() + fault["limits"][running]


def _is_witness(item: pytest.Item, limit: float, found: _Found) -> bool:
    """Say whether a test that failed, or took too long, does not do so without the fault."""
    sound = {"function": None, "limits": [limit]}
    return _tried([item], sound, found) == "passed"


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    """Try each fault of the plan with the tests it names instead of running all tests."""
    known = {item.nodeid: item for item in session.items}
    plan = json.loads(PLAN.read_text(encoding="utf-8"))
    for fault in plan:  # a module that waits for its first use could take no fault
        import_module(fault["path"].removesuffix(".py").removesuffix("/__init__").replace("/", "."))
    found = _Found()
    gc.freeze()
    for fault in plan:
        start = time.monotonic()
        asked = [(test, limit) for test, limit in fault["tests"] if test in known]
        dropped: list[str] = []
        while True:
            left = [(t, limit) for t, limit in asked if t not in dropped]
            items = [known[test] for test, _ in left]
            came = _tried(items, {**fault, "limits": [limit for _, limit in left]}, found)
            how, _, at = came.partition(" ")
            test = left[int(at)][0] if how in ("failed", "hangs", "dies") and left else ""
            if not test or IMPORTED or _is_witness(known[test], left[int(at)][1], found):
                break
            dropped.append(test)
        told = {"path": fault["path"], "number": fault["number"], "how": how, "test": test}
        told |= {"said": at, "seconds": time.monotonic() - start, "asked": len(asked)}
        with PLAN.with_suffix(".came").open("a", encoding="utf-8") as out:
            out.write(json.dumps(told) + "\n")
    return True
