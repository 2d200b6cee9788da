"""What a control plane reads of kinds that are messages: zeros are as good as absent."""

from __future__ import annotations

from typing import Any

import pytest

from kumamigrate.admit.ground import read_ground
from kumamigrate.admit.messages import message_shape, read_message
from kumamigrate.model.problem import Problem
from kumamigrate.model.resource import Resource
from kumamigrate.source.text import FieldPath


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ({"mtls": {"enabledBackend": ""}}, {"mtls": {}}),
        ({"mtls": {"enabledBackend": "ca"}}, {"mtls": {"enabledBackend": "ca"}}),
        ({"routing": {"zoneEgress": False}}, {"routing": {}}),
        ({"routing": {"zoneEgress": True}}, {"routing": {"zoneEgress": True}}),
        # A field that tells apart whether it was said keeps what it says.
        (
            {"networking": {"outbound": {"passthrough": False}}},
            {"networking": {"outbound": {"passthrough": False}}},
        ),
        (
            {"logging": {"backends": [{"name": "f", "format": "", "type": "file"}]}},
            {"logging": {"backends": [{"name": "f", "type": "file"}]}},
        ),
        # The conf of a backend is a message of its own, by its type …
        (
            {"logging": {"backends": [{"type": "file", "conf": {"path": ""}}]}},
            {"logging": {"backends": [{"type": "file", "conf": {}}]}},
        ),
        # … and what nobody knows the shape of stays as it is, as do values of a map.
        (
            {"mtls": {"backends": [{"type": "vault", "conf": {"a": 0}}]}},
            {"mtls": {"backends": [{"type": "vault", "conf": {"a": 0}}]}},
        ),
        (
            {"constraints": {"dataplaneProxy": {"requirements": [{"tags": {"a": ""}}]}}},
            {"constraints": {"dataplaneProxy": {"requirements": [{"tags": {"a": ""}}]}}},
        ),
    ],
)
def test_zeros_of_a_mesh_are_left_out(said: Any, read: Any) -> None:
    assert read_message("Mesh", said) == (read, [])


def test_numbers_of_a_dataplane() -> None:
    inbound = {"port": 80, "servicePort": 0, "tags": {"kuma.io/service": "a"}}
    said = {"networking": {"address": "10.0.0.1", "inbound": [inbound]}}
    kept = {"port": 80, "tags": {"kuma.io/service": "a"}}
    read = {"networking": {"address": "10.0.0.1", "inbound": [kept]}}
    assert read_message("Dataplane", said) == (read, [])


def test_what_cannot_be_read_is_a_problem_where_it_stands() -> None:
    conf = {"path": ["a"]}
    said = {
        "logging": {"backends": [{"type": "file", "conf": conf}]},
        "routing": {"zoneEgress": []},
    }
    _, problems = read_message("Mesh", said)
    assert [one.path for one in problems] == [
        ("routing", "zoneEgress"),
        ("logging", "backends", 0, "conf", "path"),
    ]


def test_what_stands_in_the_place_of_a_template_is_no_problem() -> None:
    _, problems = read_message("Mesh", {"routing": {"zoneEgress": "{{ .Values.egress }}"}})
    assert problems == []


def test_policies_are_no_messages() -> None:
    assert message_shape("MeshTimeout") is None


def test_problems_of_a_resource_stand_below_its_spec() -> None:
    spec = {"routing": {"zoneEgress": []}}
    for path in ((), ("spec",), ("items", 0, "spec")):
        mesh = Resource(type="Mesh", mesh="", name="default", spec=spec, spec_path=path)
        _, problems = read_ground(mesh, "2.14")
        assert [one.path for one in problems] == [(*path, "routing", "zoneEgress")]


@pytest.mark.parametrize("spec", [[], "x", None])
@pytest.mark.parametrize("kind", ["MeshTrust", "MeshService", "MeshIdentity"])
def test_a_spec_that_is_no_mapping_is_a_problem(kind: str, spec: Any) -> None:
    one = Resource(type=kind, mesh="default", name="a", spec={}, body={"type": kind, "spec": spec})
    _, (problem,) = read_ground(one, "2.14")
    assert (problem.message, problem.path) == ("must be a mapping", ("spec",))
    assert problem.missing is (spec is None)


def test_a_part_of_a_match_that_is_no_mapping_is_a_problem() -> None:
    spec = {"to": [{"targetRef": {"kind": "Mesh"}, "rules": [{"matches": [{"path": "/v1"}]}]}]}
    route = Resource(type="MeshHTTPRoute", mesh="default", name="r", spec=spec)
    _, problems = read_ground(route, "2.14")
    assert [one.path[-1] for one in problems] == ["path"]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ((), "is refused"),
        (("spec",), "spec: is refused"),
        (("spec", "to", 0, "targetRef"), "spec.to[0].targetRef: is refused"),
    ],
)
def test_a_problem_names_its_place_where_it_has_one(path: FieldPath, said: str) -> None:
    assert str(Problem(path=path, message="is refused")) == said
