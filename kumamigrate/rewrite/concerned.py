"""Whether a rule can have anything to say of a state, told by its own words about itself.

Most rules are about one or two types, and most states hold few: a rule that is not concerned is
neither asked nor imported. `tests/rewrite/test_concerned.py` holds the words to what rules say.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kumamigrate.model.release import policy_type_names
from kumamigrate.model.resource import Resource
from kumamigrate.model.state import State
from kumamigrate.rewrite.rule import Rule

OLD_KIND = "old-kind"
"""The planner of rules for one kind of the old engine, or one field of the Mesh."""


def concerns(rule: Rule, state: State, refused: tuple[Resource, ...]) -> bool:
    """Say whether some resource is there that a rule may speak of."""
    types, words = subject_of(rule)
    if not types:
        return True
    there = _types(state, refused)
    return any(
        not words or not _words(state, refused, type_).isdisjoint(words) for type_ in types & there
    )


def subject_of(rule: Rule) -> tuple[frozenset[str], frozenset[str]]:
    """Return the types that a rule is about, none for all, and the words it looks for there."""
    types, words = rule.about, rule.mentions
    if rule.planner == OLD_KIND:
        kind, *fields = str(rule.table["kind"]).split(".")
        types, words = (kind,), tuple(fields[-1:])
    elif not types and rule.select is not None and not rule.planner:
        types = rule.select.types
    policies = policy_type_names() if "policy" in types else frozenset()
    return frozenset(types) | policies, frozenset(words)


def _types(state: State, refused: tuple[Resource, ...]) -> frozenset[str]:
    if "types" not in state.known:
        state.known["types"] = frozenset(r.type for r in (*state.resources, *refused))
    found: frozenset[str] = state.known["types"]
    return found


def _words(state: State, refused: tuple[Resource, ...], type_: str) -> frozenset[str]:
    """Return the keys and words that stand in the manifests of a type."""
    if ("words", type_) not in state.known:
        every = (*state.resources, *refused)
        words: set[str] = set()
        for body in (one.body or one.spec for one in every if one.type == type_):
            _collect(body, words)
        state.known["words", type_] = frozenset(words)
    found: frozenset[str] = state.known["words", type_]
    return found


def _collect(value: Any, words: set[str]) -> None:
    if isinstance(value, str):
        words.add(value)
    elif isinstance(value, (dict, Mapping)):
        words.update(value)
        for inner in value.values():
            _collect(inner, words)
    elif isinstance(value, list):
        for inner in value:
            _collect(inner, words)
