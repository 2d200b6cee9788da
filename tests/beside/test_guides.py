"""Examples in Markdown change on request, block by block, and nothing around them does."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumamigrate.source.editing.fences import put_back, sheet_of
from tests.frontdoor import command

GUIDE = """\
# Timeouts

Write `type: MeshTimeout` so:

```yaml
type: MeshTimeout
mesh: default
name: slow
spec:
  targetRef: {kind: Mesh}
  from: # all of them
  - targetRef: {kind: Mesh}
    default: {idleTimeout: 5m}
```

1. Or so:

   ~~~yaml title="x"
   apiVersion: kuma.io/v1alpha1
   kind: MeshTimeout
   metadata:
     name: listed
     namespace: kuma-system
     labels: {kuma.io/mesh: default}

   spec:
     from:
     - targetRef: {kind: Mesh}
       default: {idleTimeout: 6m}
   ~~~

---

The end, without a line break"""
AFTER = (
    GUIDE.replace("  from: # all of them\n  - targetRef: {kind: Mesh}\n    default", "@")
    .replace("@", "  rules: # all of them\n  - default")
    .replace("     from:\n     - targetRef: {kind: Mesh}\n       default", "@")
    .replace("@", "     rules:\n     - default")
)


@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_examples_change_and_every_other_byte_stays(ending: str, tmp_path: Path) -> None:
    file = tmp_path / "guide.md"
    file.write_bytes(GUIDE.replace("\n", ending).encode())
    answer = command("run", tmp_path, "--markdown", "--select", "from-section")
    assert file.read_bytes().decode() == AFTER.replace("\n", ending)
    assert "guide.md   examples changed" in answer.out
    assert "guide.md:12   MeshTimeout slow   from-section" in answer.out
    again = command("run", tmp_path, "--markdown", "--select", "from-section")
    assert "guide.md   stays as it is" in again.out
    assert file.read_bytes().decode() == AFTER.replace("\n", ending)


def test_without_the_flag_and_in_a_dry_run_nothing_is_written(tmp_path: Path) -> None:
    file = tmp_path / "guide.md"
    file.write_text(GUIDE)
    command("run", tmp_path)
    assert file.read_text() == GUIDE
    patch = tmp_path / "p.patch"
    words = ("--markdown", "--dry-run", "--diff", patch, "--select", "from-section")
    answer = command("run", tmp_path, *words)
    assert (answer.code, file.read_text()) == (1, GUIDE)
    assert "+  rules: # all of them" in answer.out
    assert "+++ b/guide.md" in patch.read_text()


def test_programs_are_told_what_became_of_examples(tmp_path: Path) -> None:
    (tmp_path / "guide.md").write_text(GUIDE)
    words = ("--markdown", "--dry-run", "--select", "from-section", "--format", "json")
    (told,) = command("run", tmp_path, *words).json["markdown"]
    assert (told["file"], told["changed"], told["problem"]) == ("guide.md", True, None)
    assert {f["line"] for f in told["findings"] if f["status"] == "fixed"} == {12, 28}


def test_examples_say_nothing_of_the_mesh(tmp_path: Path) -> None:
    """The same name in a manifest and in an example is no conflict, and no other world."""
    manifest = GUIDE.split("```yaml\n")[1].split("```")[0]
    (tmp_path / "slow.yaml").write_text(manifest)
    (tmp_path / "guide.md").write_text(GUIDE.replace("5m", "9m"))
    plain = command("run", tmp_path, "--dry-run", "--format", "json").json
    with_examples = command("run", tmp_path, "--dry-run", "--markdown", "--format", "json").json
    assert plain["findings"] == with_examples["findings"]
    assert plain["proof"] == with_examples["proof"]


def test_a_resource_shown_twice_is_read_block_by_block(tmp_path: Path) -> None:
    block = GUIDE[GUIDE.index("```yaml") : GUIDE.index("1. Or")]
    file = tmp_path / "guide.md"
    file.write_text(block + "or\n\n" + block.replace("5m", "7m"))
    command("run", tmp_path, "--markdown", "--select", "from-section")
    text = file.read_text()
    assert (text.count("  rules: # all of them\n"), text.count("from:")) == (2, 0)
    assert ("5m" in text, "7m" in text) == (True, True)


@pytest.mark.parametrize("first", [True, False])
def test_an_example_before_and_after_changes_as_if_it_stood_alone(
    tmp_path: Path, *, first: bool
) -> None:
    """Applied together the new form would be what is there already, and the old one no change of
    it. Lines are those of the file as it is."""
    old, new = (text[text.index("```yaml") : text.index("1. Or")] for text in (GUIDE, AFTER))
    shown = [old, new] if first else [new, old]
    (tmp_path / "guide.md").write_text("".join([*shown, old]))
    words = ("--markdown", "--dry-run", "--select", "from-section", "--format", "json")
    (told,) = command("run", tmp_path, *words).json["markdown"]
    lines = [
        number
        for number, line in enumerate("".join([*shown, old]).split("\n"), 1)
        if "from" in line
    ]
    fixed = [finding["line"] for finding in told["findings"] if finding["status"] == "fixed"]
    assert fixed == [line + 1 for line in lines]


def test_only_what_was_named_may_be_written(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "guide.md").write_text(GUIDE)
    command("run", tmp_path / "a", "--markdown", "--select", "from-section")
    assert (tmp_path / "a" / "guide.md").read_text() == AFTER
    assert (tmp_path / "b" / "guide.md").read_text() == GUIDE


def test_a_new_document_stays_within_its_block(tmp_path: Path) -> None:
    """A policy with both directions becomes two: the second one stands before the fence."""
    first = GUIDE.split("1. Or")[0]
    to = "  to:\n  - targetRef: {kind: Mesh}\n    default: {idleTimeout: 4m}\n"
    both = first.removesuffix("```\n\n") + to + "```\n\n"
    file = tmp_path / "guide.md"
    file.write_text(both)
    command("run", tmp_path, "--markdown", "--select", "from-section")
    text = file.read_text()
    inside = text.split("```yaml\n")[1].split("```\n")[0]
    assert (inside.count("type: MeshTimeout"), text.count("type: MeshTimeout")) == (2, 3)
    assert text.endswith("```\n\n")


def test_a_sheet_has_the_lines_of_its_text() -> None:
    sheet = sheet_of(GUIDE)
    assert sheet.text.count("\n") == GUIDE.count("\n")
    assert sheet.text.splitlines()[5] == "type: MeshTimeout"
    assert sheet.text.splitlines()[18] == "apiVersion: kuma.io/v1alpha1"
    assert put_back(sheet, sheet.text) == GUIDE


def test_what_reaches_beyond_a_block_is_not_put_back() -> None:
    sheet = sheet_of(GUIDE)
    first = "--- # fence 0\n"
    assert put_back(sheet, sheet.text.replace(first, "")) is None
    assert put_back(sheet, sheet.text.replace(first, first + first)) is None
    assert put_back(sheet, "name: x\n" + sheet.text) is None
    assert put_back(sheet, sheet.text.replace("name: slow\n", "name: fast\n")) == GUIDE.replace(
        "name: slow\n", "name: fast\n"
    )


def test_the_blocks_of_a_guide_are_one_mesh(tmp_path: Path) -> None:
    """A policy on a route moves with the mode that another block says, to the route of a third."""
    fixture = Path(__file__).parents[2] / "fixtures" / "route-in-target-ref" / "rewrites"
    texts = []
    for side in ("before", "after"):
        blocks = [file.read_text() for file in sorted((fixture / side).iterdir())]
        texts.append("so\n\n".join(f"```yaml\n{block}```\n" for block in blocks))
    file = tmp_path / "guide.md"
    file.write_text(texts[0])
    command("run", tmp_path, "--markdown")
    assert file.read_text() == texts[1]
