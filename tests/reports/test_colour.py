"""Colour is decoration: all is said without it, and names switch none on."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from kumamigrate.report.styled import line, plain, show
from tests.frontdoor import command

LINES = [line(("Proved", "good"), ": no value changes"), line("  ", ("a.yaml:3", "place"))]
NASTY = "x\x1b[31m[red]\u202e[link=http://evil]"


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Forget what the environment of the tests says of colour."""
    for name in ("NO_COLOR", "FORCE_COLOR", "CI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    return monkeypatch


def shown(stream: io.StringIO) -> str:
    """Return what is printed of some lines."""
    show(LINES, stream)
    return stream.getvalue()


def test_a_terminal_gets_colour_and_the_same_words(asked: pytest.MonkeyPatch) -> None:
    del asked
    said = shown(Terminal())
    assert "\x1b[" in said
    assert _without_codes(said) == plain(LINES)


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_who_wants_no_colour_gets_none(name: str, value: str, asked: pytest.MonkeyPatch) -> None:
    asked.setenv(name, value)
    assert shown(Terminal()) == plain(LINES)


def test_a_pipe_gets_none(asked: pytest.MonkeyPatch) -> None:
    del asked
    assert shown(io.StringIO()) == plain(LINES)


def test_what_names_hold_is_shown_and_not_obeyed(asked: pytest.MonkeyPatch) -> None:
    """Escape codes, directions and the markup of the library that colours."""
    del asked
    stream = Terminal()
    show([line((NASTY, "place"))], stream)
    said = _without_codes(stream.getvalue())
    assert said == "x\\x1b[31m[red]\\u202e[link=http://evil]\n"


def test_names_of_resources_and_files_inject_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = """type: MeshTimeout
mesh: default
name: "x\\e[31m[bold]"
spec:
  targetRef: {kind: Mesh}
  from: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1h}}]
"""
    (tmp_path / "[red]\x1b[7m.yaml").write_text(text)
    monkeypatch.chdir(tmp_path)
    for words in (("check",), ("run", "--dry-run"), ("run", "--dry-run", "--verbose")):
        said = command(*words).out
        assert "\x1b" not in said
        assert "[red]\\x1b[7m.yaml:" in said


def _without_codes(text: str) -> str:
    import re

    return re.sub(r"\x1b\[[0-9;]*m", "", text)
