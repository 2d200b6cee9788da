"""The first block of a run: what changes, rule by rule, and what that does to proxies."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set

from kumamigrate.effective.difference import Effect, Witness
from kumamigrate.flow.verdict import Whole
from kumamigrate.model.resource import Identity, Resource
from kumamigrate.prover import Verdict
from kumamigrate.prover.claimed import LIVE, RELEASE
from kumamigrate.report.diff import patch_text
from kumamigrate.report.screen.causes import places_of
from kumamigrate.report.screen.counted import count, some
from kumamigrate.report.screen.difftext import (
    IN_ENVOY_ALONE,
    Sides,
    difference_lines,
    number_of,
)
from kumamigrate.report.screen.onscreen import OnScreen, of_file
from kumamigrate.report.styled import Line, line
from kumamigrate.rewrite.finding import Finding, Status
from kumamigrate.rewrite.references.topref import BECAUSE

WIDTH = 110
MOST_NOTES = 2
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
    return [*lines, *_verdict_lines(screen)]


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
        lines += _notes(found, " " * len(head))
    return lines


def _full(finding: Finding) -> list[Line]:
    resource = finding.resource
    named = f"{resource.type} {resource.name}" if resource is not None else ""
    place = f"{finding.file}:{finding.line}" if finding.file else "(inventory)"
    notes = [line(f"        {note}") for note in finding.notes if note not in BECAUSE]
    return [line("      ", (place, "place"), f"   {named}"), *notes]


def _notes(found: Sequence[Finding], indent: str) -> list[Line]:
    """Return what the changes of a rule come with, each thing once. Why labels may take the place
    of tags is said with what the verdict rests on."""
    notes = list(dict.fromkeys(note for finding in found for note in finding.notes))
    notes = [note for note in notes if note not in BECAUSE]
    lines = [line(indent, (note, "dim")) for note in notes[:MOST_NOTES]]
    more = len(notes) - MOST_NOTES
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
        lines.append(line(f"  {'KEPT':<8} {words}: {some(bare, most)}"))
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
    its name in the same file."""
    if new.name == old.name:
        return new.mesh == old.mesh
    here = new.where is not None and old.where is not None and new.where.path == old.where.path
    return here and f"-{old.name}-" in f"-{new.name}-" and new.type != old.type


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


def _verdict_lines(screen: OnScreen) -> list[Line]:
    """Say what proxies see of it: nothing, what starts to work, what differs."""
    proof, claim = screen.outcome.proof, screen.outcome.claim
    if proof is None:
        return []
    lines = _sentence(screen)
    lines += _found(screen, claim)
    lines += _modes(screen, claim)
    if claim == RELEASE:
        known = {witness.slot for witness in proof.witnesses(RELEASE)}
        today = [w for w in proof.witnesses(LIVE) if w.slot not in known]
        said = harmless_lines(today, screen, indent="    ")
        before = f"  Before the upgrade, on {screen.outcome.before.source}:"
        lines += [line(before), *said] if said else []
    return lines


def _sentence(screen: OnScreen) -> list[Line]:
    """Say what the run comes to as a whole."""
    outcome = screen.outcome
    target = outcome.before.target
    upgrade = outcome.claim != LIVE
    where = f" with the upgrade to {target}" if upgrade else ""
    match outcome.whole:
        case Whole.PROVEN:
            same = f": no live value changes{where} {_for_whom(screen)}."
            return [line(("Proved", "good"), same)]
        case Whole.AFTER_SWITCH:
            first = "Nothing changes if MeshService mode Exclusive comes first, on"
            return [_different(screen), line((f"{first} {outcome.before.source}.", "good"))]
        case Whole.UNKNOWN:
            said = f": cannot tell whether a live value changes{where}; why is under LEFT."
            return [line(("Not proved", "warn"), said)]
        case Whole.DIFFERENT:
            return [_different(screen)]


def _for_whom(screen: OnScreen) -> str:
    proof = screen.outcome.proof
    assert proof is not None
    if proof.proxies == "all":
        return "for any possible proxy"
    claims = (m.claims[screen.outcome.claim] for m in proof.meshes.values())
    listed = any(not p.made_up for result in claims for p in result.proxies)
    by_files = all(any(fact in why for fact in proof.assumptions) for why in proof.beyond)
    if by_files:
        return "for any proxy that these files allow for"
    return "for the proxies listed" if listed else "for any proxy but those named under RESTS ON"


def _different(screen: OnScreen) -> Line:
    outcome = screen.outcome
    assert outcome.proof is not None
    counted = set(Effect) - outcome.options.allow
    witnesses = [w for w in outcome.proof.witnesses(outcome.claim) if w.effect in counted]
    number = number_of(witnesses, screen.sides())
    found = f"{count(number, 'difference')} left" if number else "see LEFT"
    if outcome.claim == LIVE:
        said = f": what proxies read today is not the same, {found}."
        return line(("Not proved", "bad"), said)
    edits = sum(1 for f in outcome.findings if f.status is Status.FIXED)
    one_by_one = (
        f"{count(edits, 'edit')} {'is' if edits == 1 else 'are'} safe one by one; " if edits else ""
    )
    upgrade = f"the upgrade to {outcome.before.target} is not safe yet"
    return line(("Not proved", "bad"), f": {one_by_one}{upgrade}: {found}.")


