"""The rulebook for people: the list, and one rule explained."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

from kumamigrate.errors import UsageError
from kumamigrate.report.styled import Line, line
from kumamigrate.rewrite.rule import Rule
from kumamigrate.rewrite.rulebook import rulebook

_WIDTH = 96


TOLD_BY = {
    "expired-suppression": "check and run, of a comment whose date is over",
    "inventory-drift": "check and run with --inventory",
    "misspelt-suppression": "check and run, of a comment that ignores nothing",
    "overruled-setting": "check --dead",
    "repeated-setting": "check --dead",
    "undecided-setting": "check --dead",
    "unreached-policy": "check --dead",
    "unused-accept": "run, of an --accept that nothing needs",
    "unused-suppression": "check and run, of a comment that nothing needs",
}
"""What findings are called that come from no rule, and who tells them."""


def rules_lines() -> list[Line]:
    """Return one line per rule, by name."""
    width = max(len(rule.id) for rule in rulebook())
    return [
        line((rule.id.ljust(width + 2), "strong"), f"{rule.safety:<8}", rule.title, _releases(rule))
        for rule in sorted(rulebook(), key=lambda rule: rule.id)
    ]


def rule_lines(rule_id: str) -> list[Line]:
    """Return a rule explained. Raises UsageError for an unknown id."""
    rule = _find(rule_id)
    lines = [line((rule.title, "strong"), _releases(rule)), ()]
    lines += _paragraph(rule.why)
    for name, example in zip(("before", "after"), rule.example, strict=True):
        if example:
            lines += [(), line((name, "strong"))]
            lines += [line("  ", text) for text in example.rstrip().splitlines()]
    for trap in rule.traps:
        lines += [(), *_paragraph(f"Mind: {trap}")]
    if rule.proved:
        lines += [(), *_paragraph(f"What is proved: {rule.proved}")]
    safety = {
        "proven": "It is written when the proof holds.",
        "review": f"It is written only with --accept {rule.id}, or at one place with"
        f" --accept {rule.id}@FILE:LINE.",
        "manual": "It only reports; the decision is yours.",
    }
    lines += [(), line(safety[rule.safety]), *_option_lines(rule)]
    return [*lines, (), line(("Source: " + "; ".join(rule.source), "dim"))]


def _option_lines(rule: Rule) -> list[Line]:
    """Name the options that decide what the rule does, and what holds without them."""
    options = [("--target", "2.14", "the release to reach")]
    if rule.staged:
        said = "moves in place where that is safe today, else writes the new form beside the old"
        options.append(("--stage", "auto", said))
    if rule.safety != "manual":
        options += [
            (
                "--accept",
                "no rule",
                f"{rule.id} writes what cannot be proven, or asks for your word",
            ),
            ("--allow", "activation,name,residue", "kinds of differences with which it may write"),
            ("--hold", "none", "kinds of differences that are left for a change of their own"),
        ]
    ignored = f"# kumamigrate: ignore[{rule.id}] why"
    return [
        (),
        line(("Options, with their defaults", "strong")),
        *(line(f"  {name:<9} {default:<24} {said}") for name, default, said in options),
        line(f"  in a file: {ignored}, on or above what it concerns"),
    ]


def rules_json() -> list[dict[str, Any]]:
    """Return all rules in full."""
    return [_json(rule) for rule in rulebook()]


def rule_json(rule_id: str) -> dict[str, Any]:
    """Return one rule in full. Raises UsageError for an unknown id."""
    return _json(_find(rule_id))


def _find(rule_id: str) -> Rule:
    for rule in rulebook():
        if rule.id == rule_id:
            return rule
    if rule_id in TOLD_BY:
        raise UsageError(f"{rule_id} is no rule of the rulebook: it is told by {TOLD_BY[rule_id]}")
    raise UsageError(f"there is no rule {rule_id}; kumamigrate rules lists them")


def _releases(rule: Rule) -> str:
    if rule.since and rule.since == rule.required:
        return f"  (changed in {rule.since})"
    known = (
        ("new form since", rule.since),
        ("old one warned about from", rule.warned),
        ("gone in", rule.required),
    )
    said = ", ".join(f"{words} {release}" for words, release in known if release)
    return f"  ({said})" if said else ""


def _paragraph(text: str) -> list[Line]:
    return [line(part) for part in wrap(text, _WIDTH)]


def _json(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "title": rule.title,
        "why": rule.why,
        "source": list(rule.source),
        "since": rule.since,
        "warned": rule.warned,
        "required": rule.required,
        "safety": rule.safety.value,
        "danger": rule.danger.name.lower().replace("_", "-"),
        "claims": list(rule.claims),
        "after": list(rule.after),
        "upgrade": rule.upgrade,
        "covers": list(rule.covers),
        "traps": list(rule.traps),
        "proved": rule.proved,
        "examples": {"before": rule.example[0], "after": rule.example[1]},
    }
