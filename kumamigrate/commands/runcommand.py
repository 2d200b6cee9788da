"""`run`: migrate, print, and write unless told not to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kumamigrate.commands.given import Given, loaded
from kumamigrate.commands.printed import drawn, save, tell, with_stats
from kumamigrate.dataclass import dataclass, replace
from kumamigrate.errors import OutputError, UsageError
from kumamigrate.flow.guides import Guide, migrated_guides
from kumamigrate.flow.pipeline import sound, write
from kumamigrate.flow.runoutcome import Outcome
from kumamigrate.library import Reading, migrate, read
from kumamigrate.report.baselinetext import baseline_json, baseline_lines
from kumamigrate.report.diff import diff_lines, patch_text
from kumamigrate.report.exit import Exit
from kumamigrate.report.exitcode import exit_of_run
from kumamigrate.report.forms import TEXT, Forms, forms_of
from kumamigrate.report.guidetext import guide_lines, guides_json
from kumamigrate.report.invocation import invocation
from kumamigrate.report.ondisk import on_disk
from kumamigrate.report.outcome import run_json
from kumamigrate.report.replacements import replacements
from kumamigrate.report.screen.changeblock import is_short
from kumamigrate.report.screen.progress import progress
from kumamigrate.report.screen.runscreen import run_lines
from kumamigrate.report.screen.userpaths import from_here
from kumamigrate.report.stats import REPORT, Stopwatch
from kumamigrate.report.styled import Line
from kumamigrate.report.uncommittedtext import mixed_lines
from kumamigrate.scene.gitrev import uncommitted
from kumamigrate.source.reading.find import interrupted
from kumamigrate.world.estate import Estate
from kumamigrate.world.scope import scope_of


def run(
    given: Given,
    *,
    dry_run: bool,
    diff: Path | None,
    adopt: Path | None,
    markdown: bool,
    printed: str,
    saved: Sequence[str],
) -> Exit:
    """Migrate, print, and write unless told not to; with `adopt` initial policies as well, with
    `markdown` examples too."""
    forms, watch = forms_of(printed, saved), Stopwatch()
    if not dry_run:
        _complete(given)
    sources = loaded(given)
    reading = read(sources)
    new = {} if adopt is None else _adopted(reading.estate, adopt)
    outcome = _migrated(given, read(sources, new) if new else reading, watch)
    watch.begin(REPORT)
    guides = tuple(migrated_guides(reading.estate, reading.options)) if markdown else None
    examples = {guide.path: (guide.old, guide.new) for guide in guides or ()}
    changed = {path: texts for path, texts in examples.items() if texts[0] != texts[1]}
    outcome = replace(outcome, adopted=frozenset(new), examples=changed)
    if diff is not None:
        save(diff, patch_text(outcome))
    # The report is made before anything is written: a fault in it must not leave a half story.
    told = on_disk(outcome) if dry_run else outcome
    report = _Report(
        given=given, forms=forms, edited=outcome, told=told, guides=guides, written=not dry_run
    )
    data = with_stats(given, report.data(), watch, reading.estate)
    lines = report.lines()
    if not dry_run:
        write(outcome)
    elif "plan" in given:
        from kumamigrate.choose.planfile import plan_text, planned

        save(given["plan"], plan_text(planned(sound(outcome))))
    try:
        tell(forms, data, [*report.diff(), *lines], _more_of(told))
    except OutputError as error:
        if not dry_run and outcome.texts:
            raise OutputError(f"{error}; the files were written") from error
        raise
    return exit_of_run(told, written=not dry_run)


@dataclass(frozen=True, kw_only=True)
class _Report:
    """What is told of a run: `edited` is its outcome, `told` the same by the lines that files have
    as they are told of; `guides` are there where examples in Markdown were asked for."""

    given: Given
    forms: Forms
    edited: Outcome
    told: Outcome
    guides: tuple[Guide, ...] | None
    written: bool

    def data(self) -> dict[str, Any] | None:
        """Return the report for programs, where one is asked for."""
        if not self.forms.needs_data:
            return None
        data = run_json(self.told, written=self.written)
        data["command"] = invocation("run", {**self.given, "dry_run": True})
        data |= baseline_json(self.told, written=self.written)
        if self.guides is not None:
            data["markdown"] = guides_json(self.guides)
        if tool := self.given.get("deletions"):
            from kumamigrate.choose.handwork import deletions_json

            data["deletions"] = deletions_json(self.told, tool)
        return data

    def lines(self) -> list[Line]:
        """Return the report for people, but for the diff."""
        if self.forms.printed != TEXT:
            return []
        command = invocation("run", {**self.given, "dry_run": False})
        if "plan" in self.given:
            command = f"kumamigrate apply {self.given['plan']}"
        verbose = bool(self.given.get("verbose"))
        said = run_lines(self.edited, written=self.written, verbose=verbose, command=command)
        lines = from_here(said, self.edited.ended)
        lines += [] if self.guides is None else guide_lines(self.guides, written=self.written)
        lines += baseline_lines(self.told, written=self.written)
        if tool := self.given.get("deletions"):
            from kumamigrate.choose.handwork import deletion_lines

            lines += deletion_lines(self.told, tool)
        if self.written and self.edited.texts:
            edited = uncommitted(self.edited.before.repository.root)
            lines += mixed_lines(edited, self.edited.texts)
        return lines

    def diff(self) -> Sequence[Line]:
        """Return the diff, where it is short or all is to be told of a run that writes nothing."""
        if self.written or self.forms.printed != TEXT:
            return ()
        whole = self.given.get("verbose") or is_short(patch_text(self.told))
        return diff_lines(self.told) if whole else ()


def _migrated(given: Given, began: Reading, watch: Stopwatch) -> Outcome:
    """Return what a run comes to, somebody being asked about each change where that is wished."""
    if given.get("interactive") or "answers" in given:
        from kumamigrate.choose.asking import asker_of, migrate_asking

        return migrate_asking(began, asker_of(given))
    with progress() as told:
        return migrate(began, progress=watch.telling(told))


def _adopted(estate: Estate, folder: Path) -> dict[str, bytes]:
    """Return the files that initial policies are adopted in."""
    from kumamigrate.world.adopt import adoption

    root = estate.whole.repository.root.resolve()
    if not folder.resolve().is_relative_to(root):
        raise UsageError(f"{folder}: lies outside {root}, of which this run writes")
    return adoption(estate, folder.resolve().relative_to(root).as_posix())


def _complete(given: Given) -> None:
    """Complete what an interrupted run left."""
    root = scope_of([Path(path) for path in given.get("paths") or [Path()]]).root
    if interrupted(root) is not None:
        from kumamigrate.source.editing.write import recover

        recover(root)


def _more_of(outcome: Outcome) -> Mapping[str, Callable[[], Mapping[str, Any]]]:
    """Return what only some forms show of a run: a page the diff and who reaches whom."""

    def page() -> Mapping[str, Any]:
        pictures = drawn(outcome.began, outcome.ended, outcome.claim)
        return {"patch": patch_text(outcome), **pictures}

    return {"html": page, "sarif": lambda: {"replacements": replacements(outcome)}}
