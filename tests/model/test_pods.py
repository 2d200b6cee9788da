"""Which Pods get a sidecar, and in which mesh (world.md §2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kumamigrate.model.kubernetes.pods import (
    has_sidecar,
    injecting,
    mesh_of_pod,
    own_mesh,
    pod_templates,
)
from kumamigrate.model.resource import Resource

INJECTION, MESH = "kuma.io/sidecar-injection", "kuma.io/mesh"
Labels = Mapping[str, Any]


def pod(labels: Labels | None = None, notes: Labels | None = None, **spec: Any) -> dict[str, Any]:
    return {"metadata": {"labels": labels or {}, "annotations": notes or {}}, "spec": spec}


def namespace(name: str = "shop", notes: Labels | None = None, **labels: str) -> Resource:
    named = {key.replace("_", "-"): value for key, value in labels.items()}
    own = {f"kuma.io/{key}": value for key, value in named.items()}
    return Resource(type="Namespace", mesh="", name=name, labels=own, annotations=dict(notes or {}))


@pytest.mark.parametrize("release", ["2.9", "2.14", "3.0"])
@pytest.mark.parametrize("word", ["enabled", "true", "yes", "disabled", "false", "no", ""])
def test_the_label_of_a_pod_comes_before_that_of_its_namespace(word: str, release: str) -> None:
    on = word in ("enabled", "true", "yes")
    for around in (namespace(sidecar_injection="enabled"), namespace(), None):
        assert has_sidecar(pod({INJECTION: word}), around, release) is on
    assert has_sidecar(pod(), namespace(sidecar_injection=word), release) is on
    assert has_sidecar(pod({}, {INJECTION: word}), namespace(), release) is False
    assert injecting([namespace(sidecar_injection=word)]) == ({"shop"} if on else set())


def test_without_a_word_an_unknown_namespace_decides() -> None:
    assert has_sidecar(pod(), None, "2.14") is None
    assert has_sidecar(pod(), namespace(), "2.14") is False
    other = Resource(type="Deployment", mesh="", name="web", labels={INJECTION: "enabled"})
    assert injecting([other]) == set()


def test_who_was_injected_or_is_a_built_in_gateway_is_one() -> None:
    off = {INJECTION: "disabled"}
    assert has_sidecar(pod(off, {"kuma.io/sidecar-injected": "true"}), None, "2.14") is True
    assert has_sidecar(pod(off, {"kuma.io/sidecar-injected": "false"}), None, "2.14") is False
    assert has_sidecar(pod(off, {"kuma.io/gateway": "builtin"}), None, "2.14") is True
    assert has_sidecar(pod(off, {"kuma.io/gateway": "enabled"}), None, "2.14") is False


@pytest.mark.parametrize("kind", ["containers", "initContainers"])
def test_one_that_brings_a_container_called_like_the_sidecar_gets_none(kind: str) -> None:
    for name, gets in (("kuma-sidecar", False), ("web", True)):
        found = pod({INJECTION: "enabled"}, **{kind: [{"name": "a"}, {"name": name}]})
        assert has_sidecar(found, None, "2.14") is gets


@pytest.mark.parametrize("kind", ["ingress", "egress"])
def test_an_annotation_makes_a_zone_proxy_up_to_2(kind: str) -> None:
    found = pod({INJECTION: "enabled"}, {f"kuma.io/{kind}": "enabled"})
    assert [has_sidecar(found, None, name) for name in ("2.9", "2.14", "3.0")] == [
        False, False, True,
    ]  # fmt: skip
    off = pod({INJECTION: "enabled"}, {f"kuma.io/{kind}": "disabled"})
    assert has_sidecar(off, None, "2.14") is True


@pytest.mark.parametrize(
    ("labels", "notes", "around", "old", "new"),
    [
        ({}, {}, None, "default", "default"),
        ({}, {}, namespace(), "default", "default"),
        ({MESH: "a"}, {MESH: "b"}, namespace(mesh="c"), "a", "a"),
        ({}, {MESH: "b"}, namespace(mesh="c"), "b", "c"),
        ({}, {}, namespace(mesh="c", notes={MESH: "d"}), "c", "c"),
        ({}, {}, namespace(notes={MESH: "d"}), "d", "default"),
        ({}, {MESH: "b"}, None, "b", "default"),
    ],
)
def test_a_pod_is_in_the_mesh_that_it_or_its_namespace_names(
    labels: Labels, notes: Labels, around: Resource | None, old: str, new: str
) -> None:
    """From 3.0 on no annotation names one."""
    found = pod(labels, notes)
    for release, mesh in (("2.14", old), ("3.0", new)):
        assert mesh_of_pod(found, around, release) == mesh
    assert own_mesh(found, "2.14") == labels.get(MESH, notes.get(MESH, ""))


def test_where_the_template_of_a_pod_stands() -> None:
    template = pod({"app": "x"})

    def found(kind: str, spec: Any) -> list[Mapping[str, Any]]:
        body = {"kind": kind, "spec": spec}
        made = Resource(type=kind, mesh="", name="web", spec=spec, body=body)
        return list(pod_templates(made))

    assert found("Deployment", {"template": template}) == [template]
    assert found("Deployment", {"template": "x"}) == found("Deployment", {}) == []
    assert found("CronJob", {"jobTemplate": {"spec": {"template": template}}}) == [template]
    assert found("CronJob", {"template": template}) == found("CronJob", {"jobTemplate": 1}) == []
    assert found("Pod", {"template": template}) == [{"kind": "Pod", "spec": {"template": template}}]
