"""Field reports about names, labels and MeshServices (kumahq/kuma issues by number)."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumamigrate.model.labels import policy_role
from tests.reports.repo import EXCLUSIVE, documents, run

SERVICE = """type: MeshService
name: {name}
mesh: default
labels: {{kuma.io/display-name: {name}, k8s.kuma.io/namespace: {namespace}, kuma.io/zone: {zone}, \
kuma.io/mesh: default, kuma.io/origin: zone, kuma.io/env: kubernetes}}
spec:
  ports: [{{port: {port}, {port_name}targetPort: {port}, appProtocol: http}}]
  selector: {{dataplaneTags: {{kuma.io/service: {name}_{namespace}_svc_{port}}}}}
"""


def service(
    name: str, namespace: str, port: int, *, port_name: str = "", zone: str = "default"
) -> str:
    """Return a MeshService as the control plane of a zone holds it."""
    said = f"name: {port_name}, " if port_name else ""
    return SERVICE.format(name=name, namespace=namespace, port=port, port_name=said, zone=zone)


CLIENT = """type: Dataplane
name: client-1
mesh: default
labels: {app: client}
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: client_default_svc_80}}]
"""
AT_THE_TOP = """apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: t, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec:
  targetRef: {kind: MeshService, name: client, namespace: default, sectionName: http}
  to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 1s}}}]
"""


@pytest.mark.parametrize("target", ["2.14", "3.0"])
def test_13612_a_new_style_reference_at_the_top_is_never_switched_on(
    target: str, tmp_path: Path
) -> None:
    """#13612: at the top the name is a service tag, so the policy selects nothing today."""
    done = run(tmp_path, {"t.yaml": AT_THE_TOP}, inventory=CLIENT, target=target)
    assert done.after["t.yaml"] == AT_THE_TOP
    assert ("top-level-mesh-service", "manual", "t") in done.found
    assert "selects no" in done.said


def by_tag(name: str) -> str:
    """Return a policy that names a service by its tag."""
    return (
        "type: MeshTimeout\nname: t\nmesh: default\nspec:\n"
        f"  to: [{{targetRef: {{kind: MeshService, name: {name}}},"
        " default: {idleTimeout: 1m}}]\n"
    )


@pytest.mark.parametrize(("port_name", "section"), [("http", "http"), ("", '"80"')])
def test_11230_a_service_tag_becomes_labels_and_the_name_of_the_port(
    port_name: str, section: str, tmp_path: Path
) -> None:
    """#11230: a tag means a service and one port, by its name where it has one, else "80"."""
    files = {"m.yaml": EXCLUSIVE, "t.yaml": by_tag("orders_shop_svc_80")}
    inventory = service("orders", "shop", 80, port_name=port_name)
    done = run(tmp_path, files, inventory=inventory, target="3.0")
    assert done.after["t.yaml"] == (
        "type: MeshTimeout\nname: t\nmesh: default\nspec:\n"
        "  to: [{targetRef: {kind: MeshService, labels: {kuma.io/display-name: orders,"
        f" k8s.kuma.io/namespace: shop}}, sectionName: {section}}},"
        " default: {idleTimeout: 1m}}]\n"
    )


def test_11230_without_the_service_a_tag_is_only_reported(tmp_path: Path) -> None:
    """#11230: nothing in a tag says what the port is called."""
    text = by_tag("orders_shop_svc_80")
    done = run(tmp_path, {"m.yaml": EXCLUSIVE, "t.yaml": text}, target="3.0")
    assert done.after["t.yaml"] == text
    assert ("service-tag-name", "manual", "t") in done.found


def test_13668_a_name_with_a_hash_is_not_taken_for_a_display_name(tmp_path: Path) -> None:
    """#13668: a synced resource is called otherwise where it was made; labels need that name."""
    text = by_tag("pool-nexus-7wz797d65f2v7564")
    done = run(tmp_path, {"m.yaml": EXCLUSIVE, "t.yaml": text}, target="3.0")
    assert done.after["t.yaml"] == text
    (finding,) = done.of("reference-by-name")
    assert finding.status.value == "manual"
    assert "pool-nexus" in "".join(finding.notes)
    assert "kuma.io/zone" in finding.action


def test_10433_a_name_that_several_zones_have_is_not_turned_into_one_label(tmp_path: Path) -> None:
    """#10433: the display name alone would select the service of both zones."""
    text = by_tag("backend")
    inventory = documents(
        service("backend", "shop", 80, zone="east"), service("backend", "shop", 80, zone="west")
    )
    done = run(tmp_path, {"m.yaml": EXCLUSIVE, "t.yaml": text}, inventory=inventory, target="3.0")
    assert "labels: {kuma.io/display-name: backend}" not in done.after["t.yaml"]
    assert done.after["t.yaml"] == text
    assert ("reference-by-name", "manual", "t") in done.found


