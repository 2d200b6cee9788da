"""The pull-request comment, read by a Markdown parser of its own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from kumamigrate.report.formats.markdown import MOST_BYTES, markdown
from kumamigrate.report.formats.safemarkdown import MOST_CHARACTERS, code, prose, short, table
from tests.frontdoor import command
from tests.reports.handmade import HOSTILE, entry, named, report, witness

SCREEN = 45
"""So many lines are a screen."""
FOLDS = {"details", "summary"}
OURS = {"h3", "p", "table", "thead", "tbody", "tr", "th", "td", "code", "pre", "ul", "ol", "li"}


class Page(HTMLParser):
    """The tags and the text of a page, as a browser takes them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.rows: list[list[str]] = []
        self.text = ""
        self.in_cell = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        assert not attrs or tag in ("code", "ol"), (tag, attrs)
        self.tags.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self.in_cell = True

    def handle_endtag(self, tag: str) -> None:
        self.in_cell = self.in_cell and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.in_cell:
            self.rows[-1][-1] += data


def page(text: str) -> Page:
    reader = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    return Page(reader.render(text))


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_shown_and_mean_nothing(name: str) -> None:
    shown = page("\n".join(table(["a", "b"], [[code(name), code("end")]])))
    assert shown.rows[1:] == [[short(name), "end"]]
    assert set(shown.tags) <= OURS
    told = page(f"- {prose(name)}")
    assert set(told.tags) <= {"ul", "li"}
    assert told.text.strip().replace("\u200b", "") == short(name)


MARKS = "`|*_<>&[]()\\~#!@:/. ab0\t\n\r"
# `st.text()` would first make a table of all of Unicode: seconds, in every worker.
ANY_TEXT = st.lists(
    st.one_of(
        st.integers(0, 0xD7FF), st.integers(0xE000, 0x10FFFF), st.sampled_from([*map(ord, MARKS)])
    ).map(chr),
    min_size=1,
).map("".join)


@given(ANY_TEXT)
def test_any_text_is_one_cell_of_code(text: str) -> None:
    shown = page("\n".join(table(["a", "b"], [[code(text), "`end`"]])))
    assert [cell.strip() for cell in shown.rows[1]] == [short(text), "end"]
    assert set(shown.tags) <= OURS


@given(ANY_TEXT)
def test_any_text_is_one_sentence(text: str) -> None:
    told = page(f"- {prose(text)}")
    assert set(told.tags) <= {"ul", "li"}
    assert told.text.strip().replace("\u200b", "") == short(text, 4 * MOST_CHARACTERS).replace(
        "\u200b", ""
    )


def test_nothing_pings_and_nothing_links() -> None:
    told = prose("@org/team http://evil.test www.evil.test fixes #12")
    assert not re.search(r"@\w|://|www\.|#\d", told)


def before_the_folds(text: str) -> list[str]:
    """Return the lines that are seen without a click."""
    return re.sub(r"(?s)<details>.*?</details>\n*", "", text).splitlines()


@pytest.mark.parametrize("number", [1, 11, 300, 2_000])
def test_a_comment_is_a_screen_and_fits(number: int) -> None:
    witnesses = [witness(destination=f"service-{at}") for at in range(number)]
    findings = [entry(file=f"{'f' * 100}{at}.yaml") for at in range(number)]
    text = markdown(report(witnesses, findings))
    assert len(text.encode()) <= MOST_BYTES
    assert len(before_the_folds(text)) <= SCREEN
    assert all(len(line) <= 700 for line in before_the_folds(text))
    assert f"**{number} setting" in text
    if number > 10:
        assert f"<summary>{number - 10:,} more row" in text


@pytest.mark.parametrize("name", HOSTILE)
def test_a_comment_holds_any_name(name: str) -> None:
    made = named(name)
    shown = page(markdown(made))
    assert set(shown.tags) <= OURS | FOLDS | {"strong"}
    assert {len(row) for row in shown.rows} == {4, 5}
    assert shown.tags.count("details") == markdown(made).count("<summary>") >= 3


def tree(*parts: str) -> Iterator[str]:
    yield "type: Mesh\nname: default\nmeshServices: {mode: Exclusive}\n"
    yield 'skipCreatingInitialPolicies: ["*"]\n'
    yield from parts


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    entry = "[{targetRef: {kind: Mesh}, default: {idleTimeout: 9s}}]"
    inbound = f"{{targetRef: {{kind: Mesh}}, from: {entry}}}"
    subset = f"{{targetRef: {{kind: MeshSubset, tags: {{v: '1'}}}}, to: {entry}}}"
    parts = (
        f"---\ntype: MeshTimeout\nname: inbound\nmesh: default\nspec: {inbound}\n",
        f"---\ntype: MeshTimeout\nname: 'a|b`<b>'\nmesh: default\nspec: {subset}\n",
    )
    (tmp_path / "a|`<b>.yaml").write_text("".join(tree(*parts)))
    return tmp_path


def test_a_run_and_a_check_say_what_to_do(folder: Path) -> None:
    run = command("run", folder, "--dry-run", "--target", "3.0", "--format", "markdown").out
    assert run.startswith("<!-- kumamigrate -->\n### Would change 1 file")
    assert f"kumamigrate run --target 3.0 --dry-run --initial-policies none {folder}" in run
    assert "`default`" in run
    check = command("check", folder, "--target", "3.0", "--format", "markdown").out
    assert re.search(r"### \d findings for Kuma 3\.0", check)
    assert f"kumamigrate check --target 3.0 --initial-policies none {folder}" in check
    for text in (run, check):
        assert set(page(text).tags) <= OURS | FOLDS | {"strong"}


def test_a_file_is_saved_beside_the_text(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "comment.md"
    answer = command("check", folder, "--target", "3.0", "--output", f"markdown={file}")
    assert answer.out.startswith("Kuma")
    assert file.read_text().startswith("<!-- kumamigrate -->")


def meshes_of(folder: Path, *words: str) -> list[Mapping[str, Any]]:
    out = command("run", folder, "--dry-run", "--format", "json", *words).out
    rows: list[Mapping[str, Any]] = json.loads(out)["meshes"]
    return rows


def test_rows_say_what_changes_in_each_mesh(folder: Path) -> None:
    (folder / "other.yaml").write_text("".join(tree()).replace("name: default", "name: idle"))
    (row, idle) = sorted(meshes_of(folder), key=lambda one: str(one["mesh"]))
    assert (row["mesh"], row["verdict"], row["files"]) == ("default", "equivalent", 1)
    assert row["changed"] >= 1
    assert (idle["mesh"], idle["changed"], idle["files"]) == ("idle", 0, 0)
