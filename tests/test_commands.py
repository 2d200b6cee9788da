"""The commands as a user meets them: what is printed, what is written, which exit code."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kumamigrate.cli import app
from kumamigrate.model.state import Environment
from kumamigrate.world.options import Options
from kumamigrate.world.survey import scene_of
from tests.runner import CliRunner

MESH = (
    "type: Mesh\nname: default\nmeshServices:\n  mode: Exclusive\n"
    'skipCreatingInitialPolicies: ["*"]\n'
)
ROUTE = """type: MeshHTTPRoute
name: api
mesh: default
spec:
  to:
    - targetRef: {kind: MeshService, name: orders}
      rules:
        - matches:
            - path: {type: PathPrefix, value: /v1}
          default: {}
"""
OLD = """type: MeshTimeout
name: slow-api
mesh: default
spec:
  targetRef: # why: the bank
    kind: MeshHTTPRoute
    name: api
  to:
    - targetRef: {kind: Mesh}
      default: {http: {requestTimeout: 15s}}
"""
NEW = """type: MeshTimeout
name: slow-api
mesh: default
spec:
  to:
    - targetRef: # why: the bank
        kind: MeshHTTPRoute
        name: api
      default: {http: {requestTimeout: 15s}}
"""


def _write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / f"{name}.yaml"
        path.write_text(text, encoding="utf-8")


def _call(monkeypatch: pytest.MonkeyPatch, folder: Path, *words: str) -> tuple[int, str]:
    monkeypatch.chdir(folder)
    result = CliRunner().invoke(app, list(words))
    return result.exit_code, result.stdout + result.stderr


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A mesh in mode Exclusive with one policy in the old form."""
    _write(tmp_path, mesh=MESH, route=ROUTE, timeout=OLD)
    return tmp_path


