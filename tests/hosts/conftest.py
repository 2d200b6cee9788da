"""A repository as code hosts check it out, with a policy in an old form."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

MESH = """type: Mesh
name: default
meshServices: {mode: Exclusive}
skipCreatingInitialPolicies: ["*"]
"""
OLD = """type: MeshTimeout
name: t
mesh: default
spec:
  targetRef: {kind: Mesh}
  from: [{targetRef: {kind: Mesh}, default: {idleTimeout: 9s}}]
"""


def git(folder: Path, *words: str) -> str:
    """Run Git in a folder, as somebody."""
    who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
    done = subprocess.run(
        ["git", "-C", str(folder), *who, *words], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Return a clone with a branch of its own, one commit before its remote's."""
    origin, clone = tmp_path / "origin", tmp_path / "clone"
    origin.mkdir()
    git(origin, "init", "-q")
    (origin / "mesh.yaml").write_text(MESH)
    (origin / "old.yaml").write_text(OLD)
    git(origin, "add", "-A")
    git(origin, "commit", "-qm", "first")
    git(origin, "branch", "-M", "main")
    git(tmp_path, "clone", "-q", str(origin), str(clone))
    git(clone, "checkout", "-qb", "change")
    return clone
