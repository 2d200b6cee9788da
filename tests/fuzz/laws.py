"""What holds for every input: an answer, no traceback, and no byte changed that was not said."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import kumamigrate
from kumamigrate.cli import app
from kumamigrate.library import EditRefusedError, Sources
from kumamigrate.model.kinds import GLOBAL_SCOPED, MESH_SCOPED
from kumamigrate.model.release import release
from kumamigrate.model.state import Environment
from kumamigrate.scene.loadfiles import FileContents
from kumamigrate.source.reading.load import read_file
from kumamigrate.world.options import Options
from kumamigrate.world.scope import Extent, Scope
from tests.independent import independent, loosely, plain
from tests.runner import CliRunner

MESH = b"type: Mesh\nname: default\nmeshServices: {mode: Exclusive}\n"


TEMPLATED = ("{{", "{%", "<%", "#@")
"""What makes a text a template, of which another reader sees the marks."""
BREAKING = ("\ufeff", "\u2028", "\u2029", "\x85")
"""What ends or begins a line for Go's reader, as for libyaml, and not for every other one."""

TYPES = "|".join(sorted({*MESH_SCOPED, *GLOBAL_SCOPED, *release("2.14").policy_types}))
KUMA = re.compile(rf"^(?:type: (?:{TYPES})|apiVersion: kuma\.io/.*)$".encode(), re.M)
"""What makes a text certainly one of Kuma's."""


def _files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    for path in folder.iterdir():
        path.unlink()
    for name, data in files.items():
        (folder / name).write_bytes(data)


def answer(folder: Path, words: Sequence[str]) -> tuple[int, str]:
    """Run a command in a folder; what is no answer is an AssertionError."""
    here = Path.cwd()
    os.chdir(folder)
    try:
        result = CliRunner().invoke(app, list(words))
    finally:
        os.chdir(here)
    said = result.stdout + result.stderr
    assert result.exception is None or isinstance(result.exception, SystemExit), words
    assert 0 <= result.exit_code <= 4, (words, result.exit_code, said)
    assert "internal error" not in said, (words, said)
    assert "Traceback" not in said, (words, said)
    return result.exit_code, result.stdout


def reads_without_touching(folder: Path, data: bytes) -> None:
    """Hold that commands which only read leave every byte, and answer."""
    _write(folder, {"a.yaml": data, "m.yaml": MESH})
    before = _files(folder)
    for words in (("check",), ("check", "--target", "3.0"), ("inspect",), ("prove", ".", ".")):
        answer(folder, words)
    answer(folder, ("run", "--dry-run"))
    assert _files(folder) == before


def writes_what_it_says(folder: Path, data: bytes) -> None:
    """Hold that a run changes only the files that it names, and that a second one is idle."""
    _write(folder, {"a.yaml": data, "m.yaml": MESH})
    before = _files(folder)
    for target in ("2.14", "3.0"):
        given = ("run", "--target", target, "--initial-policies", "none", "--format", "json")
        code, printed = answer(folder, given)
        after = _files(folder)
        changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
        said = set(json.loads(printed)["files"]) if code != 2 else set()
        assert changed == said, (changed, said)
        for name in changed & after.keys():
            _reads_alike(name, after[name])
        code, printed = answer(folder, given)
        assert _files(folder) == after, "a second run changed something"
        before = after


def plans_without_faults(data: bytes) -> None:
    """Hold that what every rule would write can be written, and reads as another reader has it.

    Nothing is proven and nothing touches the disk, so that a hundred thousand texts can be tried.
    """
    contents = FileContents(files={"a.yaml": data, "m.yaml": MESH}, refusals=[], beside={})
    scope = Scope(root=Path("/nowhere"), read=(Path(),), given=(Path(),), world=Extent.PATHS)
    for target in ("2.14", "3.0"):
        options = Options(target=target, environment=Environment(initial_policies="none"))
        reading = kumamigrate.read(Sources(scope=scope, options=options, contents=contents))
        file = reading.estate.whole.repository.files.get("a.yaml")
        assert file is None or not file.documents or file.render() == data
        for change in kumamigrate.plan(reading).changes:
            try:
                after = kumamigrate.apply(reading, [change])
            except EditRefusedError:
                continue
            file = after.estate.whole.repository.files.get("a.yaml")
            if file is not None:
                _reads_alike("a.yaml", file.render())


