"""One story: after `run`, `prove --against HEAD` with the same settings says what `run` said."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cases import FIXTURES, SHARED, Case, cases
from tests.frontdoor import Answer, command, some

VERDICT = {
    "proven": "equivalent",
    "after-switch": "different",
    "unknown": "unknown",
    "different": "different",
}
"""What `prove` calls the claim that decides, by what `run` calls the whole."""
NOT_READ_AFTER = {"inbound-v6-port-annotation/other-port", "unread-annotation/rewrites"}
"""Where a file no longer holds a word of Kuma's, it is not looked at when it is read anew."""


def committed(before: Path, folder: Path) -> Path:
    """Copy files into a new Git repository and commit them."""
    shutil.copytree(before, folder)
    who = ("-c", "user.name=x", "-c", "user.email=x@example.com")
    for words in (["init", "-q"], ["add", "-A"], [*who, "commit", "-qm", "x", "--allow-empty"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return folder


def settings_of(case: Case) -> list[str | Path]:
    """Return the settings of a fixture as words of a command line: what both commands take."""
    flags: dict[str, Any] = case.proof.get("flags", {})
    words: list[str | Path] = ["--target", case.proof.get("target", "2.14")]
    for flag in ("from", "zone", "control_plane_mode", "mesh_services"):
        words += [f"--{flag.replace('_', '-')}", flags[flag]] if flag in flags else []
    for name in flags.get("inventory", ()):
        words += ["--inventory", case.folder / name]
    return words


def choices_of(case: Case) -> list[str]:
    """Return what only `run` takes."""
    flags: dict[str, Any] = case.proof.get("flags", {})
    words = [word for rule in case.proof.get("rules", [case.rule]) for word in ("--select", rule)]
    words += ["--stage", flags["stage"]] if "stage" in flags else []
    return words + [word for rule in flags.get("accept", ()) for word in ("--accept", rule)]


def differences(claim: dict[str, Any]) -> set[str]:
    """Return the differences of a claim without places and policies, which move with an edit."""
    return {
        json.dumps(
            {
                **{k: v for k, v in witness.items() if k not in ("before", "after")},
                "values": [witness[side]["value"] for side in ("before", "after")],
            },
            sort_keys=True,
        )
        for proxy in claim["dataplanes"].values()
        for witness in proxy["witnesses"]
    }


def told(folder: Path, settings: list[str | Path], choices: list[str]) -> tuple[Answer, Answer]:
    """Run in a repository, then prove against its last commit."""
    words = (folder, "--format", "json", *settings)
    return command("run", *words, *choices), command("prove", *words, "--against", "HEAD")


@pytest.mark.parametrize("case", some(cases()), ids=lambda case: f"{case.rule}/{case.name}")
def test_prove_says_after_a_run_what_the_run_said(case: Case, tmp_path: Path) -> None:
    if f"{case.rule}/{case.name}" in NOT_READ_AFTER:
        pytest.skip("the file is read no more")
    folder = committed(case.before, tmp_path / "repository")
    ran, proved = (answer.json for answer in told(folder, settings_of(case), choices_of(case)))
    same_story(ran, proved)
    assert set(proved["assumptions"]) >= set(ran["proof"].get("assumptions", ()))


def same_story(ran: dict[str, Any], proved: dict[str, Any]) -> None:
    """Hold the report of `prove` to that of the `run` before it."""
    assert ran["decides"] == proved["decides"]
    claim = proved["claims"].get(ran["decides"], {"allowing": "equivalent"})
    assert claim["allowing"] == VERDICT[ran["whole"]]
    for name, said in ran["proof"]["claims"].items():
        assert proved["claims"][name]["allowing"] == said["allowing"], name
        assert differences(proved["claims"][name]) == differences(said), name


WIDE = 1 if os.environ.get("KUMAMIGRATE_GOLDENS") else 20
MESHES = [
    pytest.param(golden, target, id=f"{golden.parent.name}/{golden.stem} to {target}")
    for kind, every, targets in (
        ("legacy-2.9/*.yaml", 14, ("2.9", "2.14", "3.0")),
        ("matcher-2.14/*.yaml", 14, ("2.14", "3.0")),
        ("mixed-2.14/*/before.yaml", 6, ("2.14", "3.0")),
    )
    for golden in sorted((SHARED / "goldens").glob(kind))[:: every * WIDE]
    for target in targets[:: 1 if WIDE == 1 else 2]
]


@pytest.mark.parametrize(("golden", "target"), MESHES)
def test_two_folders_tell_the_story_of_the_run_between_them(
    golden: Path, target: str, tmp_path: Path
) -> None:
    told_of_folders(golden.read_text(encoding="utf-8"), tmp_path, "--target", target)


def told_of_folders(text: str, folder: Path, *settings: str) -> dict[str, Any]:
    """Run on one of two folders that say the same, and return what `prove` says of both: the
    story of the run."""
    one, two = folder / "one", folder / "two"
    for side in (one, two):
        side.mkdir()
        (side / "mesh.yaml").write_text(text, encoding="utf-8")
    words = (*settings, "--format", "json")
    ran = command("run", two, *words).json
    proved: dict[str, Any] = command("prove", one, two, *words).json
    same_story(ran, proved)
    return proved


TO_3 = [case for case in cases() if f"{case.rule}/{case.name}" not in NOT_READ_AFTER]


@pytest.mark.parametrize(
    "case", some(TO_3)[:: 2 if WIDE > 1 else 1], ids=lambda case: f"{case.rule}/{case.name}"
)
def test_the_road_to_3_tells_one_story_as_well(case: Case, tmp_path: Path) -> None:
    folder = committed(case.before, tmp_path / "repository")
    settings = ["--target", "3.0", *settings_of(case)[2:]]
    ran, proved = (answer.json for answer in told(folder, settings, choices_of(case)))
    same_story(ran, proved)


MESH = "type: Mesh\nname: default\nmeshServices: {mode: Exclusive}\n"
ROUTE = """---
type: MeshHTTPRoute
name: api
mesh: default
spec:
  to:
    - targetRef: {kind: MeshService, name: orders}
      rules: [{matches: [{path: {type: PathPrefix, value: /v1}}], default: {}}]
---
type: MeshTimeout
name: slow
mesh: default
spec:
  targetRef: {kind: MeshHTTPRoute, name: api}
  to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 40s}}}]
"""


def shop(folder: Path, text: str = MESH + ROUTE) -> Path:
    (folder / "files").mkdir()
    (folder / "files" / "a.yaml").write_text(text)
    return committed(folder / "files", folder / "repository")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([], 0),
        (["--allow", "activation"], 0),
        (["--allow", "name,residue"], 4),
        (["--allow", "name", "--allow", "residue"], 4),
        (["--allow", "none"], 4),
    ],
    ids=["all by default", "it alone", "the others", "repeated", "nothing"],
)
def test_an_activation_passes_where_it_is_allowed(
    words: list[str], code: int, tmp_path: Path
) -> None:
    folder = shop(tmp_path)
    assert command("run", folder).code == 0
    proved = command("prove", folder, "--against", "HEAD", *words)
    assert proved.code == code
    # Everything is shown whether it may pass or not.
    assert "request timeout" in proved.out
    assert ("which --allow does not let pass" in proved.out) is (code != 0)
    assert proved.out.startswith("Different" if code else "Equivalent but for 1 difference")
    assert ("(activation; --allow none refuses)" in proved.out.splitlines()[0]) is not bool(code)


