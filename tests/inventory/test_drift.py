"""What Git and the inventory say differently of one resource is a finding, and nothing else is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kumamigrate.cli import app
from tests.runner import CliRunner

MESH = "type: Mesh\nname: default\nmeshServices: {mode: Exclusive}\n"
OWN = """\
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata:
  name: t
  namespace: kuma-system
  labels: {kuma.io/mesh: default}
spec:
  to:
  - targetRef: {kind: Mesh}
    default:
      http: {requestTimeout: 60s}
"""
EXPORTED = """\
type: MeshTimeout
mesh: default
name: t.kuma-system
labels:
  kuma.io/mesh: default
  kuma.io/display-name: t
  k8s.kuma.io/namespace: kuma-system
  kuma.io/zone: east
  kuma.io/origin: zone
spec:
  targetRef: {kind: Mesh}
  to:
  - targetRef: {kind: Mesh}
    default: {http: {requestTimeout: 1m0s}}
"""


def _drift(
    monkeypatch: pytest.MonkeyPatch, folder: Path, own: str, exported: str, mesh: str = ""
) -> list[tuple[str, int, str]]:
    (folder / "repo").mkdir()
    (folder / "repo" / "all.yaml").write_text(f"{MESH}{mesh}---\n{own}")
    (folder / "inventory.yaml").write_text(exported)
    monkeypatch.chdir(folder / "repo")
    words = ("check", "--inventory", "../inventory.yaml", "--zone", "east", "--format", "json")
    result = CliRunner().invoke(app, words)
    assert result.exit_code in (0, 1), result.output
    data = json.loads(result.stdout)
    return [
        (f["file"], f["line"], f["message"])
        for f in data["findings"]
        if f["rule"] == "inventory-drift"
    ]


def test_another_value_is_named_with_both_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = _drift(monkeypatch, tmp_path, OWN, EXPORTED.replace("1m0s", "7s"))
    ((file, line, message),) = found
    assert (file, line) == ("all.yaml", 15)
    assert "http.requestTimeout is 1m0s here and 7s there" in message
    assert "../inventory.yaml:1" in message


MUTUAL = """\
mtls:
  enabledBackend: ca
  backends: [{name: ca, type: %s}]
"""
SAME = {
    "the same in other words": EXPORTED,
    "of another zone": EXPORTED.replace("1m0s", "7s").replace("zone: east", "zone: west"),
    "another resource": EXPORTED.replace("1m0s", "7s").replace(": t\n", ": u\n"),
    "a Mesh as kumactl exports it": (
        "type: Mesh\nname: default\nmeshServices: {mode: Exclusive}\n"
        "skipCreatingInitialPolicies: ['*']\n" + MUTUAL % "provided"
    ),
    "a Mesh with defaults filled in": (
        "type: Mesh\nname: default\nmeshServices: {mode: Exclusive}\nnetworking: {}\n"
    ),
}


@pytest.mark.parametrize("case", SAME)
def test_what_means_the_same_or_is_another_resource_is_no_drift(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mesh = MUTUAL % "builtin" if "kumactl" in case else ""
    assert _drift(monkeypatch, tmp_path, OWN, SAME[case], mesh) == []


CHANGED = {
    "an entry more": EXPORTED + "  - targetRef: {kind: MeshService, name: x}\n    default: {}\n",
    "an entry for something else": EXPORTED.replace(
        "- targetRef: {kind: Mesh}", "- targetRef: {kind: MeshService, name: x}"
    ),
    "a field more": EXPORTED.replace("1m0s}", "1m0s, streamIdleTimeout: 1s}"),
    "a selector": EXPORTED.replace("targetRef: {kind: Mesh}", "targetRef: {kind: Dataplane}", 1),
    "the mode of the Mesh": "type: Mesh\nname: default\nmeshServices: {mode: Everywhere}\n",
}


@pytest.mark.parametrize("case", CHANGED)
def test_what_proxies_would_read_otherwise_is_drift(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(_drift(monkeypatch, tmp_path, OWN, CHANGED[case])) == 1


TRACE = """\
type: MeshTrace
mesh: default
name: t
spec:
  targetRef: {kind: Mesh}
  default: {backends: [{type: Zipkin, zipkin: {url: 'http://one:9411'}}]}
"""


@pytest.mark.parametrize(("there", "drifts"), [("one", False), ("two", True)])
def test_a_policy_of_one_entry_drifts_as_well(
    there: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, drifts: bool
) -> None:
    own = TRACE.replace("mesh: default\n", "mesh: default\nlabels: {kuma.io/origin: zone}\n")
    exported = TRACE.replace("http://one", f"http://{there}").replace(
        "name: t\n", "name: t\nlabels: {kuma.io/origin: zone, kuma.io/zone: east}\n"
    )
    assert bool(_drift(monkeypatch, tmp_path, own, exported)) is drifts


def test_a_secret_is_never_compared_aloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, other = (f"type: Secret\nmesh: default\nname: s\ndata: {data}\n" for data in ("YQ", "Yg"))
    assert _drift(monkeypatch, tmp_path, own, other) == []


@pytest.mark.parametrize(
    "command",
    [("check",), ("run", "--dry-run"), ("prove", ".", "."), ("inspect",)],
    ids=lambda words: words[0],
)
def test_every_command_says_what_the_inventory_was(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "all.yaml").write_text(f"{MESH}---\n{OWN}")
    stamp = "# kumamigrate snapshot: 1 resource, taken 2026-11-28T09:00:00Z from prod-east\n"
    (tmp_path / "inventory.yaml").write_text(stamp + EXPORTED)
    monkeypatch.chdir(tmp_path / "repo")
    result = CliRunner().invoke(app, [*command, "--inventory", "../inventory.yaml"])
    told = "inventory: 1 resource, taken 2026-11-28 from prod-east"
    assert result.stdout.splitlines().count(told) == 1


def test_a_broken_inventory_ends_every_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "all.yaml").write_text(f"{MESH}---\n{OWN}")
    (tmp_path / "broken.json").write_text('{"total": 4, "items": [')
    monkeypatch.chdir(tmp_path)
    for words in (("check", "all.yaml"), ("run", "all.yaml"), ("prove", "all.yaml", "all.yaml")):
        result = CliRunner().invoke(app, [*words, "--inventory", "broken.json"])
        assert result.exit_code == 2
        assert "broken.json:1:" in result.stderr
        assert "cut off" in result.stderr
