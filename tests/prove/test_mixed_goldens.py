"""Meshes with old and new policies at once, judged by running control planes, through the command.

Each pair differs in one thing. A Dataplane that Envoy shows to be another is never *equivalent*.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from kumamigrate.cli import app
from tests.prove.states import COMMITTED, SHARED
from tests.runner import CliRunner

RELEASES = ("2.9", "2.14")
STRICTER = 10
"""At most one Dataplane of so many may be called different although it is not."""
_EVERY = 1 if os.environ.get("KUMAMIGRATE_GOLDENS") else 15


@dataclass
class Seen:
    dataplanes: int = 0
    lax: list[str] = field(default_factory=list)
    strict: list[str] = field(default_factory=list)


def _folders(root: Path, release: str) -> list[Path]:
    return sorted(p.parent for p in (root / f"mixed-{release}").glob("*/verdict.json"))


def _proof(before: Path, after: Path, release: str) -> dict[str, Any]:
    arguments = ["prove", str(before), str(after), "--target", release, "--format", "json"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code in (0, 3, 4), result.output
    printed: dict[str, Any] = json.loads(result.stdout)
    return printed


def _compare(folders: list[Path], release: str) -> Seen:
    seen = Seen()
    for folder in folders:
        truth = json.loads((folder / "verdict.json").read_text())["dataplanes"]
        printed = _proof(folder / "before.yaml", folder / "after.yaml", release)
        claim = printed["claims"]["live"]
        for name, said in truth.items():
            seen.dataplanes += 1
            equivalent = claim["dataplanes"][name]["verdict"] == "equivalent"
            if equivalent and not said["same"]:
                seen.lax.append(f"{folder.name} {name}")
            if said["same"] and not equivalent:
                seen.strict.append(f"{folder.name} {name}")
        if not all(said["same"] for said in truth.values()):
            assert claim["verdict"] != "equivalent", folder.name
    return seen


@pytest.mark.parametrize("release", RELEASES)
def test_committed_pairs(release: str) -> None:
    seen = _compare(_folders(COMMITTED, release), release)
    assert seen.dataplanes > 0
    assert seen.lax == []
    assert len(seen.strict) * STRICTER <= seen.dataplanes, seen.strict


@pytest.mark.parametrize("release", RELEASES)
def test_all_pairs(release: str) -> None:
    folders = _folders(SHARED, release)[::_EVERY]
    if not folders:
        pytest.skip("the goldens are not beside the checkout")
    seen = _compare(folders, release)
    assert seen.lax == []
    if _EVERY == 1:
        assert len(seen.strict) * STRICTER <= seen.dataplanes, seen.strict


LIMITS = """
type: Mesh
name: default
---
type: CircuitBreaker
mesh: default
name: other
sources: [{{match: {{kuma.io/service: nobody}}}}]
destinations: [{{match: {{kuma.io/service: nobody}}}}]
conf: {{thresholds: {{maxConnections: 7}}}}
---
type: MeshCircuitBreaker
mesh: default
name: inbound-limits
spec:
  targetRef: {{kind: Mesh}}
  from: [{{targetRef: {{kind: Mesh}}, default: {{connectionLimits: {{maxConnections: {}}}}}}}]
"""
SINKS = """
type: Mesh
name: default
---
type: TrafficRoute
mesh: default
name: route-all
sources: [{{match: {{kuma.io/service: '*'}}}}]
destinations: [{{match: {{kuma.io/service: '*'}}}}]
conf: {{destination: {{kuma.io/service: '*'}}}}
---
type: Retry
mesh: default
name: other
sources: [{{match: {{kuma.io/service: nobody}}}}]
destinations: [{{match: {{kuma.io/service: nobody}}}}]
conf: {{http: {{numRetries: 2}}}}
---
type: TrafficLog
mesh: default
name: other-log
sources: [{{match: {{kuma.io/service: nobody}}}}]
destinations: [{{match: {{kuma.io/service: nobody}}}}]
conf: {{}}
---
type: MeshRetry
mesh: default
name: retries
spec:
  targetRef: {{kind: Mesh}}
  to: [{{targetRef: {{kind: Mesh}}, default: {{http: {{numRetries: 3, {}}}}}}}]
---
type: MeshAccessLog
mesh: default
name: logs
spec:
  targetRef: {{kind: Mesh}}
  to:
  - targetRef: {{kind: Mesh}}
    default: {{backends: [{{type: OpenTelemetry, openTelemetry: {{endpoint: '{}'}}}}]}}
"""
PREDICATE = "hostSelection: [{predicate: OmitPreviousHosts}]"


@pytest.mark.parametrize(
    ("text", "before", "after", "verdict", "field"),
    [
        (LIMITS, ["500"], ["1"], "different", "connectionLimits.maxConnections"),
        # Only HTTP services have retries of this kind, and nothing says what any service speaks.
        (SINKS, ["", "a:4317"], [PREDICATE, "a:4317"], "unknown", "http.hostSelection"),
        (SINKS, [PREDICATE, "a:4317"], [PREDICATE, "b:4317"], "different", "backends"),
    ],
    ids=["inbound limits", "host selection", "OpenTelemetry logs"],
)
def test_an_old_policy_for_nobody_hides_nothing(
    text: str, before: list[str], after: list[str], verdict: str, field: str, tmp_path: Path
) -> None:
    for name, values in (("before", before), ("after", after)):
        (tmp_path / f"{name}.yaml").write_text(text.format(*values))
    printed = _proof(tmp_path / "before.yaml", tmp_path / "after.yaml", "2.14")
    claim = printed["claims"]["live"]
    assert claim["verdict"] == verdict
    assert field in json.dumps(claim)
