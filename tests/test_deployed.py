"""Whether a control plane has what the files say."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumamigrate.dataclass import replace
from kumamigrate.flow.deployed import is_deployed
from kumamigrate.scene.scene import GIT_ASKED
from kumamigrate.world.options import Options
from kumamigrate.world.survey import scene_of
from tests.checkout import OLD, git


@pytest.mark.parametrize(
    ("committed", "now", "known"), [(OLD, OLD, True), (OLD, f"{OLD}#\n", False), ("", OLD, None)]
)
def test_what_is_committed_is_deployed_and_that_git_was_asked_is_noted(
    committed: str, now: str, known: bool | None, tmp_path: Path
) -> None:
    """What rests on it cannot be kept for the next check: Git is no file."""
    file = tmp_path / "a.yaml"
    if committed:
        file.write_text(committed)
        git(tmp_path, "init", "-q")
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-qm", "x")
    file.write_text(now)
    scene = scene_of([Path()], tmp_path, Options())
    (resource,) = scene.repository.resources
    assert is_deployed(scene, resource) is known
    assert scene.kept[GIT_ASKED] is True


def test_of_what_stands_in_no_file_nobody_knows(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(OLD)
    scene = scene_of([Path()], tmp_path, Options())
    (resource,) = scene.repository.resources
    assert is_deployed(scene, replace(resource, where=None)) is None
    assert GIT_ASKED not in scene.kept
