"""What a control plane stores is worked out once for whatever is said, wherever it stands."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kumamigrate.model.read import read_resources
from kumamigrate.model.resource import Resource
from kumamigrate.model.state import Environment
from kumamigrate.scene import storedstate
from kumamigrate.scene.storedstate import Admission, Admitted, Rejection, state_of
from kumamigrate.source.reading.load import read_file

TEXT = """type: MeshTimeout
name: slow
mesh: m
spec:
  to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1s}}]
"""
REFUSED = TEXT.replace("kind: Mesh}", "kind: Nothing}")
OTHER_LETTERS = TEXT.replace("idleTimeout", "idletimeout")
ENVIRONMENT = Environment(zone="east")


def read(text: str) -> Resource:
    (resource,) = read_resources(read_file("a.yaml", text.encode()))
    return resource


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Resource]:
    """Return the resources of which is worked out what is stored."""
    seen: list[Resource] = []
    work_out = storedstate._admission

    def admission(resource: Resource, release: str, environment: Environment) -> Admission:
        seen.append(resource)
        return work_out(resource, release, environment)

    monkeypatch.setattr(storedstate, "_admission", admission)
    return seen


@pytest.mark.parametrize("text", [TEXT, REFUSED], ids=["stored", "refused"])
@pytest.mark.parametrize("before", ["", "# a comment\n\n"], ids=["there", "moved"])
def test_what_is_said_again_is_worked_out_once(
    text: str, before: str, asked: list[Resource]
) -> None:
    first, again = read(text), read(before + text)
    known: Admitted = {}
    state_of([first], release="2.14", environment=ENVIRONMENT, known=known)
    state, refused = state_of([again], release="2.14", environment=ENVIRONMENT, known=known)
    assert asked == [first]
    assert (state.resources, refused) == _worked_out(again)
    assert (*state.resources, *(one.resource for one in refused))[0].where == again.where


@pytest.mark.parametrize(
    "again",
    [
        read(REFUSED),
        read(TEXT.replace("1s", "2s")),
        read(TEXT.replace("mesh: m", "mesh: m\nlabels: {kuma.io/display-name: x}")),
        replace(read(TEXT), templated=True),
        replace(read(TEXT), stored=True, created="2024-01-01T00:00:00Z"),
        read("# a comment\n" + TEXT.replace("1s", "2s")),
        read(OTHER_LETTERS),
    ],
    ids=["refused", "value", "label", "template", "inventory", "moved", "letters"],
)
@pytest.mark.parametrize("first", [read(TEXT), read(REFUSED)], ids=["stored", "refused"])
def test_what_says_something_else_is_worked_out_anew(first: Resource, again: Resource) -> None:
    known: Admitted = {}
    state_of([first], release="2.14", environment=ENVIRONMENT, known=known)
    state, refused = state_of([again], release="2.14", environment=ENVIRONMENT, known=known)
    assert (state.resources, refused) == _worked_out(again)


def test_what_is_misread_is_said_where_it_stands_now() -> None:
    known: Admitted = {}
    state_of([read(OTHER_LETTERS)], release="2.14", environment=ENVIRONMENT, known=known)
    moved = read("# a comment\n" + OTHER_LETTERS)
    state, _ = state_of([moved], release="2.14", environment=ENVIRONMENT, known=known)
    assert [refusal.line for refusal in state.unread] == [2]


def _worked_out(resource: Resource) -> tuple[tuple[Resource, ...], tuple[Rejection, ...]]:
    state, refused = state_of([resource], release="2.14", environment=ENVIRONMENT)
    return state.resources, refused
