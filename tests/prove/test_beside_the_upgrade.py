"""What a change does beside the upgrade counts after it as well: other endpoints, other ports.

Universal pairs were asked of both control planes (release-3.0/09-*); these are the same on
Kubernetes, and what cannot be asked of a listener.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kumamigrate.prover.prover import prove
from tests.frontdoor import command
from tests.prove.states import state

SHOP = """apiVersion: kuma.io/v1alpha1
kind: Mesh
metadata: {name: default}
spec: {meshServices: {mode: Exclusive}, skipCreatingInitialPolicies: ['*']}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {kuma.io/sidecar-injection: enabled}}
---
apiVersion: v1
kind: Service
metadata: {name: backend, namespace: shop}
spec: {selector: {app: backend}, ports: [{port: 80, name: main, appProtocol: http}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: backend, namespace: shop}
spec:
  selector: {matchLabels: {app: backend}}
  template: {metadata: {labels: {app: backend}}, spec: {containers: [{name: c, image: x}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: x}]}}
"""
POD = "template: {metadata: {labels: {app: web}"
NOTED = "template: {metadata: {annotations: {%s: '%s'}, labels: {app: web}"
EXTERNAL = """type: Mesh
name: default
meshServices: {mode: Exclusive}
skipCreatingInitialPolicies: ['*']
---
type: MeshExternalService
mesh: default
name: ext
labels: {kuma.io/display-name: ext}
spec:
  match: {type: HostnameGenerator, port: 443, protocol: http}
  endpoints: [{address: 192.0.2.7, port: 443}]
  tls: {enabled: true, verification: {mode: SkipAll, serverName: a.example}}
"""


def _release(
    folder: Path, before: str, after: str, source: str = "2.14", target: str = "3.0"
) -> dict[str, Any]:
    paths = [folder / f"{name}.yaml" for name in ("before", "after")]
    for path, text in zip(paths, (before, after), strict=True):
        path.write_text(text, encoding="utf-8")
    words = ("--from", source, "--target", target, "--zone", "east", "--format", "json")
    claim: dict[str, Any] = command("prove", *paths, *words, given=None).json["claims"]["release"]
    return claim


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ("", "", "equivalent"),
        (POD, "template: {metadata: {labels: {app: backend}", "different"),
        ("spec: {selector: {app: backend}", "spec: {selector: {app: web}", "different"),
        (POD, NOTED % ("traffic.kuma.io/exclude-inbound-ports", "8080"), "unknown"),
        (POD, NOTED % ("kuma.io/reachable-backends", "{}"), "different"),
        (POD, NOTED % ("kuma.io/reachable-backends", "{refs: [{kind: M"), "different"),
        (POD, NOTED % ("kuma.io/mesh", "default"), "equivalent"),
        (POD, NOTED % ("kuma.io/mesh", "other"), "equivalent"),
        (POD, POD.replace("app: web", "app: web, kuma.io/mesh: other"), "different"),
        ("80, name", "80, targetPort: 8080, name", "different"),
        (POD, POD.replace("app: web", "app: web, tier: a"), "equivalent"),
    ],
    ids=[
        *("nothing", "labels of pods", "selector", "annotation", "nothing reached"),
        *("unreadable", "the same mesh", "a mesh that 3.0 does not read", "another mesh"),
        *("another port", "a label that nobody reads"),
    ],
)
def test_other_workloads_answer(tmp_path: Path, old: str, new: str, verdict: str) -> None:
    after = SHOP.replace(old, new) if old else SHOP
    assert bool(old) is (after != SHOP)
    assert _release(tmp_path, SHOP, after)["verdict"] == verdict


def test_what_pods_say_counts_between_releases_of_2_x_as_well(tmp_path: Path) -> None:
    noted = SHOP.replace(POD, NOTED % ("traffic.kuma.io/exclude-inbound-ports", "8080"))
    verdicts = [_release(tmp_path, SHOP, a, "2.12", "2.14")["verdict"] for a in (SHOP, noted)]
    assert verdicts == ["equivalent", "unknown"]


UNIVERSAL = """type: Mesh
name: default
meshServices: {mode: Disabled}
skipCreatingInitialPolicies: ['*']
---
type: Dataplane
mesh: default
name: queue-1
labels: {kuma.io/workload: queue}
networking:
  address: 192.0.2.7
  inbound: [{port: 80, name: main, tags: {kuma.io/service: queue, kuma.io/protocol: tcp}}]
