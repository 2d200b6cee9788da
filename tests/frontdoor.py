"""The tool as its users have it: words of a command line in; exit code and output back.

Goldens and cases are asked here: a function that answers well is no help if the command asks it
for another release.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from kumamigrate.cli import app
from tests.runner import CliRunner
from tests.schemas import against_the_schema, shortened

T = TypeVar("T")
MODEST = 20
"""So many goldens of a set are asked where KUMAMIGRATE_GOLDENS does not ask for all. Whoever
touches what a set is about asks for all; CONTRIBUTING.md says which they are."""


@dataclass(frozen=True)
class Answer:
    """What a command left: its exit code, what it printed, and what it said aside."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What was printed, as data. A report is held to the schema that is published."""
        data = json.loads(self.out)
        if isinstance(data, dict) and str(data.get("schema")).startswith("kumamigrate."):
            fault = against_the_schema(shortened(data))
            assert not fault, fault
        return data


def command(*words: str | Path, given: str | None = "none") -> Answer:
    """Run `kumamigrate` with some words, in this process. Faults of ours are raised.

    `given` are the initial policies of meshes, None where a test is about not knowing them.
    """
    asked = [str(word) for word in words]
    if given is not None and asked[:1] in (["run"], ["check"], ["prove"], ["inspect"]):
        asked += ["--initial-policies", given]
    result = CliRunner().invoke(app, asked)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Answer(code=result.exit_code, out=result.stdout, err=result.stderr)


def drawn(number: int) -> int:
    """Return how many examples a law is tried on: a third of them where not all is asked for."""
    return number if os.environ.get("KUMAMIGRATE_GOLDENS") else number // 3


def some(goldens: Sequence[T]) -> Sequence[T]:
    """Return goldens spread over a set, or all with KUMAMIGRATE_GOLDENS=1."""
    if os.environ.get("KUMAMIGRATE_GOLDENS"):
        return goldens
    return goldens[:: max(1, len(goldens) // MODEST)]


def fewer(goldens: Sequence[T]) -> Sequence[T]:
    """Return every other golden, or all with KUMAMIGRATE_GOLDENS=1: for what takes whole runs."""
    return goldens if os.environ.get("KUMAMIGRATE_GOLDENS") else goldens[::2]
