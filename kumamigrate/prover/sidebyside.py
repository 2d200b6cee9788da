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
from functools import partial
from select import select
from typing import Generic, TypeVar

from kumamigrate.dataclass import dataclass

Answer = TypeVar("Answer")

MANY = 150
"""With fewer resources than that copies of the process cost more than they save."""


def answers(questions: Sequence[Callable[[], Answer]], jobs: int) -> Iterator[Answer]:
    """Yield what questions come to, in their order, as many at a time as there are jobs.

    Who stops asking saves the rest.
    """
    if jobs < 2 or len(questions) < 2 or not _may_copy():
        yield from (question() for question in questions)
        return
    work = Work(questions, jobs - 1)
    try:
        yield from map(work.answer, range(len(questions)))
    finally:
        work.end()


def _may_copy() -> bool:
    """Say whether a copy of a process is safe to go on working here: not on macOS."""
    return hasattr(os, "fork") and sys.platform != "darwin"


class Work(Generic[Answer]):
    """Questions at work, in so many copies of the process and in itself."""

    def __init__(self, questions: Sequence[Callable[[], Answer]], copies: int) -> None:
        self._questions = questions
        self._copies = copies
        self._begun = 0
        self._running: dict[int, ProcessCopy[Answer]] = {}
        self._known: dict[int, tuple[Answer]] = {}

    def answer(self, at: int) -> Answer:
        """Return the answer to a question. Until it is there, others are worked at here."""
        while at not in self._known:
            if self._begun < len(self._questions):
                self._go_on(at)
                continue
            copy = self._running.pop(at, None)
            sent = None if copy is None else copy.answer()
            self._known[at] = (self._questions[at](),) if sent is None else sent
        return self._known[at][0]

    def _go_on(self, asked: int) -> None:
        """Take the next question; copies that have nothing to do take those behind it."""
        mine = self._begun
        self._begun += 1
        while len(self._running) < self._copies and self._begun < len(self._questions):
            copy = _started(self._questions[self._begun])
            if copy is None:
                break
            self._running[self._begun] = copy
            self._begun += 1
        try:
            self._known[mine] = (self._questions[mine](),)
        except Exception:
            if mine == asked:
                raise  # else it is raised when it is asked for
        for at in [at for at, copy in self._running.items() if copy.has_answered]:
            sent = self._running.pop(at).answer()
            if sent is not None:
                self._known[at] = sent

    def end(self) -> None:
        """Stop what is still at work."""
        for copy in self._running.values():
            copy.end()


class EachOnce(Generic[Answer]):
    """Answers by name, each worked out once, as many at a time as there are jobs."""

    def __init__(self, ask: Callable[[str], Answer], jobs: int) -> None:
        self._ask = ask
        self._jobs = jobs
        self._known: dict[str, Answer] = {}

    def of_all(self, names: Sequence[str]) -> Iterator[Answer]:
        """Yield several answers, in order; who stops asking saves the rest."""
        asked = [partial(self._ask, name) for name in names if name not in self._known]
        fresh = answers(asked, self._jobs)
        for name in names:
            if name not in self._known:
                self._known[name] = next(fresh)
            yield self._known[name]


@dataclass(slots=True)
class ProcessCopy(Generic[Answer]):
    """A process at work on a question: who it is, and where its answer will come from."""

    pid: int
    source: int

    @property
    def has_answered(self) -> bool:
        """Whether an answer is coming, or never will."""
        return bool(select([self.source], [], [], 0)[0])

    def answer(self) -> tuple[Answer] | None:
        """Wait for the answer; None where there is none."""
        with os.fdopen(self.source, "rb") as stream:
            data = stream.read()
        if os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1]):
            return None
        try:
            found: tuple[Answer] = pickle.loads(data)  # written by our own copy, nobody else
        except Exception:
            return None
        return found

    def end(self) -> None:
        """Stop it."""
        import signal  # not everywhere is there something to stop a process with

        os.close(self.source)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


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
        with os.fdopen(target, "wb") as stream:
            pickle.dump((question(),), stream, pickle.HIGHEST_PROTOCOL)
        code = 0
    finally:
        os._exit(code)
