"""What is in doubt of manifests is so of those, too, that a build makes: what stands twice, has no
namespace, or is of a kind that nobody models."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.deployment.test_overlays import run
from tests.deployment.trees import needs_helm, needs_kustomize

LIMITS = """\
apiVersion: kuma.io/v1alpha1
kind: MeshCircuitBreaker
metadata: {name: limits, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec:
  from:
    - targetRef: {kind: Mesh}
      default: {connectionLimits: {maxConnections: 7}}
"""
TIMEOUT = """\
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: slow, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec:
  from:
    - targetRef: {kind: Mesh}
      default: {idleTimeout: 12s}
"""
MESH = """\
=== mesh/mesh.yaml
apiVersion: kuma.io/v1alpha1
kind: Mesh
metadata: {name: default}
spec: {meshServices: {mode: Exclusive}}
"""
CHART = "=== chart/Chart.yaml\napiVersion: v2\nname: shop\nversion: 0.1.0\n"


def _overlays(*bases: str) -> str:
    """Return two overlays of a base that holds some manifests and the Mesh."""
    files = [f"=== base/{number}.yaml\n{base}" for number, base in enumerate(bases)]
    listed = ", ".join(f"{number}.yaml" for number in range(len(bases)))
    return "".join(
        [
            MESH.replace("=== mesh/", "=== base/"),
            *files,
            f"=== base/kustomization.yaml\nresources: [mesh.yaml, {listed}]\n",
            *(
                f"=== overlays/{name}/kustomization.yaml\nresources: [../../base]\n"
                for name in ("east", "west")
            ),
        ]
    )


@needs_helm
@pytest.mark.parametrize("value", ["7", "9"])
def test_what_a_chart_and_a_file_define_is_in_doubt_where_they_differ(
    value: str, tmp_path: Path
) -> None:
    # Whichever is applied last wins. If that is the chart, what the file says of inbounds does
    # nothing today, and would in a policy of its own.
    both = LIMITS + LIMITS.partition("spec:\n")[2].replace("from:", "to:")
    template = both.replace("maxConnections: 7", f"maxConnections: {value}", 1)
    files = f"{MESH}=== mesh/limits.yaml\n{both}{CHART}=== chart/templates/limits.yaml\n{template}"
    answer, changed = run(files, tmp_path)
    is_sure = value == "7"
    assert answer.code == (0 if is_sure else 3)
    assert ("two files define MeshCircuitBreaker limits" in answer.out) is not is_sure
    assert set(changed) == (
        {"chart/templates/limits.yaml", "mesh/limits.yaml"} if is_sure else set()
    )


@needs_kustomize
def test_what_a_build_leaves_without_a_namespace_is_in_doubt(tmp_path: Path) -> None:
    homeless = LIMITS.replace(", namespace: kuma-system", "").replace("from:", "to:", 1)
    answer, _ = run(_overlays(homeless), tmp_path)
    assert answer.code == 3
    assert "MeshCircuitBreaker limits has no namespace" in answer.out


@needs_kustomize
def test_what_nobody_models_is_told_of_a_build(tmp_path: Path) -> None:
    answer, _ = run(_overlays(TIMEOUT, TIMEOUT.replace("Timeout", "Fancy")), tmp_path)
    assert "MeshFancy slow is of a kind that is not modelled" in answer.out
