"""The rulebook: every `rules/*.yaml` as a Rule, in the order in which rules build on each other."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any
from zlib import adler32, crc32

from kumamigrate.errors import RulebookError
from kumamigrate.rewrite.finding import Danger, Safety
from kumamigrate.rewrite.rule import Rule, RuleSelector, Step

_PACKAGE = Path(__file__).resolve().parent.parent
_KEYS = {
    "id", "title", "why", "source", "since", "warned", "required", "safety", "danger", "claims",
    "after", "upgrade", "covers", "traps", "proved", "message", "action", "select", "steps",
    "before-example", "after-example", "until", "from-before", "form", "refused", "staged", "table",
    "planner", "about", "mentions",
}  # fmt: skip
_VERBS = ("set", "default", "rename", "remove", "move", "map", "trim")


DIGESTED = Path(__file__).with_name("rulebook.json")
"""What `tools/rulebook.py` read of all rules, one a line with a digest of its file: a hundred
files of YAML take half of the time that a hook has for one file. A file that says something else
by now is read itself."""
_PLANNERS = _PACKAGE / "rewrite" / "planners"


def rules_folder() -> Path:
    """Return the folder with the rule files: in a wheel inside the package, else beside it."""
    packed = _PACKAGE / "_rules"
    return packed if packed.is_dir() else _PACKAGE.parent / "rules"


@cache
def rulebook() -> tuple[Rule, ...]:
    """Return all rules in dependency order, rules of equal rank by id.

    Raises RulebookError, naming file and field, for anything a rule file may not say.
    """
    digested = _digested()
    files = sorted(rules_folder().glob("*.yaml"))
    if not files:
        folder = rules_folder().name
        raise RulebookError(f"{folder}/ holds no rule: install kumamigrate anew")
    rules = {rule.id: rule for rule in (_read(file, digested) for file in files)}
    graph = TopologicalSorter({rule.id: rule.after for rule in rules.values()})
    for rule in rules.values():
        for name in rule.after:
            if name not in rules:
                raise RulebookError(f"rules/{rule.id}.yaml: after: there is no rule {name}")
    try:
        graph.prepare()
    except CycleError as error:
        raise RulebookError(f"rules: after: a cycle: {' → '.join(error.args[1])}") from error
    ordered: list[Rule] = []
    while graph.is_active():
        ready = sorted(graph.get_ready())
        ordered.extend(rules[name] for name in ready)
        graph.done(*ready)
    return tuple(ordered)


def digest_of(content: bytes) -> str:
    """Return what tells the contents of two rule files apart."""
    # Nobody forges a rule, and hashlib takes longer to import than all rules to read.
    return f"{len(content):x}-{crc32(content):08x}-{adler32(content):08x}"


def yaml_of(content: bytes) -> Any:
    """Return what a rule file says. Raises ValueError for what is no YAML."""
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return yaml.load(content.decode(), Loader=loader)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


def _digested() -> Mapping[str, Any]:
    """Return by id what was read of rules before; nothing where that cannot be read."""
    try:
        found = json.loads(DIGESTED.read_bytes())
        return {name: one for name, one in found.items() if one.keys() >= {"digest", "says"}}
    except (OSError, ValueError, AttributeError):
        return {}


def _read(path: Path, digested: Mapping[str, Any]) -> Rule:
    try:
        content = path.read_bytes()
        known = digested.get(path.stem, {})
        same = known.get("digest") == digest_of(content)
        data = known["says"] if same else yaml_of(content)
    except (OSError, ValueError) as error:
        raise RulebookError(f"rules/{path.name}: {error}") from error
    if not isinstance(data, dict):
        raise RulebookError(f"rules/{path.name}: not a mapping")
    unknown = sorted(set(data) - _KEYS)
    if unknown:
        raise RulebookError(f"rules/{path.name}: unknown field {unknown[0]}")
    if data.get("id") != path.stem:
        raise RulebookError(f"rules/{path.name}: id must be the file's name, {path.stem}")
    try:
        return _rule(data)
    except (KeyError, ValueError, TypeError) as error:
        raise RulebookError(f"rules/{path.name}: {error}") from error


def _rule(data: Mapping[str, Any]) -> Rule:
    steps = tuple(_step(step) for step in data.get("steps", ()))
    if steps and "select" not in data:
        raise ValueError("steps without select")
    return Rule(
        id=data["id"],
        title=data["title"],
        why=_prose(data["why"]),
        source=_words(data["source"]),
        since=str(data.get("since", "")),
        warned=str(data.get("warned", "")),
        required=str(data.get("required", "")),
        safety=Safety(data["safety"]),
        danger=Danger[str(data["danger"]).upper().replace("-", "_")],
        claims=_words(data.get("claims", ["live"])),
        after=_words(data.get("after", ())),
        upgrade=bool(data.get("upgrade", False)),
        until=str(data.get("until", "")),
        source_before=str(data.get("from-before", "")),
        form=str(data.get("form", "")),
        refused=bool(data.get("refused", False)),
        staged=bool(data.get("staged", False)),
        planner=_planner(data),
        table=data.get("table", {}),
        about=_words(data.get("about", ())),
        mentions=_words(data.get("mentions", ())),
        covers=_words(data.get("covers", ())),
        traps=tuple(_prose(trap) for trap in data.get("traps", ())),
        proved=_prose(data.get("proved", "")),
        message=_prose(data.get("message", "")),
        action=_prose(data.get("action", "")),
        select=_selector(data["select"]) if "select" in data else None,
        steps=steps,
        example=(data.get("before-example", ""), data.get("after-example", "")),
    )


def _planner(data: Mapping[str, Any]) -> str:
    """Return the shared planner that a rule names. Raises ValueError where there is none."""
    name = str(data.get("planner", ""))
    if name and not (_PLANNERS / f"{name.replace('-', '_')}.py").is_file():
        raise ValueError(f"planner: there is no {name}")
    return name


def _selector(data: Mapping[str, Any]) -> RuleSelector:
    return RuleSelector(
        types=_words(data["types"]),
        fields=_words(data.get("field", "")),
        where=data.get("where", {}),
        unless=data.get("unless", {}),
    )


def _step(data: Mapping[str, Any]) -> Step:
    ((verb, arguments),) = data.items()
    if verb not in _VERBS:
        raise ValueError(f"unknown step {verb}")
    return Step(verb=verb, arguments=arguments)


def _words(value: Any) -> tuple[str, ...]:
    return tuple(str(word) for word in ([value] if isinstance(value, str) else value))


def _prose(value: Any) -> str:
    return " ".join(str(value).split())