---
type: MeshTimeout
mesh: default
name: kept
spec:
  to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 0s, streamIdleTimeout: 5m}}}]
"""
CALLER = """---
type: Dataplane
mesh: default
name: web-1
labels: {kuma.io/workload: web}
networking:
  address: 192.0.2.8
  inbound:
  - {port: 80, name: main, protocol: tcp, tags: {kuma.io/service: web, kuma.io/protocol: tcp}}
  transparentProxying: {redirectPortInbound: 15006, redirectPortOutbound: 15001}
"""
SPEAKS_TOO = "protocol: %s, tags: {kuma.io/service: queue, kuma.io/protocol: %s"
SAID_BY_TAG = "tags: {kuma.io/service: queue, kuma.io/protocol: tcp"
KEPT = """---
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: kept, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec:
  to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 0s, streamIdleTimeout: 5m}}}]
"""
"""What requests by tag have where no MeshTimeout is about them."""
DISABLED = SHOP.replace("Exclusive", "Disabled") + KEPT


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (SHOP.replace("appProtocol: http", "appProtocol: GRPC"), "equivalent"),
        (SHOP.replace("appProtocol: http", "appProtocol: kafka"), "different"),
        (SHOP.replace("appProtocol: http", "appProtocol: kubernetes.io/h2c"), "different"),
        (DISABLED, "equivalent"),
        (DISABLED.replace("appProtocol: http", "appProtocol: kafka"), "unknown"),
        (UNIVERSAL.replace(SAID_BY_TAG, SPEAKS_TOO % ("http", "http")), "equivalent"),
        (UNIVERSAL.replace(SAID_BY_TAG, SPEAKS_TOO % ("mysql", "mysql")), "unknown"),
        (UNIVERSAL.replace("kuma.io/workload: queue", "kuma.io/workload: other"), "different"),
        (UNIVERSAL.replace("labels: {kuma.io/workload: queue}\n", ""), "unknown"),
    ],
)
def test_a_service_that_the_later_release_makes_none_of_is_lost(
    tmp_path: Path, text: str, verdict: str
) -> None:
    """3.0 takes grpc, http, http2 and tcp for a port of a MeshService, in any letters (asked of a
    control plane), its own generator's as well."""
    assert _release(tmp_path, text, text)["verdict"] == verdict


GENERATED = """---
type: MeshService
mesh: default
name: queue
labels: {kuma.io/display-name: queue}
spec:
  selector: {dataplaneLabels: {matchLabels: {kuma.io/workload: LABEL}}}
  ports: [{port: 80, targetPort: 80, appProtocol: tcp, name: main}]
"""


@pytest.mark.parametrize(
    ("came", "verdict"),
    [
        ("", "equivalent"),
        (GENERATED.replace("LABEL", "queue"), "equivalent"),
        (GENERATED.replace("LABEL", "other"), "different"),
        (GENERATED.replace("LABEL", "queue").replace("name: queue", "name: more"), "different"),
    ],
    ids=["generated", "written", "of others", "another"],
)
def test_what_comes_where_mode_disabled_had_none_is_no_difference_itself(
    tmp_path: Path, came: str, verdict: str
) -> None:
    """3.0 generates a real service of what proxies reach by its tag; one that is in Git is it."""
    text = UNIVERSAL.replace(SAID_BY_TAG, SPEAKS_TOO % ("tcp", "tcp"))
    assert _release(tmp_path, text + CALLER, text + CALLER + came)["verdict"] == verdict


