"""Two folders that are the same are equivalent, whatever is in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frontdoor import command

UNREAD = {
    "broken": {"a.yaml": "type: MeshTimeout\nname: [\n"},
    "twice": {
        name: f"type: Mesh\nname: default\nlabels: {{from: {name[0]}}}\n"
        for name in ("a.yaml", "b.yaml")
    },
}
OTHER = "type: MeshRetry\nname: r\nmesh: default\nspec: {to: []}\n"


@pytest.mark.parametrize("unread", UNREAD)
def test_what_cannot_be_read_is_the_same_in_both(unread: str, tmp_path: Path) -> None:
    for folder in ("before", "after"):
        (tmp_path / folder).mkdir()
        for name, text in {**UNREAD[unread], "c.yaml": OTHER}.items():
            (tmp_path / folder / name).write_text(text)
    folders = [str(tmp_path / folder) for folder in ("before", "after")]
    said = command("prove", *folders, "--format", "json").json
    assert said["claims"]["live"]["verdict"] == "equivalent"
    first = tmp_path / "after" / "a.yaml"
    first.write_text(first.read_text().replace("name: ", "mtls: {}\nname: ", 1))
    said = command("prove", *folders, "--format", "json").json
    assert said["claims"]["live"]["verdict"] == "unknown"


def test_of_two_that_stand_twice_the_order_tells_which_is_kept(tmp_path: Path) -> None:
    one, two = UNREAD["twice"].values()
    for folder, texts in (("before", (one, two)), ("after", (two, one))):
        (tmp_path / folder).mkdir()
        for name, text in zip(("a.yaml", "b.yaml", "c.yaml"), (*texts, OTHER), strict=True):
            (tmp_path / folder / name).write_text(text)
    folders = [str(tmp_path / folder) for folder in ("before", "after")]
    said = command("prove", *folders, "--format", "json").json
    assert said["claims"]["live"]["verdict"] == "unknown"
