"""How a report is printed, and in which forms it is saved beside that: one run, many reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.errors import UsageError
from kumamigrate.report.exit import Exit
from kumamigrate.report.styled import Line

TEXT, JSON = "text", "json"
SAVED = (JSON, "sarif", "github", "gitlab", "junit", "markdown", "html")


@dataclass(frozen=True, slots=True)
class Forms:
    """The form printed, and those to save with their files."""

    printed: str = TEXT
    saved: tuple[tuple[str, Path], ...] = ()

    @property
    def needs_data(self) -> bool:
        """Whether some form is made of the report's data."""
        return self.printed != TEXT or bool(self.saved)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a command came to: the exit code, the lines for people, and the data for programs where
    some form is made of it."""

    code: Exit
    lines: Sequence[Line]
    data: Mapping[str, Any] | None


def forms_of(printed: str, outputs: Sequence[str]) -> Forms:
    """Return the forms asked for by `--format` and `--output FORMAT=FILE`.

    Raises UsageError for a form that nobody knows, without a file, or for one that cannot be
    written: said before a repository is, not after.
    """
    saved = []
    for output in outputs:
        form, _, file = output.partition("=")
        if form not in SAVED or not file:
            raise UsageError(f"--output {output}: write FORMAT=FILE, one of {', '.join(SAVED)}")
        if Path(file).is_dir() or not Path(file).parent.is_dir():
            why = "that is a folder" if Path(file).is_dir() else "its folder does not exist"
            raise UsageError(f"--output {output}: {why}; name a file in a folder that is there")
        saved.append((form, Path(file)))
    return Forms(printed, tuple(saved))
