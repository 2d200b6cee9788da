"""A check that is asked again says what it would say anew; whatever moved, it is a new question."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kumamigrate.cli import app
from kumamigrate.commands import checkcommand
from tests.cases import ROOT
from tests.runner import CliRunner, Result

POLICY = """\
type: MeshTimeout
mesh: default
name: slow
spec:
  targetRef: {kind: MeshSubset, tags: {app: web}}
  to:
    - targetRef: {kind: Mesh}
      default: {idleTimeout: 20s}
"""
INVENTORY = "type: Mesh\nname: default\n---\ntype: Dataplane\nmesh: default\nname: %s\n"


class Desk:
    """A repository, and how often a check of it really did the work."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.patch = monkeypatch
        self.worked = 0
        original = checkcommand.check_estate

        def counted(*given: object) -> object:
            self.worked += 1
            return original(*given)  # type: ignore[arg-type]

        monkeypatch.setattr(checkcommand, "check_estate", counted)

    def check(self, *words: str) -> Result:
        """Return what a check says, in this process."""
        result = CliRunner().invoke(app, ["check", *words])
        assert result.exception is None
        assert result.exit_code in (0, 1, 3), result.output
        return result

    def works(self, *words: str) -> bool:
        """Say whether a check did the work, and say nothing else than one that has to."""
        before = self.worked
        said = self.check(*words)
        done = self.worked > before
        again = self.check("--no-cache", *words)
        assert (said.exit_code, said.stdout) == (again.exit_code, again.stdout)
        return done


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A repository with a policy, and a place of its own for what is kept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "kept"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1800000000")
    folder = tmp_path / "repository"
    (folder / "deep").mkdir(parents=True)
    (folder / "kumamigrate.toml").touch()
    (folder / "policy.yaml").write_text(POLICY)
    (folder / "deep" / "mesh.yaml").write_text("type: Mesh\nname: default\n")
    monkeypatch.chdir(folder)
    return Desk(folder, monkeypatch)


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github", "gitlab", "junit", "html"])
def test_the_second_time_nothing_is_worked_out_and_the_same_is_said(desk: Desk, form: str) -> None:
    first = desk.check("--format", form)
    second = desk.check("--format", form)
    assert desk.worked == 1
    assert (first.exit_code, first.stdout) == (second.exit_code, second.stdout)
    assert not desk.works("--format", form)


def test_reports_are_saved_the_second_time_as_well(desk: Desk, tmp_path: Path) -> None:
    words = ("--output", f"json={tmp_path / 'a.json'}")
    desk.check(*words)
    first = (tmp_path / "a.json").read_bytes()
    (tmp_path / "a.json").unlink()
    desk.check(*words)
    assert desk.worked == 1
    assert (tmp_path / "a.json").read_bytes() == first


def _edit(name: str, text: str) -> Callable[[Desk], object]:
    return lambda desk: (desk.folder / name).write_text(text)


def _baseline(_desk: Desk) -> None:
    assert CliRunner().invoke(app, ["baseline", "write"]).exit_code == 0


def _epoch(desk: Desk) -> None:
    desk.patch.setenv("SOURCE_DATE_EPOCH", "1900000000")


def _moved(desk: Desk) -> None:
    desk.patch.chdir(desk.folder / "deep")


def _other_tool(desk: Desk) -> None:
    desk.patch.setattr("kumamigrate.__version__", "99.0.0")


def _other_file_of_the_tool(desk: Desk) -> None:
    own = desk.folder.parent / "tool"
    own.mkdir()
    (own / "rule.json").write_text("{}")
    desk.patch.setattr("kumamigrate.cache.question._RULES", own)