NOTED_SPACE = "annotations: {kuma.io/mesh: other}, labels: {kuma.io/sidecar"
ALONE = SHOP[SHOP.index("apiVersion: v1\nkind: Namespace") : SHOP.index("apiVersion: v1\nkind: S")]


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (SHOP.replace("name: default}", "name: other}"), "equivalent"),
        (SHOP.replace("name: default}", "name: other}").replace("labels: {kuma", "% {kuma"), None),
    ],
    ids=["by label", "by annotation"],
)
def test_pods_whose_mesh_an_annotation_names_leave_it(
    tmp_path: Path, text: str, verdict: str | None
) -> None:
    """3.0 reads the label alone: both workloads fall to the mesh default, and so does whatever
    else the Namespace holds."""
    label = "labels: {kuma.io/mesh: other, kuma.io/sidecar"
    text = text.replace("labels: {kuma.io/sidecar", label).replace(
        "% {kuma.io/sidecar", NOTED_SPACE
    )
    claim = _release(tmp_path, text, text)
    assert claim["verdict"] == (verdict or "different")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("mode: SkipAll", "mode: Secured"),
        ("serverName: a.example", "serverName: b.example"),
        ("enabled: true", "enabled: false"),
    ],
)
def test_the_tls_of_an_external_service_is_the_same_field_in_both(
    tmp_path: Path, old: str, new: str
) -> None:
    found = _release(tmp_path, EXTERNAL, EXTERNAL.replace(old, new))
    assert found["verdict"] == "different"


UNSECURED = """type: Mesh
name: default
meshServices: {mode: Exclusive}
skipCreatingInitialPolicies: ['*']
---
type: MeshTimeout
mesh: default
name: t
spec:
  from: [{targetRef: {kind: Mesh}, default: {idleTimeout: 7m}}]
"""


def test_an_inbound_without_mtls_loses_what_3_0_does_not_read(tmp_path: Path) -> None:
    """Permissions and MeshTLS say nothing there; a time limit in `from` does, up to 2.14."""
    file = tmp_path / "mesh.yaml"
    file.write_text(UNSECURED, encoding="utf-8")
    words = ("--from", "2.14", "--target", "3.0", "--format", "json")
    found = command("prove", file, file, *words).json["claims"]["release"]
    lost = {
        (one["direction"], one["field"], one["before"]["value"])
        for proxy in found["dataplanes"].values()
        for one in proxy["witnesses"]
    }
    assert ("inbound", "idleTimeout", "7m0s") in lost


@pytest.mark.parametrize("comes", [True, False])
def test_a_workload_that_gets_or_loses_its_sidecar_is_told(comes: bool, tmp_path: Path) -> None:
    """Nothing else is compared of it: on one side it makes no Dataplane."""
    without = "template: {metadata: {labels: {app: web, kuma.io/sidecar-injection: disabled}"
    sides = [SHOP.replace(POD, without), SHOP]
    files = [tmp_path / "before.yaml", tmp_path / "after.yaml"]
    for file, text in zip(files, sides if comes else reversed(sides), strict=True):
        file.write_text(text, encoding="utf-8")
    words = ("--from", "2.14", "--target", "3.0", "--format", "json")
    found = command("prove", *files, *words).json["claims"]["release"]
    (one,) = found["dataplanes"]["workload web"]["witnesses"]
    values = (one["before"]["value"], one["after"]["value"])
    assert values == ((None, "present") if comes else ("present", None))
    assert not found.get("unknown")


def test_between_releases_of_2_what_stood_stands_before_what_comes() -> None:
    """Where no form ends, what both read is compared as it is written."""
    text = """
type: MeshExternalService
name: bank
mesh: default
spec:
  match: {type: HostnameGenerator, port: 443, protocol: http}
  endpoints: [{address: %s, port: 443}]
"""
    before, after = (
        state(text % address, release=name, mode="Exclusive")
        for address, name in (("a.example", "2.13"), ("b.example", "2.14"))
    )
    found = prove(before, after, claims=("release",)).witnesses("release")
    values = [(one.before.value, one.after.value) for one in found]
    assert values == [tuple([{"address": f"{at}.example", "port": 443}] for at in "ab")]
