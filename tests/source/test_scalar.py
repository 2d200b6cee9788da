"""What Kuma's reader makes of scalars. Expected values: reports.md F14, Go's YAML 1.1 rules."""

from __future__ import annotations

import pytest

from kumamigrate.source.editing.emit import plain_is_safe, quoted
from kumamigrate.source.reading.scalar import reads_as_string, resolve_plain


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("NULL", None),
        ("nULL", "nULL"),
        ("y", True),
        ("Y", True),
        ("n", False),
        ("on", True),
        ("OFF", False),
        ("yES", "yES"),
        ("true", True),
        ("0", 0),
        ("-0", 0),
        ("010", 8),
        ("0o10", 8),
        ("0x1F", 31),
        ("-0x1f", -31),
        ("0b101", 5),
        ("1_000", 1000),
        ("08", 8),
        ("+12", 12),
        ("1.5", 1.5),
        ("1.", 1),
        (".5", 0.5),
        ("1e3", 1000),
        ("1e", "1e"),
        ("12:30", "12:30"),
        ("2001-12-14", "2001-12-14"),
        ("15s", "15s"),
        ("1.2.3", "1.2.3"),
        ("-", "-"),
        (".", "."),
        (".inf", ".inf"),
        ("18446744073709551615", 18446744073709551615),
        ("<<", "<<"),
    ],
)
def test_resolve_plain_reads_as_kuma(text: str, value: object) -> None:
    got = resolve_plain(text)
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize(
    "text",
    ["yes", "n", "010", "0o10", "1:30", "2001-12-14", "1e3", "~", "null", "=", "<<", ".nan", "1_0"],
)
def test_text_some_reader_takes_for_something_else_is_no_safe_string(text: str) -> None:
    assert not reads_as_string(text)
    assert not plain_is_safe(text, flow=False)


@pytest.mark.parametrize(
    "text", ["15s", "backend_default_svc_80", "kuma.io/mesh", "a b", "10.0.0.0/8", "-a"]
)
def test_ordinary_strings_need_no_quotes(text: str) -> None:
    assert plain_is_safe(text, flow=False)


@pytest.mark.parametrize(
    "text",
    ["a: b", "a #b", "#a", "- a", "*", "&a", " a", "a ", "{a", "a:", "é\n", "---", "%x", "@a", "`"],
)
def test_strings_with_yaml_meaning_need_quotes(text: str) -> None:
    assert not plain_is_safe(text, flow=False)


@pytest.mark.parametrize("text", ["a,b", "a]", "spiffe://x", "a?b"])
def test_flow_style_needs_quotes_for_more(text: str) -> None:
    assert plain_is_safe(text, flow=False)
    assert not plain_is_safe(text, flow=True)


def test_single_quotes_give_way_where_they_cannot_hold_the_text() -> None:
    assert quoted("it's", "'") == "'it''s'"
    assert quoted("a\nb", "'") == '"a\\nb"'
    assert quoted("\x07", '"') == '"\\u0007"'
    assert quoted("😀", '"') == '"😀"'
