"""Labels as the control planes of 2.9, 2.14 and 3.0 give them (legacy-notes §2)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kumamigrate.model.labels import (
    Refused,
    compute_labels,
    is_export,
    mesh_of,
    policy_role,
    stored_labels,
)
from kumamigrate.model.read import read_manifest
from kumamigrate.model.resource import (
    DISPLAY_NAME,
    MESH,
    NAMESPACE,
    ORIGIN,
    PROXY_TYPE,
    ROLE,
    ZONE,
    Resource,
    Where,
    with_zone_tag,
)
from kumamigrate.model.state import Environment
from tests.admit.manifest import resource_of
from tests.frontdoor import command

CASES = json.loads((Path(__file__).parents[1] / "golden" / "labels.json").read_text("utf-8"))
EAST = Environment(mode="zone", zone="east")
GLOBAL = Environment(mode="global", zone="")
ANSWERS = [
    pytest.param(case, release, id=f"{index}-{release}")
    for index, case in enumerate(CASES)
    for release in case["answers"]
]


def policy(kind: str, spec: Any, *, namespace: str = "shop", **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "kuma.io/v1alpha1",
        "kind": kind,
        "metadata": {"name": "p", "namespace": namespace, **metadata},
        "spec": spec,
    }


def to(*references: dict[str, Any]) -> dict[str, Any]:
    return {"to": [{"targetRef": reference, "default": {}} for reference in references]}


def role(spec: Any, release: str, namespace: str = "shop") -> str | Refused:
    resource = resource_of(policy("MeshTimeout", spec, namespace=namespace))
    return policy_role(resource, release=release, environment=EAST)


@pytest.mark.parametrize(("case", "release"), ANSWERS)
def test_labels_equal_those_of_the_control_plane(case: Any, release: str, tmp_path: Path) -> None:
    """`inspect --resources` shows the labels, or that this release refuses the resource."""
    plane, answer = case["controlPlane"], case["answers"][release]
    words = ["--release", release, "--control-plane-mode", plane["mode"]]
    words += ["--zone", plane["zone"]] if plane["zone"] else []
    words += ["--system-namespace", plane["systemNamespace"]] if plane["systemNamespace"] else []
    manifest = tmp_path / "manifest.json"
    manifest.write_text(json.dumps(case["manifest"]), encoding="utf-8")
    printed = command("inspect", "--resources", manifest, "--format", "json", *words)
    (found,) = printed.json["resources"]
    assert found.get("labels") == answer.get("labels")
    assert ("error" in found) is ("error" in answer)


def test_the_manifest_itself_is_left_alone() -> None:
    resource = resource_of(policy("MeshTimeout", to({"kind": "Mesh"})))
    compute_labels(resource, release="2.14", environment=EAST)
    assert resource.labels == {}


@pytest.mark.parametrize("release", ["2.9", "2.14", "3.0"])
def test_an_export_keeps_its_labels(release: str) -> None:
    labels = {DISPLAY_NAME: "other", MESH: "m", NAMESPACE: "elsewhere", ORIGIN: "global"}
    manifest = policy("MeshTimeout", to({"kind": "Mesh"}), labels=labels)
    resource = resource_of(manifest)
    assert is_export(resource)
    read = stored_labels(resource, release=release, environment=EAST)
    # A Kubernetes store of 2.x makes up the display name, whatever a label says.
    shown = "other" if release == "3.0" else "p"
    assert read == resource.with_labels({**labels, DISPLAY_NAME: shown})
    universal = {"type": "MeshTimeout", "mesh": "m", "name": "p", "labels": labels}
    resource = resource_of({**universal, "spec": to({"kind": "Mesh"})})
    assert stored_labels(resource, release=release, environment=EAST) == resource


@pytest.mark.parametrize(
    ("labels", "created", "exported"),
    [
        ({}, False, False),
        ({}, True, True),
        ({ORIGIN: "zone"}, False, False),
        ({ORIGIN: "zone", ZONE: "west"}, False, True),
        ({ORIGIN: "global"}, False, True),
    ],
)
def test_a_name_and_a_mesh_by_hand_make_no_export(
    labels: dict[str, str], created: bool, exported: bool
) -> None:
    """2.14 gives a Universal file with these two labels its zone and its origin all the same."""
    manifest: dict[str, Any] = {
        "type": "MeshTimeout",
        "mesh": "m",
        "name": "p",
        "labels": {DISPLAY_NAME: "p", MESH: "m", **labels},
        "spec": to({"kind": "Mesh"}),
    }
    if created:
        manifest["creationTime"] = "2026-01-01T00:00:00Z"
    resource = read_manifest(manifest, Where(path="t.yaml", document=0))
    assert resource is not None
    assert is_export(resource) is exported
    stored = compute_labels(resource, release="2.14", environment=EAST)
    assert not isinstance(stored, Refused)
    given = stored.labels
    assert given.get(ZONE) == ("east" if not exported else labels.get(ZONE))


def test_which_kinds_a_zone_hands_out() -> None:
    """Asked of 2.14: a MeshGateway is its own, a MeshMultiZoneService and an old policy are not."""
    own = {"MeshGateway": True, "MeshMultiZoneService": False, "Timeout": False}
    for kind, zoned in own.items():
        labels = labels_of({"type": kind, "mesh": "m", "name": "p"}, "2.14", EAST)
        assert (ORIGIN in labels, ZONE in labels) == (zoned, zoned), kind
    first = labels_of({"type": "MeshMultiZoneService", "mesh": "m", "name": "p"}, "2.9", EAST)
    assert first[ZONE] == "east"


@pytest.mark.parametrize(
    ("reference", "in_2_9", "in_2_14", "in_3_0"),
    [
        ({"kind": "Mesh"}, "consumer", "consumer", "consumer"),
        ({"kind": "MeshService", "name": "a"}, "producer", "producer", "consumer"),
        (
            {"kind": "MeshService", "name": "a", "namespace": "shop"},
            "producer",
            "producer",
            "consumer",
        ),
        (
            {"kind": "MeshService", "name": "a", "namespace": "other"},
            "consumer",
            "consumer",
            "consumer",
        ),
        ({"kind": "MeshHTTPRoute", "name": "a"}, "consumer", "producer", "consumer"),
        ({"kind": "MeshExternalService", "name": "a"}, "consumer", "consumer", "consumer"),
        ({"kind": "MeshMultiZoneService", "name": "a"}, "consumer", "consumer", "consumer"),
        (
            {"kind": "MeshService", "labels": {DISPLAY_NAME: "a"}},
            "consumer",
            "consumer",
            "producer",
        ),
        (
            {"kind": "MeshHTTPRoute", "labels": {DISPLAY_NAME: "a", NAMESPACE: "shop"}},
            "consumer",
            "consumer",
            "producer",
        ),
        (
            {"kind": "MeshService", "labels": {DISPLAY_NAME: "a", NAMESPACE: "other"}},
            "consumer",
            "consumer",
            "consumer",
        ),
        (
            {"kind": "MeshService", "labels": {DISPLAY_NAME: "a", ZONE: "east"}},
            "consumer",
            "consumer",
            "consumer",
        ),
        ({"kind": "MeshService", "labels": {"app": "a"}}, "consumer", "consumer", "consumer"),
    ],
)
def test_role_follows_the_form_of_the_reference(
    reference: dict[str, Any], in_2_9: str, in_2_14: str, in_3_0: str
) -> None:
    """matcher.md (a), step 4 and its consequences."""
    spec = to(reference)
    assert [role(spec, release) for release in ("2.9", "2.14", "3.0")] == [in_2_9, in_2_14, in_3_0]


def test_a_policy_without_to_belongs_to_the_workload_owner() -> None:
    assert role({"from": [{"targetRef": {"kind": "Mesh"}}]}, "2.14") == "workload-owner"
    assert role({"rules": [{"default": {}}]}, "2.14") == "workload-owner"
    assert role({}, "3.0") == "workload-owner"


def test_the_system_namespace_makes_a_system_policy_of_anything() -> None:
    mixed = to({"kind": "MeshService", "name": "a"}, {"kind": "Mesh"})
    assert role(mixed, "2.14", namespace="kuma-system") == "system"


def test_mixed_entries_are_refused_in_a_workload_namespace() -> None:
    """legacy-notes L4: so recipe 1 of product.md is not possible there."""
    mixed = to({"kind": "MeshHTTPRoute", "name": "a"}, {"kind": "Mesh"})
    refused = role(mixed, "2.14")
    assert isinstance(refused, Refused)
    assert refused.path == ("spec", "to")


def test_both_directions_are_refused_in_a_workload_namespace_of_2_x_only() -> None:
    both = to({"kind": "Mesh"}) | {"from": [{"targetRef": {"kind": "Mesh"}}]}
    refused = role(both, "2.14")
    assert isinstance(refused, Refused)
    assert refused.path == ("spec",)
    assert role(both, "3.0") == "consumer"


def test_2_6_has_no_roles() -> None:
    assert role(to({"kind": "Mesh"}), "2.6") == ""


def labels_of(manifest: dict[str, Any], release: str, environment: Environment) -> Any:
    found = compute_labels(resource_of(manifest), release=release, environment=environment)
    assert not isinstance(found, Refused)
    return found.labels


def test_an_old_policy_gets_no_zone_labels() -> None:
    """A zone cannot create it for others (matcher.md (b), zone-creatable types)."""
    manifest = {"type": "Timeout", "mesh": "m", "name": "t", "conf": {}}
    assert labels_of(manifest, "2.14", EAST) == {MESH: "m"}


def test_a_mesh_gets_no_mesh_label() -> None:
    manifest = {"type": "Mesh", "name": "m"}
    assert labels_of(manifest, "2.14", EAST) == {}
    assert labels_of(manifest, "3.0", EAST) == {DISPLAY_NAME: "m", ORIGIN: "zone"}


def test_2_14_keeps_what_the_manifest_says_and_3_0_overwrites_it() -> None:
    written = {ZONE: "west", NAMESPACE: "elsewhere", DISPLAY_NAME: "shown"}
    manifest = policy("MeshTimeout", to({"kind": "Mesh"}), labels=written)
    old, new = labels_of(manifest, "2.14", EAST), labels_of(manifest, "3.0", EAST)
    assert {key: old[key] for key in written} == written
    assert [new[key] for key in written] == ["east", "shop", "p"]


def test_the_proxy_type_tells_built_in_gateways_only() -> None:
    def proxy(gateway: dict[str, Any] | None) -> dict[str, Any]:
        networking: dict[str, Any] = {"address": "10.0.0.1"}
        networking["gateway" if gateway else "inbound"] = gateway or []
        return {"type": "Dataplane", "mesh": "m", "name": "d", "networking": networking}

    gateways: tuple[dict[str, Any] | None, ...]
    gateways = (None, {"tags": {}}, {"type": "DELEGATED"}, {"type": "BUILTIN"})
    types = [labels_of(proxy(gateway), "2.14", EAST)[PROXY_TYPE] for gateway in gateways]
    assert types == ["sidecar", "sidecar", "sidecar", "gateway"]
    assert PROXY_TYPE not in labels_of(proxy(None), "2.9", EAST)


def test_3_0_removes_the_proxy_type_and_marks_zone_proxies() -> None:
    manifest = {
        "type": "Dataplane",
        "mesh": "m",
        "name": "d",
        "labels": {PROXY_TYPE: "sidecar"},
        "networking": {"listeners": [{"type": "ZoneIngress", "port": 10001}]},
    }
    labels = labels_of(manifest, "3.0", EAST)
    assert PROXY_TYPE not in labels
    assert labels["kuma.io/listener-zoneingress"] == "enabled"
    assert "kuma.io/listener-zoneegress" not in labels


@pytest.mark.parametrize(
    ("labels", "annotations", "field", "mesh"),
    [
        ({MESH: "a"}, {MESH: "b"}, "c", "a"),
        ({}, {MESH: "b"}, "c", "b"),
        ({}, {}, "c", "c"),
        ({}, {}, None, "default"),
    ],
    ids=["label first", "then annotation", "then the old field", "else default"],
)
def test_the_mesh_is_the_first_that_is_written(
    labels: dict[str, str], annotations: dict[str, str], field: str | None, mesh: str
) -> None:
    manifest = policy("MeshTimeout", {}, labels=labels, annotations=annotations)
    if field:
        manifest["mesh"] = field
    assert mesh_of(resource_of(manifest)) == mesh
    assert labels_of(manifest, "2.14", GLOBAL)[MESH] == mesh


def test_the_display_name_is_made_up_on_reading_in_2_x_on_kubernetes() -> None:
    manifest = policy("MeshTimeout", to({"kind": "Mesh"}))
    for release, stored in (("2.14", False), ("3.0", True)):
        resource = resource_of(manifest)
        written = compute_labels(resource, release=release, environment=EAST)
        read = stored_labels(resource, release=release, environment=EAST)
        assert not isinstance(written, Refused) and not isinstance(read, Refused)
        assert (DISPLAY_NAME in written.labels) is stored
        assert read.labels[DISPLAY_NAME] == "p"
    manifest = policy("MeshTimeout", to({"kind": "Mesh"}), annotations={DISPLAY_NAME: "shown"})
    read = stored_labels(resource_of(manifest), release="2.14", environment=EAST)
    assert not isinstance(read, Refused)
    assert read.display_name == "shown"


def test_a_universal_store_of_2_x_has_no_display_name() -> None:
    manifest = {"type": "MeshTimeout", "mesh": "m", "name": "p", "spec": to({"kind": "Mesh"})}
    read = stored_labels(resource_of(manifest), release="2.14", environment=EAST)
    assert not isinstance(read, Refused)
    assert DISPLAY_NAME not in read.labels
    assert ROLE not in read.labels


def test_other_peoples_objects_are_left_alone() -> None:
    manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    resource = resource_of(manifest)
    assert compute_labels(resource, release="3.0", environment=EAST) == resource


def test_a_zone_is_a_tag_of_inbounds_and_gateways_and_all_else_stays() -> None:
    """legacy-notes.md G2: what has the tag keeps it, and an inbound without tags gets none."""
    inbounds: list[dict[str, Any]] = [
        {"port": 1, "tags": {"kuma.io/service": "a"}},
        {"port": 2, "tags": {"kuma.io/service": "a", "kuma.io/zone": "west"}},
        {"port": 3},
    ]
    networking = {"address": "10.0.0.1", "inbound": inbounds, "gateway": {"tags": {"a": "b"}}}
    spec = {"networking": networking, "probes": {"port": 9000}}
    tagged = with_zone_tag(Resource(type="Dataplane", mesh="default", name="a", spec=spec), "east")
    east = {"kuma.io/zone": "east"}
    one = {"port": 1, "tags": {"kuma.io/service": "a", **east}}
    gateway = {"tags": {"a": "b", **east}}
    made = {"address": "10.0.0.1", "inbound": [one, *inbounds[1:]], "gateway": gateway}
    assert tagged.spec == {"networking": made, "probes": {"port": 9000}}
    assert with_zone_tag(tagged, "") is tagged
