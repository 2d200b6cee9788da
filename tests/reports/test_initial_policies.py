"""Runs where nobody says which policies the control plane gave a mesh, and where somebody does."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

from tests.frontdoor import Answer, command

MESH = """\
type: Mesh
name: default
meshServices: {mode: Exclusive}
"""
INBOUND = """\
type: MeshTimeout
name: {name}
mesh: default
spec:
  targetRef: {{kind: Mesh}}
  rules: [{{default: {{idleTimeout: {value}}}}}]
"""
LOG = """\
type: MeshAccessLog
name: logs
mesh: default
spec:
  targetRef: {kind: Mesh}
  rules: [{default: {backends: [{type: File, file: {path: %s}}]}}]
"""


def folder(root: Path, name: str, **files: str) -> Path:
    (root / name).mkdir(parents=True, exist_ok=True)
    for file, text in files.items():
        (root / name / f"{file}.yaml").write_text(text)
    return root / name


def proved(root: Path, before: str, after: str, *words: str, mesh: str = MESH) -> Answer:
    old, new = (
        folder(root, name, mesh=mesh, policy=text) for name, text in (("a", before), ("b", after))
    )
    return command("prove", old, new, "--format", "json", *words, given=None)


# `nn` sorts behind mesh-timeout-all-default, `aa` before it: the smaller name wins.
RENAMED = (INBOUND.format(name="aa", value="9m"), INBOUND.format(name="nn", value="9m"))


@pytest.mark.parametrize(
    ("words", "verdict"),
    [
        ((), "unknown"),
        (("--initial-policies", "none"), "equivalent"),
        (("--initial-policies", "2.5"), "equivalent"),
        (("--initial-policies", "2.6"), "different"),
    ],
)
def test_a_name_decides_beside_initial_policies_alone(
    words: tuple[str, ...], verdict: str, tmp_path: Path
) -> None:
    live = proved(tmp_path, *RENAMED, *words).json["claims"]["live"]
    assert live["verdict"] == verdict
    if verdict == "unknown":
        said = "\n".join(live["unknown"])
        assert "with none or those up to 2.5 nothing changes" in said
        assert "9m0s (aa) → 2h0m0s (mesh-timeout-all-default)" in said
        assert "--initial-policies none|2.5|2.6" in said


def test_settings_say_it_for_all_runs(tmp_path: Path) -> None:
    old, new = (
        folder(tmp_path, name, mesh=MESH, policy=text)
        for name, text in zip(("a", "b"), RENAMED, strict=True)
    )
    for place in (old, new):
        (place / "kumamigrate.toml").write_text('initial-policies = "none"\n')
    assert command("prove", old, new, given=None).code == 0


@pytest.mark.parametrize("value", ["2.7", "some"])
def test_what_cannot_be_is_refused(value: str, tmp_path: Path) -> None:
    place = folder(tmp_path, "a", mesh=MESH)
    (place / "kumamigrate.toml").write_text(f'initial-policies = "{value}"\n')
    answer = command("check", place, given=None)
    assert (answer.code, "initial-policies must be one of" in answer.err) == (2, True)


def test_a_mesh_made_without_them_settles_it(tmp_path: Path) -> None:
    mesh = f"{MESH}skipCreatingInitialPolicies: ['*']\n"
    answer = proved(tmp_path, *RENAMED, mesh=mesh)
    assert answer.json["claims"]["live"]["verdict"] == "equivalent"
    assert answer.json["world"]["environments"][0]["initialPolicies"] == {
        "default": "none, says its Mesh"
    }


def test_a_mesh_that_is_told_so_later_was_made_all_the_same(tmp_path: Path) -> None:
    old = folder(tmp_path, "a", mesh=MESH, policy=RENAMED[0])
    new = folder(
        tmp_path, "b", mesh=f"{MESH}skipCreatingInitialPolicies: ['*']\n", policy=RENAMED[1]
    )
    live = command("prove", old, new, "--format", "json", given=None).json["claims"]["live"]
    assert live["verdict"] == "unknown"


def test_what_is_in_git_under_such_a_name_counts_as_it_stands(tmp_path: Path) -> None:
    ours = INBOUND.format(name="mesh-timeout-all-default", value="1h")
    both = [f"{ours}---\n{text}" for text in RENAMED]
    live = proved(tmp_path, *both).json["claims"]["live"]
    witnesses = [w for p in live["dataplanes"].values() for w in p["witnesses"]]
    assert live["verdict"] == "different"
    assert {(w["before"]["value"], w["after"]["value"]) for w in witnesses} == {("9m0s", "1h0m0s")}


def test_what_they_have_no_say_in_is_not_asked_of_them(tmp_path: Path) -> None:
    same = proved(tmp_path, LOG % "/tmp/a", LOG % "/tmp/a").json
    assert same["claims"]["live"]["verdict"] == "equivalent"
    other = proved(tmp_path, LOG % "/tmp/a", LOG % "/tmp/b").json
    assert other["claims"]["live"]["verdict"] == "different"


def test_an_inventory_of_another_mesh_settles_nothing(tmp_path: Path) -> None:
    inventory = tmp_path / "inventory.yaml"
    inventory.write_text(INBOUND.format(name="x", value="1m").replace("default\n", "other\n"))
    words = ("--inventory", str(inventory))
    assert proved(tmp_path, *RENAMED, *words).json["claims"]["live"]["verdict"] == "unknown"


def test_the_first_line_says_what_is_known(tmp_path: Path) -> None:
    place = folder(tmp_path, "a", mesh=MESH)
    for given, words in ((None, "not known"), ("none", "none"), ("2.6", "those since 2.6")):
        first = command("check", place, given=given).out.splitlines()[0]
        assert f"initial policies: {words}" in first


def adopted(place: Path, *words: str, given: str | None) -> Answer:
    return command("run", place, "--adopt-initial-policies", place / "mesh", *words, given=given)


@pytest.mark.parametrize("given", ["2.5", "2.6"])
def test_adopted_policies_are_proven_and_a_second_run_is_idle(given: str, tmp_path: Path) -> None:
    place = folder(tmp_path, "a", mesh=MESH)
    answer = adopted(place, given=given)
    assert "Proved" in answer.out
    text = (place / "mesh" / "initial-policies-default.yaml").read_text()
    names = {document["name"] for document in yaml.safe_load_all(text)}
    made = {"2.5": "timeout-all-default", "2.6": "mesh-timeout-all-default"}
    assert made[given] in names
    before = {path: path.read_bytes() for path in place.rglob("*.yaml")}
    command("run", place, given=given)
    assert {path: path.read_bytes() for path in place.rglob("*.yaml")} == before


def test_what_is_gone_for_good_is_to_be_deleted_by_hand(tmp_path: Path) -> None:
    answer = adopted(folder(tmp_path, "a", mesh=MESH), given="2.5")
    assert "delete TrafficPermission allow-all-default of mesh default from the" in answer.out


def test_the_patch_of_an_adoption_applies(tmp_path: Path) -> None:
    place = folder(tmp_path, "a", mesh=MESH)
    adopted(place, "--dry-run", "--diff", str(tmp_path / "my.patch"), given="2.6")
    assert not (place / "mesh").exists()
    subprocess.run(["git", "init", "-q"], cwd=place, check=True)
    subprocess.run(["git", "apply", str(tmp_path / "my.patch")], cwd=place, check=True)
    assert (place / "mesh" / "initial-policies-default.yaml").is_file()


@pytest.mark.parametrize(
    ("given", "why"), [(None, "is not known; say --initial-policies"), ("none", "nothing to adopt")]
)
def test_what_is_not_known_or_not_there_is_not_adopted(
    given: str | None, why: str, tmp_path: Path
) -> None:
    place = folder(tmp_path, "a", mesh=MESH)
    answer = adopted(place, given=given)
    assert (answer.code, why in answer.err, (place / "mesh").exists()) == (2, True, False)


def test_a_file_that_is_there_is_not_adopted_over(tmp_path: Path) -> None:
    place = folder(tmp_path, "a", mesh=MESH)
    folder(place, "mesh", **{"initial-policies-default": "# mine\n"})
    assert adopted(place, given="2.6").code == 2


FROM_OF_WEST = """\
type: MeshTimeout
name: n
mesh: default
labels: {kuma.io/zone: west}
spec:
  targetRef: {kind: Mesh}
  from: [{targetRef: {kind: Mesh}, default: {connectionTimeout: 5s}}]
