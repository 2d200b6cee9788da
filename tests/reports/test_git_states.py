"""Git as a clone for CI, a server or a busy desk has it: what to do is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checkout import MESH, OLD, git
from tests.frontdoor import command


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "tree"
    tree.mkdir()
    git(tree, "init", "-q")
    for at in (1, 2):
        (tree / "mesh.yaml").write_text(f"# {at}\n{MESH}")
        (tree / "old.yaml").write_text(OLD)
        git(tree, "add", "-A")
        git(tree, "commit", "-qm", str(at))
    git(tree, "branch", "-M", "main")
    return tree


@pytest.mark.parametrize(
    "words", [("check",), ("run", "--dry-run"), ("prove", "--against", "main")]
)
def test_a_bare_repository_has_no_files(words: tuple[str, ...], tree: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    git(tree, "clone", "-q", "--bare", str(tree), str(bare))
    answer = command(*words, bare)
    assert (answer.code, answer.out) == (2, "")
    assert "is a bare Git repository" in answer.err
    assert f"git -C {bare} worktree add FOLDER REVISION" in answer.err


def test_a_shallow_clone_is_to_be_fetched_deeper(tree: Path, tmp_path: Path) -> None:
    shallow = tmp_path / "shallow"
    git(tree, "clone", "-q", "--depth", "1", tree.as_uri(), str(shallow))
    answer = command("prove", shallow, "--against", "HEAD~1")
    assert answer.code == 2
    assert "this clone is shallow: in CI fetch with depth 0 (GitHub: fetch-depth: 0" in answer.err


def test_without_a_branch_that_of_the_remote_is_named(tree: Path, tmp_path: Path) -> None:
    detached = tmp_path / "detached"
    git(tree, "clone", "-q", str(tree), str(detached))
    git(detached, "checkout", "-q", "--detach")
    git(detached, "branch", "-D", "main")
    answer = command("prove", detached, "--against", "main")
    assert (answer.code, "--against origin/main is known" in answer.err) == (2, True)
    assert command("prove", detached, "--against", "origin/main").code == 0


def test_uncommitted_edits_are_named_where_they_count(tree: Path) -> None:
    clean = command("prove", tree, "--against", "main")
    assert "uncommitted" not in clean.out
    (tree / "old.yaml").write_text(OLD.replace("9s", "8s"))
    (tree / "new.txt").write_text("untracked")
    answer = command("prove", tree, "--against", "main")
    assert answer.code == 4
    assert "uncommitted edits are compared, too: old.yaml\n" in answer.out
    told = command("prove", tree, "--against", "main", "--format", "json").json
    assert told["uncommitted"] == ["old.yaml"]


def test_a_run_says_what_it_wrote_over(tree: Path) -> None:
    (tree / "old.yaml").write_text(f"# mine\n{OLD}")
    (tree / "mesh.yaml").write_text(f"# mine\n{MESH}")
    dry = command("run", tree, "--dry-run")
    answer = command("run", tree)
    said = "Uncommitted edits stood in files that were changed: git diff shows both, old.yaml;"
    assert (said in dry.out, said in answer.out) == (False, True)
    git(tree, "commit", "-qam", "all")
    (tree / "old.yaml").write_text(f"{OLD}# mine\n")
    git(tree, "commit", "-qam", "old again")
    assert "Uncommitted" not in command("run", tree).out


def test_a_folder_of_a_repository_names_its_files_from_there(tree: Path) -> None:
    inner = tree / "inner"
    inner.mkdir()
    (inner / "kumamigrate.toml").write_text("")
    (inner / "old.yaml").write_text(OLD)
    git(tree, "add", "-A")
    git(tree, "commit", "-qm", "inner")
    (inner / "old.yaml").write_text(OLD.replace("9s", "8s"))
    (tree / "mesh.yaml").write_text(MESH)
    told = command("prove", inner, "--against", "main", "--format", "json").json
    assert told["uncommitted"] == ["old.yaml"]
