"""Durations are Go's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumamigrate.model.duration import normal, parse, render


@pytest.mark.parametrize(
    ("text", "go"),
    [
        ("0", "0s"),
        ("60s", "1m0s"),
        ("1m", "1m0s"),
        ("1h", "1h0m0s"),
        ("1.5h", "1h30m0s"),
        ("1500ms", "1.5s"),
        ("20ms", "20ms"),
        ("1us", "1µs"),
        ("1.5µs", "1.5µs"),
        ("7ns", "7ns"),
        ("1s2m", "2m1s"),
        ("-2ms", "-2ms"),
        (".5s", "500ms"),
        ("1.s", "1s"),
    ],
)
def test_normal_is_what_go_prints(text: str, go: str) -> None:
    assert normal(text) == go


@pytest.mark.parametrize("text", ["", "5", "1d", "s", "1 s", "1m-2s", "9999999h", "."])
def test_parse_refuses_what_go_refuses(text: str) -> None:
    assert parse(text) is None
    assert normal(text) == text


@given(st.integers(-(2**62), 2**62))
def test_parse_reads_what_render_writes(nanoseconds: int) -> None:
    assert parse(render(nanoseconds)) == nanoseconds
