"""Initial policies: what the table says is what running control planes gave a new mesh."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from kumamigrate.model.initial import form_of, initial_policies, is_initial, possible, skips
from kumamigrate.model.read import read_resources
from kumamigrate.model.resource import Form, Resource
from kumamigrate.source.reading.load import read_file
from tests.cases import GOLDEN


def stored(release: str) -> list[Resource]:
    text = (GOLDEN / "stock" / f"{release}.yaml").read_bytes()
    every = read_resources(read_file("stock.yaml", text))
    return [resource for resource in every if resource.type != "HostnameGenerator"]


@pytest.mark.parametrize(
    ("release", "world"), [("2.5", "2.5"), ("2.9", "2.6"), ("2.14", "2.6"), ("3.0", "3.0")]
)
def test_the_table_is_what_control_planes_give_a_mesh(release: str, world: str) -> None:
    made = initial_policies(world, "default", Form.UNIVERSAL, "kuma-system")
    assert {r.identity: r.spec for r in made} == {r.identity: r.spec for r in stored(release)}


@pytest.mark.parametrize(
    ("release", "worlds"),
    [
        ("2.4", ("none", "2.5")),
        ("2.14", ("none", "2.5", "2.6")),
        ("3.0", ("none", "2.6", "3.0")),
    ],
)
def test_a_mesh_may_be_as_old_as_the_release_that_serves_it_allows(
    release: str, worlds: tuple[str, ...]
) -> None:
    assert possible(release) == worlds


def test_on_kubernetes_the_new_ones_lie_in_the_system_namespace() -> None:
    new = initial_policies("2.6", "shop", Form.KUBERNETES, "mesh-system")
    assert {r.namespace for r in new} == {"mesh-system"}
    assert {r.mesh for r in new} == {"shop"}
    old = initial_policies("2.5", "shop", Form.KUBERNETES, "mesh-system")
    assert {r.namespace for r in old} == {""}
    assert all(is_initial(r.identity) for r in (*new, *old))


def test_a_name_of_another_mesh_is_nobodys() -> None:
    assert not is_initial(("MeshTimeout", "shop", "", "mesh-timeout-all-default"))


def mesh(*skipped: str) -> Resource:
    return Resource(
        type="Mesh", mesh="", name="default", spec={"skipCreatingInitialPolicies": [*skipped]}
    )


@pytest.mark.parametrize(
    ("skipped", "said"),
    [((), False), (("*",), True), (("MeshTimeout",), True), (("Retry",), False)],
)
def test_a_mesh_says_what_it_was_not_given(skipped: tuple[str, ...], said: bool) -> None:
    assert skips(mesh(*skipped), "MeshTimeout") is said


def test_a_mesh_is_at_home_where_its_mesh_is() -> None:
    on_kubernetes = Resource(type="MeshTimeout", mesh="default", name="t", form=Form.KUBERNETES)
    assert form_of("default", [on_kubernetes, mesh()]) is Form.UNIVERSAL
    assert form_of("default", [on_kubernetes]) is Form.KUBERNETES
    universal = replace(on_kubernetes, form=Form.UNIVERSAL)
    assert form_of("default", [universal]) is Form.UNIVERSAL
    assert form_of("default", [universal, on_kubernetes]) is Form.KUBERNETES
    assert form_of("other", [universal]) is Form.KUBERNETES
    assert form_of("default", []) is Form.KUBERNETES


@pytest.mark.parametrize("form", [Form.UNIVERSAL, Form.KUBERNETES])
@pytest.mark.parametrize("world", ["2.5", "2.6"])
def test_what_a_mesh_was_given_reads_the_same_from_the_text_it_would_be(
    world: str, form: Form
) -> None:
    for one in initial_policies(world, "default", form, "kuma-system"):
        (read,) = read_resources(read_file("a.json", json.dumps(one.body).encode()))
        assert (read.type, read.mesh, read.name, read.namespace) == (
            one.type,
            one.mesh,
            one.name,
            one.namespace,
        )
        assert (read.spec, read.spec_path, read.form) == (one.spec, one.spec_path, one.form)
