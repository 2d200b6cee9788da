"""A run says what a switch to MeshService mode Exclusive would change, before anybody switches."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frontdoor import command

TEXT = """\
type: Mesh
name: default
meshServices: {{mode: {mode}}}
---
type: Dataplane
name: orders-1
mesh: default
labels: {{app: orders}}
networking:
  address: 10.0.0.1
  inbound: [{{port: 80, tags: {{kuma.io/service: orders, kuma.io/protocol: http}}}}]
---
type: MeshService
mesh: default
name: orders
labels: {{app: orders}}
spec:
  selector: {{dataplaneTags: {{kuma.io/service: orders}}}}
  ports: [{{port: 80, targetPort: 80, appProtocol: http}}]
---
type: MeshTimeout
mesh: default
name: t
spec:
  to:
  - targetRef: {target}
    default: {{connectionTimeout: 7s}}
---
type: MeshCircuitBreaker
mesh: default
name: c
spec:
  from: [{{targetRef: {{kind: Mesh}}, default: {{connectionLimits: {{maxConnections: 9}}}}}}]
"""
BY_LABELS = "{kind: MeshService, labels: {app: orders}}"
DIFFERS = "When mesh default switches to MeshService mode Exclusive, 1 value is another one"
SAME = "The same holds when mesh default switches to MeshService mode Exclusive."


@pytest.mark.parametrize(
    ("mode", "target", "said"),
    [
        ("Disabled", "{kind: Mesh}", SAME),
        ("Disabled", BY_LABELS, DIFFERS),
        ("Everywhere", BY_LABELS, DIFFERS),
        ("Exclusive", BY_LABELS, ""),
    ],
)
def test_a_run_says_what_the_switch_would_do(
    mode: str, target: str, said: str, tmp_path: Path
) -> None:
    """An outbound by its tag reads nothing that names services by labels (matcher-notes §1.6)."""
    file = tmp_path / "m.yaml"
    file.write_text(TEXT.format(mode=mode, target=target), encoding="utf-8")
    out = command("run", file, "--dry-run").out
    assert [words for words in (SAME, DIFFERS) if words in out] == [said] * bool(said)
    assert ("connection timeout  5s → 7s   m.yaml:27 (5s: the default)" in out) is (said == DIFFERS)
    assert "switches to" not in command("run", file, "--dry-run", "--target", "3.0").out
