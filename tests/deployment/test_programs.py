"""What a program that renders leaves when it fails, hangs, says too much or is not there."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from kumamigrate.deployment import program
from kumamigrate.deployment.program import Printed, asked_again, copied, found, run
from kumamigrate.deployment.tree import Tree


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    return folder


def _python(place: Path, text: str) -> Printed:
    return run([sys.executable, "-c", text], place)


def test_what_is_printed_is_kept_as_bytes(place: Path) -> None:
    written = "import sys; sys.stdout.buffer.write(b'a\\xff\\r\\n')"
    assert _python(place, written) == Printed(text=b"a\xff\r\n")


def test_a_program_that_fails_is_quoted(place: Path) -> None:
    failed = _python(place, "import sys; print('x'); sys.exit('it went wrong')")
    assert (failed.text, failed.error) == (b"", "it went wrong")
    assert _python(place, "import sys; sys.exit(7)").error == "it ended with exit code 7"


def test_a_program_that_hangs_is_ended(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "MOST_SECONDS", 1)
    hanging = _python(place, "import time; time.sleep(600)")
    assert hanging.error == "it did not end within 1 seconds"


def test_a_program_that_prints_too_much_is_refused(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "MOST_BYTES", 1024 * 1024)
    most = "print('x' * 1048575)"
    assert len(_python(place, most).text) == 1024 * 1024
    assert _python(place, "print('x' * 1048576)").error == "it printed more than 1 MiB"


def test_a_program_that_is_not_there(place: Path) -> None:
    assert run([str(place / "nothing")], place).error == "No such file or directory"


def test_a_program_has_a_home_without_settings_and_no_input(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", "/cluster")
    monkeypatch.setenv("HTTP_PROXY", "http://proxy")
    told = _python(place, "import os, sys; print(dict(os.environ), sys.stdin.read(), os.getcwd())")
    said = told.text.decode()
    assert "/cluster" not in said
    assert "http://proxy" not in said
    assert str(place.parent / "home") in said
    assert said.rstrip().endswith(str(place.resolve()))


def test_only_what_is_installed_elsewhere_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundled = tmp_path / "repository" / "bin" / "helm"
    bundled.parent.mkdir(parents=True)
    bundled.write_text("#!/bin/sh\n")
    bundled.chmod(0o755)
    monkeypatch.setenv("PATH", str(bundled.parent))
    assert found("helm", tmp_path / "repository") is None
    assert found("helm", tmp_path / "other") == str(bundled)
    assert found("helm", None) == str(bundled)
    assert found("kustomize", None) is None
    monkeypatch.chdir(tmp_path / "repository")
    monkeypatch.setenv("PATH", "bin")
    assert found("helm", None) is None


def test_a_copy_holds_files_and_links_to_its_folders() -> None:
    files = {"a/x.yaml": b"x", "b/y.yaml": b"y"}
    with copied(files, {"c/a": "a", "b/y.yaml": "a"}) as top:
        assert (top / "c/a/x.yaml").read_bytes() == b"x"
        assert (top / "c/a").is_symlink()
        assert not (top / "b/y.yaml").is_symlink()  # what is there stays
        assert (top / "b/y.yaml").read_bytes() == b"y"
    assert not top.exists()


@pytest.mark.parametrize(
    ("what", "where"),
    [("file", "a/x.yaml"), ("folder", "a"), ("link", "a/x.yaml"), ("below", "a")],
)
def test_what_was_asked_of_the_disk_can_be_asked_again(
    what: str, where: str, tmp_path: Path
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.yaml").write_text("x")
    tree = Tree(files={}, root=tmp_path)
    asked_again(tree, what, where)
    first = [one for one in tree.asked if one[:2] == (what, where)]
    assert len(first) == 1
    (tmp_path / "a" / "x.yaml").write_text("y")
    (tmp_path / "a" / "z.yaml").write_text("z")
    again = Tree(files={}, root=tmp_path)
    asked_again(again, what, where)
    changed = what in ("file", "below")
    assert ([one for one in again.asked if one[:2] == (what, where)] != first) is changed


def test_any_name_can_be_asked_for_and_is_told_apart(tmp_path: Path) -> None:
    tree = Tree(files={}, root=tmp_path)
    for answer in ("a\udce9", "b\udce9", "", None, False, b""):
        tree.note("link", "x", answer)
    assert len({digest for *_, digest in tree.asked}) == 6


def test_where_a_link_led_is_noted(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for name in ("b", "c"):
        (tmp_path / "a" / name).write_text("")
    (tmp_path / "link").symlink_to("a/b")
    tree = Tree(files={}, root=tmp_path)
    assert tree.real("link") == "a/b"
    (noted,) = (one for one in tree.asked if one[:2] == ("link", "link"))
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to("a/c")
    again = Tree(files={}, root=tmp_path)
    assert again.real("link") == "a/c"
    assert noted not in again.asked


def test_a_program_gets_what_it_needs_to_run_and_nothing_else(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed = {name: f"/{name}" for name in ("LANG", "LC_ALL", "TMPDIR", "TEMP", "SYSTEMROOT")}
    for name, value in {**needed, "AWS_SECRET_ACCESS_KEY": "x", "KUBECONFIG": "/config"}.items():
        monkeypatch.setenv(name, value)
    said = _python(place, "import json, os; print(json.dumps(dict(os.environ)))")
    given = json.loads(said.text)
    assert {name: given.get(name) for name in needed} == needed
    assert given["PATH"] == os.environ["PATH"]
    assert "AWS_SECRET_ACCESS_KEY" not in given
    assert given["KUBECONFIG"] == os.devnull