def _found(screen: OnScreen, claim: str) -> list[Line]:
    """Return the differences of a claim, kind by kind; where not all environments have the same,
    with those they are in."""
    proof = screen.outcome.proof
    assert proof is not None
    known: dict[str, list[Witness]] = {mesh.environment: [] for mesh in proof.meshes.values()}
    for mesh in proof.meshes.values():
        known[mesh.environment] += mesh.claims[claim].witnesses if claim in mesh.claims else ()
    lines: list[Line] = []
    for effect in Effect:
        told = {
            place: _differences([w for w in found if w.effect is effect], screen, place)
            for place, found in known.items()
        }
        mine = [w for found in known.values() for w in found if w.effect is effect]
        if mine:
            lines += _heading(effect, mine, screen)
            lines += _in_places({place: found for place, found in told.items() if found}, known)
    return lines


def _differences(witnesses: Sequence[Witness], screen: OnScreen, place: str) -> list[Line]:
    return difference_lines(witnesses, screen.sides(place), indent="  ")


def _heading(effect: Effect, mine: Sequence[Witness], screen: OnScreen) -> list[Line]:
    """Return what stands above the differences of one kind; those that count need nothing."""
    if effect not in _HEADINGS:
        return []
    number, timeouts = number_of(mine, screen.sides()), _timeouts(mine)
    allow = screen.outcome.options.allow
    return [heading_line(effect, number, allow, hint=_hint(screen), timeouts=timeouts)]


def _in_places(told: Mapping[str, list[Line]], places: Collection[str]) -> list[Line]:
    """Return what is told of environments; what is so in all of them once."""
    if len(told) == len(places) and len({tuple(found) for found in told.values()}) == 1:
        return next(iter(told.values()))
    return [(*line(f"  {place}:"), *one) for place, found in told.items() for one in found]


_HEADINGS = {
    Effect.ACTIVATION: (
        "setting stands in Git and is ignored by this mesh today; it starts to work",
        "settings stand in Git and are ignored by this mesh today; they start to work",
    ),
    Effect.NAME: IN_ENVOY_ALONE,
    Effect.RESIDUE: (
        "setting that only the old engine made will be gone, and no new policy can set it",
        "settings that only the old engine made will be gone, and no new policy can set them",
    ),
}


def _hint(screen: OnScreen) -> str:
    return "" if screen.written else " (--hold activation keeps that out of this change)"


def harmless_lines(
    witnesses: Iterable[Witness], screen: OnScreen, *, indent: str = ""
) -> list[Line]:
    """Return the harmless differences of a run, those of one kind below one heading."""
    allow = screen.outcome.options.allow
    return harmless_of(witnesses, screen.sides(), allow, indent=indent, hint=_hint(screen))


def harmless_of(
    witnesses: Iterable[Witness],
    sides: Sides,
    allow: Set[Effect],
    *,
    indent: str,
    hint: str = "",
) -> list[Line]:
    """Return the harmless differences, those of one kind below one heading."""
    known = list(witnesses)
    lines: list[Line] = []
    for effect in _HEADINGS:
        mine = [w for w in known if w.effect is effect]
        number = number_of(mine, sides)
        if number:
            heading = heading_line(effect, number, allow, hint=hint, timeouts=_timeouts(mine))
            lines += [(*line(indent), *heading)]
            lines += difference_lines(mine, sides, indent=f"{indent}  ")
    return lines


def _timeouts(witnesses: Iterable[Witness]) -> bool:
    return all(w.policy_type == "MeshTimeout" for w in witnesses)


def heading_line(
    effect: Effect, number: int, allow: Set[Effect], *, hint: str = "", timeouts: bool = False
) -> Line:
    """Return what stands above harmless differences of one kind."""
    one, many = _HEADINGS[effect]
    words = one if number == 1 else many
    if effect is Effect.RESIDUE and timeouts:
        words = words.replace("setting", "timeout", 1)
    refused = "" if effect in allow else " (which --allow does not let pass)"
    more = hint if effect is Effect.ACTIVATION and not refused else ""
    return line(f"{number} {words}", (refused, "warn"), (more, "dim"), ":")


def _modes(screen: OnScreen, claim: str) -> list[Line]:
    """Say in which of the modes that a mesh may have nothing differs at all."""
    proof = screen.outcome.proof
    assert proof is not None
    modes = proof.modes(claim)
    same = [mode for mode, verdict in modes.items() if verdict is Verdict.EQUIVALENT]
    if not same or len(same) == len(modes):
        return []
    others = ", ".join(mode for mode in modes if mode not in same)
    idle = f"in MeshService mode {', '.join(same)} none of this; in {others} as said"
    return [line(f"  {idle}; the Mesh, an inventory or --mesh-services tells which it is")]
