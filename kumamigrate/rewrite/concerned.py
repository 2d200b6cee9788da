"""Whether a rule can have anything to say of a state, told by its own words about itself.

Most rules are about one or two types, and most states hold few: a rule that is not concerned is
neither asked nor imported. `tests/rewrite/test_concerned.py` holds the words to what rules say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kumamigrate.model.release import policy_type_names
from kumamigrate.model.resource import Resource
from kumamigrate.rewrite.rule import Rule
from kumamigrate.rewrite.view import View

OLD_KIND = "old-kind"
"""The planner of rules for one kind of the old engine, or one field of the Mesh."""


def concerns(view: View) -> bool:
    """Say whether some resource is there that the view's rule may speak of."""
    types, words = subject_of(view.rule)
    if not types:
        return True
    present = types & _types(view)
    return any(not words or not _words(view, type_).isdisjoint(words) for type_ in present)


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


def _types(view: View) -> frozenset[str]:
    known = view.state.known
    if "types" not in known:
        known["types"] = frozenset(resource.type for resource in _all(view))
    found: frozenset[str] = known["types"]
    return found


def _words(view: View, type_: str) -> frozenset[str]:
    """Return the keys and words that stand in the manifests of a type."""
    known = view.state.known
    if ("words", type_) not in known:
        mine = (resource.body or resource.spec for resource in _all(view) if resource.type == type_)
        words: set[str] = set()
        for body in mine:
            _collect(body, words)
        known["words", type_] = frozenset(words)
    found: frozenset[str] = known["words", type_]
    return found


def _all(view: View) -> Iterable[Resource]:
    yield from view.state.resources
    yield from view.refused


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
