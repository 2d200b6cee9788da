"""Commands count alike: what asks for something, and beside it what is good to know or may pass."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.frontdoor import command

EXAMPLE = Path(__file__).parents[2] / "fixtures/example/before"

TEXT = """\
type: Mesh
name: default
meshServices: {mode: Exclusive}
---
type: MeshService
mesh: default
name: cart
labels: {app: cart}
spec:
  selector: {dataplaneLabels: {matchLabels: {app: cart}}}
  ports: [{port: 80, appProtocol: http}]
---
type: MeshHTTPRoute
mesh: default
name: old-name
spec:
  to:
  - targetRef: {kind: MeshService, labels: {app: cart}}
    rules: [{matches: [{path: {type: PathPrefix, value: /x}}], default: {}}]
---
type: MeshTimeout
mesh: default
name: t
spec:
  to: [{targetRef: {kind: Mesh}, default: {connectionTimeout: 7s}}]
"""


def test_a_check_counts_what_is_to_know_apart_as_a_run_does(tmp_path: Path) -> None:
    file = tmp_path / "m.yaml"
    file.write_text(TEXT, encoding="utf-8")
    assert "\n1 to know for Kuma 3.0, in 1 file" in command("check", file, "--target", "3.0").out
    said = command("run", file, "--target", "3.0", "--dry-run").out
    assert "LEFT  nothing to do for 3.0, 1 to know" in said


def test_a_proof_counts_what_may_pass_apart(tmp_path: Path) -> None:
    before, after = (tmp_path / f"{name}.yaml" for name in ("before", "after"))
    before.write_text(TEXT, encoding="utf-8")
    after.write_text(TEXT.replace("old-name", "new").replace("7s", "8s"), encoding="utf-8")
    said = command("prove", before, after).out
    assert said.startswith("Different: what proxies read today, 1 difference and 1 that may pass\n")
    said = command("prove", before, after, "--allow", "none").out
    assert said.startswith("Different: what proxies read today, 2 differences\n")


def test_what_a_run_writes_on_lines_of_its_own_counts_as_before(tmp_path: Path) -> None:
    """Two settings become four lines, since a route of two destinations becomes two."""
    shutil.copytree(EXAMPLE, tmp_path / "of")
    for dry in (("--dry-run",), ()):
        said = command("run", tmp_path / "of", *dry).out
        assert "\n2 settings stand in Git" in said
        assert "\n  any proxy → cart.shop /cart and 1 more   request timeout  15s → 60s" in said
