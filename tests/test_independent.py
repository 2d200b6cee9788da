"""What is written, read by a reader that shares no code with ours: values and comments."""

from __future__ import annotations

import pytest

from kumamigrate.source.reading.load import read_file
from tests.cases import Case, cases, contents
from tests.independent import Independent, independent, moved_comments, plain

SUFFIXES = (".yaml", ".yml", ".json")
WRITTEN = [case for case in cases() if (case.folder / "after").is_dir()]


def _independent(data: bytes) -> Independent:
    found = independent(data.decode("utf-8-sig"))
    assert found is not None
    return found


@pytest.mark.parametrize("case", WRITTEN, ids=lambda case: f"{case.rule}/{case.name}")
def test_another_reader_finds_the_same_values_and_comments_where_they_belong(case: Case) -> None:
    before, wandered = contents(case.before), []
    for path, data in case.expected.items():
        if before.get(path) == data or not path.lower().endswith(SUFFIXES):
            continue
        theirs, ours = _independent(data), read_file(path, data)
        assert not ours.refusals
        values = [document.value for document in ours.documents]
        assert tuple(plain(v) for v in values if v is not None) == theirs.values
        if path in before:
            wandered += moved_comments(_independent(before[path]), theirs)
    assert wandered == []


@pytest.mark.parametrize(
    ("old", "new", "moved"),
    [
        ("a: 1 # one\nb: 2\n", "b: 2 # one\na: 1\n", [("# one", "a", "b")]),
        ("# one\na: 1\nb: 2\n", "a: 1\n# one\nb: 2\n", [("# one", "a", "b")]),
        ("a: # one\n  c: 1\nb: 2\n", "d: # one\n  c: 1\nb: 2\n", []),
        ("a:\n- x # one\n- z\n", "a:\n- x\n- z # one\n", [("# one", "- x", "- z")]),
        ("a: 1\n# one\n---\nb: 1\n", "a: 1\n---\n# one\nb: 1\n", []),
    ],
)
def test_a_comment_that_leaves_its_key_is_noticed(
    old: str, new: str, moved: list[tuple[str, str, str]]
) -> None:
    assert moved_comments(_independent(old.encode()), _independent(new.encode())) == moved


def test_what_another_reader_cannot_read_is_no_answer() -> None:
    assert independent("a: [1\n") is None
