"""The parts of the page: what changes, the proof with its witnesses, what is left and was read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element

from kumamigrate.prover.claimed import STATED
from kumamigrate.report.formats.differences import (
    HEADINGS,
    ShownDifference,
    ShownSide,
    decides,
    differences,
    proof_of,
)
from kumamigrate.report.formats.elements import code, element, folded, listed, table
from kumamigrate.report.formats.findings import CommonCause, Entry, by_cause, name_of, open_findings
from kumamigrate.report.formats.headline import counted

Report = Mapping[str, Any]
MOST_ROWS = 2_000
MOST_PATCH = 2_000_000
_STYLES = {"equivalent": "good", "unchanged": "good", "unknown": "warn", "different": "bad"}
_STATUSES = {
    "held": "Held back",
    "manual": "Waits for a decision",
    "pending": "Can be changed by a run",
}


def verdict(word: str) -> Element:
    """Return a verdict in its colour."""
    return element("span", word, cls=_STYLES.get(word, "dim"))


def changes(report: Report) -> Iterator[Element]:
    """Yield what was or would be changed, rule by rule, and the diff."""
    by_rule: dict[str, list[Entry]] = {}
    for entry in report.get("findings", ()):
        if entry["status"] == "fixed":
            by_rule.setdefault(entry["rule"], []).append(entry)
    for rule, entries in by_rule.items():
        rows = [_place(entry) for entry in entries[:MOST_ROWS]]
        summary = f"{rule}: {counted(len(entries), 'place')}"
        yield folded(summary, table(["Where", "Resource", ""], rows), shown=len(by_rule) < 6)
    if report.get("steps"):
        yield element("h3", "Deploy in this order")
        yield listed(report["steps"], "ol")
    if report.get("patch"):
        yield folded("The diff", _patch(report["patch"]))


def _patch(text: str) -> Element:
    cut = text if len(text) <= MOST_PATCH else text[:MOST_PATCH] + "\n… cut; --diff saves all\n"
    styles = {"+": "plus", "-": "minus", "@": "hunk"}
    lines = []
    for line in cut.splitlines():
        lines.append(element("span", line + "\n", cls=styles.get(line[:1], "")))
    return element("pre", *lines)


def proved(report: Report) -> Iterator[Element]:
    """Yield every claim with its verdict, differences and doubts, and what it rests on."""
    proof = proof_of(report)
    claims = sorted(proof["claims"], key=lambda claim: claim != decides(report))
    for claim in claims:
        title, found = STATED.get(claim, claim), proof["claims"][claim]
        said = list(_claim(report, claim))
        if claim == decides(report):
            yield element("h3", f"{title}: ", verdict(found["allowing"]))
            yield from said
        else:
            yield folded(f"{title}: {found['allowing']}", *said)
    rests = [f"not for every proxy: {why}" for why in proof.get("beyond", ())]
    rests += proof.get("assumptions", ())
    rests += [f"left to chance: {tie}" for tie in proof.get("ties", ())]
    if rests:
        yield folded(f"It rests on {counted(len(rests), 'fact')}", listed(rests[:MOST_ROWS]))


def _claim(report: Report, claim: str) -> Iterator[Element]:
    """Yield what differs in a claim, what cannot be told, and in which modes."""
    found = proof_of(report)["claims"][claim]
    yield from _difference_tables(differences(report, claim))
    reasons = found.get("unknown", ())
    if reasons:
        yield element("p", "What cannot be told:")
        yield listed(reasons[:MOST_ROWS])
    if found.get("modes"):
        rows = [[mode, verdict(word)] for mode, word in found["modes"].items()]
        yield table(["MeshService mode", "Verdict"], rows)


def _difference_tables(found: Sequence[ShownDifference]) -> Iterator[Element]:
    for effect, (one, many) in HEADINGS.items():
        mine = [d for d in found if d.effect == effect]
        if not mine:
            continue
        words = f"{len(mine):,} {one if len(mine) == 1 else many}"
        rows = [_row(d) for d in mine[:MOST_ROWS]]
        head = ["Proxy → destination", "Setting", "Before", "After"]
        yield folded(words, table(head, rows), shown=effect == "value" or len(mine) <= 20)


def _row(one: ShownDifference) -> list[Element | str]:
    names = ", ".join(one.proxies)
    way = f" → {one.destination}" if one.destination else ""
    route = f" {one.route}" if one.route else ""
    return [
        f"{names}{way}{route}",
        code(f"{one.policy_type} {one.field}"),
        _side(one.before),
        _side(one.after),
    ]


def _side(side: ShownSide) -> Element:
    who = f" {side.policy}" if side.policy else ""
    return element("span", code(side.value), element("br"), element("span", who, cls="dim"), " ",
                   element("code", side.at, cls="dim"))  # fmt: skip


def left(report: Report) -> Iterator[Element]:
    """Yield what was held, and what waits for a decision."""
    if "findings" not in report:
        return
    entries = [entry for entry, _ in open_findings(report)]
    for status, title in _STATUSES.items():
        mine = [entry for entry in entries if entry["status"] == status]
        if mine:
            yield element("h3", f"{title}: {counted(len(mine), 'place')}")
            yield listed(map(_cause, by_cause(mine, report)))
    if report.get("held"):
        yield element("h3", "Why changes were held back")
        yield listed(_why(held) for held in report["held"][:MOST_ROWS])


def _cause(cause: CommonCause) -> Element:
    action = element("div", f"→ {cause.action}") if cause.action else None
    rows = [_place(entry) for entry in cause.entries[:MOST_ROWS]]
    return element(
        "div",
        f"{cause.why} ",
        element("span", cause.rule, cls="dim"),
        action,
        table(["Where", "Resource", ""], rows),
    )


def _place(entry: Entry) -> list[Element | str]:
    return [code(_at(entry)), name_of(entry), " · ".join(entry["notes"])]


def _why(held: Mapping[str, Any]) -> Element:
    said = [
        f"{w['policyType']} {w['field']}: {w['before']['value']} → {w['after']['value']}"
        for w in held["witnesses"]
    ]
    said += [f"cannot tell: {reason}" for reason in held["unknown"]]
    said += [f"{r['file']}:{r['line']}: {r['message']}" for r in held["refused"]]
    return element("div", f"{held['rule']} in {', '.join(held['resources'])}", listed(said))


def coverage(report: Report) -> Iterator[Element]:
    """Yield what was read, and what was not."""
    read = report["coverage"]
    numbers: Iterable[tuple[str, int]] = (
        ("files", read["files"]),
        ("documents", read["documents"]),
        ("Kuma resources", read["kuma"]),
        ("not read", len(read["unread"])),
    )
    yield table([name for name, _ in numbers], [[f"{number:,}" for _, number in numbers]])
    if read["unread"]:
        rows = [
            [code(_at(one)), one["message"], one["action"]] for one in read["unread"][:MOST_ROWS]
        ]
        yield folded("What was not read", table(["Where", "Why", "What to do"], rows), shown=True)
    environments = report.get("world", {}).get("environments", ())
    if environments:
        rows = [_environment(one) for one in environments]
        yield table(["Environment", "Meshes", "Initial policies", "Files"], rows)
    if report.get("command"):
        yield element("p", "Made by")
        yield element("pre", report["command"])


def _environment(one: Mapping[str, Any]) -> list[Element | str]:
    meshes = ", ".join(f"{mesh}: {mode}" for mesh, mode in one["meshes"].items())
    given = ", ".join(dict.fromkeys(one["initialPolicies"].values()))
    return [one["name"] or "all files", meshes, given, str(one["files"])]


def _at(entry: Mapping[str, Any]) -> str:
    if not entry["file"]:
        return "(inventory)"
    return f"{entry['file']}:{entry['line']}:{entry['column']}"
