"""What only the old engine did is gone at every proxy that had it, and each of them says so."""

from __future__ import annotations

from pathlib import Path

from tests.frontdoor import command
from tests.sourcedest.meshes import ROUTE_ALL

DATAPLANE = """\
---
type: Dataplane
mesh: default
name: {name}-1
networking:
  address: 10.0.0.{at}
  inbound: [{{port: 8080, tags: {{kuma.io/service: {name}, kuma.io/protocol: {protocol}}}}}]
  outbound: [{{port: 10000, tags: {{kuma.io/service: {to}}}}}]
"""
MESH = "type: Mesh\nname: default\nskipCreatingInitialPolicies: ['*']\n" + "".join(
    DATAPLANE.format(name=name, at=at, to=to, protocol=protocol)
    for name, at, to, protocol in (
        ("web", 1, "api", "http"),
        ("api", 2, "web", "http"),
        ("job", 3, "db", "http"),
        ("db", 4, "db", "tcp"),
    )
)
ROUTE = f"---\n{ROUTE_ALL}"
TIMEOUTS = """\
---
type: MeshTimeout
mesh: default
name: all
spec:
  to:
  - targetRef: {kind: Mesh}
    default:
      http: {requestTimeout: 0s, streamIdleTimeout: 0s}
"""


def test_a_proxy_that_loses_what_others_lose_is_another(tmp_path: Path) -> None:
    states = [tmp_path / "before.yaml", tmp_path / "after.yaml"]
    for state, text in zip(states, (ROUTE, ""), strict=True):
        state.write_text(MESH + text + TIMEOUTS, encoding="utf-8")
    proof = command("prove", *states, "--initial-policies", "none", "--format", "json").json
    found = proof["claims"]["live"]["dataplanes"]
    verdicts = {name: found[name]["verdict"] for name in ("web-1", "api-1", "job-1")}
    # Requests over HTTP go without the header; those of TCP never had it.
    assert verdicts == {"web-1": "different", "api-1": "different", "job-1": "equivalent"}
    effects = {w["effect"] for name in verdicts for w in found[name]["witnesses"]}
    assert effects == {"residue"}
    text = command("prove", *states, "--initial-policies", "none").out
    assert "and 1 more   paths normalized" in text
