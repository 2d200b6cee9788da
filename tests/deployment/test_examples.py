"""The layouts that most users have, bundled: all is migrated that one environment alone would be.

`overlays` is a base with overlays, patches and a component; `charts` has values per environment;
`clusters` is a folder per cluster, of which one has not switched its mode yet.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cases import EXAMPLES as FOLDER
from tests.cases import FIXTURES, contents
from tests.deployment.trees import needs_helm, needs_kustomize
from tests.frontdoor import command

EXAMPLES = FIXTURES / FOLDER
OVERLAYS = pytest.param("overlays", marks=needs_kustomize)
CHARTS = pytest.param("charts", marks=needs_helm)
CLUSTERS = pytest.param("clusters")


def rendered(example: Path) -> dict[str, str]:
    """Return what each environment of an example gets, by the programs that users have."""
    if (example / "overlays").is_dir():
        kustomize = shutil.which("kustomize")
        program = [kustomize, "build"] if kustomize else ["kubectl", "kustomize"]
        return {
            folder.name: _printed([*program, str(folder)])
            for folder in sorted((example / "overlays").iterdir())
        }
    if (example / "clusters").is_dir():
        return {
            folder.name: "---\n".join(
                path.read_text()
                for part in (folder, example / "mesh")
                for path in sorted(part.iterdir())
            )
            for folder in sorted((example / "clusters").iterdir())
        }
    found = {}
    for name in ("dev", "prod"):
        values = str(example / f"charts/shop/values-{name}.yaml")
        shop = _printed(["helm", "template", str(example / "charts/shop"), "--values", values])
        pay = _printed(["helm", "template", str(example / "charts/pay")])
        mesh = (example / "mesh/mesh.yaml").read_text()
        found[name] = "\n---\n".join((shop, pay, mesh))
    return found


def _printed(words: list[str]) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def fixed(answer: dict[str, Any]) -> set[tuple[str, str]]:
    """Return what a run settled: rule and type of the resource."""
    return {
        (one["rule"], one["resource"]["type"])
        for one in answer["findings"]
        if one["status"] == "fixed"
    }


@pytest.mark.parametrize("name", [OVERLAYS, CHARTS, CLUSTERS])
def test_an_example_comes_out_as_it_should(name: str, tmp_path: Path) -> None:
    copy = tmp_path / name
    shutil.copytree(EXAMPLES / name / "before", copy)
    answer = command("run", copy)
    assert answer.code == 0
    assert contents(copy) == contents(EXAMPLES / name / "after")
    assert "2 environments" in answer.out
    again = command("run", copy)
    assert again.code == 0
    assert contents(copy) == contents(EXAMPLES / name / "after")


def test_what_one_environment_alone_has_is_said_of_that_one(tmp_path: Path) -> None:
    copy = tmp_path / "clusters"
    shutil.copytree(EXAMPLES / "clusters" / "before", copy)
    said = command("run", copy).out
    assert "\n1 setting stands in Git and is ignored by this mesh today" in said
    assert "\n  east:  any proxy → cart.shop /cart   request timeout  15s → 60s" in said
    assert "\n  west:" not in said


@pytest.mark.parametrize("name", [OVERLAYS, CHARTS, CLUSTERS])
def test_every_build_of_an_example_succeeds_before_and_after(name: str) -> None:
    before, after = (rendered(EXAMPLES / name / side) for side in ("before", "after"))
    assert before.keys() == after.keys()
    assert all("from:" in text for text in before.values())
    assert not any("from:" in text or "MeshSubset" in text for text in after.values())


@pytest.mark.parametrize("name", [OVERLAYS, CHARTS, CLUSTERS])
def test_an_example_loses_nothing_that_one_environment_alone_would_have(
    name: str, tmp_path: Path
) -> None:
    copy = tmp_path / "all"
    shutil.copytree(EXAMPLES / name / "before", copy)
    together = fixed(command("run", "--format", "json", copy).json)
    for environment, text in rendered(EXAMPLES / name / "before").items():
        alone = tmp_path / environment
        alone.mkdir()
        (alone / "all.yaml").write_text(text)
        assert fixed(command("run", "--format", "json", alone).json) <= together
