"""Changes that a run did not make: what they would do, what cannot be told, what is in the way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kumamigrate.effective.difference import Effect
from kumamigrate.flow.unfinished import OLD_FORMS
from kumamigrate.report.screen.causes import (
    doubts,
    fitting,
    heaped,
    place_of,
    sentences,
)
from kumamigrate.report.screen.counted import RUN
from kumamigrate.report.screen.difftext import difference_lines
from kumamigrate.report.screen.findingtext import INDENT, WIDTH
from kumamigrate.report.screen.harmlesstext import harmless_of
from kumamigrate.report.screen.onscreen import OnScreen
from kumamigrate.report.styled import Line, line
from kumamigrate.report.unread import numbers_of, with_numbers
from kumamigrate.rewrite.finding import Finding
from kumamigrate.scene.held import Cause, Held

MOST_HELD = 3
MOST_REASONS = 4
_FOR_LATER = {
    Cause.ACTIVATION: "left for later: settings that are ignored today would start to work",
    Cause.NAME: "left for later: it would show in Envoy's configuration and statistics",
    Cause.RESIDUE: "left for later: settings that only the old engine made would be gone",
    Cause.SKIPPED: "skipped",
}
_ALONE = "Review them in a change of their own: the same command without --hold"
_AGAIN = "They are offered again by the next run"


def held_lines(screen: OnScreen) -> list[Line]:
    """Return what was held back: what would change something, what nobody can tell, what cannot
    be edited."""
    held = screen.held
    later = [one for one in held if one.cause is not None]
    held = [one for one in held if one.cause is None]
    target, source = screen.outcome.before.target, screen.outcome.before.source
    upgrade = "" if target == source else f" on {source}, before the upgrade"
    altering: dict[str, list[Held]] = {}
    for one in (one for one in held if one.witnesses):
        altering.setdefault(upgrade if one.today else "", []).append(one)
    unknown = [one for one in held if one.unknown and not one.witnesses]
    refused = [one for one in held if not one.witnesses and not one.unknown]
    return [
        *_later_lines(later, screen),
        *_refused_lines([one for one in later if one.cause is Cause.REFUSED], screen),
        *_warned_lines([one for one in later if one.cause is Cause.WARNED], screen),
        *(one for when, mine in altering.items() for one in _altering_lines(mine, when, screen)),
        *_unproven_lines(unknown, screen),
        *_uneditable_lines(refused, screen),
    ]


def places_in(held: Iterable[Held]) -> list[Finding | None]:
    """Return what was held, finding by finding: a change may be about several resources. None
    stands for a change of which nothing is said."""
    return [finding for one in held for finding in one.change.findings or (None,)]


def _number(held: Sequence[Held]) -> str:
    return f"  {len(places_in(held)):>3}"


def _later_lines(held: Sequence[Held], screen: OnScreen) -> list[Line]:
    """Return what could be written, and was left for a change of its own."""
    lines: list[Line] = []
    for cause, words in _FOR_LATER.items():
        mine = [one for one in held if one.cause is cause]
        if not mine:
            continue
        lines.append(line(f"{_number(mine)}  {words}"))
        most = len(mine) if screen.verbose else MOST_HELD
        for one in mine[:most]:
            lines += _held_heads(one, screen)
            lines += _differences(one, screen, f"{INDENT}    ")
        lines += _others(mine[most:])
        lines.append(line(f"{INDENT}→ {_AGAIN if cause is Cause.SKIPPED else _ALONE}"))
    return lines


def _refused_lines(held: Sequence[Held], screen: OnScreen) -> list[Line]:
    """Return what ends as documents that the target refuses: old policies, which a run for the
    release in use writes, and what would only be taken apart."""
    target, source = screen.outcome.before.target, screen.outcome.before.source
    old = [one for one in held if one.change.rule.startswith(OLD_FORMS)]
    others = [one for one in held if one not in old]
    converted = (
        f"`{RUN} --target {source}` writes it for {source}; then run for {target} again. In one run"
        f" all the same: --accept {_rules(old)}"
    )
    taken_apart = f"Settle first what else keeps it from {target}: it stands below"
    return [
        *_left_as_before(old, f"{target} would refuse what", converted, screen),
        *_left_as_before(others, f"{target} would refuse what", taken_apart, screen),
    ]


def _warned_lines(held: Sequence[Held], screen: OnScreen) -> list[Line]:
    """Return what would only be taken apart, and stay in a form that the target warns about."""
    target = screen.outcome.before.target
    way = "It follows once nothing above or below keeps these from the new form"
    return _left_as_before(held, f"{target} would warn about what", way, screen)


def _left_as_before(held: Sequence[Held], why: str, way: str, screen: OnScreen) -> list[Line]:
    if not held:
        return []
    what = "it becomes" if len(places_in(held)) == 1 else "they become"
    lines = [line(f"{_number(held)}  left as before: {why} {what}")]
    most = len(held) if screen.verbose else MOST_HELD
    for one in held[:most]:
        lines += _held_heads(one, screen)
        lines += [line(f"{INDENT}    {reason}") for reason in one.unknown]
    lines += _others(held[most:])
    return [*lines, line(f"{INDENT}→ {way}")]


def _rules(held: Sequence[Held]) -> str:
    rules = list(dict.fromkeys(one.change.rule for one in held))
    return rules[0] if len(rules) == 1 else "RULE"


def _others(held: Sequence[Held]) -> list[Line]:
    if not held:
        return []
    places = fitting(_places(held), WIDTH)
    return [line(INDENT, "and ", (places, "place"), (": --verbose", "dim"))]


def _altering_lines(held: Sequence[Held], when: str, screen: OnScreen) -> list[Line]:
    what = "change" if len(held) == 1 else "changes"
    lines = [line(f"{_number(held)}  held: the {what} would alter what proxies get{when}")]
    most = len(held) if screen.verbose else MOST_HELD
    for one in held[:most]:
        lines += _altering(one, screen)
    lines += _others(held[most:])
    rules = ", ".join(dict.fromkeys(one.change.rule for one in held))
    way = f"If you want that, write it by hand; what must stay: kumamigrate rule {rules}"
    return [*lines, line(f"{INDENT}→ {way}")]


def _altering(one: Held, screen: OnScreen) -> list[Line]:
    indent = f"{INDENT}    "
    first = one.change.findings[:1]
    lines = [*_held_heads(one, screen), *(line(indent, f.message) for f in first)]
    return [*lines, *_differences(one, screen, indent)]


def _differences(one: Held, screen: OnScreen, indent: str) -> list[Line]:
    """Return what a change would do; without --verbose the differences that count."""
    sides = screen.on_trial(one.environment)
    values = [w for w in one.witnesses if w.effect is Effect.VALUE]
    lines = difference_lines(values, sides, indent=indent)
    if screen.verbose or not values:
        others = [w for w in one.witnesses if w.effect is not Effect.VALUE]
        lines += harmless_of(others, sides, screen.outcome.options.allow, indent=indent)
    return lines


def _held_heads(one: Held, screen: OnScreen) -> list[Line]:
    """Return what a held change is about: the first of several, and where the others are."""
    first, *others = places_in((one,))
    if screen.verbose:
        return [_held_head(one, finding) for finding in (first, *others)]
    places = fitting([*dict.fromkeys(place_of(f) for f in others if f is not None)], WIDTH)
    more = [line(INDENT, "and ", (places, "place"))] if others else []
    return [_held_head(one, first), *more]


def _held_head(one: Held, finding: Finding | None) -> Line:
    where = f"   in environment {one.environment}" if one.environment else ""
    if finding is None:
        return line(INDENT, (one.change.rule, "dim"), where)
    resource = finding.resource
    named = f"   {resource.type} {resource.name}   " if resource is not None else "   "
    return line(INDENT, (place_of(finding), "place"), named, (one.change.rule, "dim"), where)


def _places(held: Sequence[Held]) -> list[str]:
    """Return where held changes are, each place once."""
    named = (
        place_of(finding) if finding is not None else one.change.rule
        for one in held
        for finding in sorted(places_in((one,)), key=_in_order)
    )
    return [*dict.fromkeys(named)]


def _in_order(finding: Finding | None) -> tuple[str, int]:
    return ("", 0) if finding is None else (finding.file, finding.line)


def _unproven_lines(held: Sequence[Held], screen: OnScreen) -> list[Line]:
    """Return the changes of which it cannot be told what they do, by what is missing."""
    numbers = numbers_of(screen.outcome.before.repository)
    groups: dict[tuple[str, ...], list[Held]] = {}
    for one in held:
        reasons = tuple(sentences(doubts(with_numbers(one.unknown, numbers))))
        groups.setdefault(reasons, []).append(one)
    lines: list[Line] = []
    for heap in heaped(groups.items(), lambda group: "\n".join(group[0])):
        mine = [one for _, part in heap.things for one in part]
        rules = list(dict.fromkeys(one.change.rule for one in mine))
        lines.append(line(f"{_number(mine)}  held: it cannot be told what changes   ", _dim(rules)))
        lines += _held_places(mine, screen)
        why = heap.said.split("\n")
        most = len(why) if screen.verbose else MOST_REASONS
        lines += [line(f"{INDENT}cannot tell: {reason}") for reason in why[:most]]
        if len(why) > most:
            lines.append(line(INDENT, (f"… and {len(why) - most} more: --verbose", "dim")))
        word = f"--accept {_rules(mine)}"
        lines.append(
            line(f"{INDENT}→ Settle that, or take it on your word: {screen.command} {word}")
        )
    return lines


def _dim(rules: Sequence[str]) -> tuple[str, str]:
    return (", ".join(rules), "dim")


def _held_places(held: Sequence[Held], screen: OnScreen) -> list[Line]:
    if screen.verbose or len(places_in(held)) == 1:
        return [head for one in held for head in _held_heads(one, screen)]
    return [line(INDENT, (fitting(_places(held), WIDTH - len(INDENT)), "place"))]


def _uneditable_lines(held: Sequence[Held], screen: OnScreen) -> list[Line]:
    """Return the changes that cannot be written, by what is in their way."""

    def reason(one: Held) -> str:
        said = dict.fromkeys(f"{r.detail}; {r.advice}" for r in one.refusals)
        return "\n".join(said) if said else "its text does not allow for it"

    lines: list[Line] = []
    for heap in heaped(held, reason):
        first, *more = heap.said.split("\n")
        rules = list(dict.fromkeys(one.change.rule for one in heap.things))
        lines.append(
            line(
                f"{_number(heap.things)}  held: cannot be edited without loss: {first}   ",
                _dim(rules),
            )
        )
        lines += [line(f"{INDENT}{reason}") for reason in more]
        lines += _held_places(heap.things, screen)
        places = dict.fromkeys(
            f"{r.path}:{r.line}:{r.column}" for one in heap.things for r in one.refusals
        )
        if places:
            at = fitting([*places], WIDTH - len(INDENT) - 4)
            lines.append(line(f"{INDENT}at  ", (at, "place")))
    return lines
