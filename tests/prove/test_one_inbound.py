"""Whether something rests on a client having the tags of one inbound alone: where several clients
are named, of whom one may be both."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumamigrate.prover.oldengine import ONE_INBOUND
from tests.frontdoor import command

MESH = """type: Mesh
name: default
mtls: {enabledBackend: ca, backends: [{name: ca, type: builtin}]}
---
type: Dataplane
name: a
mesh: default
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: a, kuma.io/protocol: http}}]
---
type: TrafficPermission
name: all
mesh: default
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: '*'}}]
"""
FAULT = """---
type: FaultInjection
name: %s
mesh: default
sources: [%s]
destinations: [{match: {kuma.io/service: a, kuma.io/protocol: http}}]
conf: {delay: {percentage: %s, value: 5s}}
"""


@pytest.mark.parametrize(
    ("named", "several"),
    [
        ([["*"]], False),
        ([["web"]], False),
        ([["*"], ["web"]], False),
        ([["web"], ["web"]], False),
        ([["web", "api"]], True),
        ([["web"], ["api"]], True),
    ],
)
def test_it_is_said_where_several_clients_are_named(
    named: list[list[str]], several: bool, tmp_path: Path
) -> None:
    for side, share in (("before", 50), ("after", 60)):
        faults = [
            FAULT
            % (f"f{at}", ", ".join(f"{{match: {{kuma.io/service: '{n}'}}}}" for n in of), share)
            for at, of in enumerate(named)
        ]
        (tmp_path / f"{side}.yaml").write_text(MESH + "".join(faults))
    sides = [tmp_path / f"{side}.yaml" for side in ("before", "after")]
    said = command("prove", *sides, "--format", "json").json
    assert said["claims"]["live"]["verdict"] == "different"
    assert (ONE_INBOUND in said["assumptions"]) is several
