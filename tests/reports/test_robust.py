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


SOPS = """sops:
  lastmodified: "2024-05-21T15:21:04Z"
  mac: ENC[AES256_GCM,data:mJjJ,iv:AA==,tag:AA==,type:str]
  version: 3.8.1
"""
KUBERNETES = """apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: t, namespace: kuma-system}
spec:
  from:
    - targetRef: {kind: Mesh}
      default: {idleTimeout: 1h}
"""
LIST = (
    "apiVersion: v1\nkind: List\nitems:\n  - " + KUBERNETES.replace("\n", "\n    ").rstrip() + "\n"
)
AS_JSON = json.dumps(
    {
        "type": "MeshTimeout",
        "mesh": "default",
        "name": "t",
        "spec": {"from": [{"targetRef": {"kind": "Mesh"}, "default": {"idleTimeout": "1h"}}]},
        "sops": {"mac": "ENC[AES256_GCM,data:x]", "version": "3.8.1"},
    }
)


@pytest.mark.parametrize(
    "text", [TIMEOUT + SOPS, KUBERNETES + SOPS, SOPS + TIMEOUT, LIST + SOPS, AS_JSON]
)
def test_what_sops_has_signed_is_never_edited_and_that_is_said(text: str, command: Command) -> None:
    answer = command("run", text)
    assert answer.code == 3
    assert answer.files["a.yaml"] == text
    assert "encrypted with sops" in answer.text
    assert "cannot be edited without loss" in answer.text
    assert "Filled in by templates" not in answer.text  # the checksum is no value of Kuma's


def test_beside_a_signed_document_others_are_edited(command: Command) -> None:
    signed = TIMEOUT + SOPS
    other = TIMEOUT.replace("name: t", "name: u")
    answer = command("run", f"{signed}---\n{other}")
    assert answer.code == 3
    assert answer.files["a.yaml"].startswith(f"{signed}---\n")
    assert answer.files["a.yaml"].count("rules:") == 1


def test_a_value_that_sops_has_encrypted_is_not_known(command: Command) -> None:
    hidden = TIMEOUT.replace("1h", "'ENC[AES256_GCM,data:mJjJ,iv:AA==,tag:AA==]'")
    answer = command("check", hidden + SOPS)
    assert answer.code == 3
    assert "fills in a part of MeshTimeout t" in answer.text
    assert "duration" not in answer.text


YTT = [
    pytest.param(
        '#@ load("@ytt:data", "data")\n---\n'
        + TIMEOUT.replace("  from:", "  #@ if data.values.inbound:\n  from:")
        + "  #@ end\n",
        id="if",
    ),
    pytest.param("#@ if/end True:\n---\n" + TIMEOUT, id="document"),
    pytest.param(TIMEOUT.replace("1h}", "1h} #@ f()"), id="behind a value"),
    pytest.param(TIMEOUT.replace("{idleTimeout: 1h}", "#@ conf()"), id="value"),
    pytest.param(TIMEOUT.replace("name: t", "name: #@ data.values.name"), id="name"),
    pytest.param("#@ for name in names:\n---\n" + TIMEOUT + "#@ end\n", id="loop"),
    pytest.param(
        "#@ if True:\n---\nkind: ConfigMap\n---\n" + TIMEOUT + "---\na: b\n#@ end\n", id="in branch"
    ),
    pytest.param(TIMEOUT.replace("spec:", "#@overlay/replace\nspec:"), id="overlay"),
    pytest.param('#@overlay/match by="metadata.name"\n---\n' + TIMEOUT, id="overlay document"),
    pytest.param(TIMEOUT.replace("spec:", "spec: #@overlay/match-child-defaults x=1"), id="map"),
]


@pytest.mark.parametrize("text", YTT)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_what_ytt_rules_is_templated_and_stays(text: str, line_end: str, command: Command) -> None:
    text = text.replace("\n", line_end)
    answer = command("run", text)
    assert answer.code == 3, answer.text
    assert answer.files["a.yaml"] == text
    assert "Proved" not in answer.text
    assert "Nothing to change" not in answer.text or "a.yaml" in answer.text


def test_an_overlay_is_no_manifest(command: Command) -> None:
    overlay = '#@overlay/match by="metadata.name"\n---\n' + KUBERNETES
    answer = command("check --format json", overlay)
    assert answer.report["coverage"]["kuma"] == 0
    assert [one["reason"] for one in answer.report["coverage"]["unread"]] == ["template"]


@pytest.mark.parametrize(
    "comment",
    ["#! a comment of ytt", '#@ load("@ytt:data", "data")', "#@author: me", "# @schema", "#@@"],
)
def test_what_rules_nothing_is_a_comment(comment: str, command: Command) -> None:
    answer = command("run", f"{comment}\n---\n{TIMEOUT}")
    assert answer.code == 0, answer.text
    assert answer.files["a.yaml"].startswith(f"{comment}\n---\n")
    assert "rules:" in answer.files["a.yaml"]


@pytest.mark.parametrize("value", ["!vault abc", "!include x.yaml", "<%= idle %>", "'<%= idle %>'"])
def test_what_a_tool_fills_in_is_not_known(value: str, command: Command) -> None:
    text = TIMEOUT.replace("{idleTimeout: 1h}", f"{{idleTimeout: {value}}}")
    answer = command("run", text)
    assert (answer.code, answer.files["a.yaml"]) == (3, text)
    assert "fills in a part of MeshTimeout t" in answer.text
