"""In which order a run says its changes are to be deployed: complete, and as the mesh needs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumamigrate.cli import app
from tests.runner import CliRunner

MESH = """\
type: Mesh
name: default
skipCreatingInitialPolicies: ['*']
meshServices: {{mode: {mode}}}
"""
NOW = """\
type: MeshTimeout
mesh: default
name: inbound-{number}
spec:
  targetRef: {{kind: Dataplane, labels: {{app: a{number}}}}}
  from: [{{targetRef: {{kind: Mesh}}, default: {{idleTimeout: 1m}}}}]
"""
LATER = """\
type: MeshTimeout
mesh: default
name: to-orders
spec:
  to:
  - targetRef: {kind: MeshService, name: orders, sectionName: http}
    default: {idleTimeout: 1m}
---
type: MeshService
mesh: default
name: orders
labels: {kuma.io/display-name: orders}
spec:
  selector: {dataplaneLabels: {matchLabels: {app: orders}}}
  ports: [{port: 80, name: http, appProtocol: http}]
"""


def _order(folder: Path, mode: str, now: int) -> list[str]:
    (folder / "mesh.yaml").write_text(MESH.format(mode=mode))
    (folder / "orders.yaml").write_text(LATER)
    for number in range(now):
        (folder / f"in{number:02}.yaml").write_text(NOW.format(number=number))
    said = CliRunner().invoke(app, ["run", "--dry-run", "--target", "3.0", str(folder)]).stdout
    lines = said.partition("Deploy in this order\n")[2].splitlines()
    return [line.strip() for line in lines[: lines.index("")]]


def test_a_mesh_over_service_tags_is_switched_before_the_upgrade(tmp_path: Path) -> None:
    """What goes out early, the switch, what comes with the upgrade, the field: in this order."""
    early, switch, later, field = _order(tmp_path, "Disabled", 1)
    assert early.startswith("1. any time before the upgrade") and "in00.yaml" in early
    assert switch.startswith("2. switch mesh default to MeshService mode Exclusive, still on 2.14")
    assert switch.endswith("mesh.yaml:4")
    assert later.startswith("3. together with the upgrade to 3.0") and "orders.yaml" in later
    assert field.startswith("4. when every control plane runs 3.0, remove meshServices")


def test_a_mesh_of_real_services_has_nothing_to_switch(tmp_path: Path) -> None:
    """Mode Exclusive: only the field is left to be removed, when nobody reads it any more."""
    early, later, field = _order(tmp_path, "Exclusive", 1)
    assert "kumamigrate run writes just these" in early
    assert later.startswith("2. together with the upgrade")
    assert field.startswith("3. when every control plane runs 3.0, remove meshServices")


def test_a_file_of_two_steps_is_said_to_be_of_the_first_in_part(tmp_path: Path) -> None:
    (tmp_path / "both.yaml").write_text(
        LATER.replace("orders", "bills") + "---\n" + NOW.format(number=0)
    )
    early, later, *_ = _order(tmp_path, "Exclusive", 0)
    assert early.endswith("writes just these, from the files as they were): both.yaml (in part)")
    why = "(why: kumamigrate rule reference-by-name)"
    assert later.endswith(f"the upgrade to 3.0, not before {why}: both.yaml, orders.yaml")


@pytest.mark.parametrize("count", [20, 21])
def test_a_step_lists_its_files_or_says_how_many_they_are(tmp_path: Path, count: int) -> None:
    """A list that breaks off in the middle is no order to deploy by."""
    early = _order(tmp_path, "Exclusive", count)[0]
    assert "more" not in early
    assert early.count(".yaml") == (20 if count == 20 else 0)
    assert ("21 files, which --verbose lists" in early) is (count == 21)
