"""Questions that do not ask each other, answered at the same time in copies of this process.

A proof is all computing, so threads are no help. A copy has all that was read and worked out so
far, and sends back what its question comes to; what it worked out on the way ends with it. The
answers are the same and in the same order however many processes there are. What a copy does not
answer, for whatever reason, is asked again here.
"""

from __future__ import annotations

import gc
import os
import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

Answer = TypeVar("Answer")

MANY = 150
"""With fewer resources than that a proof takes no longer than copying the process is worth."""


def answers(questions: Sequence[Callable[[], Answer]], jobs: int) -> Iterator[Answer]:
    """Yield what questions come to, in their order, as many at a time as there are jobs.

    Who stops asking saves the rest.
    """
    step = max(jobs, 1) if _may_copy() else 1
    for at in range(0, len(questions), step):
        yield from _at_once(questions[at : at + step])


class EachOnce(Generic[Answer]):
    """Answers by name, each worked out once, as many at a time as there are jobs."""

    def __init__(self, ask: Callable[[str], Answer], jobs: int) -> None:
        self._ask = ask
        self._jobs = jobs
        self._known: dict[str, Answer] = {}

    def of(self, name: str) -> Answer:
        """Return one answer."""
        return next(self.of_all([name]))

    def of_all(self, names: Sequence[str]) -> Iterator[Answer]:
        """Yield several answers, in order; who stops asking saves the rest."""
        asked = [partial(self._ask, name) for name in names if name not in self._known]
        fresh = answers(asked, self._jobs)
        for name in names:
            if name not in self._known:
                self._known[name] = next(fresh)
            yield self._known[name]


def _may_copy() -> bool:
    """Say whether a copy of a process is safe to go on working here: not on macOS."""
    return hasattr(os, "fork") and sys.platform != "darwin"


def _at_once(questions: Sequence[Callable[[], Answer]]) -> Iterator[Answer]:
    """Yield the answers to questions of which all but the first are asked in copies."""
    copies = [_started(question) for question in questions[1:]]
    try:
        yield questions[0]()
        for question, copy in zip(questions[1:], copies, strict=True):
            found = None if copy is None else copy.answer()
            yield question() if found is None else found[0]
    finally:
        for copy in copies:
            if copy is not None:
                copy.end()


@dataclass(slots=True)
class ProcessCopy(Generic[Answer]):
    """A process at work on a question: where its answer will come from; `pid` 0 once it ended."""

    pid: int
    source: int

    def answer(self) -> tuple[Answer] | None:
        """Wait for the answer; None where there is none."""
        with open(self.source, "rb", closefd=False) as stream:
            data = stream.read()
        if not self._ended_well():
            return None
        try:
            found: tuple[Answer] = pickle.loads(data)  # written by our own copy, nobody else
        except Exception:
            return None
        return found

    def _ended_well(self) -> bool:
        pid, self.pid = self.pid, 0
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0

    def end(self) -> None:
        """Stop it, if it is still at work."""
        os.close(self.source)
        if self.pid:
            import signal

            os.kill(self.pid, signal.SIGKILL)
            self._ended_well()


def _started(question: Callable[[], Answer]) -> ProcessCopy[Answer] | None:
    """Start a copy of this process on a question; None where the system has no room for one."""
    source, target = os.pipe()
    try:
        pid = os.fork()
    except OSError:
        os.close(source)
        os.close(target)
        return None
    if pid == 0:
        _work(question, target)
    os.close(target)
    return ProcessCopy(pid, source)


def _work(question: Callable[[], Answer], target: int) -> None:
    """Answer in a copy, and end it without any of what else ends a process."""
    code = 1
    try:
        gc.freeze()  # looking through what it shares with the other would copy all of it
        with open(target, "wb") as stream:
            pickle.dump((question(),), stream, pickle.HIGHEST_PROTOCOL)
        code = 0
    finally:
        os._exit(code)
