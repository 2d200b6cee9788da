"""What a hook imports: a check of one file has a tenth of a second, and most of it is imports.

Modules are counted, not seconds: what is imported is the same on every machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cases import ROOT

MOST_OWN, MOST_ALL = 194, 334
SLOW = {"rich", "pydantic", "typer", "dataclasses", "inspect", "hashlib", "difflib", "subprocess",
        "multiprocessing", "pathspec", "tomllib", "traceback", "ssl", "socket"}  # fmt: skip
"""Each takes milliseconds to import, and only findings, errors or other commands need it."""
ROOMS = (
    "prover.stages",
    "prover.claims",
    "universe",
    "source.editing",
    "snapshot",
    "report.formats",
)
MODULES = {
    "kumamigrate.deployment.rendered",
    "kumamigrate.flow.fixedpoint",
    "kumamigrate.flow.judging.acceptance",
    "kumamigrate.prover.prover",
    "kumamigrate.prover.slots.mesh",
    "kumamigrate.report.screen.runscreen",
    "kumamigrate.sourcedest.admit",
    "kumamigrate.targetref.matcher",
}
"""What only proofs, edits and environments need."""

POLICY = """type: {type}
mesh: default
name: p
spec:
  targetRef: {{kind: Mesh}}
  to:
    - targetRef: {{kind: Mesh}}
      default: {conf}
"""
ROUTE = """type: MeshHTTPRoute
mesh: default
name: r
spec:
  to:
    - targetRef: {kind: MeshService, name: orders}
      rules:
        - matches: [{path: {type: PathPrefix, value: /v1}}]
          default: {}
"""
FILES = {
    "timeout": POLICY.format(type="MeshTimeout", conf="{idleTimeout: 20s}"),
    "retry": POLICY.format(type="MeshRetry", conf="{http: {numRetries: 3}}"),
    "route": ROUTE,
    "mesh": "type: Mesh\nname: default\n",
    "service": "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\n",
}


def _imported(folder: Path, *words: str) -> set[str]:
    script = (
        "import json, sys, io, contextlib\n"
        "from kumamigrate.cli import app\n"
        "with contextlib.redirect_stdout(io.StringIO()): code = app(sys.argv[1:])\n"
        "print(json.dumps([code, sorted(sys.modules)]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    code, modules = json.loads(done.stdout)
    assert code in (0, 1), done.stderr
    return set(modules)


@pytest.mark.parametrize("name", FILES)
def test_a_check_of_one_file_imports_no_more_than_it_needs(name: str, tmp_path: Path) -> None:
    (tmp_path / f"{name}.yaml").write_text(FILES[name], encoding="utf-8")
    modules = _imported(tmp_path, "check", f"{name}.yaml", "--initial-policies", "none")
    own = {one for one in modules if one.startswith("kumamigrate")}
    rooms = tuple(f"kumamigrate.{room}" for room in ROOMS)
    assert modules & (SLOW | MODULES) == set()
    assert {one for one in own if one.startswith(rooms)} == set()
    assert len(own) <= MOST_OWN
    assert len(modules) <= MOST_ALL


def test_the_version_needs_almost_nothing(tmp_path: Path) -> None:
    own = {m for m in _imported(tmp_path, "--version") if m.startswith("kumamigrate")}
    assert len(own) <= 10


def test_what_the_prover_lends_is_there_and_nothing_else_is() -> None:
    import kumamigrate.prover as prover

    assert prover.Outbound.__name__ == "Outbound"
    assert callable(prover.prove)
    assert not hasattr(prover, "nothing")
