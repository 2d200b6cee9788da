"""Kinds and names that come and go with releases, and where it is said (admit/kinds.json)."""

from __future__ import annotations

from typing import Any

import pytest

from kumamigrate.admit.kind import dropped_fields, kind_problems, name_problems
from kumamigrate.model.resource import Form, Resource

RELEASES = ("2.6", "2.9", "2.10", "2.14", "2.15", "3.0", "3.1")
OLD, NEW = Form.UNIVERSAL, Form.KUBERNETES


def named(name: str, kind: str = "MeshTimeout", form: Form = OLD, **spec: Any) -> Resource:
    return Resource(type=kind, mesh="default", name=name, form=form, spec=spec)


@pytest.mark.parametrize(
    ("kind", "there"),
    [
        ("Timeout", ("2.6", "2.9", "2.10", "2.14", "2.15")),
        ("MeshService", ("2.9", "2.10", "2.14", "2.15", "3.0", "3.1")),
        ("MeshOpenTelemetryBackend", ("2.14", "2.15", "3.0", "3.1")),
        ("MeshTimeout", RELEASES),
        ("SomebodysOwn", RELEASES),
    ],
)
def test_a_kind_is_there_from_one_release_to_another(kind: str, there: tuple[str, ...]) -> None:
    for form, field in ((OLD, "type"), (NEW, "kind")):
        resource = named("a", kind, form)
        wrong = {r: list(kind_problems(resource, release_name=r)) for r in RELEASES}
        assert tuple(r for r, found in wrong.items() if not found) == there
        assert {p.path for found in wrong.values() for p in found} <= {(field,)}


LONG = "a" * 64


@pytest.mark.parametrize(
    ("name", "kind", "universal", "kubernetes", "warned"),
    [
        ("web", "MeshService", (), (), ()),
        ("web.v1", "MeshTimeout", (), (), ()),
        ("1-web", "MeshTimeout", (), (), ()),
        ("a" * 253, "MeshTimeout", (), (), ()),
        ("a" * 63, "MeshService", (), (), ()),
        # No name of a host: from 2.10 on, on Kubernetes ever since.
        ("Web", "MeshTimeout", RELEASES[2:], RELEASES, ()),
        ("web_1", "MeshTimeout", RELEASES[2:], RELEASES, ()),
        ("web.", "MeshTimeout", RELEASES[2:], RELEASES, ()),
        ("a" * 254, "MeshTimeout", RELEASES[2:], RELEASES, ()),
        ("Web", "MeshService", RELEASES[2:], RELEASES, ()),
        # No label of one, for kinds that become a part of one: from 3.0 on, with a warning before.
        ("1-web", "MeshService", RELEASES[5:], RELEASES[5:], RELEASES[2:5]),
        ("web.v1", "MeshExternalService", RELEASES[5:], RELEASES[5:], RELEASES[2:5]),
        (LONG, "MeshMultiZoneService", RELEASES[5:], RELEASES[5:], RELEASES[2:5]),
        (LONG, "Mesh", RELEASES[5:], RELEASES[5:], RELEASES[2:5]),
        ("1", "Zone", RELEASES[5:], RELEASES[5:], RELEASES[2:5]),
        (LONG, "MeshTimeout", (), (), ()),
    ],
)
def test_a_name_is_refused_or_warned_about_by_releases(
    name: str,
    kind: str,
    universal: tuple[str, ...],
    kubernetes: tuple[str, ...],
    warned: tuple[str, ...],
) -> None:
    for form, refused, path in (
        (OLD, universal, ("name",)),
        (NEW, kubernetes, ("metadata", "name")),
    ):
        resource = named(name, kind, form)
        for release in RELEASES:
            found = list(name_problems(resource, release_name=release))
            assert [p.path for p in found] == ([path] if release in refused else []), release
            found = list(name_problems(resource, release_name=release, warn=True))
            assert [p.path for p in found] == ([path] if release in warned else []), release


def test_a_name_that_is_not_known_is_not_refused() -> None:
    for name in ("", "{{ .Values.name }}"):
        assert not list(name_problems(named(name, form=NEW), release_name="3.0"))


def test_fields_that_a_release_ignores_are_named_where_they_stand() -> None:
    tags = {"kuma.io/service": "a"}
    networking = {"inbound": [{"port": 1}, {"tags": tags}], "gateway": {"tags": tags}}
    proxy = named("a", "Dataplane", networking=networking, probes={}, other=1)
    assert not list(dropped_fields(proxy, release_name="2.14"))
    for release in ("3.0", "3.1"):
        assert set(dropped_fields(proxy, release_name=release)) == {
            ("networking", "inbound", 1, "tags"),
            ("networking", "gateway", "tags"),
            ("probes",),
        }
    mesh = Resource(type="Mesh", mesh="", name="m", spec={"mtls": {}, "x": 1}, spec_path=("spec",))
    assert list(dropped_fields(mesh, release_name="3.0")) == [("spec", "mtls")]
    assert not list(dropped_fields(named("a", probes={}), release_name="3.0"))
