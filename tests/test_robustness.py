"""Hostile repositories: nothing is lost, everything else is served, the right exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kumamigrate.cli import app
from tests.test_commands import MESH, OLD, ROUTE

OTHER = OLD.replace("slow-api", "other")


def _call(monkeypatch: pytest.MonkeyPatch, folder: Path, *words: str) -> tuple[int, str]:
    monkeypatch.chdir(folder)
    result = CliRunner().invoke(app, list(words))
    text = result.stdout + result.stderr
    assert "internal error" not in text
    return result.exit_code, text


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A mesh in mode Exclusive with one policy in the old form."""
    for name, text in (("mesh", MESH), ("route", ROUTE), ("timeout", OLD)):
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "data",
    [
        OTHER.replace("bank", "b\xe4nk").encode("latin-1"),
        OTHER.encode("utf-16"),
        OTHER.encode("utf-16-le"),
        OTHER.encode("utf-32"),
        OTHER.encode() + b"# " + b"x" * (10 * 1024 * 1024),
    ],
    ids=["latin-1", "utf-16", "utf-16 without mark", "utf-32", "too large"],
)
def test_a_file_that_cannot_be_read_keeps_every_byte(
    data: bytes, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shop / "odd.yaml").write_bytes(data)
    code, text = _call(monkeypatch, shop, "run", "--format", "json")
    report = json.loads(text)
    assert (code, report["coverage"]["unread"][0]["file"]) == (3, "odd.yaml")
    assert "odd.yaml" not in report["files"]
    assert (shop / "odd.yaml").read_bytes() == data
