"""A repository under Git with one policy in an old form, and Git run as somebody."""

from __future__ import annotations

import subprocess
from pathlib import Path

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
SETTINGS = (
    "user.name=a",
    "user.email=a@b",
    "init.defaultBranch=main",
    "commit.gpgsign=false",
    "protocol.file.allow=always",
)


def git(folder: Path, *words: str) -> str:
    """Run Git in a folder, as somebody, whatever the machine is set to; return what it says."""
    given = [word for setting in SETTINGS for word in ("-c", setting)]
    command = ["git", "-C", str(folder), *given, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
