"""Write docs/coverage.md: which rule answers which change of the way to 3.0, or why none does.

Run `python tools/coverage.py` after a rule was added or its `covers` changed; the test
tests/test_coverage.py holds the page to what this prints.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from kumamigrate.rewrite.rule import Rule
from kumamigrate.rewrite.rulebook import rulebook

DOCS = Path(__file__).resolve().parent.parent / "docs"
ROWS, PAGE = DOCS / "coverage.yaml", DOCS / "coverage.md"

_HEAD = """\
# Coverage

Every change that a manifest needs between Kuma 2.0 and 3.0, and the rule that answers it. Made by
`tools/coverage.py` from `docs/coverage.yaml` and the `covers` of the rules; do not edit.
*proven* is written when the proof holds, *review* when you accept the rule, *manual* is reported.
"""


def sections() -> list[dict[str, Any]]:
    """Return the sections of rows, in the order of the page."""
    found: list[dict[str, Any]] = yaml.safe_load(ROWS.read_text(encoding="utf-8"))
    return found


def answers(rules: Iterable[Rule]) -> Mapping[str, list[Rule]]:
    """Return the rules that cover each row, in rulebook order."""
    found: dict[str, list[Rule]] = defaultdict(list)
    for rule in rules:
        for row in rule.covers:
            found[row].append(rule)
    return found


def answer_of(row: Mapping[str, Any], rules: Sequence[Rule]) -> list[Rule]:
    """Return the rules that answer a row: those that cover it, and those it is a part of."""
    own = answers(rules).get(row["id"], [])
    named = row.get("part-of", ())
    return [*own, *(rule for rule in rules if rule.id in named and rule not in own)]


def problems(rules: Sequence[Rule]) -> list[str]:
    """Return what is wrong: rows without an answer, rules that cover or are no row."""
    known = {row["id"] for section in sections() for row in section["rows"]}
    ids = {rule.id for rule in rules}
    found = [
        f"{rule.id} covers {row}, which is no row"
        for rule in rules
        for row in rule.covers
        if row not in known
    ]
    for section in sections():
        for row in section["rows"]:
            found += [f"{row['id']}: no rule {n}" for n in row.get("part-of", ()) if n not in ids]
            if not row.get("why-not") and not answer_of(row, rules):
                found.append(f"{row['id']}: neither a rule nor a reason")
    return found


def page(rules: Sequence[Rule]) -> str:
    """Return the text of docs/coverage.md."""
    parts = [_HEAD, _summary(rules)]
    for section in sections():
        parts.append(f"## {section['section']}\n")
        lines = ["| row | change | answered by |", "|---|---|---|"]
        lines += [_line(row, rules) for row in section["rows"]]
        parts.append("\n".join(lines) + "\n")
    parts.append(_others(rules))
    return "\n".join(parts)


def _line(row: Mapping[str, Any], rules: Sequence[Rule]) -> str:
    named = ", ".join(f"`{rule.id}` ({_how(rule)})" for rule in answer_of(row, rules))
    note = row.get("why-not") or row.get("note", "")
    words = "; ".join(word for word in (named, note) if word) or "open"
    return f"| {row['id']} | {row['what']} | {words} |"


def _how(rule: Rule) -> str:
    return f"{rule.safety.value}, with the upgrade" if rule.upgrade else rule.safety.value


def _summary(rules: Sequence[Rule]) -> str:
    rows = [row for section in sections() for row in section["rows"]]
    count: Counter[str] = Counter()
    for row in rows:
        answered = answer_of(row, rules)
        best = min((rule.safety.value for rule in answered), key=_RANK.index, default="open")
        count["none" if row.get("why-not") else best] += 1
    return (
        f"{len(rows)} rows: {count['proven']} by a proven rule, {count['review']} by one that asks"
        f" for review, {count['manual']} reported with what to decide, {count['none']} without a"
        f" rule, with the reason, {count['open']} open.\n"
    )


def _others(rules: Sequence[Rule]) -> str:
    rest = [rule for rule in rules if not rule.covers and rule.id not in _parts()]
    lines = [f"* `{rule.id}`: {rule.title}" for rule in rest]
    return "\n".join(["## Rules beside the rows\n", *lines]) + "\n" if rest else ""


def _parts() -> set[str]:
    return {n for section in sections() for row in section["rows"] for n in row.get("part-of", ())}


_RANK = ["proven", "review", "manual"]


if __name__ == "__main__":
    PAGE.write_text(page(rulebook()), encoding="utf-8")
    for problem in problems(rulebook()):
        print(problem)