def test_18002_shares_of_a_service_by_tag_have_no_successor(tmp_path: Path) -> None:
    """#18002: without its tags each share would go to the whole of the service."""
    text = """type: MeshHTTPRoute
name: canary
mesh: default
spec:
  to:
    - targetRef: {kind: MeshService, name: orders}
      rules:
        - matches: [{path: {type: PathPrefix, value: /}}]
          default:
            backendRefs:
              - {kind: MeshServiceSubset, name: orders, tags: {version: v1}, weight: 90}
              - {kind: MeshServiceSubset, name: orders, tags: {version: v2}, weight: 10}
"""
    done = run(tmp_path, {"m.yaml": EXCLUSIVE, "r.yaml": text}, target="3.0")
    assert done.after["r.yaml"] == text
    assert [f.status.value for f in done.of("subset-backend")] == ["manual", "manual"]
    assert "create one MeshService for each" in done.said
    assert done.exit == 4  # the shares go with the upgrade


MIRROR = """type: MeshHTTPRoute
name: mirror
mesh: default
spec:
  to:
    - targetRef: {kind: MeshService, name: api_qa_svc_8281}
      rules:
        - matches: [{headers: [{type: Exact, name: mirror-me, value: "true"}]}]
          default:
            filters: [{type: RequestMirror, requestMirror: {percentage: 100, backendRef: {kind: \
MeshService, name: shadow_qa_svc_8000}}}]
            backendRefs: [{kind: MeshService, name: api_qa_svc_8281}]
"""


def test_10204_every_name_of_a_route_is_rewritten_or_none(tmp_path: Path) -> None:
    """#10204: target, backends and mirror stand or fall together."""
    inventory = service("api", "qa", 8281, port_name="main")
    done = run(tmp_path, {"m.yaml": EXCLUSIVE, "r.yaml": MIRROR}, inventory=inventory, target="3.0")
    assert done.after["r.yaml"] == MIRROR
    both = documents(inventory, service("shadow", "qa", 8000))
    done = run(tmp_path, {"m.yaml": EXCLUSIVE, "r.yaml": MIRROR}, inventory=both, target="3.0")
    labels = "labels: {{kuma.io/display-name: {}, k8s.kuma.io/namespace: qa}}"
    assert done.after["r.yaml"] == MIRROR.replace(
        "name: api_qa_svc_8281}\n      rules",
        labels.format("api") + ", sectionName: main}\n      rules",
    ).replace("name: shadow_qa_svc_8000}", labels.format("shadow") + ", port: 8000}").replace(
        "backendRefs: [{kind: MeshService, name: api_qa_svc_8281}]",
        f"backendRefs: [{{kind: MeshService, {labels.format('api')}, port: 8281}}]",
    )
    assert 'value: "true"' in done.after["r.yaml"]


PRODUCER = """apiVersion: kuma.io/v1alpha1
kind: MeshRetry
metadata: {name: retry, namespace: shop, labels: {kuma.io/mesh: default}}
spec:
  to: [{targetRef: {kind: MeshService, name: orders, sectionName: "5000"}, default: {http: \
{numRetries: 3}}}]
"""


def test_11570_a_producer_policy_keeps_its_name_on_2x(tmp_path: Path) -> None:
    """#11570: on 2.x labels would make it a consumer policy, for clients of its namespace only."""
    assert run(tmp_path, PRODUCER).outcome.texts == {}


def test_18775_a_producer_policy_stays_one_on_3_0(tmp_path: Path) -> None:
    """#11570, #18775: with just name and namespace as labels 3.0 takes it for a producer again.

    The report fears that producers go in 3.0; that change is open, and matcher.md (a) has them.
    """
    done = run(tmp_path, PRODUCER, target="3.0")
    assert (
        'labels: {kuma.io/display-name: orders, k8s.kuma.io/namespace: shop}, sectionName: "5000"'
        in done.after["a.yaml"]
    )
    environment = done.outcome.options.environment
    (before,), (after,) = (
        scene.repository.resources for scene in (done.outcome.before, done.outcome.after)
    )
    assert policy_role(before, release="2.14", environment=environment) == "producer"
    assert policy_role(after, release="3.0", environment=environment) == "producer"
    assert (
        "upgrade to 3.0, not before (why: kumamigrate rule reference-by-name): a.yaml" in done.said
    )


def test_18775_every_producer_policy_is_shown_with_its_role(tmp_path: Path) -> None:
    """#18775: who is to find all producer policies sees the role of each."""
    from kumamigrate.report.inspect import resources_json

    done = run(tmp_path, PRODUCER)
    (shown,) = resources_json(done.outcome.before)["resources"]
    assert shown["labels"]["kuma.io/policy-role"] == "producer"
