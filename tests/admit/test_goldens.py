"""Admission equals the control plane's on every golden (goldens/README.md).

The selection in tests/golden has one resource for each reason and kind; where the folder is beside
the checkout all refusals are read, and some of what was taken (all with KUMAMIGRATE_GOLDENS).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from kumamigrate.admit.check import refusals_of
from kumamigrate.model.state import Environment
from tests.admit.manifest import resource_of
from tests.frontdoor import command, some

OWN = Path(__file__).parents[1] / "golden"
SHARED = Path(__file__).parents[3] / "shared" / "goldens"
EAST = Environment(mode="zone", zone="east")
RELEASES = ("2.14", "3.0")
SELECTED = [
    pytest.param(path, release, id=f"{release} {path.stem}")
    for release in RELEASES
    for path in sorted((OWN / f"rejected-{release}").glob("*.yaml"))
]
CASES = [
    pytest.param(case, release, id=f"{index}-{release}")
    for index, case in enumerate(json.loads((OWN / "labels.json").read_text("utf-8")))
    for release in case["answers"]
]


def shared(*parts: str) -> Path:
    folder = SHARED.joinpath(*parts)
    if not folder.exists():
        pytest.skip("the goldens are not beside the checkout")
    return folder


def documents(path: Path) -> Iterator[dict[str, Any]]:
    yield from yaml.load_all(path.read_text("utf-8"), Loader=yaml.CSafeLoader)


def fields(manifest: dict[str, Any], release: str, environment: Environment = EAST) -> set[str]:
    found = refusals_of(resource_of(manifest), release=release, environment=environment)
    return {problem.field for problem in found}


def reasons(text: str) -> set[str]:
    """Return the paths of `path: reason; path: reason`."""
    return {reason.split(": ")[0] for reason in text.splitlines()[0].lstrip("# ").split("; ")}


def checked(path: Path, release: str) -> set[str]:
    """Return the fields that `check` says the release refuses, each with its place."""
    printed = command("check", path, "--target", release, "--zone", "east", "--format", "json")
    assert printed.code == 1, printed.err
    lines = path.read_text("utf-8").splitlines()
    found = set()
    for finding in printed.json["findings"]:
        if finding["danger"] != "refused":
            continue
        said, field, _ = finding["message"].split(": ", 2)
        assert said == f"{release} refuses it"
        assert finding["file"].endswith(path.name)
        # A value that is a block begins on the line below its key.
        near = "".join(lines[finding["line"] - 2 : finding["line"]])
        assert field.rpartition(".")[2].partition("[")[0] in near, finding
        found.add(field)
    return found


@pytest.mark.parametrize(("path", "release"), SELECTED)
def test_what_a_release_refuses_is_refused_at_the_same_place(path: Path, release: str) -> None:
    assert checked(path, release) == reasons(path.read_text("utf-8"))


@pytest.mark.parametrize(("case", "release"), CASES)
def test_manifests_from_git_are_refused_as_their_control_plane_does(
    case: Any, release: str
) -> None:
    plane, answer = case["controlPlane"], case["answers"][release]
    environment = Environment(
        mode=plane["mode"], zone=plane["zone"], system_namespace=plane["systemNamespace"]
    )
    found = fields(case["manifest"], release, environment)
    error = answer.get("error", "")
    if error.startswith("spec"):
        assert found == reasons(error)
    else:
        assert bool(found) is bool(error)


@pytest.mark.parametrize("release", RELEASES)
def test_every_golden_refusal_is_found(release: str) -> None:
    paths = sorted(shared(f"rejected-{release}").glob("*.yaml"))
    assert paths
    for path in paths:
        assert checked(path, release) == reasons(path.read_text("utf-8")), path.name


@pytest.mark.parametrize("release", RELEASES)
def test_nothing_that_the_matcher_took_is_refused(release: str) -> None:
    paths = sorted(shared(f"matcher-{release}").glob("*.yaml"))
    assert paths
    for path in some(paths):
        for manifest in documents(path):
            assert not fields(manifest, release), f"{path.name}: {manifest['name']}"


@pytest.mark.parametrize("folder", ["live", "carry"])
def test_a_running_control_plane_refused_the_same_resources(folder: str) -> None:
    verdicts = sorted(shared(folder).glob("*/verdict.json"))
    assert verdicts
    for path in some(verdicts):
        invalid = json.loads(path.read_text("utf-8")).get("invalid", {})
        for side in ("before", "after"):
            refused = {(each["type"], each["name"]) for each in invalid.get(side, [])}
            found = {
                (manifest["type"], manifest["name"])
                for manifest in documents(path.parent / f"{side}.yaml")
                if fields(manifest, "2.14")
            }
            assert found == refused, f"{path.parent.name} {side}"
