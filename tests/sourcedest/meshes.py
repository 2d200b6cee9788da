"""States for tests of the old engine, read from YAML in its Universal form."""

from __future__ import annotations

from typing import Any

import yaml

from kumamigrate.model.resource import Form, Resource, Where
from kumamigrate.model.state import Environment, State
from tests.cases import LOADER

ROUTE_ALL = """\
type: TrafficRoute
name: route-all
mesh: default
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: '*'}}]
conf: {destination: {kuma.io/service: '*'}}
"""
"""Leads every service to itself: the old engine makes all outbounds."""
_IDENTITY = ("type", "mesh", "name", "labels", "creationTime")


def resource(body: dict[str, Any], index: int = 0) -> Resource:
    has_spec = isinstance(body.get("spec"), dict)
    rest = {key: value for key, value in body.items() if key not in _IDENTITY}
    return Resource(
        type=body["type"],
        mesh="" if body["type"] == "Mesh" else body.get("mesh", "default"),
        name=body["name"],
        labels=body.get("labels", {}),
        spec=body["spec"] if has_spec else rest,
        form=Form.UNIVERSAL,
        created=str(body.get("creationTime", "")),
        where=Where(path="mesh.yaml", document=index),
        spec_path=("spec",) if has_spec else (),
        body=body,
    )


def state(text: str, release: str = "2.9", zone: str = "east", complete: bool = True) -> State:
    bodies = [body for body in yaml.load_all(text, Loader=LOADER) if body]
    return State(
        release=release,
        environment=Environment(zone=zone),
        resources=tuple(resource(body, index) for index, body in enumerate(bodies)),
        complete=complete,
    )