@pytest.mark.parametrize(("allow", "moved"), [("activation", True), ("name,residue", False)])
def test_run_holds_what_is_not_allowed(allow: str, *, moved: bool, tmp_path: Path) -> None:
    folder = shop(tmp_path)
    ran = command("run", folder, "--allow", allow)
    assert (ran.code, "kind: MeshHTTPRoute, name: api}\n  to" not in ran.out) == (
        0 if moved else 4,
        True,
    )
    assert ((folder / "a.yaml").read_text() != MESH + ROUTE) is moved
    assert ("request timeout" in ran.out) is True


def test_a_changed_value_may_never_pass(tmp_path: Path) -> None:
    answer = command("run", shop(tmp_path), "--allow", "value")
    assert (answer.code, "--allow value: may be activation, name, residue, none" in answer.err) == (
        2,
        True,
    )


@pytest.mark.parametrize(
    ("before", "after", "there"),
    [
        ("Exclusive", "Exclusive", False),
        ("Disabled", "Exclusive", True),
        ("Exclusive", "Disabled", True),
        ("Everywhere", "Everywhere", True),
    ],
)
def test_nothing_is_carried_over_where_the_mode_has_switched(
    before: str, after: str, *, there: bool, tmp_path: Path
) -> None:
    files = []
    for name, mode in (("one", before), ("two", after)):
        files.append(tmp_path / f"{name}.yaml")
        files[-1].write_text(MESH.replace("Exclusive", mode) + ROUTE)
    assert ("carry" in command("prove", *files, "--format", "json").json["claims"]) is there
    assert ("(carry)" in command("prove", *files).out) is there


