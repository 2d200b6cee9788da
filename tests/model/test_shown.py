"""How a value is put for a reader."""

from __future__ import annotations

from typing import Any

import pytest

from kumamigrate.model.shown import value_words


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "none"),
        ("5s", "5s"),
        (True, "true"),
        (0, "0"),
        ([], "[]"),
        ({"b": 1, "a": ["ü"]}, '{"a": ["ü"], "b": 1}'),
        ("x" * 80, "x" * 80),
        ("x" * 81, "x" * 77 + "…"),
    ],
    ids=str,
)
def test_a_value_in_words(value: Any, words: str) -> None:
    assert value_words(value) == words
