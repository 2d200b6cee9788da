"""A run as its screen needs it: findings at places of the text on the disk, texts to look into."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.flow.runoutcome import Outcome
from kumamigrate.model.resource import Resource
from kumamigrate.report.ondisk import on_disk
from kumamigrate.report.screen.counted import RUN
from kumamigrate.report.screen.difftext import Sides
from kumamigrate.report.screen.standing import Texts
from kumamigrate.rewrite.finding import Finding
from kumamigrate.scene.held import Held
from kumamigrate.scene.repository import Repository
from kumamigrate.scene.samelines import old_lines, text_lines
from kumamigrate.world.estate import Estate

Types = Callable[[str, int], str]


@dataclass(frozen=True)
class OnScreen:
    """A run, and how much of it is wanted. `written` says whether the new text is on the disk,
    `command` is what writes it."""

    outcome: Outcome
    written: bool
    verbose: bool = False
    command: str = RUN

    @cached_property
    def told(self) -> Outcome:
        """Return the outcome whose findings name lines of what lies on the disk."""
        return self.outcome if self.written else on_disk(self.outcome)

    @cached_property
    def held(self) -> list[Held]:
        """Return what was held, its findings with the places they stand at."""
        return [
            replace(
                one, change=replace(one.change, findings=tuple(map(self._at, one.change.findings)))
            )
            for one in self.told.held
        ]

    def _at(self, finding: Finding) -> Finding:
        if finding.file or finding.resource is None:
            return finding
        where = finding.resource.where
        file, at, column = self.outcome.after.repository.place(where, finding.path)
        return replace(finding, file=file, line=at, column=column)

    def sides(self, environment: str = "") -> Sides:
        """Return the texts of an environment in which values stand."""
        before, after = self._texts
        return Sides(before=before, after=after, environment=environment, verbose=self.verbose)

    def on_trial(self, environment: str = "") -> Sides:
        """Return the texts for a change that was tried and not made: what lies on the disk, in
        which its lines are found by the policies they are of."""
        before, after = self._texts
        disk = after if self.written else before
        return Sides(
            before=replace(disk, on_trial=True, lost="not on the disk"),
            after=replace(disk, on_trial=True, lost="as it would be written"),
            environment=environment,
            verbose=self.verbose,
        )

    @cached_property
    def _texts(self) -> tuple[Texts, Texts]:
        outcome = self.outcome
        changed = outcome.texts
        old, new = texts_of(outcome.began), texts_of(outcome.ended)
        began = _mover({p: (a, b) for p, (b, a) in changed.items()})
        if self.written:
            return replace(old, moved=_mover(changed)), replace(new, began=began)
        return old, replace(new, moved=began, began=began, lost="a new line of {0}")


def compared_texts(before: Estate, after: Estate) -> tuple[Texts, Texts]:
    """Return the texts of two estates, of which the later one knows lines of the earlier."""
    old, new = texts_of(before), texts_of(after)
    shared = old.files.keys() & new.files.keys()
    changed = {p: (new.files[p], old.files[p]) for p in shared if new.files[p] != old.files[p]}
    return old, replace(new, began=_mover(changed))


def texts_of(estate: Estate) -> Texts:
    """Return the texts of an estate as they are."""
    repository = estate.whole.repository
    files = {**repository.data, **estate.tree.files}
    files |= {p: file.render() for p, file in repository.files.items() if p not in files}
    patches = {site.name: frozenset(site.rendering.sources) for site in estate.sites}
    return Texts(files=files, types=_types(repository), patches=patches, homes=_homes(repository))


def of_file(repository: Repository, path: str) -> Iterator[Resource]:
    """Yield the resources of one file."""
    return (r for r in repository.resources if r.where is not None and r.where.path == path)


def _homes(repository: Repository) -> Callable[[str, str], list[tuple[str, int]]]:
    @cache
    def standing() -> dict[tuple[str, str], list[tuple[str, int]]]:
        found: dict[tuple[str, str], list[tuple[str, int]]] = {}
        for r in repository.resources:
            if r.where is not None:
                found.setdefault((r.type, r.name), []).append((r.where.path, r.where.line))
        return found

    return lambda kind, name: standing().get((kind, name), [])


def _types(repository: Repository) -> Types:
    @cache
    def starts(path: str) -> list[tuple[int, str]]:
        return sorted((r.where.line, r.type) for r in of_file(repository, path) if r.where)

    def type_at(path: str, line: int) -> str:
        above = [kind for start, kind in starts(path) if start <= line]
        return above[-1] if above else ""

    return type_at


def _mover(
    changed: Mapping[str, tuple[bytes | None, bytes | None]],
) -> Callable[[str, int, str], int | None]:
    """Return what finds a line of the first text of a file in the second."""

    @cache
    def both(path: str) -> tuple[list[str], list[str], tuple[int, ...]]:
        here, there = (text_lines(text or b"") for text in changed[path])
        return here, there, old_lines(there, here)

    def moved(path: str, number: int, words: str) -> int | None:
        if path not in changed:
            return number
        here, there, lines = both(path)
        if not there or not 0 < number <= len(lines):
            return None
        near = lines[number - 1]
        said = here[number - 1].strip()
        return near if said in there[near - 1] or (words and words in there[near - 1]) else None

    return moved