def leaves_a_repository_alone(folder: Path, files: Mapping[str, bytes], target: str) -> None:
    """Hold that a check touches none of many files, and names what it refuses: as a dry run does
    (`writes_a_repository`)."""
    _write(folder, {**files, "m.yaml": MESH})
    before = _files(folder)
    _names_what_it_refuses(_report(folder, ("check", "--target", target)), files)
    assert _files(folder) == before


def writes_a_repository(folder: Path, files: Mapping[str, bytes], target: str) -> None:
    """Hold that a run over many files changes what it names, there alone, and once.

    What it writes is what a dry run before it showed as a patch, as Git applies it.
    """
    _write(folder, {**files, "m.yaml": MESH})
    before = _files(folder)
    words = ("run", "--target", target)
    shown = _report(folder, (*words, "--dry-run", "--diff", "p.diff"))
    patch = (folder / "p.diff").read_bytes()
    (folder / "p.diff").unlink()
    assert _files(folder) == before, "a dry run changed something"
    _names_what_it_refuses(shown, files)
    report = _report(folder, words)
    after = _files(folder)
    changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    assert changed == set(report["files"]) == set(shown["files"]), changed
    _names_what_it_refuses(report, files)
    for name in sorted(changed & before.keys()):
        _changes_nothing_else(name, before[name], after.get(name, b""), report)
        if name in after:
            _reads_alike(name, after[name])
    _write(folder, before)
    if patch:
        command = ("git", "apply", "--whitespace=nowarn", "-")
        subprocess.run(command, cwd=folder, input=patch, check=True, capture_output=True)
    assert _files(folder) == after, "the patch is not what was written"
    assert not _report(folder, words)["files"], "a second run changed something"
    assert _files(folder) == after


def _report(folder: Path, words: Sequence[str]) -> Any:
    _, out = answer(folder, (*words, "--initial-policies", "none", "--format", "json"))
    return json.loads(out)


def _names_what_it_refuses(report: Any, files: Mapping[str, bytes]) -> None:
    named = {unread["file"] for unread in report["coverage"]["unread"]}
    for name, data in files.items():
        if name not in named and KUMA.search(data):
            assert not read_file(name, data).refusals, name


def _changes_nothing_else(name: str, before: bytes, after: bytes, report: Any) -> None:
    """Hold that documents of which a report says nothing keep every byte."""
    told = [f["line"] for f in report["findings"] if (f["file"], f["status"]) == (name, "fixed")]
    left, line = after.splitlines(keepends=True), 1
    kept = re.split(rb"^---.*\n", after, flags=re.MULTILINE)
    for document in re.split(rb"(?<=\n)(?=---)", before):
        end = line + document.count(b"\n")
        if not any(line <= at <= end for at in told):
            text = re.sub(rb"^---.*\n", b"", document)
            assert text in kept, (name, line, text, left)
        line = end


def _reads_alike(name: str, data: bytes) -> None:
    """Hold that a reader that shares no code with ours finds the same values in what was written.

    What it cannot read, a template for one, it says nothing about.
    """
    text = data.decode("utf-8-sig")
    theirs = None if any(mark in text for mark in (*TEMPLATED, *BREAKING)) else independent(text)
    ours = [document.value for document in read_file(name, data).documents if document.holds]
    if theirs is not None and not read_file(name, data).refusals:
        values = [loosely(plain(value)) for value in ours if value is not None]
        for value, other in zip(values, map(loosely, theirs.values), strict=True):
            assert value == other, (value, other)


def takes_words(folder: Path, words: Sequence[str]) -> None:
    """Hold that every command line is answered."""
    _write(folder, {"a.yaml": MESH})
    answer(folder, words)
