"""What a change does beside the upgrade counts after it as well: other endpoints, other ports.

Universal pairs were asked of both control planes (release-3.0/09-*); these are the same on
Kubernetes, and what cannot be asked of a listener.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.frontdoor import command

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
        (POD, NOTED % ("kuma.io/reachable-backends", "{}"), "equivalent"),
    ],
    ids=["nothing", "labels of pods", "selector", "annotation", "annotation of 3.0"],
)
def test_other_workloads_answer(tmp_path: Path, old: str, new: str, verdict: str) -> None:
    after = SHOP.replace(old, new) if old else SHOP
    assert bool(old) is (after != SHOP)
    assert _release(tmp_path, SHOP, after)["verdict"] == verdict


def test_what_pods_say_counts_between_releases_of_2_x_as_well(tmp_path: Path) -> None:
    noted = SHOP.replace(POD, NOTED % ("traffic.kuma.io/exclude-inbound-ports", "8080"))
    verdicts = [_release(tmp_path, SHOP, a, "2.12", "2.14")["verdict"] for a in (SHOP, noted)]
    assert verdicts == ["equivalent", "unknown"]


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
