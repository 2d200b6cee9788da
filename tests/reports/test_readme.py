"""The sample of output in the README is what the command prints."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cases import EXAMPLE, FIXTURES, ROOT
from tests.frontdoor import command


def test_the_sample_is_what_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(FIXTURES / EXAMPLE / "before", tmp_path / "gitops")
    (tmp_path / "gitops" / ".git").mkdir()
    monkeypatch.chdir(tmp_path / "gitops")
    printed = command("run", "--dry-run", given=None).out
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    sample = text.split("$ kumamigrate run --dry-run\n")[1].split("```")[0]
    assert printed.endswith(sample)
