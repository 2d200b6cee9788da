"""New text takes the place of an inline patch as that is written, or not at all."""

from __future__ import annotations

import pytest

from kumamigrate.deployment.inline import with_content
from kumamigrate.source.node import ScalarNode, node_at
from kumamigrate.source.reading.load import read_file


def _with(text: str, content: str) -> str | None:
    file = read_file("kustomization.yaml", text.encode())
    node = node_at(file.documents[0].root, ("p",))
    assert isinstance(node, ScalarNode)
    return with_content(file, node, content)


LITERAL = "a: 1\np: |  # why\n  kind: X\n\n  name: y\nz: 2\n"


def test_a_block_keeps_its_header_and_its_indent() -> None:
    new = "a: 1\np: |  # why\n  kind: Z\n\n  more:\n    deep: 1\nz: 2\n"
    assert _with(LITERAL, "kind: Z\n\nmore:\n  deep: 1\n") == new


def test_a_block_that_ends_without_a_line_break_keeps_that() -> None:
    assert _with("p: |-\n  kind: X", "kind: Y\n") == "p: |-\n  kind: Y"


def test_blank_lines_behind_a_block_stay() -> None:
    assert _with("p: |+\n  kind: X\n\n\nz: 2\n", "kind: Y") == "p: |+\n  kind: Y\n\n\nz: 2\n"


@pytest.mark.parametrize("quote", ["'", '"'])
def test_what_is_quoted_keeps_its_quotes(quote: str) -> None:
    assert _with(f"p: {quote}[a]{quote}  # why\n", "[b]") == f"p: {quote}[b]{quote}  # why\n"


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("p: '[a]'\n", "a\nb"),  # lines
        ("p: '[a]'\n", "it's"),
        ('p: "[a]"\n', "a\\b"),
        ('p: "[\\x61]"\n', "[b]"),  # written otherwise than read
        ("p: >\n  kind: X\n", "kind: Y"),  # folded
        ("p: plain\n", "other"),
        ("p: |\r\n  kind: X\r\n", "kind: Y"),
    ],
)
def test_what_cannot_be_replaced_so_is_left(text: str, content: str) -> None:
    assert _with(text, content) is None
