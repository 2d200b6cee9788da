"""One change as somebody is asked about it: its diff, what is proven of it, and why it is due."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.dataclass import dataclass
from kumamigrate.effective.difference import HARMLESS
from kumamigrate.flow.judging.everywhere import merged
from kumamigrate.flow.runoutcome import Outcome
from kumamigrate.flow.sumproof import prove_scenes
from kumamigrate.prover import Proof
from kumamigrate.prover.claimed import LIVE
from kumamigrate.report.diff import Texts, lines_of_patch
from kumamigrate.report.screen.difftext import Sides, difference_lines
from kumamigrate.report.screen.harmlesstext import harmless_of
from kumamigrate.report.screen.onscreen import texts_of
from kumamigrate.report.styled import Line, line
from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.rulebook import rulebook
from kumamigrate.scene.scene import Scene
from kumamigrate.world.estate import Estate, apply


@dataclass(frozen=True, kw_only=True)
class Hunk:
    """A change, what it is an edit of, and the sources as they lie on the disk."""

    change: Change
    ground: Estate
    disk: Scene


def hunks(outcome: Outcome) -> Iterator[Hunk]:
    """Yield the changes of an outcome, in the order in which they were kept."""
    for change, ground in zip(outcome.kept, outcome.grounds, strict=True):
        yield Hunk(change=change, ground=ground, disk=outcome.before)


def hunk_lines(hunk: Hunk, number: int, many: int) -> list[Line]:
    """Return what a change does to the files."""
    rule = next(one for one in rulebook() if one.id == hunk.change.rule)
    title = line((f"({number}/{many}) {rule.title}", "strong"), "   ", (rule.id, "dim"))
    after = apply(hunk.ground, [hunk.change])
    texts = {} if isinstance(after, tuple) else _between(hunk.ground, after)
    return [(), title, *_subjects(hunk), (), *lines_of_patch(texts)]


def why_lines(hunk: Hunk) -> list[Line]:
    """Return why a change is due, and what proxies notice of it."""
    rule = next(one for one in rulebook() if one.id == hunk.change.rule)
    lines = [line(f"  {rule.why}")]
    for finding in hunk.change.findings:
        lines += [line(f"  {note}") for note in (finding.message, *finding.notes) if note]
    if rule.proved:
        lines.append(line(f"  Proved: {rule.proved}"))
    after = apply(hunk.ground, [hunk.change])
    if isinstance(after, tuple):
        return lines
    sides = Sides(before=texts_of(hunk.ground), after=texts_of(after))
    witnesses = _proof(hunk.ground, after).witnesses(LIVE)
    values = [w for w in witnesses if w.effect not in HARMLESS]
    found = difference_lines(values, sides, indent="  ")
    found += harmless_of(witnesses, sides, HARMLESS, indent="  ")
    return [*lines, *(found or [line("  No proxy can tell the difference today.")])]


def _proof(before: Estate, after: Estate) -> Proof:
    return merged(
        (old.name, prove_scenes(old.applied, new.applied))
        for old, new in zip(before.sites, after.sites, strict=True)
    )


def _subjects(hunk: Hunk) -> Iterator[Line]:
    for finding in hunk.change.findings:
        resource = finding.resource
        if resource is not None:
            old = resource.identity in hunk.disk.repository.standing
            scene = hunk.disk if old else hunk.ground.whole
            file, at, _ = scene.repository.place(scene.where(resource), finding.path)
            yield line("  ", (f"{file}:{at}", "place"), f"   {resource.type} {resource.name}")


def _between(before: Estate, after: Estate) -> Texts:
    """Return old and new bytes of the files that differ between two estates."""
    old, new = before.whole.repository.files, after.whole.repository.files
    texts: dict[str, tuple[bytes | None, bytes | None]] = {}
    for path in sorted(old.keys() | new.keys()):
        was, now = old.get(path), new.get(path)
        if was is not now:
            texts[path] = (
                was.render() if was is not None else None,
                now.render() if now is not None else None,
            )
    for path in sorted(before.tree.files.keys() | after.tree.files.keys()):
        pair = before.tree.files.get(path), after.tree.files.get(path)
        if path not in old and path not in new and pair[0] != pair[1]:
            texts[path] = pair
    return texts
