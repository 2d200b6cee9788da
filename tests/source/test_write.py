"""All files or none, through failures and crashes."""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from kumamigrate.errors import SourceError
from kumamigrate.source.editing import write
from kumamigrate.source.editing.write import JOURNAL, recover, write_all


class Killed(BaseException):
    """Stands for the process being killed: nothing may catch it."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("a.yaml", "sub/b.yaml", "c.yaml"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"old " + name.encode())
    return tmp_path


CHANGES: dict[str, tuple[bytes | None, bytes | None]] = {
    "a.yaml": (b"old a.yaml", b"new a"),
    "sub/b.yaml": (b"old sub/b.yaml", b"new b"),
    "c.yaml": (b"old c.yaml", None),
    "sub/d.yaml": (None, b"new d"),
}
AFTER = {"a.yaml": b"new a", "sub/b.yaml": b"new b", "sub/d.yaml": b"new d"}


def contents(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def test_files_are_replaced_created_and_removed(root: Path) -> None:
    (root / "a.yaml").chmod(0o640)
    write_all(root, CHANGES)
    assert contents(root) == AFTER
    assert stat.S_IMODE((root / "a.yaml").stat().st_mode) == 0o640


def test_nothing_to_write_touches_nothing(root: Path) -> None:
    before = (root / "a.yaml").stat().st_mtime_ns
    write_all(root, {})
    assert (root / "a.yaml").stat().st_mtime_ns == before


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"a.yaml": (b"something else", b"x")}, "changed while"),
        ({"no.yaml": (b"x", b"y")}, "changed while"),
        ({"a.yaml": (None, b"y")}, "changed while"),
        ({"../x.yaml": (None, b"y")}, "outside the root"),
        ({"/etc/x.yaml": (None, b"y")}, "outside the root"),
        ({"sub": (b"", b"y")}, "directory"),
        ({"none/x.yaml": (None, b"y")}, "No such file"),
    ],
)
def test_what_cannot_be_written_changes_nothing(root: Path, changes: Any, said: str) -> None:
    before = contents(root)
    with pytest.raises(SourceError, match=said):
        write_all(root, {**changes, "sub/b.yaml": (b"old sub/b.yaml", b"new")})
    assert contents(root) == before


def test_a_read_only_file_is_refused(root: Path) -> None:
    (root / "sub/b.yaml").chmod(0o444)
    before = contents(root)
    with pytest.raises(SourceError, match=r"sub/b\.yaml: is read-only"):
        write_all(root, CHANGES)
    assert contents(root) == before


def test_links_inside_the_root_are_written_through(root: Path) -> None:
    (root / "link.yaml").symlink_to("a.yaml")
    write_all(root, {"link.yaml": (b"old a.yaml", b"new")})
    assert (root / "link.yaml").is_symlink()
    assert (root / "a.yaml").read_bytes() == b"new"


def test_links_that_lead_outside_are_refused(root: Path, tmp_path_factory: Any) -> None:
    outside = tmp_path_factory.mktemp("outside") / "x.yaml"
    outside.write_bytes(b"x")
    (root / "link.yaml").symlink_to(outside)
    with pytest.raises(SourceError, match="outside the root"):
        write_all(root, {"link.yaml": (b"x", b"y")})
    assert outside.read_bytes() == b"x"


def test_one_file_under_two_names_is_refused(root: Path) -> None:
    (root / "link.yaml").symlink_to("a.yaml")
    with pytest.raises(SourceError, match="same file"):
        write_all(root, {"link.yaml": (b"old a.yaml", b"1"), "a.yaml": (b"old a.yaml", b"2")})


@pytest.mark.parametrize("call", range(8))
@pytest.mark.parametrize("name", ["open", "fsync", "replace", "unlink"])
def test_a_failing_disk_leaves_the_old_files(
    root: Path, monkeypatch: pytest.MonkeyPatch, name: str, call: int
) -> None:
    before = contents(root)
    real, count = getattr(os, name), 0

    def failing(*args: Any, **kwargs: Any) -> Any:
        nonlocal count
        count += 1
        if count == call + 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(*args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(write.os, name, failing)
        try:
            write_all(root, CHANGES)
        except SourceError as error:
            assert "No space left" in str(error)
    recover(root)
    assert contents(root) in (before, AFTER)


@pytest.mark.parametrize("name", ["open", "fsync", "replace", "unlink", "chmod"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_kill_at_any_moment_leaves_old_or_new_after_recovery(
    root: Path, monkeypatch: pytest.MonkeyPatch, name: str, when: str
) -> None:
    before = contents(root)
    for call in range(40):
        for path, data in before.items():
            (root / path).write_bytes(data)
        (root / "sub/d.yaml").unlink(missing_ok=True)
        real, count = getattr(os, name), 0

        def killed(*args: Any, **kwargs: Any) -> Any:
            nonlocal count
            count += 1
            if count == call + 1 and when == "before":  # noqa: B023  # used inside the loop only
                raise Killed
            result = real(*args, **kwargs)  # noqa: B023
            if count == call + 1:  # noqa: B023
                raise Killed
            return result

        died = False
        with monkeypatch.context() as patch:
            patch.setattr(write.os, name, killed)
            try:
                write_all(root, CHANGES)
            except Killed:
                died = True
        recover(root)
        left = {k: v for k, v in contents(root).items() if "kumamigrate" not in k}
        assert left in (before, AFTER), (call, left)
        if not died:
            assert left == AFTER
            return


def test_recovery_refuses_what_was_changed_since(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, count = os.replace, 0

    def killed(*args: Any) -> None:
        nonlocal count
        count += 1
        if count == 4:
            raise Killed
        real(*args)

    with monkeypatch.context() as patch:
        patch.setattr(write.os, "replace", killed)
        with pytest.raises(Killed):
            write_all(root, CHANGES)
    (root / "sub/b.yaml").write_bytes(b"edited by hand")
    with pytest.raises(SourceError, match="changed since"):
        recover(root)
    assert (root / "sub/b.yaml").read_bytes() == b"edited by hand"


@pytest.mark.parametrize(
    "record",
    [
        "not json",
        "[]",
        json.dumps(
            {
                "state": "swapping",
                "swaps": [
                    {"target": "../x", "prepared": "../.x.kumamigrate-new", "old": None, "new": "0"}
                ],
            }
        ),
        json.dumps(
            {
                "state": "swapping",
                "swaps": [{"target": "a.yaml", "prepared": "c.yaml", "old": None, "new": "0"}],
            }
        ),
    ],
)
def test_a_journal_that_lies_is_not_obeyed(root: Path, record: str) -> None:
    before = contents(root)
    (root / JOURNAL).write_text(record)
    with pytest.raises(SourceError, match="no journal"):
        recover(root)
    (root / JOURNAL).unlink()
    assert contents(root) == before


def test_recovery_without_a_journal_does_nothing(root: Path) -> None:
    assert recover(root) is False