MOVES: dict[str, Callable[[Desk], object]] = {
    "a value": _edit("policy.yaml", POLICY.replace("20s", "21s")),
    "a comment": _edit("policy.yaml", f"# why\n{POLICY}"),
    "a new file": _edit("other.yaml", POLICY.replace("slow", "slower")),
    "a new file that is none of ours": _edit("other.yaml", "a: 1\n"),
    "a file gone": lambda desk: (desk.folder / "policy.yaml").unlink(),
    "another name": lambda desk: (desk.folder / "policy.yaml").rename(desk.folder / "p.yaml"),
    "ignored by Git": _edit(".gitignore", "policy.yaml\n"),
    "settings": _edit("kumamigrate.toml", 'target = "3.0"\n'),
    "a baseline": _baseline,
    "a script beside": _edit("deploy.sh", "kumactl get meshes\nkumactl apply -f x TrafficRoute\n"),
    "a guide beside": _edit("README.md", f"```yaml\n{POLICY}```\n"),
    "the day": _epoch,
    "where the user stands": _moved,
    "the tool": _other_tool,
    "a file of the tool": _other_file_of_the_tool,
}


@pytest.mark.parametrize("name", MOVES)
def test_whatever_moved_is_a_new_question(name: str, desk: Desk) -> None:
    assert desk.works()
    assert not desk.works()
    MOVES[name](desk)
    assert desk.works()


@pytest.mark.parametrize(
    "words",
    [
        ("--target", "3.0"),
        ("--zone", "east"),
        ("--ignore", "deprecated-form"),
        ("--verbose",),
        ("--fail-on", "none"),
        ("--dead",),
        ("--initial-policies", "none"),
        ("deep",),
    ],
)
def test_other_words_are_another_question(words: tuple[str, ...], desk: Desk) -> None:
    assert desk.works()
    assert desk.works(*words)