def test_each_mesh_has_its_own_claims(tmp_path: Path) -> None:
    """One mesh has switched and the other has not: carry is about the other alone."""
    other = MESH.replace("default", "other").replace("Exclusive", "Disabled")
    file = tmp_path / "a.yaml"
    file.write_text(MESH + ROUTE + "---\n" + other)
    out = command("prove", file, file).out
    carried = out.partition("(carry)")[2]
    assert ("  other  " in carried, "  default  " in carried) == (True, False)


DROPPED = """---
type: MeshService
mesh: default
name: backend
labels: {kuma.io/display-name: backend}
spec:
  selector: {dataplaneLabels: {matchLabels: {app: backend}}}
  ports: [{port: 80, targetPort: 8080, name: main, appProtocol: http}]
---
type: Dataplane
mesh: default
name: cache-0
labels: {app: cache, kuma.io/workload: cache}
networking:
  address: 10.0.0.1
  inbound: [{port: 8080, tags: {kuma.io/service: cache, kuma.io/protocol: http}}]
---
type: Dataplane
mesh: default
name: db-1
labels: {app: cache, kuma.io/workload: cache}
networking:
  address: 10.0.0.2
  inbound: [{port: 8080, tags: {kuma.io/service: db, kuma.io/protocol: http}}]
---
type: MeshCircuitBreaker
mesh: default
name: limits
spec:
  targetRef: {kind: MeshService, name: cache}
  to:
    - targetRef: {kind: MeshService, labels: {kuma.io/display-name: backend}}
      default: {connectionLimits: {maxPendingRequests: 43}}
"""


LIMIT = "connectionLimits.maxPendingRequests  43 → 1024"


@pytest.mark.parametrize(
    ("words", "difference"),
    [([], "MeshService  there → gone"), (["--select", "mesh-services-mode"], LIMIT)],
    ids=["all", "one rule"],
)
def test_the_headline_speaks_of_the_release_that_was_asked_for(
    words: list[str], difference: str, tmp_path: Path
) -> None:
    """3.0 refuses the policy, so its limit goes where nothing is written; a service chosen by
    tags goes whatever is."""
    folder = shop(tmp_path, MESH + DROPPED)
    ran = command("run", folder, "--target", "3.0", *words)
    assert ran.code == 4
    assert "\nNot proved: " in ran.out
    assert "\nProved" not in ran.out
    assert difference in ran.out
    proved = command("prove", folder, "--against", "HEAD", "--target", "3.0")
    assert proved.code == 4
    assert proved.out.startswith("Different: what proxies read after the upgrade, ")
    assert difference in proved.out


def test_what_an_upgrade_cannot_be_told_of_is_inconclusive(tmp_path: Path) -> None:
    """Built-in gateways end with 3.0: no difference is known, and none is ruled out."""
    gateway = """---
type: MeshGateway
name: edge
mesh: default
selectors: [{match: {kuma.io/service: edge}}]
conf: {listeners: [{port: 8080, protocol: HTTP}]}
"""
    ran = command("run", shop(tmp_path, MESH + gateway), "--target", "3.0")
    assert (ran.code, "\nNot proved: cannot tell" in ran.out) == (3, True)


KEPT = """apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: kept, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec:
  to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 0s, streamIdleTimeout: 5m}}}]
"""
"""Says of requests by tag what they have without it."""


def test_what_is_good_after_the_upgrade_alone_is_not_green_before_it(tmp_path: Path) -> None:
    """What 3.0 does not read goes with the upgrade: of the upgrade nothing, of today something."""
    before, after = tmp_path / "before", tmp_path / "after"
    shutil.copytree(FIXTURES / "examples" / "clusters" / "before", before)
    (before / "clusters" / "west" / "kept.yaml").write_text(KEPT, encoding="utf-8")
    command("run", before)
    shutil.copytree(before, after)
    command("run", after, "--target", "3.0")
    proved = command("prove", before, after, "--target", "3.0")
    first = proved.out.splitlines()[0]
    assert first.startswith("Equivalent")
    assert "; not before it: on 2.14 it makes " in first
