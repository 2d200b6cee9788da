"""A few hostile inputs at every run of the tests; `bench/fuzz.py` tries as many as one likes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from tests.fuzz import inputs, laws

few = settings(
    max_examples=15,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that each example fills anew."""
    return tmp_path_factory.mktemp("fuzz")


@few
@given(inputs.data)
def test_what_only_reads_touches_nothing(folder: Path, data: bytes) -> None:
    laws.reads_without_touching(folder, data)


@few
@given(inputs.policies)
def test_a_run_writes_what_it_says_and_is_idle_then(folder: Path, text: str) -> None:
    laws.writes_what_it_says(folder, text.encode("utf-8", "surrogatepass"))


@few
@given(inputs.data)
def test_what_rules_would_write_reads_as_it_should(data: bytes) -> None:
    laws.plans_without_faults(data)


@few
@given(inputs.words)
def test_every_command_line_has_an_answer(folder: Path, words: list[str]) -> None:
    laws.takes_words(folder, words)


@pytest.mark.parametrize("target", ["2.14", "3.0"])
@pytest.mark.parametrize("seed", range(3))
def test_a_repository_of_odd_files_is_answered_and_written_once(
    seed: int, target: str, folder: Path
) -> None:
    files = inputs.repository(20, seed)
    laws.leaves_a_repository_alone(folder, files, target)
    laws.writes_a_repository(folder, files, target)
