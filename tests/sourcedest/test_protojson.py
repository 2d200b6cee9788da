"""What protobuf's JSON mapping reads of each scalar: its bounds, and one step beyond each."""

from __future__ import annotations

from typing import Any

import pytest

from kumamigrate.sourcedest.goduration import seconds
from kumamigrate.sourcedest.protojson import ProtobufReading

COLOURS = {"enum": ["RED", "GREEN", "BLUE"]}
FIELDS = {"someName": "string", "inner": {"other": "uint32"}}


@pytest.mark.parametrize(
    ("shape", "written", "read"),
    [
        (COLOURS, "RED", "RED"),
        (COLOURS, 0, "RED"),
        (COLOURS, 2, "BLUE"),
        ("uint32", 0, 0),
        ("uint32", 2**32 - 1, 2**32 - 1),
        ("uint32", "4294967295", 2**32 - 1),
        ("uint32?", 7.0, 7),
        ("uint64", 2**64 - 1, 2**64 - 1),
        ("double", 0, 0.0),
        ("double", "1.5", 1.5),
        ("double", -2, -2.0),
        ("bool", False, False),
        ("string", "", ""),
        ("bytes", "Zm8=", b"fo"),
        ("bytes", "Zm8", b"fo"),
        ("duration", "2s", seconds(2)),
        ("any", [1], [1]),
        ("struct", {"a": 1}, {"a": 1}),
        (["uint32"], ["1", 2], [1, 2]),
        (["string"], [None], [""]),
        ([FIELDS], [None], [{}]),
        ({"*": "uint32"}, {"a": 1, "b": "2"}, {"a": 1, "b": 2}),
        ({"*": "string"}, {"a": None}, {"a": ""}),
        (FIELDS, {"some_name": "x"}, {"someName": "x"}),
        (
            FIELDS,
            {"someName": "x", "inner": {"other": 1}},
            {"someName": "x", "inner": {"other": 1}},
        ),
        (FIELDS, {"someName": None}, {}),
    ],
    ids=str,
)
def test_what_is_read(shape: Any, written: Any, read: Any) -> None:
    reading = ProtobufReading()
    assert reading.node(shape, written, ()) == read
    assert (reading.problems, reading.unknown) == ([], [])


@pytest.mark.parametrize(
    ("shape", "written"),
    [
        (COLOURS, "red"),
        (COLOURS, 3),
        (COLOURS, -1),
        (COLOURS, True),
        ("uint32", -1),
        ("uint32", 2**32),
        ("uint32", "4294967296"),
        ("uint32", 0.5),
        ("uint32", True),
        ("uint32", "1e3x"),
        ("uint64", 2**64),
        ("double", True),
        ("double", "much"),
        ("double", []),
        ("bool", "true"),
        ("bool", 1),
        ("string", 1),
        ("bytes", 1),
        ("bytes", "%"),
        ("duration", 2),
        ("duration", "2"),
        ("struct", []),
        ("tags", []),
        (["uint32"], 1),
        (FIELDS, []),
    ],
    ids=str,
)
def test_what_is_refused_where_it_stands(shape: Any, written: Any) -> None:
    reading = ProtobufReading()
    reading.node({"at": shape}, {"at": written}, ())
    assert [problem.path for problem in reading.problems] == [("at",)]


def test_an_unknown_field_is_dropped_and_listed() -> None:
    reading = ProtobufReading()
    assert reading.node(FIELDS, {"inner": {"more": 1, "other": 2}}, ()) == {"inner": {"other": 2}}
    assert (reading.problems, reading.unknown) == ([], [("inner", "more")])
