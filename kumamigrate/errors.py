"""Exceptions: for what keeps the tool from working. What is wrong in a mesh is a value."""

from __future__ import annotations

import os
from pathlib import Path


class KumamigrateError(Exception):
    """Base of all errors that end a run with exit code 2 and a message, never a traceback."""

    def __str__(self) -> str:
        """Return the message in one line, safe to print: names come from anywhere."""
        text = super().__str__()
        return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class UsageError(KumamigrateError):
    """The command line or configuration asks for something that cannot be."""


class OutputError(KumamigrateError):
    """The report cannot be printed."""


class RulebookError(KumamigrateError):
    """A rule file is wrong: our fault, or a damaged installation."""


class SourceError(KumamigrateError):
    """A file cannot be read or written. Line and column count from 1; line 0 is the whole file."""

    def __init__(self, path: str, message: str, *, line: int = 0, column: int = 0) -> None:
        self.path = path
        self.line = line
        self.column = column
        self.message = message
        place = f"{path}:{line}:{column}" if line else path
        super().__init__(f"{place}: {message}")


FAULT = "internal error"
"""How a fault of this tool begins, wherever it is told."""


def fault(error: Exception) -> str:
    """Return a fault of this tool in one line, for where the rest can go on without its part.

    What the user has to mend is raised again, and so is everything for those who look for it.
    """
    if isinstance(error, KumamigrateError) or os.environ.get("KUMAMIGRATE_DEBUG"):
        raise error
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    said = KumamigrateError(f"{FAULT}: {type(error).__name__}: {str(error)[:200]}{place}")
    return str(said)


REPORT_IT = "please report it with the manifest and the output of KUMAMIGRATE_DEBUG=1"
