"""The block on what changes: headline, rules, what comes and goes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kumamigrate.model.resource import Identity, Resource
from kumamigrate.report.diff import patch_text
from kumamigrate.report.screen.causes import fitting, places_of, sentences
from kumamigrate.report.screen.counted import count, some
from kumamigrate.report.screen.onscreen import OnScreen, of_file
from kumamigrate.report.screen.verdictblock import verdict_lines
from kumamigrate.report.styled import Line, line
from kumamigrate.rewrite.finding import Finding, Status
from kumamigrate.rewrite.references.topref import BECAUSE

WIDTH = 110
MOST_NOTES = 3
MOST_NAMES = 4
SHORT = 100
"""A diff of so many lines stands on the screen; a longer one is asked for."""


def is_short(patch: str) -> bool:
    """Say whether a diff is printed unasked."""
    return patch.count("\n") <= SHORT


def change_lines(screen: OnScreen) -> list[Line]:
    """Return what changes: headline, rules, what comes and goes; then what proxies see of it."""
    outcome = screen.outcome
    lines: list[Line] = []
    if outcome.texts:
        fixed = [f for f in screen.told.findings if f.status is Status.FIXED]
        lines += [_headline(screen), *_rule_lines(fixed, screen), *_come_and_gone(screen)]
    return [*lines, *verdict_lines(screen)]


def _headline(screen: OnScreen) -> Line:
    outcome = screen.outcome
    files = f"{len(outcome.texts)} of {count(outcome.before.repository.examined, 'file')}"
    title = "CHANGED" if screen.written else "WOULD CHANGE"
    said = f"  {_done(screen)}, in {files}, for Kuma {outcome.before.target}"
    if screen.written:
        return line((title, "strong"), said)
    long = "" if screen.verbose or is_short(patch_text(outcome)) else _where_the_diff_is(screen)
    return line((title, "strong"), said, (long, "dim"))


def _where_the_diff_is(screen: OnScreen) -> str:
    lines = patch_text(screen.outcome).count("\n")
    return f"   diff ({lines} lines): --verbose, or --diff FILE"


def _rule_lines(fixed: Sequence[Finding], screen: OnScreen) -> list[Line]:
    """Return one line for each rule: how often, and where first; what it has to say below it."""
    by_rule: dict[str, list[Finding]] = {}
    for finding in fixed:
        by_rule.setdefault(finding.rule, []).append(finding)
    width = max(map(len, by_rule), default=0)
    lines: list[Line] = []
    for rule, found in by_rule.items():
        head = f"  {rule:<{width}}  {len(found):>3}  "
        if screen.verbose:
            lines.append(line(head))
            lines += [one for finding in found for one in _full(finding)]
            continue
        lines.append(line(head, (places_of(found, WIDTH - len(head)), "place")))
        lines += _elsewhere(rule, found, screen, " " * len(head))
        lines += _notes(found, " " * len(head))
    return lines


def _elsewhere(rule: str, found: Iterable[Finding], screen: OnScreen, indent: str) -> list[Line]:
    """Name the files that a rule changes where what it names is a file that stays as it is."""
    texts, named = screen.outcome.texts, {finding.file for finding in found}
    if named <= texts.keys():
        return []
    edits = (edit for change in screen.outcome.kept if change.rule == rule for edit in change.edits)
    files = dict.fromkeys(e.where.path for e in edits if e.where.path in texts.keys() - named)
    return [line(indent, "in ", (fitting([*files], WIDTH - len(indent)), "place"))] if files else []


def _full(finding: Finding) -> list[Line]:
    resource = finding.resource
    named = f"{resource.type} {resource.name}" if resource is not None else ""
    place = f"{finding.file}:{finding.line}" if finding.file else "(inventory)"
    notes = [line(f"        {note}") for note in finding.notes if note not in BECAUSE]
    return [line("      ", (place, "place"), f"   {named}"), *notes]


def _notes(found: Sequence[Finding], indent: str) -> list[Line]:
    """Return what the changes of a rule come with, each thing once. Why labels may take the place
    of tags is said with what the verdict rests on."""
    notes = sentences(n for finding in found for n in finding.notes if n not in BECAUSE)
    # That there is one more takes the line that it would take itself.
    most = len(notes) if len(notes) == MOST_NOTES + 1 else MOST_NOTES
    lines = [line(indent, (note, "dim")) for note in notes[:most]]
    more = len(notes) - most
    return [*lines, line(indent, (f"… and {more} more", "dim"))] if more > 0 else lines


def _come_and_gone(screen: OnScreen) -> list[Line]:
    """Name the resources that come, those that go, and the files that go with them."""
    came, gone, files = _moved(screen)
    most = len(came) + len(gone) if screen.verbose else MOST_NAMES
    lines = []
    heirs = {id(old): [new for new in came if _follows(new, old)] for old in gone}
    followed = {id(new) for found in heirs.values() for new in found}
    if fresh := [new for new in came if id(new) not in followed]:
        lines.append(line(f"  {'new':<8} ", (_named(fresh, most), "")))
    for old in gone[:most]:
        becomes = ", ".join(f"{new.type} {new.name}" for new in heirs[id(old)])
        said = f": becomes {becomes}" if becomes else ""
        lines.append(line(f"  {'REMOVED':<8} ", (f"{old.type} {old.name}{_at(old)}{said}", "warn")))
    if len(gone) > most:
        lines.append(line(f"  {'REMOVED':<8} ", (f"{_named(gone[most:], 0)}: --verbose", "warn")))
    if files:
        names = some(files, most)
        words = count(len(files), "file") + (" is" if len(files) == 1 else " are")
        lines.append(line(f"  {'REMOVED':<8} ", (f"{words} gone as a whole: {names}", "warn")))
    if bare := _bare(screen, gone):
        words = "a file of comments alone stays" if len(bare) == 1 else "files of comments stay"
        lines.append(line(f"  {'KEPT':<8} {words}, no comment is deleted: {some(bare, most)}"))
    return lines


def _bare(screen: OnScreen, gone: Iterable[Resource]) -> list[str]:
    """Return the files of which only comments are left: those are no tool's to delete."""
    texts = screen.outcome.texts
    paths = dict.fromkeys(old.where.path for old in gone if old.where is not None)
    later = ((path, texts.get(path, (None, None))[1]) for path in paths)
    return [path for path, text in later if text is not None and _is_bare(text)]


