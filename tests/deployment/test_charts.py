"""Charts, through the command line: edits beside templates, proven on what helm makes of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.deployment.test_overlays import run
from tests.deployment.trees import needs_helm

MESH = """\
=== mesh/mesh.yaml
apiVersion: kuma.io/v1alpha1
kind: Mesh
metadata: {name: default}
spec: {meshServices: {mode: Exclusive}}
=== charts/shop/Chart.yaml
apiVersion: v2
name: shop
version: 0.1.0
"""
LIMITS = """\
=== charts/shop/templates/limits.yaml
apiVersion: kuma.io/v1alpha1
kind: MeshCircuitBreaker
metadata:
  name: {{ .Release.Name }}-inbound
  namespace: kuma-system
spec:
  from:
    - targetRef:
        kind: Mesh
      default:
        connectionLimits:
          maxConnections: {{ .Values.connections }} # per pod
"""
GUARDED = """\
=== charts/shop/templates/retry.yaml
{{- if .Values.retries }}
apiVersion: kuma.io/v1alpha1
kind: MeshRetry
metadata:
  name: web
  namespace: kuma-system
spec:
  targetRef:
    kind: MeshSubset
    tags:
      app: {{ .Values.app }}
  to:
    - targetRef:
        kind: Mesh
      default:
        http:
          numRetries: 3
{{- end }}
"""
RIVAL = """\
=== mesh/rival.yaml
apiVersion: kuma.io/v1alpha1
kind: MeshRetry
metadata: {name: a-rival, namespace: kuma-system}
spec:
  targetRef: {kind: Dataplane, labels: {app: web}}
  to:
    - targetRef: {kind: Mesh}
      default: {http: {numRetries: 5}}
"""
VALUES = "=== charts/shop/values.yaml\nconnections: 10\nretries: {retries}\napp: web\n"
OFF, ON = VALUES.format(retries="false"), VALUES.format(retries="true")


@needs_helm
def test_a_template_is_edited_beside_its_expressions(tmp_path: Path) -> None:
    answer, changed = run(MESH + LIMITS + OFF, tmp_path)
    assert answer.code == 0
    assert changed == {
        "charts/shop/templates/limits.yaml": LIMITS.partition("\n")[2].replace(
            "  from:\n    - targetRef:\n        kind: Mesh\n      default:\n",
            "  rules:\n    - default:\n",
        )
    }


@needs_helm
def test_what_a_condition_leaves_out_is_proven_with_it_as_well(tmp_path: Path) -> None:
    answer, changed = run(MESH + GUARDED + OFF, tmp_path)
    assert answer.code == 0
    assert "kind: Dataplane" in changed["charts/shop/templates/retry.yaml"]
    assert "{{- if .Values.retries }}" in changed["charts/shop/templates/retry.yaml"]


@needs_helm
@pytest.mark.parametrize("values", [OFF, ON], ids=["off by default", "on by default"])
def test_an_edit_that_matters_in_one_world_is_held(values: str, tmp_path: Path) -> None:
    # As Dataplane it ranks with the rival, whose name sorts first: the rival's value would give
    # way where it had prevailed. Whether the chart has the policy at all is a value.
    answer, changed = run(MESH + GUARDED + RIVAL + values, tmp_path)
    assert answer.code in (3, 4)
    assert "charts/shop/templates/retry.yaml" not in changed


@needs_helm
def test_files_of_values_are_the_environments(tmp_path: Path) -> None:
    files = (
        "=== charts/shop/values-dev.yaml\nretries: false\n"
        "=== charts/shop/values-prod.yaml\nretries: true\napp: shop\n"
    )
    answer, changed = run(MESH + GUARDED + ON + files, tmp_path)
    assert answer.code == 0
    assert "2 environments" in answer.out
    assert "values-prod.yaml" in answer.out
    assert sorted(changed) == ["charts/shop/templates/retry.yaml"]


@needs_helm
def test_a_chart_that_cannot_be_rendered_bars_its_environment(tmp_path: Path) -> None:
    broken = "=== charts/shop/templates/x.yaml\n{{ fail `never` }}\n"
    answer, changed = run(MESH + LIMITS + OFF + broken, tmp_path)
    assert answer.code == 3
    assert "charts/shop/Chart.yaml:1:1" in answer.out
    assert "never" in answer.out
    assert changed == {}


def test_without_helm_what_holds_whatever_the_values_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    static = LIMITS.replace("{{ .Release.Name }}-inbound", "inbound").replace(
        "{{ .Values.connections }}", "7"
    )
    other = "=== charts/shop/templates/cm.yaml\na: {{ .Values.app }}\n"
    answer, changed = run(MESH + static + GUARDED + OFF + other, tmp_path / "repository")
    assert answer.code == 3
    assert "install helm" in answer.out
    assert sorted(changed) == ["charts/shop/templates/limits.yaml"]


@needs_helm
@pytest.mark.parametrize(
    "guard",
    [
        pytest.param("with .Values.extra", id="a value that nobody gives"),
        pytest.param("if gt (len (default list .Values.extra)) 3", id="a comparison"),
        pytest.param("if and .Values.retries .Values.more", id="two values that are both off"),
    ],
)
def test_what_no_known_values_render_is_neither_proven_nor_edited(
    guard: str, tmp_path: Path
) -> None:
    guarded = GUARDED.replace("if .Values.retries", guard).replace("{{ .Values.app }}", "web")
    answer, changed = run(MESH + guarded + LIMITS + OFF, tmp_path)
    assert answer.code == 3
    assert "charts/shop/templates/retry.yaml:1:1" in answer.out
    assert "values that nobody tells of" in answer.out
    assert "charts/shop/templates/retry.yaml" not in changed
