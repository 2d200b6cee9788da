"""What somebody meets who begins: one story in all commands, and no claim too much."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frontdoor import command

MESH = """\
apiVersion: kuma.io/v1alpha1
kind: Mesh
metadata: {name: default}
spec:
  meshServices: {mode: Exclusive}
  mtls: {enabledBackend: ca, backends: [{name: ca, type: builtin}]}
"""
SHOP = """\
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {kuma.io/sidecar-injection: enabled}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: api, namespace: shop}
spec:
  selector: {matchLabels: {app: api}}
  template:
    metadata: {labels: {app: api}}
    spec: {serviceAccountName: api, containers: [{name: a, image: a}]}
---
apiVersion: v1
kind: Service
metadata: {name: api, namespace: shop}
spec: {selector: {app: api}, ports: [{port: 80, name: http, appProtocol: http}]}
---
apiVersion: kuma.io/v1alpha1
kind: MeshTrafficPermission
metadata: {name: in-shop, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec:
  targetRef: {kind: Dataplane, labels: {app: api}}
  from:
  - targetRef: {kind: MeshSubset, tags: {app: api}}
    default: {action: Allow}
"""
OLD_TIMEOUT = """\
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: t, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec:
  targetRef: {kind: Mesh}
  from:
  - targetRef: {kind: Mesh}
    default: {http: {requestTimeout: 9s}}
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "mesh.yaml").write_text(MESH)
    (tmp_path / "shop.yaml").write_text(SHOP)
    return tmp_path


def test_check_promises_no_trial_of_what_run_writes_on_a_word_alone(shop: Path) -> None:
    """mesh-mtls concerns 3.0 and waits for --accept: neither names it for 2.14."""
    checked, run = command("check", shop), command("run", shop, "--dry-run")
    assert "mesh-mtls   " not in checked.out and "can be tried and proved" not in checked.out
    assert "1 finding for Kuma" in checked.out and "1 finding to look at" in run.out
    later = command("check", shop, "--target", "3.0").out
    assert "look at it with `kumamigrate run --accept mesh-mtls --dry-run`" in later


def test_a_dry_run_says_that_nothing_is_written_yet(shop: Path) -> None:
    said = command("run", shop, "--accept", "mesh-mtls", "--dry-run").out
    assert "stage 1 of 4, this run: permissions hold both ids of each client" in said
    assert "stage 1 is what this run is about: write and commit it, roll it out" in said
    assert "done" not in said and "stage 1 is written" not in said


def test_what_is_on_a_word_is_not_called_safe_and_its_files_are_named(shop: Path) -> None:
    said = command("run", shop, "--accept", "mesh-mtls", "--dry-run").out
    assert "To write this, of which mesh-mtls is on your word and not proven: " in said
    assert "safe one by one" not in said
    mesh, files = said[said.index("  mesh-mtls  ") :].splitlines()[:2]
    assert (mesh.split()[-1], files.strip()) == ("mesh.yaml:6", "in shop.yaml")


def test_permissions_that_worlds_part_are_said_in_words(shop: Path) -> None:
    said = command("run", shop, "--accept", "mesh-mtls", "--dry-run", "--verbose", given=None).out
    assert "with none nothing changes; with those up to 2.5 something else decides" in said
    assert "say --initial-policies none|2.5|2.6," in said


