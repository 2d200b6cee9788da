"""Write docs/reference: the commands, the rules and the shape of reports, from what the code holds.

Run `python tools/reference.py` after an option, a rule or the schema changed; the test
tests/hosts/test_docs.py holds the pages to what this makes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kumamigrate.arguments import COMMANDS, Argument, Command
from kumamigrate.report.formats.safemarkdown import table
from kumamigrate.rewrite.rule import Rule
from kumamigrate.rewrite.rulebook import rulebook

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "reference"
SCHEMA = ROOT / "kumamigrate" / "report" / "schemas" / "reports.schema.json"
_MADE = "Made by `tools/reference.py`; do not edit."


def pages() -> dict[str, str]:
    """Return the pages by file name."""
    return {
        "commands.md": _page(_commands()),
        "rules.md": _page(_rules()),
        "reports.md": _page(_reports()),
        "reports.schema.json": SCHEMA.read_text(encoding="utf-8"),
    }


def _page(lines: Iterator[str]) -> str:
    return "\n".join(lines).rstrip() + "\n"


def _commands() -> Iterator[str]:
    yield from ("# Commands", "", _MADE, "")
    for command in COMMANDS:
        yield from (f"## {command.name}", "", _ours(command.help), "")
        yield from _options(command)


def _options(command: Command) -> Iterator[str]:
    rows = [[_names(one), _said(one)] for one in command.arguments]
    if rows:
        yield from (*table(["Argument", "Means"], rows), "")


def _names(argument: Argument) -> str:
    settings = argument.settings
    word = settings.get("metavar") or "|".join(settings.get("choices") or ())
    takes = f" {word}" if word else ""
    if not argument.names[0].startswith("-"):
        return _code(word or argument.names[0])
    return ", ".join(_code(f"{name}{takes}") for name in argument.names)


def _said(argument: Argument) -> str:
    return _ours(str(argument.settings.get("help", "")).replace("%%", "%"))


def _ours(text: str) -> str:
    """Return text that we wrote: its code stays code, and nothing else is markup."""
    parts = " ".join(text.split()).split("`")
    kept = [one if at % 2 else re.sub(r"[<*_]", r"\\\g<0>", one) for at, one in enumerate(parts)]
    return "`".join(kept).replace("|", "\\|")


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")


def _rules() -> Iterator[str]:
    yield from ("# Rules", "", _MADE, "")
    yield "In the order in which they run. *proven* is written when the proof holds, *review* with"
    yield from ("`--accept`, *manual* is reported.", "")
    rows = [[f"[{one.id}](#{one.id})", one.safety, _ours(one.title)] for one in rulebook()]
    yield from (*table(["Rule", "Safety", "The form that goes"], rows), "")
    for rule in rulebook():
        yield from _rule(rule)


def _rule(rule: Rule) -> Iterator[str]:
    yield from (f"## {rule.id}", "", f"**{_ours(rule.title)}** ({rule.safety})", "")
    known = (
        ("new form since", rule.since),
        ("old one warned about from", rule.warned),
        ("gone in", rule.required),
    )
    releases = ", ".join(f"{words} {release}" for words, release in known if release)
    if releases:
        yield from (f"{releases[0].upper()}{releases[1:]}.", "")
    yield from (_ours(rule.why), "")
    for name, example in zip(("Before", "After"), rule.example, strict=True):
        if example:
            yield from (f"{name}:", "", "```yaml", example.rstrip(), "```", "")
    yield from (f"- Mind: {_ours(trap)}" for trap in rule.traps)
    yield from [""] * bool(rule.traps)
    if rule.proved:
        yield from (f"What is proved: {_ours(rule.proved)}", "")


def _reports() -> Iterator[str]:
    schema: Mapping[str, Any] = json.loads(SCHEMA.read_text(encoding="utf-8"))
    yield from ("# Reports", "", _MADE, "")
    yield "What `run`, `check` and `prove` print with `--format json`, as a"
    yield from ("[JSON schema](reports.schema.json).", _ours(schema["description"]), "")
    parts = schema["$defs"]
    for name in ("report", "proof", *(one for one in parts if one not in ("report", "proof"))):
        if "properties" in parts[name]:
            yield from _shape(name, parts[name])


def _shape(name: str, part: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"## {name}", "")
    if "description" in part:
        yield from (_ours(part["description"]), "")
    needed = part.get("required", ())
    rows = [
        [_code(key), _kind(inner), "" if key in needed else "maybe", _about(inner)]
        for key, inner in part["properties"].items()
    ]
    yield from (*table(["Key", "Type", "", "Means"], rows), "")


def _kind(inner: Mapping[str, Any]) -> str:
    if "$ref" in inner:
        name = inner["$ref"].rsplit("/", 1)[-1]
        return f"[{name}](#{name})" if name not in ("verdict", "effect") else name
    if "anyOf" in inner:
        return " or ".join(_kind(one) for one in inner["anyOf"])
    if "enum" in inner:
        return ", ".join(_code(str(word)) for word in inner["enum"])
    if "const" in inner:
        return _code(inner["const"])
    if inner.get("type") == "array":
        return f"list of {_kind(inner['items'])}"
    if isinstance(inner.get("additionalProperties"), Mapping):
        return f"by name: {_kind(inner['additionalProperties'])}"
    return str(inner.get("type", "any"))


def _about(inner: Mapping[str, Any]) -> str:
    return _ours(str(inner.get("description", "")))


def main() -> None:
    """Write the pages."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
