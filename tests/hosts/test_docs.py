"""The documentation: generated pages say what the code says, and the site builds strictly."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from kumamigrate.arguments import COMMANDS
from kumamigrate.rewrite.rulebook import rulebook
from tests.cases import ROOT
from tools.reference import FOLDER, pages

WRITTEN = sorted((ROOT / "docs").glob("*.md"))


@pytest.mark.parametrize("name", sorted(pages()))
def test_the_reference_is_what_the_code_holds(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == pages()[name], "run tools/reference.py"


def test_the_reference_has_every_command_and_rule() -> None:
    made = pages()
    for command in COMMANDS:
        assert f"\n## {command.name}\n" in made["commands.md"]
    for rule in rulebook():
        assert f"\n## {rule.id}\n" in made["rules.md"]


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.stem)
def test_commands_and_options_that_are_named_are_there(page: Path) -> None:
    known = {
        command.name: {n for one in command.arguments for n in one.names} for command in COMMANDS
    }
    for line in re.findall(r"kumamigrate [a-z]+ [^\n`#|&]*", page.read_text(encoding="utf-8")):
        words = shlex.split(line, comments=True)
        if words[1] not in known:
            continue
        for word in words[2:]:
            if word.startswith("--"):
                assert word.split("=")[0] in known[words[1]], line


@pytest.mark.skipif(find_spec("material") is None, reason="mkdocs-material is not installed")
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"]
    done = subprocess.run(
        [*command, "--site-dir", str(tmp_path / "site")], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "site" / "reference" / "rules" / "index.html").exists()