def test_run_writes_what_is_proven_and_a_second_run_is_idle(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, text = _call(monkeypatch, shop, "run")
    assert (code, (shop / "timeout.yaml").read_text()) == (0, NEW), text
    assert "timeout.yaml:6" in text
    code, text = _call(monkeypatch, shop, "run")
    assert (code, "\nNothing to change" in text) == (0, True)


def test_dry_run_prints_the_diff_writes_nothing_and_exits_1(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, text = _call(monkeypatch, shop, "run", "--dry-run", "--diff", "my.patch")
    assert code == 1
    assert (shop / "timeout.yaml").read_text() == OLD
    assert "+    - targetRef: # why: the bank" in text
    patch = (shop / "my.patch").read_text()
    assert patch.startswith("--- a/timeout.yaml\n+++ b/timeout.yaml\n")
    subprocess.run(["git", "apply", "my.patch"], cwd=shop, check=True)
    assert (shop / "timeout.yaml").read_text() == NEW


def test_check_finds_changes_nothing_and_exits_1(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, text = _call(monkeypatch, shop, "check", "--format", "json")
    report = json.loads(text)
    found = [(f["rule"], f["status"], f["file"], f["line"]) for f in report["findings"]]
    assert (code, report["schema"]) == (1, "kumamigrate.report/1")
    assert ("route-in-target-ref", "pending", "timeout.yaml", 6) in found
    assert (shop / "timeout.yaml").read_text() == OLD


def test_prove_compares_two_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, policy in (("one", OLD), ("two", OLD.replace("15s", "16s"))):
        (tmp_path / name).mkdir()
        _write(tmp_path / name, mesh=MESH.replace("Exclusive", "Disabled"), route=ROUTE, t=policy)
    assert _call(monkeypatch, tmp_path, "prove", "one", "one")[0] == 0
    code, text = _call(monkeypatch, tmp_path, "prove", "one", "two", "--format", "json")
    live: dict[str, Any] = json.loads(text)["claims"]["live"]
    assert (code, live["verdict"]) == (4, "different")
    witnesses = [w for proxy in live["dataplanes"].values() for w in proxy["witnesses"]]
    witness = next(w for w in witnesses if w["field"] == "http.requestTimeout")
    assert witness["before"]["value"] == "15s"
    assert witness["after"]["value"] == "16s"
    assert witness["after"]["at"].startswith("two/t.yaml:10:")


def test_what_the_release_refuses_and_somebody_changed_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, policy in (("one", NEW.replace("15s", "-15s")), ("two", "# nothing\n")):
        (tmp_path / name).mkdir()
        _write(tmp_path / name, mesh=MESH, route=ROUTE, policy=policy)
    assert _call(monkeypatch, tmp_path, "prove", "one", "one")[0] == 0
    code, text = _call(monkeypatch, tmp_path, "prove", "one", "two")
    assert code == 3
    assert "slow-api is refused by 2.14" in text


def test_what_was_removed_does_not_come_back_with_the_inventory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The inventory was taken while the policy was deployed; the folder after has it no more."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        _write(tmp_path / name, mesh=MESH.replace("Exclusive", "Disabled"), route=ROUTE)
    _write(tmp_path / "one", t=OLD)
    _write(tmp_path, inventory=OLD)
    inventory = ("--inventory", "inventory.yaml", "--format", "json")
    for before, after, told in (("one", "two", ("15s", "0s")), ("two", "one", ("0s", "15s"))):
        code, text = _call(monkeypatch, tmp_path, "prove", before, after, *inventory)
        proxies = json.loads(text)["claims"]["live"]["dataplanes"].values()
        values = {
            (w["before"]["value"], w["after"]["value"]) for p in proxies for w in p["witnesses"]
        }
        assert (code, told in values) == (4, True)
    assert _call(monkeypatch, tmp_path, "prove", "two", "two", *inventory)[0] == 0


ON_KUBERNETES = """apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: t, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec: {to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 5s}}}]}
"""
EXPORTED = """type: MeshTimeout
mesh: default
name: t.kuma-system
labels:
  kuma.io/display-name: t
  k8s.kuma.io/namespace: kuma-system
  kuma.io/policy-role: system
  kuma.io/origin: zone
  kuma.io/zone: default
spec: {to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 5s}}}]}
"""


def test_an_export_is_the_same_policy_under_another_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, policy in (("one", ON_KUBERNETES), ("two", "# nothing\n")):
        (tmp_path / name).mkdir()
        _write(tmp_path / name, mesh=MESH, policy=policy)
    _write(tmp_path, inventory=EXPORTED)
    options = ("--inventory", "inventory.yaml", "--zone", "default")
    assert _call(monkeypatch, tmp_path, "prove", "one", "two", *options)[0] == 4


@pytest.mark.parametrize(("zone", "names"), [("here", ["t"]), ("other", ["t", "t.kuma-system"])])
def test_the_same_name_in_another_zone_is_another_policy(
    zone: str, names: list[str], tmp_path: Path
) -> None:
    _write(tmp_path, policy=ON_KUBERNETES)
    inventory = tmp_path / "inventory"
    inventory.mkdir()
    _write(inventory, all=EXPORTED.replace("zone: default", f"zone: {zone}"))
    options = Options(
        inventory=(inventory,), environment=Environment(zone="here", initial_policies="none")
    )
    state, _ = scene_of([Path("policy.yaml")], tmp_path, options).state("2.14")
    assert [r.name for r in state.resources] == names


def test_prove_against_a_revision(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for command in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-qm", "x"],
    ):
        subprocess.run(["git", *command], cwd=shop, check=True)
    assert _call(monkeypatch, shop, "prove", "--against", "HEAD")[0] == 0
    code, text = _call(monkeypatch, shop, "prove", "--against", "nowhere")
    assert (code, "Traceback" in text) == (2, False)


@pytest.mark.parametrize(
    "words",
    [
        ("run", "--target", "1.0"),
        ("run", "nowhere"),
        ("run", "--select", "no-such-rule"),
        ("prove", "."),
        ("rule", "no-such-rule"),
        ("check", "--inventory", "nowhere.yaml"),
        ("inspect", "--labels", "novalue"),
        ("inspect", "--proxy", "nowhere"),
    ],
    ids=lambda words: " ".join(words),
)
def test_what_cannot_be_done_is_said_and_exits_2(
    words: tuple[str, ...], shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, text = _call(monkeypatch, shop, *words)
    assert (code, "kumamigrate: " in text, "internal" in text) == (2, True, False), text


def test_settings_come_from_the_nearest_file_and_the_command_line_wins(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shop / "kumamigrate.toml").write_text('target = "2.10"\n')
    early = _call(monkeypatch, shop, "run", "--dry-run", "--format", "json")[1]
    assert json.loads(early)["target"] == "2.10"
    late = _call(monkeypatch, shop, "run", "--dry-run", "--format", "json", "--target", "2.14")[1]
    assert json.loads(late)["target"] == "2.14"
    (shop / "kumamigrate.toml").write_text("targett = '2.10'\n")
    code, text = _call(monkeypatch, shop, "check")
    assert (code, "unknown setting targett" in text) == (2, True)


def test_a_suppressed_place_is_left_alone_and_an_unused_one_is_reported(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = "  # kumamigrate: ignore[route-in-target-ref] until the bank is ready\n"
    text = OLD.replace("  targetRef: #", mark + "  targetRef: #", 1)
    kind = text.replace("    kind: MeshHTTPRoute\n", mark + "    kind: MeshHTTPRoute\n")
    _write(shop, timeout=kind)
    code, out = _call(monkeypatch, shop, "run", "--format", "json")
    statuses = {(f["rule"], f["status"]) for f in json.loads(out)["findings"]}
    assert ("route-in-target-ref", "suppressed") in statuses
    assert (shop / "timeout.yaml").read_text() == kind
    _write(shop, timeout=NEW.replace("    - targetRef:", mark + "    - targetRef:"))
    code, out = _call(monkeypatch, shop, "check", "--format", "json")
    assert (code, [f["rule"] for f in json.loads(out)["findings"]]) == (1, ["unused-suppression"])


def test_names_with_escape_codes_are_shown_not_obeyed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(tmp_path, mesh=MESH, t=OLD.replace("name: slow-api", 'name: "\\e[31mred"'))
    _, text = _call(monkeypatch, tmp_path, "check")
    assert "\x1b" not in text


def test_two_manifests_of_one_identity_are_said_and_nothing_is_proven(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(shop, other=OLD.replace("15s", "16s"))
    code, text = _call(monkeypatch, shop, "run")
    assert (code, (shop / "timeout.yaml").read_text()) == (3, OLD)
    assert (
        "timeout.yaml:1:1  two files define MeshTimeout slow-api, the other is other.yaml:1" in text
    )
    assert _call(monkeypatch, shop, "prove", ".", ".")[0] == 3


def test_rules_are_listed_and_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, text = _call(monkeypatch, tmp_path, "rules")
    assert (code, "route-in-target-ref" in text) == (0, True)
    code, text = _call(monkeypatch, tmp_path, "rule", "route-in-target-ref")
    assert (code, "MeshHTTPRoute" in text) == (0, True)


def test_a_verdict_that_is_not_for_every_proxy_says_what_it_takes_for_granted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subset = """apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: t, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec:
  targetRef: {kind: MeshSubset, tags: {app: web}}
  to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 2h}}]
"""
    _write(tmp_path, mesh=MESH, t=subset)
    code, text = _call(monkeypatch, tmp_path, "run", "--dry-run")
    assert (code, "for any proxy that these files allow for" in text) == (1, True)
    assert "app=web as tag and as label" in text
