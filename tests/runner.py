"""Runs the command line in this process, its output caught."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """What a command line left behind; `exception` is what no command may let out."""

    exit_code: int
    stdout: str
    stderr: str
    exception: BaseException | None = None

    @property
    def output(self) -> str:
        """Both streams."""
        return self.stdout + self.stderr


class CliRunner:
    """Calls a command line as the shell would."""

    def invoke(self, app: Callable[[Sequence[str]], int], words: Sequence[str]) -> Result:
        """Return what comes of some words; the streams write UTF-8, and nothing is a terminal."""
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in "oe")
        out.reconfigure(errors="backslashreplace")
        err.reconfigure(errors="backslashreplace")
        fault: BaseException | None = None
        with redirect_stdout(out), redirect_stderr(err):
            try:
                code = app(words)
            except SystemExit as leave:
                code, fault = int(leave.code or 0), leave
            except Exception as error:  # told by the result
                code, fault = 1, error
        return Result(code, _text(out), _text(err), fault)


def _text(stream: io.TextIOWrapper) -> str:
    if stream.closed:
        return ""
    stream.flush()
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue().decode()
