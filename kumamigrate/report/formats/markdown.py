"""A comment on a pull request: the verdict, what changes, what is to be decided, how to repeat it.

Before the folds it is never more than a screen, and as a whole never more than code hosts take:
a row that does not fit is counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kumamigrate.report.formats.differences import (
    HEADINGS,
    ShownDifference,
    decides,
    differences,
    proof_of,
    unprinted,
)
from kumamigrate.report.formats.findings import CommonCause, Entry, by_cause, name_of, open_findings
from kumamigrate.report.formats.headline import BAD, counted, headline, scope
from kumamigrate.report.formats.safemarkdown import code, fold, prose, shell, short, table

Report = Mapping[str, Any]
MARK = "<!-- kumamigrate -->"
"""By which a workflow finds the comment it made before."""
MOST_BYTES = 64 * 1024
MOST_ROWS = 10
MOST_MESHES = 5
MOST_DECISIONS = 5
MOST_PLACES = 3
_FOLDED = (1000, 200, 50, 10, 0)
"""So many rows stand behind a fold; the next number is tried where a comment is too long."""


def markdown(report: Report) -> str:
    """Return the comment, at most as long as code hosts take."""
    for most in _FOLDED:
        text = "\n".join(_lines(report, most)) + "\n"
        if len(text.encode("utf-8", "replace")) <= MOST_BYTES:
            break
    return text


def _lines(report: Report, most: int) -> Iterator[str]:
    level, said = headline(report)
    yield from (MARK, f"### {prose(said)}", "", prose(scope(report)), "")
    yield from _meshes(report, most)
    yield from _differences(report, most)
    yield from _doubts(report, most)
    yield from _decisions(report, most)
    yield from _listed("It rests on {}", "fact", _rests_on(report), most)
    steps = report.get("steps", ())
    yield from _listed("Deploy in {}, in this order", "step", steps, most, mark="1.")
    if report.get("command"):
        yield from ("On your machine:", "", *shell(short(report["command"], 2000)))
    if level == BAD and "whole" in report:
        yield from ("", "The complete result: `--format json`, or `--output html=report.html`")


def _meshes(report: Report, most: int) -> Iterator[str]:
    rows = [
        [
            code(_place(row)),
            row["verdict"] if "verdict" in row else counted(row["findings"], "finding"),
            str(row["changed"]),
            str(row["files"]),
        ]
        for row in report.get("meshes", ())
    ]
    if rows:
        head = ["Mesh", "Verdict", "Policies", "Files"]
        yield from _table(head, rows, MOST_MESHES, most, "mesh", "meshes")


def _place(row: Mapping[str, Any]) -> str:
    return f"{row['mesh']} in {row['environment']}" if row.get("environment") else str(row["mesh"])


def _differences(report: Report, most: int) -> Iterator[str]:
    """Yield the differences by kind; all kinds together show so many rows before a fold."""
    left = MOST_ROWS
    found = differences(report)
    for effect, (one, many) in HEADINGS.items():
        mine = [d for d in found if d.effect == effect]
        if not mine:
            continue
        yield from (f"**{len(mine)} {one if len(mine) == 1 else many}**", "")
        head = ["From → to", "Setting", "Before", "After", "Where"]
        yield from _table(head, list(map(_row, mine)), left, most, "row", "rows")
        left = max(0, left - len(mine))
    more = unprinted(report)
    if more:
        yield from (f"… and {counted(more, 'more difference')} of the same proxies", "")


def _row(one: ShownDifference) -> list[str]:
    return [
        code(one.traffic),
        code(f"{one.policy_type} {one.field}"),
        code(one.before.value, 60),
        code(one.after.value, 60),
        code(one.at),
    ]


def _decisions(report: Report, most: int) -> Iterator[str]:
    """Yield what was held and what waits for a decision, each cause once with its places."""
    left = [entry for entry, _ in open_findings(report)] if "findings" in report else []
    for status, one, many in (
        ("held", "place is held back", "places are held back"),
        ("manual", "place waits for a decision", "places wait for a decision"),
        ("pending", "place can be changed by a run", "places can be changed by a run"),
    ):
        mine = [entry for entry in left if entry["status"] == status]
        if mine:
            yield from (f"**{len(mine)} {one if len(mine) == 1 else many}**", "")
            yield from _items([_decision(cause) for cause in by_cause(mine, report)], most)


def _decision(cause: CommonCause) -> str:
    why = prose(cause.why, 200)
    action = f" → {prose(cause.action, 200)}" if cause.action else ""
    places = ", ".join(_where(entry) for entry in cause.entries[:MOST_PLACES])
    left = len(cause.entries) - MOST_PLACES
    more = f" and {left:,} more" if left > 0 else ""
    return f"- {places}{more}: {why}{action} ({code(cause.rule)})"


def _where(entry: Entry) -> str:
    place = f"{entry['file']}:{entry['line']}" if entry["file"] else "(inventory)"
    name = f" {code(name_of(entry), 80)}" if entry["resource"] else ""
    return f"{code(place)}{name}"


def _doubts(report: Report, most: int) -> Iterator[str]:
    """Yield what keeps the claim that decides from a verdict."""
    claim = proof_of(report)["claims"].get(decides(report), {})
    reasons = claim.get("unknown", ()) if claim.get("allowing") == "unknown" else ()
    if reasons:
        yield from ("**What cannot be told**", "")
        yield from _items([f"- {prose(reason, 300)}" for reason in reasons], most)


def _rests_on(report: Report) -> list[str]:
    proof = proof_of(report)
    beyond = proof.get("beyond", ())
    # Why it is not for every proxy may be just what is taken for granted.
    facts = [f for f in proof.get("assumptions", ()) if not any(f in why for why in beyond)]
    return [*(f"not for every proxy: {why}" for why in beyond), *facts]


def _listed(
    title: str, noun: str, facts: Sequence[str], most: int, mark: str = "-"
) -> Iterator[str]:
    if not facts:
        return
    shown = [f"{mark} {prose(fact, 300)}" for fact in facts[:most]]
    more = [f"{mark} … and {len(facts) - most:,} more"] if len(facts) > most else []
    yield from (*fold(title.format(counted(len(facts), noun)), [*shown, *more]), "")


def _items(items: Sequence[str], most: int) -> Iterator[str]:
    hidden = items[MOST_DECISIONS:]
    yield from (*items[:MOST_DECISIONS], "")
    if hidden:
        kept = [*hidden[:most], *_rest(hidden, most)]
        yield from (*fold(f"… and {len(hidden):,} more", kept), "")


def _table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    shown: int,
    most: int,
    one: str,
    many: str,
) -> Iterator[str]:
    first, hidden = rows[:shown], rows[shown:]
    if first:
        yield from (*table(head, first), "")
    if hidden:
        kept = [*table(head, hidden[:most]), *_rest(hidden, most)] if most else _rest(hidden, 0)
        more = "more " if first else ""
        yield from (*fold(f"{len(hidden):,} {more}{one if len(hidden) == 1 else many}", kept), "")


def _rest(hidden: Sequence[object], most: int) -> list[str]:
    left = len(hidden) - most
    return ["", f"and {left:,} that do not fit here; `--format json` has them all"] * (left > 0)
