"""What no input may do: hang, crash, pass in silence, or be touched where it must not be."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from kumamigrate.cli import app

TIMEOUT = """type: MeshTimeout
mesh: default
name: t
spec:
  from:
    - targetRef: {kind: Mesh}
      default: {idleTimeout: 1h}
"""


@dataclass(frozen=True)
class Answer:
    """What a command answered, and the files it left."""

    code: int
    text: str
    files: Mapping[str, str]

    @property
    def report(self) -> Any:
        """The answer as JSON."""
        return json.loads(self.text)


class Command:
    """Runs commands in a folder of their own."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        monkeypatch.chdir(folder)

    def __call__(self, words: str, *texts: str, **files: str) -> Answer:
        """Write files (`a.yaml`, or by name) and run a command on the folder."""
        named = {f"{chr(97 + at)}.yaml": text for at, text in enumerate(texts)}
        for name, text in (named | {f"{k}.yaml": v for k, v in files.items()}).items():
            (self.folder / name).write_bytes(text.encode())
        result = CliRunner().invoke(app, words.split())
        text = result.stdout + result.stderr
        assert "internal error" not in text, text
        left = {p.name: p.read_bytes().decode() for p in sorted(self.folder.iterdir())}
        return Answer(result.exit_code, text, left)


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Return what runs commands."""
    return Command(tmp_path, monkeypatch)


@pytest.mark.parametrize("banner", ["#" * 10_000 + "\n", ("#" * 80 + "\n") * 100])
def test_a_banner_of_comment_signs_is_a_comment(banner: str, command: Command) -> None:
    answer = command("run", banner + "# Team Payments\n" + banner + TIMEOUT)
    assert answer.code == 0, answer.text
    assert answer.files["a.yaml"].startswith(banner + "# Team Payments\n" + banner)
    assert "rules:" in answer.files["a.yaml"]
