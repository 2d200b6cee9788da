"""Every rule of constraints.json, broken and kept, through the whole check of its release.

The specs are made from the rules, so a path that the release's schema does not have shows at once:
unknown fields are dropped before any rule is looked at. What the rules *should* say is pinned by
the goldens and by test_facts.py. Kinds that are no policies have goldens for each rule
(test_admission_goldens.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kumamigrate.admit.check import refusals_of, warnings_of
from kumamigrate.admit.constraint import Constraint, all_broken, constraints, constraints_of
from kumamigrate.admit.effect import EFFECTS
from kumamigrate.admit.ground import ground_of
from kumamigrate.admit.places import places
from kumamigrate.model.state import Environment
from kumamigrate.source.text import FieldPath
from tests.admit.build import BAD, GOOD, examples, field_at, is_policy, join, put, sample, spec_for
from tests.admit.manifest import resource_of

FLAT = {"Dataplane", "Mesh"}
"""Kinds whose fields stand beside their name on Universal."""

BY_HAND: dict[str, tuple[Any, Any]] = {
    "lb-affinity-weights": (
        {"affinityTags": [{"key": "a", "weight": 1}, {"key": "b"}]},
        {"affinityTags": [{"key": "a"}, {"key": "b"}]},
    ),
    "passthrough-mix": (
        {"appendMatch": [{"port": 80, "protocol": "http"}, {"port": 80, "protocol": "tls"}]},
        {"appendMatch": [{"port": 80, "protocol": "tcp"}, {"port": 80, "protocol": "tls"}]},
    ),
    "passthrough-twice": (
        {"appendMatch": [{"port": 80, "protocol": "tls", "value": "a"}] * 2},
        {"appendMatch": [{"port": p, "protocol": "tls", "value": "a"} for p in (80, 81)]},
    ),
    "route-header-twice": (
        {"set": [{"name": "a"}], "remove": ["a"]},
        {"set": [{"name": "a"}], "remove": ["b"]},
    ),
    "route-query-twice": (
        {"queryParams": [{"name": "a"}, {"name": "a"}]},
        {"queryParams": [{"name": "a"}, {"name": "b"}]},
    ),
    "route-prefix-rewrite": (
        {"matches": [{"path": {"type": "Exact", "value": "/a"}}]},
        {"matches": [{"path": {"type": "PathPrefix", "value": "/a"}}]},
    ),
    "tcp-route-to": ({"to": []}, {"to": [{}]}),
    "route-prefix-redirect": (
        {"matches": [{"path": {"type": "Exact", "value": "/a"}}, {}]},
        {"matches": []},
    ),
}
CASES = [
    pytest.param(rule, kind, release, id=f"{rule.id} {kind} {release}")
    for rule in constraints()
    for kind, release in examples(rule)
    if is_policy(kind)
]


@pytest.mark.parametrize(("rule", "kind", "release"), CASES)
def test_a_rule_speaks_exactly_when_it_is_broken(rule: Constraint, kind: str, release: str) -> None:
    for number, spec in enumerate(variants(rule, kind, release, breaking=True)):
        assert broken_paths(rule, kind, release, spec), f"broken, variant {number}: {spec}"
    for number, spec in enumerate(variants(rule, kind, release, breaking=False)):
        assert not broken_paths(rule, kind, release, spec), f"kept, variant {number}: {spec}"


def test_every_rule_has_an_example_for_every_kind() -> None:
    shown = {(case.values[0].id, case.values[1]) for case in CASES}  # type: ignore[union-attr]
    wanted = {(rule.id, kind) for rule in constraints() for kind in rule.types if is_policy(kind)}
    assert shown == wanted


def test_every_rule_has_its_own_id() -> None:
    ids = [rule.id for rule in constraints()]
    assert len(ids) == len(set(ids))


def test_every_effect_is_used() -> None:
    assert {rule.effect for rule in constraints()} == set(EFFECTS)


def test_every_form_has_an_example_that_is_refused() -> None:
    used = {
        name
        for rule in constraints()
        for name in (
            *(rule.argument.values() if rule.effect == "form" else ()),
            *rule.when.get("forms", {}).values(),
        )
    }
    assert used == set(GOOD) == set(BAD)


def test_rules_end_and_begin_with_their_releases() -> None:
    in_2_14 = {rule.id for rule in constraints_of("MeshTimeout", "2.14")}
    in_3_0 = {rule.id for rule in constraints_of("MeshTimeout", "3.0")}
    assert "timeout-route" in in_2_14 - in_3_0
    assert "rules-without-to" in in_3_0 - in_2_14


def broken_paths(
    rule: Constraint, kind: str, release: str, spec: dict[str, Any]
) -> list[FieldPath]:
    """Return where the rule is broken; each place must show in the answer for the resource.

    Inside a section that is refused whole, only the section shows.
    """
    manifest: dict[str, Any] = {"type": kind, "mesh": "default", "name": "p"}
    manifest |= spec if kind in FLAT else {"spec": spec}
    resource = resource_of(manifest)
    if rule.warn:
        found = warnings_of(resource, release=release)
    else:
        found = refusals_of(resource, release=release, environment=Environment())
    paths = [problem.path for problem in all_broken((rule,), ground_of(resource, release))]
    shown = {problem.path for problem in found}
    assert all(path in shown or path[:2] in shown for path in paths)
    return paths


def variants(
    rule: Constraint, kind: str, release: str, *, breaking: bool
) -> Iterator[dict[str, Any]]:
    """Yield specs that break the rule, one for each thing it names, or keep it."""
    if rule.id in BY_HAND:
        spec, anchor = spec_for(rule, kind, release)
        here = next(places(spec, anchor))[1] if anchor else spec
        here.update(BY_HAND[rule.id][0 if breaking else 1])
        yield spec
        return
    for change in _changes(rule, kind, release, breaking=breaking):
        spec, anchor = spec_for(rule, kind, release)
        for pattern, leaf in change.items():
            put(spec, join(anchor, pattern), leaf)
        yield spec


def _changes(
    rule: Constraint, kind: str, release: str, *, breaking: bool
) -> Iterator[dict[str, Any]]:
    """Yield what to put at the place: pattern and value."""
    anchor = spec_for(rule, kind, release)[1]
    wanted: Any = rule.argument
    known = [p for p in wanted if _known(kind, release, join(anchor, p))]
    values = {p: sample(kind, release, join(anchor, p)) for p in known}
    match rule.effect:
        case "forbid" | "empty":
            yield from ({p: values[p]} for p in known) if breaking else iter([{}])
        case "not_true":
            yield {known[0]: breaking}
        case "require" | "fill":
            yield {} if breaking else values
        case "require_any" | "fill_any":
            yield from iter([{}]) if breaking else ({p: values[p]} for p in known)
        case "require_one":
            yield from _one_of(values, breaking=breaking)
        case "number" | "duration":
            yield from _limits(rule, known, breaking=breaking)
        case "form":
            texts = BAD if breaking else GOOD
            yield from ({p: texts[wanted[p]]} for p in known)
        case "one_of":
            yield from ({p: "Nothing" if breaking else v} for p in known for v in wanted[p])
        case "not_one_of":
            yield from _refused_words(rule, kind, release, anchor, breaking=breaking)
        case "at_most":
            yield from ({p: [{}] * (wanted[p] + breaking)} for p in known)
        case _:
            raise AssertionError(rule.effect)


def _known(kind: str, release: str, pattern: str) -> bool:
    return not is_policy(kind) or field_at(kind, release, pattern) is not None


def _one_of(values: dict[str, Any], *, breaking: bool) -> Iterator[dict[str, Any]]:
    if not breaking:
        yield from ({p: value} for p, value in values.items())
    else:
        yield {}
        yield dict(list(values.items())[:2])


def _limits(rule: Constraint, known: list[str], *, breaking: bool) -> Iterator[dict[str, Any]]:
    """Values right at the limits and right outside. Durations get milliseconds."""
    time = rule.effect == "duration"
    for pattern in known:
        for bound, limit in rule.argument[pattern].items():
            edge = int(limit.removesuffix("ms").removesuffix("s")) if time else limit
            inside = {"gt": edge + 1, "ge": edge, "le": edge}[bound]
            outside = {"gt": edge, "ge": edge - 1, "le": edge + 1}[bound]
            value = outside if breaking else inside
            yield {pattern: f"{value}ms" if time else value}


def _refused_words(
    rule: Constraint, kind: str, release: str, anchor: str, *, breaking: bool
) -> Iterator[dict[str, Any]]:
    for pattern, words in rule.argument.items():
        field = field_at(kind, release, join(anchor, pattern))
        assert field is not None
        choices = field.enum or ("Mesh", *words)
        kept = [word for word in choices if word not in words]
        there = [word for word in words if word in choices]
        yield from ({pattern: word} for word in (there if breaking else kept))
