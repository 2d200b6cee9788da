"""How a repository is laid out decides nothing: whichever file a resource stands in, in which order
and in which style, a run makes the same of it."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cases import GOLDEN, LOADER
from tests.frontdoor import command, fewer

STYLES: tuple[dict[str, Any], ...] = (
    {},
    {"indent": 4},
    {"default_style": '"'},
    {"default_flow_style": True, "width": 10**6},
)
MESHES = sorted((GOLDEN / "mixed-2.14").iterdir())[2::7]


def _documents(*files: Path) -> list[dict[str, Any]]:
    """Return the resources of some files as plain values."""
    read = (yaml.load_all(file.read_text(), LOADER) for file in files)
    return [document for documents in read for document in documents if document]


def _lay_out(folder: Path, documents: list[dict[str, Any]], rng: random.Random) -> None:
    """Write resources in any order, several to a file or one, each in a style of its own."""
    left = rng.sample(documents, len(documents))
    while left:
        taken, left = left[: (size := rng.choice([1, 2, 5]))], left[size:]
        texts = [yaml.safe_dump(one, sort_keys=False, **rng.choice(STYLES)) for one in taken]
        file = folder / rng.choice(["a", "b/c", "z"]) / f"{rng.randrange(10**6)}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes("---\n".join(texts).replace("\n", rng.choice(["\n", "\r\n"])).encode())


def _made_of(folder: Path) -> Any:
    """Run for 3.0; return what was made of the resources, and what is said of them."""
    answer = command("run", folder, "--target", "3.0", "--format", "json")
    report = answer.json
    claims = {
        name: (claim["verdict"], {at: one["verdict"] for at, one in claim["dataplanes"].items()})
        for name, claim in report["proof"]["claims"].items()
    }
    told = {(one["rule"], one["status"], one["resource"]["name"]) for one in report["findings"]}
    written = _documents(*folder.rglob("*.yaml"))
    resources = sorted(json.dumps(one, sort_keys=True) for one in written)
    return answer.code, report["whole"], claims, told, resources


@pytest.mark.parametrize("mesh", fewer(MESHES), ids=lambda mesh: mesh.name)
def test_the_layout_of_a_repository_decides_nothing(mesh: Path, tmp_path: Path) -> None:
    documents = _documents(mesh / "before.yaml")
    made = []
    for seed in (1, 2):
        folder = tmp_path / str(seed)
        _lay_out(folder, documents, random.Random(f"{mesh.name} {seed}"))
        made.append(_made_of(folder))
    assert made[0] == made[1]