def _is_bare(text: bytes) -> bool:
    lines = (one.strip() for one in text.splitlines())
    return all(not one or one.startswith(b"#") or one == b"---" for one in lines)


def _follows(new: Resource, old: Resource) -> bool:
    """Say whether a resource stands for one that goes: another kind of its name, or more than
    its name in the same file, which the MeshService of a share has of its service's."""
    if new.name == old.name:
        return new.mesh == old.mesh
    here = new.where is not None and old.where is not None and new.where.path == old.where.path
    further = here and f"-{old.name}-" in f"-{new.name}-"
    return further and new.type not in (old.type, "MeshService")


def _named(resources: Sequence[Resource], most: int) -> str:
    """Name resources; those of one kind together, where there are many."""
    if len(resources) <= most:
        return ", ".join(f"{r.type} {r.name}{_at(r)}" for r in resources)
    by_type: dict[str, list[Resource]] = {}
    for resource in resources:
        by_type.setdefault(resource.type, []).append(resource)
    return "; ".join(
        f"{len(found)} {_plural(kind)}: {some((r.name for r in found), 2)}"
        if len(found) > 1
        else f"{kind} {found[0].name}"
        for kind, found in by_type.items()
    )


def _plural(kind: str) -> str:
    return f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"


def _at(resource: Resource) -> str:
    return f" ({resource.where.path})" if resource.where is not None else ""


def _moved(screen: OnScreen) -> tuple[list[Resource], list[Resource], list[str]]:
    outcome = screen.outcome
    old, new = _all(screen, before=True), _all(screen, before=False)
    adopted = {
        (path, r.identity)
        for path in outcome.adopted
        for r in of_file(outcome.before.repository, path)
    }
    was = {identity for _, identity in old.keys() - adopted}
    now = {identity for _, identity in new}
    came = [r for (_, identity), r in new.items() if identity not in was]
    gone = [r for key, r in old.items() if key[1] not in now and key not in adopted]
    return came, gone, sorted(p for p, (_, text) in outcome.texts.items() if text is None)


def _all(screen: OnScreen, *, before: bool) -> dict[tuple[str, Identity], Resource]:
    outcome = screen.outcome
    scene = outcome.before if before else outcome.after
    return {
        (path, r.identity): r for path in outcome.texts for r in of_file(scene.repository, path)
    }


def _done(screen: OnScreen) -> str:
    """Say how many resources changed, came and went."""
    came, gone, _ = _moved(screen)
    old = _all(screen, before=True)
    new = _all(screen, before=False)
    changed = sum(1 for key, r in old.items() if key in new and new[key].body != r.body)
    parts = [count(changed, "resource")] if changed else []
    parts += [f"{len(came)} new"] if came else []
    parts += [f"{len(gone)} removed"] if gone else []
    return ", ".join(parts) or "text only"
