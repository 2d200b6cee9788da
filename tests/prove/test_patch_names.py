"""MeshProxyPatch matches by name: string equality, so equal only where the names are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kumamigrate.cli import app
from tests.frontdoor import command
from tests.runner import CliRunner

MESH = """type: Mesh
name: default
meshServices: {mode: MODE}
skipCreatingInitialPolicies: ["*"]
---
type: MeshProxyPatch
name: budget
mesh: default
spec:
  targetRef: {kind: Dataplane, labels: {app: web}}
  default:
    appendModifications:
      - KIND:
          operation: Remove
          match: MATCH
---
type: Dataplane
name: web-1
mesh: default
labels: {app: web, kuma.io/workload: web}
networking: {address: 10.0.0.1, inbound: [{port: 80, protocol: http, tags: {kuma.io/service: web}}]}
---
type: Dataplane
name: db-1
mesh: default
labels: {app: db, kuma.io/workload: db}
networking: {address: 10.0.0.2, inbound: [{port: 80, protocol: http, tags: {kuma.io/service: db}}]}
"""
ENDING = [
    ("cluster", "{name: billing_shop_svc_80}"),
    ("cluster", "{name: billing}"),
    ("cluster", "{name: kri_msvc_default_east_shop_billing_http}"),
    ("cluster", "{name: 'localhost:80'}"),
    ("listener", "{name: 'inbound:10.0.0.1:80'}"),
    ("listener", "{listenerTags: {kuma.io/service: web}}"),
    ("virtualHost", "{name: billing}"),
    ("virtualHost", "{routeConfigurationName: 'outbound:billing'}"),
    ("httpFilter", "{name: envoy.filters.http.router, listenerName: 'inbound:10.0.0.1:80'}"),
]
STAYING = [
    ("cluster", "{origin: outbound}"),
    ("httpFilter", "{name: envoy.filters.http.router, origin: inbound}"),
    ("networkFilter", "{name: envoy.filters.network.tcp_proxy}"),
    ("virtualHost", "{routeConfigurationName: kri_msvc_default_east_shop_billing_http}"),
]


def proved(folder: Path, kind: str, match: str, mode: str, *words: str) -> dict[str, Any]:
    text = MESH.replace("KIND", kind).replace("MATCH", match).replace("MODE", mode)
    path = folder / "in.yaml"
    path.write_text(text, encoding="utf-8")
    result = CliRunner().invoke(app, ["prove", str(path), str(path), *words, "--format", "json"])
    found: dict[str, Any] = json.loads(result.stdout)["claims"]
    return found


@pytest.mark.parametrize(("kind", "match"), ENDING)
def test_a_name_that_the_releases_give_to_different_things_leaves_the_upgrade_unknown(
    kind: str, match: str, tmp_path: Path
) -> None:
    claims = proved(tmp_path, kind, match, "Exclusive", "--from", "2.14", "--target", "3.0")
    found = claims["release"]["dataplanes"]
    assert found["web-1"]["verdict"] == "unknown"
    assert "in.yaml:6" in found["web-1"]["unknown"][0]
    assert found["db-1"]["verdict"] == "equivalent"
    assert claims["live"]["verdict"] == "equivalent"


@pytest.mark.parametrize(("kind", "match"), STAYING)
def test_a_name_that_stays_is_no_doubt(kind: str, match: str, tmp_path: Path) -> None:
    claims = proved(tmp_path, kind, match, "Exclusive", "--from", "2.14", "--target", "3.0")
    assert claims["release"]["dataplanes"]["web-1"]["verdict"] == "equivalent"


@pytest.mark.parametrize(
    ("kind", "match", "verdict"),
    [
        ("cluster", "{name: billing}", "unknown"),
        ("virtualHost", "{name: billing}", "unknown"),
        ("cluster", "{name: 'localhost:80'}", "equivalent"),
        ("cluster", "{origin: outbound}", "equivalent"),
    ],
)
def test_what_is_named_after_a_service_tag_goes_when_the_mode_switches(
    kind: str, match: str, verdict: str, tmp_path: Path
) -> None:
    claims = proved(tmp_path, kind, match, "Disabled", "--target", "2.14")
    found = claims["carry"]["dataplanes"]
    assert found["web-1"]["verdict"] == verdict


ELSEWHERE = """---
type: MeshTimeout
name: elsewhere
mesh: default
spec:
  targetRef: {kind: Dataplane, labels: {app: db}}
  rules: [{default: {idleTimeout: 9s}}]
"""


@pytest.mark.parametrize(("kind", "match"), ENDING)
def test_within_a_release_the_names_are_what_they_were(
    kind: str, match: str, tmp_path: Path
) -> None:
    text = MESH.replace("KIND", kind).replace("MATCH", match).replace("MODE", "Exclusive")
    sides = [tmp_path / name for name in ("before.yaml", "after.yaml")]
    for path, more in zip(sides, ("", ELSEWHERE), strict=True):
        path.write_text(text + more, encoding="utf-8")
    found = command("prove", *sides, "--from", "3.0", "--target", "3.0", "--format", "json").json
    assert found["claims"]["live"]["dataplanes"]["web-1"]["verdict"] == "equivalent"
