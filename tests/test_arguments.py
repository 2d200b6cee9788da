"""The words of a command line: where they may stand, and what is said of those that may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumamigrate.arguments import COMMANDS, Command
from kumamigrate.cli import app
from tests.frontdoor import command
from tests.runner import CliRunner

KUMA = "type: Mesh\nname: default\n"


def test_options_may_stand_before_between_and_behind_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        Path(f"{name}.yaml").write_text(KUMA.replace("default", name), encoding="utf-8")
    orders = (
        ("--target", "3.0", "a.yaml", "b.yaml"),
        ("a.yaml", "--target=3.0", "b.yaml"),
        ("a.yaml", "b.yaml", "--target", "3.0"),
        ("a.yaml", "--target", "3.0", "--", "b.yaml"),
    )
    answers = {command("check", *words, "--format", "json", given=None).out for words in orders[:3]}
    answers.add(command("check", "--format", "json", *orders[3], given=None).out)
    assert len(answers) == 1
    assert '"target": "3.0"' in answers.pop()


def test_what_stands_behind_two_dashes_is_a_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("-x.yaml").write_text(KUMA, encoding="utf-8")
    assert command("check", "--", "-x.yaml", given=None).code == 0
    assert "there is no option -x.yaml" in command("check", "-x.yaml", given=None).err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["chekc"], "there is no command chekc"),
        (["--colour"], "there is no option --colour"),
        (["check", "--targte", "3.0"], "there is no option --targte, but --target;"),
        (["check", "--tar", "3.0"], "there is no option --tar,"),
        (["check", "--stage", "later"], "invalid choice: 'later'"),
        (["check", "--format"], "expected one argument"),
        (["prove", "a", "b", "c"], "c is one argument too many"),
        (["rules", "a"], "a is one argument too many"),
        (["rule"], "required: ID"),
    ],
)
def test_what_is_no_command_line_ends_with_2_and_one_sentence(words: list[str], said: str) -> None:
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


@pytest.mark.parametrize("one", COMMANDS, ids=lambda one: one.name)
def test_help_names_every_argument(one: Command) -> None:
    result = CliRunner().invoke(app, [one.name, "--help"])
    assert result.exit_code == 0
    for argument in one.arguments:
        name = argument.names[0]
        assert (name if name.startswith("-") else argument.settings["metavar"]) in result.stdout


@pytest.mark.parametrize("one", COMMANDS, ids=lambda one: one.name)
def test_help_has_examples_that_can_be_read_and_exit_codes(one: Command) -> None:
    said = CliRunner().invoke(app, [one.name, "--help"]).stdout
    assert "\nexamples:\n" in said
    assert "\nexit codes:\n  0  " in said
    known = {command.name: command for command in COMMANDS}
    examples = said.split("\nexamples:\n")[1].split("\nexit codes:")[0].splitlines()
    for example in filter(None, examples):
        words = example.split("kumamigrate ", 1)[1].split("  ")[0].split()
        names = {name for argument in known[words[0]].arguments for name in argument.names}
        assert {word for word in words if word.startswith("--")} <= names


@pytest.mark.parametrize("one", COMMANDS, ids=lambda one: one.name)
def test_help_says_what_holds_without_an_option(one: Command) -> None:
    """What is left out has a default, unless it switches something on or names something more."""
    for argument in one.arguments:
        told = str(argument.settings.get("help", ""))
        if "choices" in argument.settings and argument.names[0].startswith("-"):
            assert "default: " in told or argument.names[0] == "--deletions", argument.names


def test_the_overview_names_every_command() -> None:
    bare, asked = (CliRunner().invoke(app, words) for words in ([], ["--help"]))
    assert bare.stdout == asked.stdout
    assert (bare.exit_code, asked.exit_code) == (2, 0)
    assert all(f"\n  {one.name} " in asked.stdout for one in COMMANDS)
