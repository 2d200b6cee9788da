"""Which mesh a manifest of each kind is in where it names none, and that every kind is known."""

from __future__ import annotations

import pytest

from kumamigrate.model.foreign import not_modelled
from kumamigrate.model.kinds import CONTROL_PLANE_CONFIG, HELM_VALUES
from kumamigrate.model.read import read_resources
from kumamigrate.model.release import known_releases, policy_type_names, release
from kumamigrate.source.reading.load import read_file
from kumamigrate.source.text import Reason

OLD = """CircuitBreaker FaultInjection HealthCheck ProxyTemplate RateLimit Retry Timeout TrafficLog
TrafficPermission TrafficRoute TrafficTrace VirtualOutbound"""
OF_A_MESH = """Dataplane DataplaneInsight ExternalService MeshExternalService MeshGateway
MeshGatewayInstance MeshGatewayRoute MeshIdentity MeshMultiZoneService MeshOpenTelemetryBackend
MeshService MeshTrust MeshZoneAddress Secret ServiceInsight Workload"""
OF_NONE = """Config ContainerPatch GlobalSecret HostnameGenerator Mesh MeshGatewayConfig MeshInsight
Zone ZoneEgress ZoneIngress ZoneInsight"""
IN = {
    **dict.fromkeys((*OLD.split(), *OF_A_MESH.split(), *policy_type_names()), "default"),
    **dict.fromkeys(OF_NONE.split(), ""),
}


@pytest.mark.parametrize("kind", sorted(IN))
def test_a_kind_is_known_and_its_mesh(kind: str) -> None:
    spec = "spec: {}\n" if kind in policy_type_names() else ""
    found = read_resources(read_file("a.yaml", f"type: {kind}\nname: a\n{spec}".encode()))
    assert [(r.type, r.mesh, r.name) for r in found] == [(kind, IN[kind], "a")]
    assert list(not_modelled(found)) == []


@pytest.mark.parametrize("name", known_releases())
def test_what_a_release_has_identifiers_for_is_known(name: str) -> None:
    assert release(name).kri_short_names.keys() <= IN.keys()


OUTSIDE_NAMESPACES = f"""{OLD} AccessAudit AccessRole AccessRoleBinding ExternalService GatewayClass
Mesh MeshGateway MeshGatewayConfig MeshGatewayRoute MeshInsight OPAPolicy ServiceInsight Zone
ZoneInsight"""


@pytest.mark.parametrize("kind", sorted({*IN, *OUTSIDE_NAMESPACES.split()} - {"Config"}))
def test_a_kind_is_in_a_namespace_or_in_none(kind: str) -> None:
    head = f"apiVersion: kuma.io/v1alpha1\nkind: {kind}\n"
    text = f"{head}metadata: {{name: a, namespace: shop}}\nspec: {{}}\n"
    (found,) = read_resources(read_file("a.yaml", text.encode()))
    assert found.namespace == ("" if kind in OUTSIDE_NAMESPACES.split() else "shop")


OF_KONG_MESH = """AccessAudit AccessRole AccessRoleBinding GlobalRateLimit MeshGlobalRateLimit
MeshOPA OPAPolicy"""


@pytest.mark.parametrize("kind", OF_KONG_MESH.split())
def test_what_kong_mesh_lays_on_top_is_named_and_not_judged(kind: str) -> None:
    found = read_resources(read_file("a.yaml", f"type: {kind}\nname: a\n".encode()))
    (refusal,) = not_modelled(found)
    assert (refusal.reason, refusal.line, refusal.column) == (Reason.NOT_MODELLED, 1, 1)


OF_THE_CHART = """admissionServerPort defaults envVars injectorFailurePolicy kdsGlobalAddress
globalZoneSyncService mode supportGatewaySecretsInAllNamespaces zone"""
OF_THE_CONFIG = "bootstrapServer dpServer interCp monitoringAssignmentServer xdsServer"


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        *((f"controlPlane: {{{key}: x}}\n", [HELM_VALUES]) for key in OF_THE_CHART.split()),
        ("kuma: {controlPlane: {mode: zone}}\n", [HELM_VALUES]),
        ("controlPlane: {replicas: 2}\n", []),
        ("server: {mode: zone}\n", []),
        *((f"{key}: {{}}\nmode: zone\n", [CONTROL_PLANE_CONFIG]) for key in OF_THE_CONFIG.split()),
        ("dpServer: {}\nkind: Other\n", []),
        ("controlPlane: {mode: zone}\ntype: Other\n", []),
    ],
    ids=str,
)
def test_settings_are_known_by_what_only_they_have(text: str, kinds: list[str]) -> None:
    found = read_resources(read_file("values.yaml", text.encode()))
    assert [resource.type for resource in found] == kinds


@pytest.mark.parametrize(
    ("type_", "kind", "mesh"),
    [("secret", "Secret", "other"), ("global-secret", "GlobalSecret", "")],
)
def test_a_secret_of_kuma_is_of_a_mesh_or_of_all(type_: str, kind: str, mesh: str) -> None:
    text = f"""\
apiVersion: v1
kind: Secret
metadata: {{name: s, namespace: kuma-system, labels: {{kuma.io/mesh: other}}}}
type: system.kuma.io/{type_}
stringData: {{value: a}}
"""
    (read,) = read_resources(read_file("a.yaml", text.encode()))
    assert (read.type, read.mesh, read.name) == (kind, mesh, "s")
