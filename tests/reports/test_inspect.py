"""`inspect` answers for the proxy asked for, and names what this proxy has."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frontdoor import command

MESH = """\
type: Mesh
name: default
meshServices: {mode: Exclusive}
---
type: MeshService
mesh: default
name: news
spec:
  selector: {dataplaneTags: {kuma.io/service: news}}
  ports: [{port: 80, name: http, appProtocol: http}]
---
type: MeshHTTPRoute
mesh: default
name: blog
spec:
  targetRef: {kind: Dataplane, labels: {app: blog}}
  to:
  - targetRef: {kind: MeshService, name: news}
    rules: [{matches: [{path: {type: PathPrefix, value: /}}], default: {}}]
---
type: MeshTimeout
mesh: default
name: short
spec:
  targetRef: {kind: Dataplane, labels: {tier: web}}
  to:
  - targetRef: {kind: MeshHTTPRoute, name: blog}
    default: {http: {requestTimeout: 5s}}
  - targetRef: {kind: Mesh}
    default: {http: {requestTimeout: 3s}}
"""
OLD = """\
---
type: Dataplane
mesh: default
name: api-1
networking:
  address: 10.0.0.1
  inbound:
  - {port: 8080, tags: {kuma.io/service: api, kuma.io/protocol: http}}
  - {port: 9090, servicePort: 9091, tags: {kuma.io/service: admin, kuma.io/protocol: http}}
---
type: TrafficPermission
mesh: default
name: all
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: '*'}}]
"""


def _inspect(folder: Path, *words: str) -> str:
    answer = command("inspect", folder, *words)
    assert answer.code == 0, answer.err
    return answer.out


@pytest.mark.parametrize(
    "words", [["app=blog,tier=web"], ["app=blog, tier=web"], ["app=blog", "tier=web"]]
)
def test_labels_stand_with_commas_or_one_by_one(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text(MESH)
    said = _inspect(tmp_path, *(part for word in words for part in ("--labels", word)))
    assert "app=blog, tier=web\n" in said
    assert "to MeshHTTPRoute blog" in said


def test_a_route_that_selects_other_proxies_is_not_among_the_destinations(tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text(MESH)
    said = _inspect(tmp_path, "--labels", "tier=web")
    assert "to anything" in said and "3s" in said
    assert "blog" not in said and "5s" not in said


@pytest.mark.parametrize(
    "words", ["app", "=web", "a==b", "a=b,", "a=b,a=c", "a=b c", "a!=b"], ids=str
)
def test_labels_that_no_proxy_has_are_refused(words: str, tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text(MESH)
    answer = command("inspect", tmp_path, "--labels", words)
    assert (answer.code, answer.out) == (2, "")
    assert "--labels" in answer.err


def test_a_proxy_is_named_or_made_up_and_not_both(tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text(MESH + OLD)
    answer = command("inspect", tmp_path, "--proxy", "api-1", "--labels", "app=blog")
    assert (answer.code, answer.out) == (2, "")


def test_places_of_old_policies_are_called_as_those_of_the_tree(tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text(MESH + OLD)
    said = _inspect(tmp_path, "--proxy", "api-1")
    assert "    inbound 10.0.0.1:8080 of api  TrafficPermission all\n" in said
    assert "    inbound 10.0.0.1:9090, workload port 9091 of admin  TrafficPermission all\n" in said
    assert "inbound 192.0.2.1:80 of any-other-service" in _inspect(tmp_path, "--labels", "a=b")


def test_what_the_release_refuses_is_said_to_be_left_out(tmp_path: Path) -> None:
    refused = MESH.replace("requestTimeout: 3s", "requestTimeout: 3 s")
    (tmp_path / "all.yaml").write_text(refused)
    said = _inspect(tmp_path, "--labels", "tier=web")
    assert "Left out: 2.14 refuses it\n  MeshTimeout short" in said


PODS = """\
apiVersion: kuma.io/v1alpha1
kind: Mesh
metadata: {name: default}
spec: {meshServices: {mode: Exclusive}}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {kuma.io/sidecar-injection: enabled}}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web}]}
---
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: slow, namespace: shop, labels: {kuma.io/mesh: default}}
spec:
  targetRef: {kind: Dataplane, labels: {app: web}}
  from: [{targetRef: {kind: Mesh}, default: {idleTimeout: 9s}}]
"""


def test_the_proxy_of_a_workload_is_asked_for_by_its_name(tmp_path: Path) -> None:
    """Nobody knows its address; a `from` for everybody is what the inbound has, told once."""
    (tmp_path / "m.yaml").write_text(PODS, encoding="utf-8")
    said = command("inspect", tmp_path).out
    assert "--proxy NAME asks for that of a workload (web), --labels key=value" in said
    said = command("inspect", tmp_path, "--proxy", "web").out
    assert said.count("inbound") == 1
    assert "─ inbound :8080\n" in said
    assert "MeshTimeout               idleTimeout 9s   m.yaml:" in said
