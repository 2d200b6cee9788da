"""Shells complete what the table of arguments says, as their users would see it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from kumamigrate.arguments import COMMANDS
from tests.frontdoor import command

ASKED = (
    ("run --stage ", {"auto", "expand", "contract"}),
    ("completion ", {"bash", "zsh", "fish"}),
    ("rule route-in-t", {"route-in-target-ref"}),
    ("prove --ag", {"--against"}),
)


def script(shell: str, folder: Path) -> Path:
    """Return the script for a shell as a file, or skip where the shell is not there."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    file = folder / f"kumamigrate.{shell}"
    answer = command("completion", shell)
    assert answer.code == 0
    file.write_text(answer.out, encoding="utf-8")
    return file


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_command_and_option_is_in_the_script(shell: str) -> None:
    said = command("completion", shell).out
    for one in COMMANDS:
        assert one.name in said
        for argument in one.arguments:
            for name in argument.names:
                if name.startswith("--"):
                    assert (f"-l {name[2:]}" if shell == "fish" else name) in said


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_can_read_it(shell: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [shell, "-n", script(shell, tmp_path)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("typed", "offered"), ASKED)
def test_bash_offers(typed: str, offered: set[str], tmp_path: Path) -> None:
    file = script("bash", tmp_path)
    words = f"kumamigrate {typed}".split(" ")
    asked = (
        f"source {file}; COMP_WORDS=({' '.join(word or chr(34) * 2 for word in words)});"
        f' COMP_CWORD={len(words) - 1}; _kumamigrate; echo "${{COMPREPLY[@]}}"'
    )
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == offered


@pytest.mark.parametrize(("typed", "offered"), ASKED)
def test_fish_offers(typed: str, offered: set[str], tmp_path: Path) -> None:
    file = script("fish", tmp_path)
    asked = f"source {file}; complete -C 'kumamigrate {typed}'"
    done = subprocess.run(["fish", "-c", asked], capture_output=True, text=True, check=True)
    assert {one.split("\t")[0] for one in done.stdout.splitlines()} == offered


def test_another_shell_is_told_which_there_are() -> None:
    answer = command("completion", "tcsh")
    assert answer.code == 2
    assert "'bash', 'zsh', 'fish'" in answer.err
