"""Entries that are damaged, stale, forged or of other hands are not there."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kumamigrate.cache.answer import answer_of
from kumamigrate.cache.shelf import MOST_ENTRIES, Shelf, shelf

WORD, OTHER = "a" * 64, "b" * 64
VALUE = {"code": 0, "lines": [[["clean", "good"]]], "data": None, "asked": []}


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "kept"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    found = shelf()
    assert found is not None
    found.keep(WORD, VALUE)
    assert found.find(WORD) == VALUE
    return found


def _file(mine: Shelf, word: str = WORD) -> Path:
    return mine.folder / f"{word}.answer"


def _forged(mine: Shelf) -> None:
    """Somebody without the key seals a green answer with one of their own."""
    stranger = Shelf(mine.folder, b"x" * 32)
    stranger.keep(WORD, {**VALUE, "lines": []})


def _link(mine: Shelf) -> None:
    real = mine.folder / "real"
    _file(mine).rename(real)
    _file(mine).symlink_to(real)


def _pipe(mine: Shelf) -> None:
    _file(mine).unlink()
    os.mkfifo(_file(mine), 0o600)


DAMAGE: dict[str, Callable[[Shelf], object]] = {
    "another byte": lambda mine: _file(mine).write_bytes(
        _file(mine).read_bytes().replace(b"clean", b"Clean")
    ),
    "cut off": lambda mine: _file(mine).write_bytes(_file(mine).read_bytes()[:-1]),
    "empty": lambda mine: _file(mine).write_bytes(b""),
    "no head": lambda mine: _file(mine).write_bytes(_file(mine).read_bytes().split(b"\n")[1]),
    "no JSON": lambda mine: _file(mine).write_bytes(b"\x80\x04K\x01."),
    "deep JSON": lambda mine: _file(mine).write_bytes(b"[" * 100_000),
    "forged": _forged,
    "open to others": lambda mine: _file(mine).chmod(0o666),
    "a link": _link,
    "a pipe": _pipe,
    "a folder": lambda mine: (_file(mine).unlink(), _file(mine).mkdir()),
    "gone": lambda mine: _file(mine).unlink(),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_what_is_not_as_it_was_written_is_not_there(name: str, mine: Shelf) -> None:
    DAMAGE[name](mine)
    assert mine.find(WORD) is None
    if name != "a folder":
        mine.keep(WORD, VALUE)
        assert mine.find(WORD) == VALUE


def test_an_answer_under_the_name_of_another_question_is_not_there(mine: Shelf) -> None:
    _file(mine, OTHER).write_bytes(_file(mine).read_bytes())
    _file(mine, OTHER).chmod(0o600)
    assert mine.find(OTHER) is None


def test_entries_that_came_with_a_folder_from_elsewhere_open_nothing(
    mine: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another"))
    other = shelf()
    assert other is not None
    assert other.folder == mine.folder
    assert other.find(WORD) is None


@pytest.mark.parametrize("damage", ["open to others", "too short", "a folder"])
@pytest.mark.usefixtures("mine")
def test_a_key_that_could_be_known_is_no_key(damage: str, tmp_path: Path) -> None:
    key = tmp_path / "state" / "kumamigrate" / "cache-key"
    if damage == "open to others":
        key.chmod(0o644)
    elif damage == "too short":
        key.write_bytes(b"short")
    else:
        key.unlink()
        key.mkdir()
    assert shelf() is None


def test_where_nothing_can_be_written_nothing_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    found = shelf()
    assert found is not None
    found.keep(WORD, VALUE)
    assert found.find(WORD) is None
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    assert shelf() is None


def test_a_folder_that_is_not_absolute_is_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "kept")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    found = shelf()
    assert found is not None
    assert found.folder == tmp_path / "home" / ".cache" / "kumamigrate" / "checks"


def test_the_oldest_go_and_what_a_killed_run_left(mine: Shelf) -> None:
    left = mine.folder / ".left.part"
    left.touch()
    os.utime(left, (1, 1))
    for number in range(MOST_ENTRIES + 5):
        mine.keep(f"{number:064}", VALUE)
    assert len(list(mine.folder.iterdir())) == MOST_ENTRIES
    assert not left.exists()
    assert mine.find(f"{MOST_ENTRIES + 4:064}") == VALUE


def test_a_write_that_fails_half_way_leaves_what_was_there(
    mine: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_given: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    mine.keep(WORD, {**VALUE, "code": 1})
    monkeypatch.undo()
    assert mine.find(WORD) == VALUE
    assert [one.name for one in mine.folder.iterdir()] == [_file(mine).name]


@pytest.mark.parametrize(
    "change",
    [
        {"code": 2},
        {"code": 7},
        {"code": "0"},
        {"code": None},
        {"lines": "clean"},
        {"lines": [["clean"]]},
        {"lines": [[["clean", "good", "x"]]]},
        {"lines": [[["clean", 1]]]},
        {"data": []},
        {"asked": [["file", "a"]]},
        {"asked": None},
        {"more": 1},
    ],
)
def test_what_has_another_shape_is_no_answer(change: dict[str, object]) -> None:
    assert answer_of(json.loads(json.dumps(VALUE))) is not None
    assert answer_of({**VALUE, **change}) is None
