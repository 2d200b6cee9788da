"""Names and manifests of resources that a rule puts beside old ones."""

from __future__ import annotations

from itertools import islice

from kumamigrate.model.resource import Form, Resource
from kumamigrate.model.state import State
from kumamigrate.rewrite.siblings import free_names, shortened, sibling


def _timeout(name: str, **more: object) -> Resource:
    return Resource(type="MeshTimeout", mesh="default", name=name, **more)  # type: ignore[arg-type]


def test_the_plainest_free_name_comes_first() -> None:
    state = State(release="2.14", resources=(_timeout("a"), _timeout("a-pay")))
    assert list(islice(free_names(_timeout("a"), "pay", state), 3)) == [
        "a-0-pay",
        "a--pay",
        "a-pay-2",
    ]


def test_a_name_of_another_mesh_is_free_on_universal_only() -> None:
    other = Resource(type="MeshTimeout", mesh="other", name="a-pay", form=Form.KUBERNETES)
    state = State(release="2.14", resources=(other,))
    assert next(free_names(_timeout("a"), "pay", state)) == "a-pay"
    on_kubernetes = _timeout("a", form=Form.KUBERNETES)
    assert next(free_names(on_kubernetes, "pay", state)) == "a-0-pay"


def test_a_service_tag_becomes_part_of_a_valid_name() -> None:
    state = State(release="2.14")
    assert next(free_names(_timeout("a"), "web_shop_svc_80", state)) == "a-web-shop-svc-80"


def test_a_long_name_is_cut_and_stays_its_own() -> None:
    one, two = shortened("a" * 300 + "-x"), shortened("a" * 300 + "-y")
    assert len(one) == len(two) == 253
    assert one != two


def test_what_control_plane_and_cluster_wrote_stays_behind() -> None:
    body = {
        "apiVersion": "kuma.io/v1alpha1",
        "kind": "MeshTimeout",
        "metadata": {
            "name": "a",
            "namespace": "kuma-system",
            "uid": "1",
            "resourceVersion": "2",
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"},
            "labels": {
                "kuma.io/mesh": "default",
                "kuma.io/origin": "zone",
                "kuma.io/zone": "east",
                "kuma.io/policy-role": "system",
                "kuma.io/display-name": "a",
            },
        },
        "spec": {"old": True},
        "status": {},
    }
    old = _timeout("a", form=Form.KUBERNETES, body=body)
    assert sibling(old, "a-route", {"to": []}) == {
        "apiVersion": "kuma.io/v1alpha1",
        "kind": "MeshTimeout",
        "metadata": {
            "name": "a-route",
            "namespace": "kuma-system",
            "labels": {"kuma.io/mesh": "default", "kuma.io/origin": "zone"},
        },
        "spec": {"to": []},
    }


def test_a_universal_sibling_keeps_form_order_and_labels() -> None:
    body = {"type": "MeshTimeout", "name": "a", "mesh": "default", "labels": {"team": "x"},
            "creationTime": "2024-01-01T00:00:00Z", "spec": {}}  # fmt: skip
    made = sibling(_timeout("a", body=body), "b", {"to": []})
    assert list(made) == ["type", "name", "mesh", "labels", "spec"]
    assert made["name"] == "b"
    assert made["labels"] == {"team": "x"}
