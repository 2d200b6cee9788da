"""Lists of reachable services as references to real ones."""

from __future__ import annotations

import pytest

from kumamigrate.model.resource import Resource
from kumamigrate.model.state import State
from kumamigrate.rewrite.references.reachable import references


def _external(kind: str, name: str, mesh: str, *tags: str) -> Resource:
    spec = {"tags": {"kuma.io/service": tags[0]}} if tags else {}
    return Resource(type=kind, mesh=mesh, name=name, spec=spec)


OUTSIDE = (
    _external("ExternalService", "one", "default", "bank"),
    _external("MeshExternalService", "post", "default"),
    _external("MeshExternalService", "news", "other"),
)


@pytest.mark.parametrize(
    ("mesh", "kinds"),
    [
        ("default", ["MeshExternalService", "MeshExternalService", "MeshService", "MeshService"]),
        ("", ["MeshExternalService"] * 3 + ["MeshService"]),
    ],
)
def test_a_service_outside_is_called_by_its_tag_or_its_name(mesh: str, kinds: list[str]) -> None:
    state = State(release="2.14", resources=OUTSIDE)
    found, unread = references(("bank", "post", "news", "one"), state, mesh)
    assert [one["kind"] for one in found] == kinds
    assert [one["name"] for one in found] == ["bank", "post", "news", "one"]
    assert unread == []


def test_the_tag_of_a_port_is_name_namespace_and_port() -> None:
    found, unread = references(("web_shop_svc_80", "NOT_ONE"), State(release="2.14"), "")
    assert found == [{"kind": "MeshService", "name": "web", "namespace": "shop", "port": 80}]
    assert unread == ["NOT_ONE"]