"""


def test_what_is_in_doubt_in_every_world_is_no_matter_of_initial_policies(tmp_path: Path) -> None:
    """Nobody names the zone, so whether the policy is there is not known, whatever a mesh got."""
    place = folder(tmp_path, "a", mesh=MESH, policy=FROM_OF_WEST)
    (held,) = command("run", "--dry-run", place, "--format", "json", given=None).json["held"]
    (reason,) = held["unknown"]
    assert "says it is of zone west" in reason
    assert not reason.startswith("with ")


def test_an_outbound_that_comes_is_no_setting_that_stands_in_git(tmp_path: Path) -> None:
    """Beside the TrafficRoute that Kuma made a MeshService has no outbound; on 3.0 it has one."""
    (tmp_path / "m.yaml").write_text(
        "apiVersion: kuma.io/v1alpha1\nkind: Mesh\nmetadata: {name: default}\nspec: {}\n---\n"
        "apiVersion: kuma.io/v1alpha1\nkind: MeshService\n"
        "metadata: {name: api, namespace: shop, labels: {kuma.io/mesh: default}}\n"
        "spec:\n  selector: {dataplaneLabels: {matchLabels: {app: api}}}\n"
        "  ports: [{port: 80, targetPort: 80, appProtocol: http}]\n",
        encoding="utf-8",
    )
    said = command("run", tmp_path, "--dry-run", "--target", "3.0", given="2.5").out
    assert (
        "1 outbound is not made today and comes:\n"
        "  any proxy → api.shop:80   outbound  not there → there\n"
    ) in said
    assert "stands in Git and is ignored" not in said
