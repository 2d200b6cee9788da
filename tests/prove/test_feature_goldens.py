"""Rarer features, judged by a running control plane, through the command.

A Dataplane that Envoy shows to be another is never *equivalent*. What an upgrade is in doubt about
is in doubt for each Dataplane that it concerns.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from kumamigrate.cli import app
from tests.prove.states import COMMITTED, SHARED
from tests.runner import CliRunner

FEATURES = "features-2.14"
WORDS = ("live", ["--target", "2.14"])
UPGRADE = ["--from", "2.14", "--target", "3.0", "--zone", "east"]
STRICTER = 10
"""At most one Dataplane of so many may be called different although it is not."""
_EVERY = 1 if os.environ.get("KUMAMIGRATE_GOLDENS") else 9


@dataclass
class Seen:
    dataplanes: int = 0
    lax: list[str] = field(default_factory=list)
    strict: list[str] = field(default_factory=list)


def _folders(root: Path) -> list[Path]:
    return sorted(p.parent for p in (root / FEATURES).glob("*/verdict.json"))


def _same(said: Mapping[str, Any]) -> bool:
    return bool(said["same"])


def _compare(folders: list[Path]) -> Seen:
    claim, words = WORDS
    seen = Seen()
    for folder in folders:
        paths = [str(folder / f"{name}.yaml") for name in ("before", "after")]
        result = CliRunner().invoke(app, ["prove", *paths, *words, "--format", "json"])
        assert result.exit_code in (0, 3, 4), result.output
        found = json.loads(result.stdout)["claims"][claim]
        truth = json.loads((folder / "verdict.json").read_text())["dataplanes"]
        for name, said in truth.items():
            seen.dataplanes += 1
            equivalent = found["dataplanes"][name]["verdict"] == "equivalent"
            if equivalent and not _same(said):
                seen.lax.append(f"{folder.name} {name}")
            if _same(said) and not equivalent:
                seen.strict.append(f"{folder.name} {name}")
        if not all(map(_same, truth.values())):
            assert found["verdict"] != "equivalent", folder.name
    return seen


def test_committed_pairs() -> None:
    seen = _compare(_folders(COMMITTED))
    assert seen.dataplanes > 0
    assert seen.lax == []
    assert len(seen.strict) * STRICTER <= seen.dataplanes, seen.strict


def test_all_pairs() -> None:
    folders = _folders(SHARED)[::_EVERY]
    if not folders:
        pytest.skip("the goldens are not beside the checkout")
    seen = _compare(folders)
    assert seen.lax == []
    if _EVERY == 1:
        assert len(seen.strict) * STRICTER <= seen.dataplanes, seen.strict


GATEWAY = """type: Mesh
name: default
meshServices: {mode: Exclusive}
skipCreatingInitialPolicies: ["*"]
---
type: MeshGateway
name: edge
mesh: default
selectors: [{match: {kuma.io/service: edge}}]
conf: {listeners: [{port: 8080, protocol: HTTP}]}
---
type: Dataplane
name: edge-1
mesh: default
networking: {address: 10.0.0.9, gateway: {type: BUILTIN, tags: {kuma.io/service: edge}}}
---
type: Dataplane
name: web-1
mesh: default
labels: {kuma.io/workload: web}
networking:
  address: 10.0.0.1
  inbound: [{port: 80, protocol: http, tags: {kuma.io/service: web, kuma.io/protocol: http}}]
"""


def test_what_goes_with_gateways_is_in_doubt_for_gateways_alone(tmp_path: Path) -> None:
    path = tmp_path / "in.yaml"
    path.write_text(GATEWAY, encoding="utf-8")
    words = ["prove", str(path), str(path), *UPGRADE, "--format", "json"]
    found = json.loads(CliRunner().invoke(app, words).stdout)["claims"]["release"]
    verdicts = {name: proxy["verdict"] for name, proxy in found["dataplanes"].items()}
    assert (verdicts["edge-1"], verdicts["web-1"]) == ("unknown", "equivalent")
    assert found["verdict"] == "unknown"
