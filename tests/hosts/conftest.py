"""A repository as code hosts check it out, with a policy in an old form."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checkout import MESH, OLD, git


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
