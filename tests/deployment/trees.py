"""Small repositories for the tests of this folder, written in one string each."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from kumamigrate.deployment.environment import Deployment
from kumamigrate.deployment.rendered import render
from kumamigrate.deployment.rendering import Rendering
from kumamigrate.deployment.tree import Tree
from kumamigrate.model.read import read_resources
from kumamigrate.model.resource import Resource
from kumamigrate.source.reading.load import read_file

needs_kustomize = pytest.mark.skipif(
    shutil.which("kustomize") is None and shutil.which("kubectl") is None,
    reason="neither kustomize nor kubectl is installed; `python3 dev.py tools` builds it",
)
needs_helm = pytest.mark.skipif(
    shutil.which("helm") is None,
    reason="helm is not installed; `python3 dev.py tools` builds it",
)


def tree(text: str) -> dict[str, bytes]:
    """Return the files of a text: each begins with a line `=== path`."""
    parts = re.split(r"(?m)^=== (\S+)\n", text)
    return {path: body.encode() for path, body in zip(parts[1::2], parts[2::2], strict=True)}


def write(files: dict[str, bytes], root: Path) -> Path:
    """Write files below a folder."""
    for path, data in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    return root


def rendered(files: dict[str, bytes], root: Path, deployment: Deployment) -> Rendering:
    """Return what an environment gets of files that stand in memory only."""
    return render(deployment, Tree(files=files, root=root))


def resources(rendering: Rendering) -> list[Resource]:
    """Return the resources that a cluster gets, by path and place."""
    return [
        resource
        for path in sorted(rendering.files)
        for resource in read_resources(read_file(path, rendering.files[path]))
    ]


def timeout(name: str, value: str = "5s", namespace: str = "kuma-system") -> str:
    """Return a MeshTimeout as Kubernetes has it."""
    home = f", namespace: {namespace}" if namespace else ""
    return f"""\
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {{name: {name}{home}}}
spec:
  to:
    - targetRef: {{kind: Mesh}}
      default: {{connectionTimeout: {value}}}
"""
