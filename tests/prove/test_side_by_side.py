"""However many processes work on a proof, what they say is the same, and none is left behind."""

from __future__ import annotations

import os
import pickle
import time
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from kumamigrate.flow.judging import everyworld
from kumamigrate.library import load, migrate, read
from kumamigrate.model.taken import Taken
from kumamigrate.prover.sidebyside import EachOnce, answers
from tests.frontdoor import command

HERE = os.getpid()

MESH = """\
apiVersion: kuma.io/v1alpha1
kind: Mesh
metadata: {name: default}
spec: {meshServices: {mode: Exclusive}}
"""
TIMEOUT = """\
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: slow, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec:
  targetRef: {kind: MeshSubset, tags: {app: web}}
  to:
  - targetRef: {kind: MeshService, name: api, namespace: shop}
    default: {http: {requestTimeout: 7s}}
  from:
  - targetRef: {kind: Mesh}
    default: {http: {requestTimeout: 9s}}
"""
OLD = """\
apiVersion: kuma.io/v1alpha1
kind: Timeout
mesh: default
metadata: {name: old}
spec:
  sources: [{match: {kuma.io/service: "*"}}]
  destinations: [{match: {kuma.io/service: "*"}}]
  conf: {connectTimeout: 3s}
"""


def _square(number: int) -> int:
    return number * number


def _slowly(number: int) -> int:
    """Take longer in a copy than the first process takes to have nothing else to do."""
    if os.getpid() != HERE:
        time.sleep(0.05)
    return number * number


def _only_here(number: int) -> int:
    if os.getpid() != HERE:
        os._exit(3)
    return number


def _who(_number: int) -> int:
    return os.getpid()


def _no_child_is_left() -> bool:
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return True
    return False


@pytest.mark.parametrize("jobs", [1, 2, 3, 7])
def test_answers_come_in_the_order_of_the_questions(jobs: int) -> None:
    asked = [partial(_square, number) for number in range(5)]
    assert list(answers(asked, jobs)) == [0, 1, 4, 9, 16]
    assert _no_child_is_left()


def test_copies_do_the_work() -> None:
    assert len({*answers([partial(_who, n) for n in range(3)], 3)}) == 3
    assert {*answers([partial(_who, n) for n in range(3)], 1)} == {os.getpid()}


def _when(_number: int) -> tuple[int, float, float]:
    begun = time.monotonic()
    time.sleep(0.03)
    return os.getpid(), begun, time.monotonic()


def test_no_more_are_at_work_than_there_are_jobs() -> None:
    """Two jobs are this process and one copy: the next copy begins where the last has ended."""
    found = answers([partial(_when, number) for number in range(6)], 2)
    copies = sorted((begun, ended) for pid, begun, ended in found if pid != HERE)
    assert len(copies) > 1
    assert all(one[1] <= other[0] for one, other in pairwise(copies))


def test_what_a_copy_does_not_answer_is_asked_again_here() -> None:
    assert list(answers([partial(_only_here, number) for number in range(4)], 2)) == [0, 1, 2, 3]
    assert _no_child_is_left()


def test_an_answer_that_cannot_be_sent_is_worked_out_here() -> None:
    first, second = answers([lambda: _square, lambda: lambda: 5], 2)
    assert first(3) == 9
    assert second() == 5


def test_a_fault_is_the_one_that_a_single_process_has() -> None:
    asked = [partial(int, "1"), partial(int, "no number")]
    for jobs in (1, 2):
        found = answers(asked, jobs)
        assert next(found) == 1
        with pytest.raises(ValueError, match="no number"):
            next(found)
    assert _no_child_is_left()


def test_who_stops_asking_leaves_no_process_behind() -> None:
    found = answers([partial(_square, 2), partial(os.read, os.pipe()[0], 1)], 2)
    assert next(found) == 4
    del found
    assert _no_child_is_left()


def test_a_fault_out_of_turn_is_raised_in_its_turn() -> None:
    asked = [partial(_square, 1), partial(_slowly, 2), partial(int, "no number")]
    found = answers(asked, 2)
    assert [next(found), next(found)] == [1, 4]
    with pytest.raises(ValueError, match="no number"):
        next(found)
    assert _no_child_is_left()


def test_what_is_known_is_not_asked_again() -> None:
    asked: list[str] = []

    def length(name: str) -> int:
        asked.append(name)
        return len(name)

    known = EachOnce(length, jobs=1)
    assert [*known.of_all(["a", "bb"])] == [1, 2]
    assert [*known.of_all(["a"])] == [1]
    assert [*known.of_all(["bb", "ccc"])] == [2, 3]
    assert asked == ["a", "bb", "ccc"]


def _repository(tmp_path: Path, mode: str = "Exclusive", more: str = "") -> Path:
    mesh = MESH.replace("Exclusive", mode)
    (tmp_path / "mesh.yaml").write_text(mesh, encoding="utf-8")
    (tmp_path / "slow.yaml").write_text(TIMEOUT, encoding="utf-8")
    if more:
        (tmp_path / "more.yaml").write_text(more, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("target", ["2.14", "3.0"])
@pytest.mark.parametrize(
    ("mode", "more"), [("Exclusive", ""), ("Everywhere", ""), ("Everywhere", OLD)]
)
def test_a_run_says_the_same_with_any_number_of_jobs(
    tmp_path: Path, target: str, mode: str, more: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied: list[int] = []
    fork = os.fork

    def counted() -> int:
        copied.append(1)
        return fork()

    monkeypatch.setattr(everyworld, "MANY", 0)
    monkeypatch.setattr(os, "fork", counted)
    words = (
        "run",
        _repository(tmp_path, mode, more),
        "--dry-run",
        "--target",
        target,
        "--format",
        "json",
    )
    alone = command(*words, "--jobs", "1", given=None)
    assert not copied
    several = command(*words, "--jobs", "3", given=None)
    assert copied
    assert several.out == alone.out
    assert several.code == alone.code


def test_a_proof_is_the_same_after_it_was_sent(tmp_path: Path) -> None:
    proof = migrate(read(load(_repository(tmp_path), jobs=2))).proof
    assert proof is not None
    sent = pickle.loads(pickle.dumps(proof))
    assert sent == proof
    taken = [a for mesh in sent.meshes.values() for a in mesh.assumptions if isinstance(a, Taken)]
    known = [a for mesh in proof.meshes.values() for a in mesh.assumptions if isinstance(a, Taken)]
    assert [(t.ground, t.parts) for t in taken] == [(t.ground, t.parts) for t in known] != []


@pytest.mark.parametrize("words", ["0", "-1", "two", "1000", "٣", ""])
def test_jobs_are_a_number(tmp_path: Path, words: str) -> None:
    answer = command("run", _repository(tmp_path), "--dry-run", f"--jobs={words}", given=None)
    assert answer.code == 2
    assert "--jobs" in answer.err
