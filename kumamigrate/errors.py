"""Exceptions: for what keeps the tool from working. What is wrong in a mesh is a value."""

from __future__ import annotations


class KumamigrateError(Exception):
    """Base of all errors that end a run with exit code 2 and a message, never a traceback."""


class UsageError(KumamigrateError):
    """The command line or configuration asks for something that cannot be."""


class RulebookError(KumamigrateError):
    """A rule file is wrong: our fault, or a damaged installation."""
