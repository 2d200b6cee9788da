"""Names and manifests of resources that a rule puts beside old ones."""

from __future__ import annotations

from itertools import islice

import pytest

from kumamigrate.model.resource import Form, Resource
from kumamigrate.model.state import State
from kumamigrate.rewrite.siblings import free_names, is_beside, shortened, sibling


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


def test_in_an_export_the_word_stands_before_the_namespace() -> None:
    """What decides ties is the display name, so the name that kubectl would show is the plainer."""
    labels = {"kuma.io/mesh": "default", "kuma.io/display-name": "zz-1"}
    inside = {**labels, "k8s.kuma.io/namespace": "kuma-system"}
    body = {"type": "MeshTimeout", "name": "zz-1.kuma-system", "labels": inside}
    exported = _timeout("zz-1.kuma-system", labels=inside, body=body)
    state = State(release="2.14", resources=(exported,))
    assert next(free_names(exported, "rest", state)) == "zz-1-rest.kuma-system"
    made = sibling(exported, "zz-1-rest.kuma-system", {})
    assert made["labels"]["kuma.io/display-name"] == "zz-1-rest"
    plain = _timeout("zz-1.kuma-system", labels=labels | {"kuma.io/display-name": "other"})
    assert next(free_names(plain, "rest", state)) == "zz-1.kuma-system-rest"


@pytest.mark.parametrize(
    ("new", "old", "beside"),
    [
        ("web-rest", "web", True),
        ("web", "web", False),
        ("website", "web", False),
        ("web-rest.shop", "web.shop", True),
        ("web-rest.shop", "web.demo", False),
        ("web.shop-rest", "web.shop", False),
    ],
)
def test_what_was_split_from_a_resource_is_known_by_its_name(
    new: str, old: str, beside: bool
) -> None:
    assert is_beside(_named(new), _named(old)) is beside


def _named(name: str) -> Resource:
    """Return a policy as it stands in Git, or with a dot as an export of Kubernetes has it."""
    shown, _, home = name.partition(".")
    labels = {"kuma.io/display-name": shown, "kuma.io/mesh": "default"} if home else {}
    if home:
        labels["k8s.kuma.io/namespace"] = home
    return Resource(type="MeshTimeout", mesh="default", name=name, labels=labels)
