"""What the schema says of a field by itself: each type at its bounds, and one step beyond them."""

from __future__ import annotations

from typing import Any

import pytest

from kumamigrate.admit.structure import structure_of
from kumamigrate.model.policytype import Field


def _field(type_: str, **more: Any) -> Field:
    return Field(name="f", path="f", type=type_, merge="scalar", **more)


BELOW = {"inner": Field(name="inner", path="f.inner", type="bool", merge="scalar", required=True)}
FIELDS: list[tuple[Field, list[Any], list[Any]]] = [
    (_field("bool"), [True, False], ["true", 1, None, []]),
    (_field("int"), [-(2**63), 2**63 - 1, 2.0], [2**63, -(2**63) - 1, 0.5, True, "1"]),
    (_field("int32"), [-(2**31), 2**31 - 1], [2**31, -(2**31) - 1]),
    (_field("int64"), [-(2**63), 2**63 - 1], [2**63, -(2**63) - 1]),
    (_field("uint"), [0, 2**64 - 1], [-1, 2**64]),
    (_field("uint32"), [0, 2**32 - 1], [-1, 2**32]),
    (_field("int32", bounds={"min": 1, "max": 3}), [1, 3], [0, 4]),
    (_field("int32", enum=(301, 302)), [301, 302], [303]),
    (_field("int-or-string"), [1, "50%", 2**31 - 1, None], [True, [], 2**31]),
    (_field("bytes"), ["", "Zm9v", "Zm8=", "Zg=="], ["Zm9", "%", 1]),
    (_field("duration"), ["10s", "1m30s"], ["10", "soon", 10, True, [], {}]),
    (_field("string"), ["", "x"], [1, True, [], {}, None]),
    (_field("string", enum=("A", "B")), ["A", "{{ .a }}"], ["a", ""]),
    (_field("string", pattern="^[a-z]+$"), ["ab"], ["AB", ""]),
    (_field("string", bounds={"minLength": 2, "maxLength": 3}), ["ab", "abc"], ["a", "abcd"]),
    (_field("string", has_default=True), [None], [1]),
    (_field("any"), [None, 1, [], {}], []),
    (_field("map[string]string"), [{}, {"a": "b"}], [{"a": 1}, [], "a"]),
    (_field("object"), [{}, {"a": 1}], [[], 1]),
    (_field("object", fields=BELOW), [{"inner": True}], [{}, {"inner": 1}, {"inner": None}, []]),
    (_field("list<string>"), [[], ["a", "${A}"]], ["a", {}, [1], [None], [["a"]], [True]]),
    (_field("list<string>", bounds={"minItems": 1, "maxItems": 2}), [["a"], ["a", "b"]], [[]]),
    (_field("list<string>", bounds={"maxItems": 2}), [[], ["a", "b"]], [["a", "b", "c"]]),
    (_field("list<Kind>", item_enum=("A", "B")), [["A", "B", "<% a %>"]], [["A", "C"]]),
    (_field("list<uint32>", bounds={"max": 5}), [[0, 5]], [[6], [-1], ["1"], [True]]),
    (_field("list<object>", fields=BELOW), [[], [{"inner": False}]], [[{}], ["a"], [{"inner": 1}]]),
]


@pytest.mark.parametrize(("field", "fits", "does_not"), FIELDS, ids=lambda one: str(one)[:60])
def test_a_field_takes_what_fits_and_names_the_place_of_what_does_not(
    field: Field, fits: list[Any], does_not: list[Any]
) -> None:
    def said(value: Any) -> list[Any]:
        return [one.path[:2] for one in structure_of({"f": value}, {"f": field}, ("spec",))]

    assert {str(value): said(value) for value in fits} == {str(value): [] for value in fits}
    assert [value for value in does_not if said(value) != [("spec", "f")]] == []


@pytest.mark.parametrize("required", [True, False])
def test_what_is_required_is_missed(required: bool) -> None:
    fields = {"f": _field("string", required=required)}
    assert [one.missing for one in structure_of({}, fields, ())] == [True] * required


def test_what_may_still_be_filled_in_is_missing_and_not_wrong() -> None:
    few = _field("list<string>", bounds={"minItems": 1})
    assert [one.missing for one in structure_of({"f": []}, {"f": few}, ())] == [True]


@pytest.mark.parametrize("value", ["{{ .x }}", "${X}", "{% x %}"])
def test_a_template_may_become_anything(value: str) -> None:
    for field, _, _ in FIELDS:
        assert list(structure_of({"f": value}, {"f": field}, ())) == []


@pytest.mark.parametrize(
    ("value", "words"),
    [({"a": 1}, "a mapping"), ([1], "a list"), (True, "true"), (False, "false"), (7, "7")],
    ids=str,
)
def test_what_stands_there_instead_is_said(value: Any, words: str) -> None:
    (text,) = structure_of({"f": value}, {"f": _field("string")}, ())
    (duration,) = structure_of({"f": value}, {"f": _field("duration")}, ())
    assert text.message == f"must be a text, not {words}"
    assert duration.message == f"must be a duration such as 10s, not {words}"
