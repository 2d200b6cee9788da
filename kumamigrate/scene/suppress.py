"""Suppressions: which findings a mark silences, and which marks say nothing (any more)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import date

from kumamigrate.dataclass import replace
from kumamigrate.rewrite.finding import Danger, Finding, Status
from kumamigrate.scene.marks import HOW, Mark, MarkReach, Misspelt, marks_in
from kumamigrate.scene.repository import Repository

UNUSED = "unused-suppression"
EXPIRED = "expired-suppression"
MISSPELT = "misspelt-suppression"

Used = set[tuple[Mark, str]]
"""Marks with those of their rules that silenced something."""


class Suppressions:
    """The marks of some files of a repository, on a day."""

    def __init__(self, repository: Repository, files: Iterable[str], today: date) -> None:
        self._repository = repository
        self._today = today
        self._said = {
            path: marks_in(repository.files[path]) for path in files if path in repository.files
        }

    @property
    def any(self) -> bool:
        """Say whether the files say anything to this tool."""
        return any(self._said.values())

    def of(self, finding: Finding) -> tuple[Mark, ...]:
        """Return the marks that silence a finding.

        What was settled is told of the text before, and no mark can have been about it.
        """
        if finding.status is Status.FIXED:
            return ()
        return tuple(
            mark
            for mark in self._marks(finding.file)
            if finding.rule in mark.rules
            and not self._is_over(mark)
            and self._is_about(mark, finding)
        )

    def settled(self, findings: Iterable[Finding], used: Used) -> tuple[Finding, ...]:
        """Return findings, those that are silenced as such; `used` is told by which marks."""
        result = []
        for finding in findings:
            marks = self.of(finding)
            used |= {(mark, finding.rule) for mark in marks}
            result.append(replace(finding, status=Status.SUPPRESSED) if marks else finding)
        return tuple(result)

    def complaints(
        self, used: Used, *, known: Iterable[str], asked: Callable[[str], bool]
    ) -> Iterator[Finding]:
        """Yield a finding for every mark that is misspelt or over, or that nothing needed of the
        rules that were `asked`. `known` are all names of rules."""
        names = frozenset(known)
        for said in (one for path in sorted(self._said) for one in self._said[path]):
            if isinstance(said, Misspelt):
                yield _finding(MISSPELT, said, said.message, HOW)
            else:
                yield from self._about(said, used, names, asked)

    def _about(
        self, mark: Mark, used: Used, names: frozenset[str], asked: Callable[[str], bool]
    ) -> Iterator[Finding]:
        for rule in mark.rules:
            if rule not in names:
                from difflib import get_close_matches

                near = get_close_matches(rule, names, n=1)
                action = f"write {near[0]}" if near else "kumamigrate rules lists them"
                yield _finding(MISSPELT, mark, f"there is no rule {rule} to ignore", action)
        if self._is_over(mark):
            message = f"this was to be ignored until {mark.until}, and is not any more"
            yield _finding(EXPIRED, mark, message, "settle it, or set another date")
            return
        idle = [r for r in mark.rules if r in names and asked(r) and (mark, r) not in used]
        if idle:
            message = f"nothing to ignore here for {', '.join(idle)}"
            whole = len(idle) == len(mark.rules)
            action = "remove the comment" if whole else f"take {', '.join(idle)} out of it"
            yield _finding(UNUSED, mark, message, action)

    def _marks(self, file: str) -> Iterator[Mark]:
        return (one for one in self._said.get(file, ()) if isinstance(one, Mark))

    def _is_over(self, mark: Mark) -> bool:
        return mark.until is not None and mark.until < self._today

    def _is_about(self, mark: Mark, finding: Finding) -> bool:
        if mark.reach is MarkReach.FILE:
            return True
        where = finding.resource.where if finding.resource is not None else None
        if where is None or where.path != finding.file:
            return finding.line == mark.covers
        if mark.reach is MarkReach.DOCUMENT:
            return where.document == mark.document
        first, _ = self._repository.lines(where, ())
        if mark.above and mark.covers == first:
            return True  # above a resource: about all of it
        start, end = self._repository.lines(where, finding.path)
        return start <= mark.covers <= end or mark.covers == finding.line


def _finding(rule: str, at: Mark | Misspelt, message: str, action: str) -> Finding:
    return Finding(
        rule=rule,
        resource=None,
        message=message,
        action=action,
        danger=Danger.DEPRECATED,
        file=at.file,
        line=at.line,
        column=at.column,
    )
