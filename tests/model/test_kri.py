"""Identifiers and references."""

from __future__ import annotations

from kumamigrate.model.kri import Kri, kri_of, mesh_kri, section_of
from kumamigrate.model.release import release
from kumamigrate.model.resource import Resource
from kumamigrate.model.targetref import read_target_ref

_2_14 = release("2.14").target_ref_type_fields
_3_0 = release("3.0").target_ref_type_fields


def test_text_keeps_empty_parts() -> None:
    assert str(mesh_kri("default")) == "kri_m____default_"
    resource = Resource(
        type="MeshService",
        mesh="default",
        name="web.shop",
        labels={
            "kuma.io/zone": "east",
            "k8s.kuma.io/namespace": "shop",
            "kuma.io/display-name": "web",
        },
    )
    assert str(kri_of(resource)) == "kri_msvc_default_east_shop_web_"
    assert str(kri_of(resource, "main")) == "kri_msvc_default_east_shop_web_main"
    assert kri_of(resource, "main").of_section("") == kri_of(resource)


def test_text_of_2_9_leaves_empty_parts_out() -> None:
    assert mesh_kri("default").typed() == "mesh:name/default"
    kri = Kri(
        type="MeshService", mesh="default", zone="", namespace="shop", name="web", section="http"
    )
    assert kri.typed() == "meshservice:mesh/default:namespace/shop:name/web:section/http"
    far = Kri(type="MeshService", mesh="m", zone="east", namespace="n", name="web")
    assert far.typed() == "meshservice:mesh/m:zone/east:namespace/n:name/web"


def test_a_type_without_short_name_has_no_text() -> None:
    assert str(Kri(type="Secret", mesh="default", zone="", namespace="", name="s")) == ""


def test_an_omitted_reference_is_the_mesh() -> None:
    assert read_target_ref(None, _2_14).kind == "Mesh"
    assert read_target_ref("nonsense", _2_14).kind == "Mesh"


def test_absent_and_empty_are_told_apart() -> None:
    absent = read_target_ref({"kind": "Dataplane"}, _2_14)
    empty = read_target_ref({"kind": "Dataplane", "labels": {}}, _2_14)
    assert absent.labels is None
    assert empty.labels == ()


def test_3_0_ignores_the_keys_it_does_not_know() -> None:
    """matcher.md Traps 1: `kind: Dataplane, name: x` becomes every Dataplane."""
    given = {"kind": "Dataplane", "name": "x", "namespace": "n", "proxyTypes": ["Sidecar"]}
    assert read_target_ref(given, _2_14).name == "x"
    got = read_target_ref(given, _3_0)
    assert (got.name, got.namespace, got.proxy_types) == (None, None, None)


def test_a_mesh_is_in_no_mesh_whatever_it_is_said_to_be_in() -> None:
    mesh = Resource(type="Mesh", mesh="default", name="default")
    assert kri_of(mesh) == mesh_kri("default")


def test_a_port_is_called_by_its_name_or_its_number() -> None:
    assert section_of({"name": "main", "port": 80}) == "main"
    assert section_of({"name": "", "port": 80}) == section_of({"port": 80}) == "80"
    assert section_of({}) == ""
