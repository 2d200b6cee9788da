"""The exceptions a caller may see. What is wrong with the user's mesh is a value instead."""

from __future__ import annotations


class KumamigrateError(Exception):
    """The base of all errors this package raises on purpose."""


class SourceError(KumamigrateError):
    """A file cannot be read or written. Line and column count from 1; line 0 is the whole file."""

    def __init__(self, path: str, message: str, *, line: int = 0, column: int = 0) -> None:
        self.path = path
        self.line = line
        self.column = column
        self.message = message
        place = f"{path}:{line}:{column}" if line else path
        super().__init__(f"{place}: {message}")
