"""No rule stumbles over a manifest of any shape: whatever stands where, there is an answer."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from kumamigrate.dataclass import replace
from kumamigrate.model.read import read_resources
from kumamigrate.model.resource import Resource
from kumamigrate.model.state import Environment, State
from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.faulty import is_fault
from kumamigrate.rewrite.plan import plan
from kumamigrate.rewrite.rulebook import rulebook
from kumamigrate.rewrite.view import View
from kumamigrate.scene.storedstate import Admitted, Rejection, state_of
from kumamigrate.source.reading.load import read_file
from tests.cases import LOADER, Case, cases

ODD: tuple[Any, ...] = (
    None,
    0,
    True,
    "x",
    [],
    {},
    [None],
    {"x": None},
    [[]],
    [{}],
    "{{ .Values.x }}",
)
WHOLE = bool(os.environ.get("KUMAMIGRATE_GOLDENS"))
IDENTITY = ("apiVersion", "kind", "type", "name", "mesh")


def _paths(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if at or key not in IDENTITY:
                yield (*at, key)
                yield from _paths(inner, (*at, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield (*at, index)
            yield from _paths(inner, (*at, index))


def _with(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    if isinstance(value, dict):
        return {k: _with(v, path[1:], new) if k == path[0] else v for k, v in value.items()}
    return [_with(v, path[1:], new) if i == path[0] else v for i, v in enumerate(value)]


def _odd_states(case: Case, release: str) -> Iterator[tuple[State, tuple[Rejection, ...]]]:
    """Yield the states of a case's files with one thing odd; all else is read and admitted once."""
    environment = Environment(mesh_services="Exclusive")
    known: Admitted = {}
    for file in sorted(case.before.rglob("*.yaml")):
        documents = [d for d in yaml.load_all(file.read_text(), Loader=LOADER) if d is not None]
        plain = [_resources(document, at) for at, document in enumerate(documents)]
        for at, document in enumerate(documents):
            for number, path in enumerate(_paths(document)):
                if number % 4 and not WHOLE:
                    continue
                odd = _resources(_with(document, path, ODD[number % len(ODD)]), at)
                listed = [odd if index == at else one for index, one in enumerate(plain)]
                resources = [resource for one in listed for resource in one]
                yield state_of(resources, release=release, environment=environment, known=known)


def _resources(document: Any, at: int) -> tuple[Resource, ...]:
    """Return the resources of a manifest that stands in a file with others."""
    found = read_resources(read_file("odd.yaml", json.dumps(document).encode()))
    return tuple(replace(r, where=r.where and replace(r.where, document=at)) for r in found)


@pytest.mark.parametrize("rule", rulebook(), ids=lambda rule: rule.id)
def test_a_rule_answers_whatever_stands_in_a_manifest(rule: Any) -> None:
    """The manifests of the rule's own cases, one node at a time replaced by something odd.

    Every fourth node, and all of them with KUMAMIGRATE_GOLDENS.
    """
    source, target = ("2.14", "3.0") if not rule.until else ("2.14", "2.14")
    if rule.source_before:
        source, target = "2.6", "2.14"
    for case in (case for case in cases() if case.rule == rule.id):
        for state, rejections in _odd_states(case, source):
            view = View(
                rule=rule,
                state=state,
                before=state,
                target_name=target,
                editable=frozenset(["odd.yaml"]),
                refused=tuple(rejection.resource for rejection in rejections),
            )
            for said in plan(view):
                assert said.rule == rule.id
                assert isinstance(said, Change) or not is_fault(said), said.message