def test_an_inventory_is_read_each_time(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "export.yaml"
    file.write_text(INVENTORY % "one")
    words = ("--inventory", str(file))
    assert desk.works(*words)
    assert not desk.works(*words)
    file.write_text(INVENTORY % "two")
    assert desk.works(*words)


def test_an_inventory_written_meanwhile_is_not_what_was_read(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "export.yaml"
    file.write_text(INVENTORY % "one")
    original = checkcommand.check_estate

    def slow(*given: object) -> object:
        file.write_text(INVENTORY % "two")
        return original(*given)  # type: ignore[arg-type]

    with desk.patch.context() as patch:
        patch.setattr(checkcommand, "check_estate", slow)
        desk.check("--inventory", str(file))
    assert list((tmp_path / "kept").rglob("*.answer")) == []
    assert desk.works("--inventory", str(file))


KUSTOMIZATION = "resources: [policy.yaml]\npatches: [{path: more.patch}]\n"


def test_what_lies_beside_is_asked_again(desk: Desk) -> None:
    desk.patch.setenv("PATH", "/nowhere")
    (desk.folder / "kustomization.yaml").write_text(KUSTOMIZATION)
    (desk.folder / "more.patch").write_text(POLICY)
    assert desk.works()
    assert not desk.works()
    (desk.folder / "more.patch").write_text(POLICY.replace("20s", "50s"))
    assert desk.works()
    assert not desk.works()
    (desk.folder / "more.patch").unlink()
    assert desk.works()


def _program(folder: Path, text: str) -> None:
    folder.mkdir()
    (folder / "kustomize").write_text(f"#!/bin/sh\ncat <<'END'\n{text}END\n")
    (folder / "kustomize").chmod(0o755)


def test_a_program_that_is_installed_is_found_and_what_it_makes_is_made_anew(
    desk: Desk, tmp_path: Path
) -> None:
    desk.patch.setenv("PATH", "/nowhere")
    (desk.folder / "kustomization.yaml").write_text(f"namePrefix: x-\n{KUSTOMIZATION}")
    (desk.folder / "more.patch").write_text(POLICY)
    assert desk.works()
    assert not desk.works()
    _program(tmp_path / "bin", POLICY)
    desk.patch.setenv("PATH", f"{tmp_path / 'bin'}:{os.defpath}")
    assert desk.works()
    assert desk.works()


def test_what_rests_on_what_git_has_is_not_kept(desk: Desk) -> None:
    from kumamigrate.scene.scene import GIT_ASKED

    original = checkcommand.check_estate

    def asking(estate: checkcommand.Estate, *given: object) -> object:
        estate.sites[0].written.kept[GIT_ASKED] = True
        return original(estate, *given)  # type: ignore[arg-type]

    desk.patch.setattr(checkcommand, "check_estate", asking)
    assert desk.works()
    assert desk.works()


def test_nothing_is_kept_where_that_is_not_wanted_or_does_not_pay(
    desk: Desk, tmp_path: Path
) -> None:
    desk.check("--no-cache")
    desk.check("--stats")
    desk.check("policy.yaml")
    desk.patch.setenv("KUMAMIGRATE_DEBUG", "1")
    desk.check()
    assert not (tmp_path / "kept").exists()
    assert not (tmp_path / "state").exists()


OPENED = """
import json, os, sys
opened = []
sys.addaudithook(lambda what, given: opened.append((what, [str(one) for one in given[:1]]))
                 if what in ("open", "subprocess.Popen") else None)
from kumamigrate.cli import app
from kumamigrate.deployment.tree import Tree
import kumamigrate.cache.remembered as remembered
told = []
original = remembered.Remembered.keep
def keep(self, answer, estate):
    contents = self.sources.contents
    told.extend([*contents.files, *contents.beside, *contents.scripts])
    told.extend(path for what, path, _ in estate.tree.asked if what in ("file", "below"))
    opened.append(("kept", []))
    return original(self, answer, estate)
remembered.Remembered.keep = keep
code = app(sys.argv[1:])
print(json.dumps({"code": code, "opened": opened, "told": told}), file=sys.stderr)
"""
LAYOUTS: dict[str, dict[str, str]] = {
    "plain": {"a.yaml": POLICY},
    "kustomize": {
        "kustomization.yaml": KUSTOMIZATION,
        "policy.yaml": POLICY,
        "more.patch": POLICY,
    },
    "chart": {
        "Chart.yaml": "apiVersion: v2\nname: shop\nversion: 1.0.0\n",
        "values.yaml": "a: 1\n",
        "templates/a.yaml": POLICY.replace("20s", "{{ .Values.a }}s"),
        "templates/_help.tpl": "{{/* nothing */}}\n",
    },
    "environments": {
        "envs/dev/kustomization.yaml": "resources: [../../base]\n",
        "envs/prod/kustomization.yaml": "resources: [../../base]\n",
        "base/kustomization.yaml": "resources: [a.yaml]\n",
        "base/a.yaml": POLICY,
    },
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_file_that_a_check_opens_is_a_part_of_the_question(name: str, tmp_path: Path) -> None:
    """What Python opens is told by Python itself, so no reader can be forgotten here."""
    folder = tmp_path / "repository"
    for path, text in LAYOUTS[name].items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    (folder / "kumamigrate.toml").touch()
    homes = {"XDG_CACHE_HOME": str(tmp_path / "k"), "XDG_STATE_HOME": str(tmp_path / "s")}
    done = subprocess.run(
        [sys.executable, "-c", OPENED, "check", "--format", "json"],
        cwd=folder,
        env={**os.environ, **homes, "PATH": "/nowhere", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    said = json.loads(done.stderr.splitlines()[-1])
    until = [what for what, _ in said["opened"]].index("kept")
    top = str(folder.resolve())
    seen = {
        os.path.relpath(Path(top) / given[0], top)
        for what, given in said["opened"][:until]
        if what == "open" and not given[0].isdigit() and (Path(top) / given[0]).is_relative_to(top)
    }
    assert any(path.endswith("a.yaml") or path == "policy.yaml" for path in seen)
    # What they decide is which files there are and the options: both are parts of it.
    decided = (".gitignore", ".git/info/exclude", "kumamigrate.toml")
    assert {path for path in seen if not path.endswith(decided)} <= set(said["told"])
    assert not [given for what, given in said["opened"] if what == "subprocess.Popen"]