@pytest.mark.parametrize("words", [("check",), ("run", "--dry-run")])
def test_a_folder_without_manifests_is_not_clean(words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# nothing\n")
    answer = command(words[0], tmp_path, *words[1:])
    assert (answer.code, "Nothing was looked at" in answer.out) == (3, True)


def test_a_folder_without_manifests_in_a_repository_that_has_some_is_not_clean(
    tmp_path: Path,
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "mesh.yaml").write_text(MESH)
    for name, text in (("wrong/README.md", "# nothing\n"), ("right/a.yaml", "a: 1\n")):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    answer = command("check", tmp_path / "wrong")
    assert (answer.code, "Nothing was looked at" in answer.out) == (3, True)
    # What a hook names one by one may be any file.
    for other in ("right", ".", "wrong/README.md"):
        assert command("check", tmp_path / other).code == 0


def test_manifests_without_kuma_are_clean(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a: 1\n")
    assert command("check", tmp_path).code == 0


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("github", "::notice file=t.yaml,line=7,col="),
        ("gitlab", '"check_name": "from-section"'),
        ("junit", 'tests="1" failures="0"'),
    ],
)
def test_what_a_dry_run_would_write_is_told_to_every_host(
    form: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "mesh.yaml").write_text(MESH)
    (tmp_path / "t.yaml").write_text(OLD_TIMEOUT)
    answer = command("run", tmp_path, "--dry-run", "--format", form)
    assert answer.code == 1
    assert said in answer.out and "nothing is left to do" not in answer.out


def test_a_dry_run_has_settled_nothing_of_a_baseline(tmp_path: Path) -> None:
    (tmp_path / "mesh.yaml").write_text(MESH)
    (tmp_path / "t.yaml").write_text(OLD_TIMEOUT)
    file = tmp_path / "known.json"
    known = ("--baseline", file)
    command("baseline", "write", tmp_path, *known)
    dry = command("run", tmp_path, "--dry-run", *known).out
    assert "0 findings stand in known.json; 1 of it settled once this is written" in dry
    data = command("run", tmp_path, "--dry-run", *known, "--format", "json").json
    assert data["baseline"]["settled"] == 0
    assert "Nothing to take out" in command("baseline", "prune", tmp_path, *known).out
    done = command("run", tmp_path, *known).out
    assert "1 of it settled: kumamigrate baseline prune" in done


def test_rules_are_listed_by_name() -> None:
    names = [one.split()[0] for one in command("rules").out.splitlines()]
    assert names == sorted(names) and len(names) > 50


def test_what_a_release_refuses_it_does_not_warn_of(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(
        "apiVersion: kuma.io/v1alpha1\nkind: MeshRetry\n"
        "metadata: {name: r, namespace: shop, labels: {kuma.io/mesh: default}}\n"
        "spec:\n  targetRef: {kind: MeshHTTPRoute, name: x}\n"
        "  to: [{targetRef: {kind: Mesh}, default: {http: {numRetries: 0}}}]\n"
    )
    said = command("check", tmp_path).out
    assert "2.14 refuses it" in said and "2.14 warns" not in said


def test_an_older_target_is_no_upgrade(tmp_path: Path) -> None:
    (tmp_path / "mesh.yaml").write_text(MESH)
    asked = ("run", tmp_path, "--dry-run", "--from", "2.14", "--target", "2.10")
    assert "with the way back to 2.10" in command(*asked).out
    assert "with the upgrade to 2.14" in command("run", tmp_path, "--dry-run", "--from", "2.13").out


UNIVERSAL = """\
type: MeshTimeout
mesh: default
name: to-api
spec:
  targetRef: {kind: MeshSubset, tags: {version: v1}}
  to:
  - targetRef: {kind: MeshService, name: api}
    default: {http: {requestTimeout: 3s}}
"""
PROXIES = """\
type: Dataplane
mesh: default
name: web-1
networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web, version: v1}}]}
---
type: Dataplane
mesh: default
name: api-1
networking: {address: 10.0.0.2, inbound: [{port: 80, tags: {kuma.io/service: api}}]}
"""


def test_nobody_is_asked_for_an_inventory_that_was_given(tmp_path: Path) -> None:
    (tmp_path / "git").mkdir()
    (tmp_path / "git" / "p.yaml").write_text(UNIVERSAL)
    (tmp_path / "inventory.yaml").write_text(PROXIES)
    said = command("check", tmp_path / "git", "--inventory", tmp_path / "inventory.yaml").out
    assert "a label that these proxies get first, and no others: web-1." in said
    assert "an inventory" not in said
