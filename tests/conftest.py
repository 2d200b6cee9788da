"""The programs that `dev.py tools` built are found as if they were installed.

What is made up is the same at every run: a gate that is green is green again. `bench/fuzz.py` and
`--hypothesis-profile=random` try something else each time. Nothing is kept from one check for the
next: tests break the tool on purpose, under files that stay the same (`tests/cache` has its own).
What Python compiles is kept, beside the sources' folders: the tool is started many times.
Cycles are looked for as seldom as the tool itself does, and not among the tests and modules: there
are none, and to look took an eighth of the time. Of a test that passes a process tells the other
that it has, and not three times that it is at work: 8,000 tests are 48,000 messages, which both
processes take apart in Python.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers

from kumamigrate.__main__ import NEW_OBJECTS
from tests.cases import ROOT

gc.set_threshold(NEW_OBJECTS, 5, 5)
os.environ["PATH"] = os.pathsep.join((str(ROOT / ".tools"), os.environ.get("PATH", os.defpath)))
os.environ["XDG_STATE_HOME"] = os.devnull
if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
    os.environ.setdefault("PYTHONPYCACHEPREFIX", str(ROOT / ".pytest_cache" / "compiled"))
settings.register_profile("gate", derandomize=True, database=None)
settings.register_profile("random", derandomize=False)
settings.load_profile("gate")
# Else numbers and words are drawn from all modules that are loaded, so an input would depend on
# which tests a worker had before, and every worker reads our sources once more.
if hasattr(providers, "_get_local_constants"):
    providers._get_local_constants = lambda: providers._local_constants


def pytest_collection_finish() -> None:
    """Leave what was collected alone from here on."""
    gc.freeze()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Let a process of pytest-xdist send what somebody reads: all of it to measure or to file."""
    asked = session.config.option
    for plugin in session.config.pluginmanager.get_plugins():
        reads_less = asked.durations is None and asked.xmlpath is None
        if reads_less and type(plugin).__name__ == "WorkerInteractor":
            plugin.sendevent = _sparing(plugin.sendevent)


def _sparing(send: Callable[..., None]) -> Callable[..., None]:
    def sendevent(name: str, **words: Any) -> None:
        report = words.get("data", {})
        passed = report.get("outcome") == "passed" and report.get("when") != "call"
        if not (name in ("logstart", "logfinish") or (name == "testreport" and passed)):
            send(name, **words)

    return sendevent
