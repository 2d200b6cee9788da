"""Which files of a repository are read: found by name, sifted by bytes."""

# pathlib triples the time of a walk over ten thousand files.
# ruff: noqa: PTH100, PTH110, PTH112, PTH113, PTH118, PTH119, PTH120

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kumamigrate.dataclass import dataclass, field
from kumamigrate.source.text import Reason, Refusal

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


JOURNAL = ".kumamigrate-journal"
"""The file in which a run notes what it is about to write; gone when all is written."""


class Kind(StrEnum):
    """What a file may hold, judged by its bytes alone."""

    NONE = "none"
    KUMA = "kuma"
    WORKLOAD = "workload"


@cache
def _words() -> dict[str, Any]:
    # importlib.resources would cost 15 ms at every start.
    text = Path(__file__).with_name("words.json").read_text(encoding="utf-8")
    words: dict[str, Any] = json.loads(text)
    return words


_BETWEEN = rb"(?>[ \t\r\n]++|#[^\n]{0,999}+\n|[&!][^ \t\r\n]{0,199}+|[>|][-+0-9]{0,3}+){0,8}+"
"""What YAML allows between a key and its value: comments, anchors, tags, block headers.

Bounded and without a way back, so that no text makes the search slow.
"""
_ESCAPE = re.compile(rb"\\(?:x([0-9A-Fa-f]{2})|u00([0-9A-Fa-f]{2})|U000000([0-9A-Fa-f]{2}))")
_CONTINUED = re.compile(rb"\\\r?\n[ \t]*")


@cache
def _patterns() -> tuple[re.Pattern[bytes], re.Pattern[bytes], re.Pattern[bytes]]:
    value = rb"""["']?%b:%b["']?""" % (_BETWEEN, _BETWEEN)
    types = "|".join(_words()["universal_types"]).encode()
    kinds = "|".join(_words()["workload_kinds"]).encode()
    universal = re.compile(rb"type%b(?:%b)(?![A-Za-z0-9-])" % (value, types))
    workload = re.compile(rb"kind%b(%b)(?![A-Za-z0-9-])" % (value, kinds))
    anchored = rb"""&[^ \t\r\n&]{1,200}+%b["']?""" % _BETWEEN
    elsewhere = re.compile(rb"%b(?:%b)(?![A-Za-z0-9-])" % (anchored, types))
    return universal, workload, elsewhere


def _unescaped(data: bytes) -> bytes:
    """Return a text in which ASCII characters stand as themselves, not as escapes of YAML."""
    plain = _ESCAPE.sub(lambda m: bytes.fromhex((m[1] or m[2] or m[3]).decode()), data)
    return _CONTINUED.sub(b"", plain)


def universal_type_pattern() -> str:
    """Return a regular expression for the values of `type` that are Kuma's."""
    return "|".join(_words()["universal_types"])


def may_hold_kuma(data: bytes) -> bool:
    """Say whether a file may hold a Kuma resource. Never false when it does."""
    if b"kuma.io" in data:
        return True
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return may_hold_kuma(data.decode("utf-16", "replace").encode())
    if b"\0" in data:  # UTF-32, or UTF-16 without its mark
        return may_hold_kuma(data.replace(b"\0", b""))
    return _speaks_of_kuma(data) or (b"\\" in data and _speaks_of_kuma(_unescaped(data)))


def _speaks_of_kuma(data: bytes) -> bool:
    universal, _, elsewhere = _patterns()
    return (
        b"kuma.io" in data
        or universal.search(data) is not None
        or (b"&" in data and elsewhere.search(data) is not None)
    )


def classify(data: bytes) -> Kind:
    """Return what a file may hold. Workloads matter only where some file holds Kuma resources."""
    if may_hold_kuma(data):
        return Kind.KUMA
    if _patterns()[1].search(data) or any(key in data for key in _settings_keys()):
        return Kind.WORKLOAD
    return Kind.NONE


@cache
def _settings_keys() -> tuple[bytes, ...]:
    return tuple(f"{key}:".encode() for key in _words()["settings_keys"])


def pods_only(data: bytes) -> bool:
    """Say whether all that a file of kind WORKLOAD holds for us are plain Pods or their owners.

    Without a word of Kuma's in it, only the label of a Namespace can make such a Pod a proxy.
    """
    if b"{{" in data or b"KUMA_" in data:
        return False
    kinds = {match[1].decode() for match in _patterns()[1].finditer(data)}
    return bool(kinds) and kinds.issubset(_words()["pod_kinds"])


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundText:
    """Files below some paths, relative to the root, sorted, each once.

    `embedding` are those of other languages that may hold YAML inside, and scripts.
    """

    files: tuple[str, ...]
    refusals: tuple[Refusal, ...]
    embedding: tuple[str, ...]


def find_all(paths: Sequence[Path], *, root: Path) -> FoundText:
    """Return the files to read below some paths, and those that may hold YAML inside.

    A path that names a file is taken whatever its name. Folders are walked: `.gitignore` files
    between the root and a folder count, and so does `.git/info/exclude`. Links are followed to
    targets inside the paths, since what is found may be written, and reported under the
    target's own path.
    """
    top = os.path.realpath(root)
    places = [path if path.is_absolute() else root / path for path in paths]
    given = tuple(real for real in map(os.path.realpath, places) if _inside(real, top))
    walk = _Walk(root=top, given=given, ignored=_Ignored(root=top))
    for full in places:
        real = os.path.realpath(full)
        shown = os.path.relpath(os.path.abspath(full), top).replace(os.sep, "/")
        if not _inside(real, top):
            walk.refuse(shown, Reason.OUTSIDE_ROOT, f"leads outside {root}")
        elif os.path.isdir(real):
            walk.folder(os.path.relpath(real, top))
        elif os.path.isfile(real):
            walk.found.add(os.path.relpath(real, top).replace(os.sep, "/"))
        elif os.path.exists(real):
            walk.refuse(shown, Reason.UNREADABLE, _SPECIAL)
        else:
            walk.refuse(shown, Reason.UNREADABLE, "no such file or folder")
    return FoundText(
        files=tuple(sorted(walk.found)),
        refusals=tuple(sorted(walk.refusals, key=lambda r: r.path)),
        embedding=tuple(sorted(walk.embedding)),
    )


def chosen(
    names: Iterable[str], paths: Sequence[Path], *, root: Path, beside: bool = False
) -> list[str]:
    """Return those of some files, given relative to a root, that `find_all` would find.

    With `beside` these are the ones of other languages.

    The files themselves need not exist; the ignore files are those of today.
    """
    extensions, inner, never, skipped = _names()
    ignored = _Ignored(root=os.path.realpath(root))
    given = sorted({path.as_posix() for path in paths}, key=len)
    closed: dict[str, bool] = {path if path != "." else "": False for path in given}

    def open_folder(folder: str) -> bool:
        if folder not in closed:
            above, _, name = folder.rpartition("/")
            rule = ignored.test(above) if open_folder(above) and name not in skipped else None
            shut = not open_folder(above) or name in skipped
            closed[folder] = shut or bool(rule and rule(folder + "/"))
        return not closed[folder]

    found = []
    for path in names:
        if path in given:
            found += [] if beside else [path]
            continue
        if not any(one == "." or path.startswith(one + "/") for one in given):
            continue
        folder, _, name = path.rpartition("/")
        lower = name.lower()
        ours = lower.endswith(extensions) or inner.search(name) is not None
        typical = ours and not lower.endswith(never)
        if (not typical and name.endswith(_embedding()) if beside else typical) and open_folder(
            folder
        ):
            rule = ignored.test(folder)
            if not (rule and rule(path)):
                found.append(path)
    return found


def is_ignored(path: Path, root: Path) -> bool:
    """Say whether ignore files of a tree leave out a folder of it, or one above that."""
    ignored = _Ignored(root=os.path.realpath(root))
    skipped = _names()[3]
    above = ""
    for name in path.parts:
        rule = ignored.test(above)
        above = f"{above}/{name}" if above else name
        if name in skipped or (rule and rule(above + "/")):
            return True
    return False


def interrupted(root: Path) -> str | None:
    """Return the folder of a journal that an interrupted run left, None if there is none.

    It is the root or one above it, up to the top of its Git repository. Journals of other
    users count only in the root itself.
    """
    top = folder = os.path.realpath(root)
    while True:
        try:
            owner = os.lstat(os.path.join(folder, JOURNAL)).st_uid
        except OSError:
            owner = None
        if owner is not None and (folder == top or owner == _user()):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder or os.path.lexists(os.path.join(folder, ".git")):
            return None
        folder = parent


def _user() -> int:
    return os.geteuid() if hasattr(os, "geteuid") else 0


_SPECIAL = "neither a file nor a folder"


def _inside(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


@cache
def _names() -> tuple[tuple[str, ...], re.Pattern[str], tuple[str, ...], frozenset[str]]:
    words = _words()
    inner = re.compile("|".join(re.escape(x) for x in words["inner_extensions"]))
    skipped = frozenset(words["skipped_folders"])
    return tuple(words["extensions"]), inner, tuple(words["never"]), skipped


def is_script(path: str) -> bool:
    """Say whether a file is a script by its name."""
    return path.endswith(tuple(_words()["scripts"]))


def generates(path: str) -> bool:
    """Say whether a file is of a language that manifests are made with, which is not run here."""
    return path.endswith(tuple(_words()["generators"]))


@cache
def _embedding() -> tuple[str, ...]:
    return (*_words()["embedding"], *_words()["scripts"], *_words()["generators"])


@dataclass(slots=True, kw_only=True)
class _Walk:
    root: str
    given: tuple[str, ...]
    ignored: _Ignored
    found: set[str] = field(default_factory=set)
    embedding: set[str] = field(default_factory=set)
    refusals: list[Refusal] = field(default_factory=list)
    visited: set[str] = field(default_factory=set)

    def refuse(self, path: str, reason: Reason, detail: str, *, hides: bool = True) -> None:
        self.refusals.append(
            Refusal(path=path, line=0, column=0, reason=reason, detail=detail, hides=hides)
        )

    def folder(self, start: str) -> None:
        """Collect the files below a folder given relative to the root."""
        pending = ["" if start == "." else start.replace(os.sep, "/")]
        while pending:
            folder = pending.pop()
            if folder in self.visited:
                continue
            self.visited.add(folder)
            full = os.path.join(self.root, folder) if folder else self.root
            try:
                with os.scandir(full) as entries:
                    pending.extend(self.entries(folder, list(entries)))
            except OSError as error:
                self.refuse(folder or ".", Reason.UNREADABLE, error.strerror or str(error))

    def entries(self, folder: str, entries: list[os.DirEntry[str]]) -> Iterator[str]:
        extensions, inner, never, skipped = _names()
        prefix = f"{folder}/" if folder else ""
        self.ignored.enter(folder)
        ignored = self.ignored.test(folder)
        for entry in entries:
            name = entry.name
            path = prefix + name
            if entry.is_symlink():
                yield from self.link(path, entry)
            elif entry.is_dir(follow_symlinks=False):
                if name not in skipped and not (ignored and ignored(path + "/")):
                    yield path
            elif (
                (name.lower().endswith(extensions) or inner.search(name))
                and not name.lower().endswith(never)
                and not (ignored and ignored(path))
            ):
                if entry.is_file(follow_symlinks=False):
                    self.found.add(path)
                else:
                    self.refuse(path, Reason.UNREADABLE, _SPECIAL)
            elif name.endswith(_embedding()) and not (ignored and ignored(path)):
                if entry.is_file(follow_symlinks=False):
                    self.embedding.add(path)
            elif name == JOURNAL and folder:
                detail = "an interrupted run left it; `kumamigrate run` in its folder completes it"
                self.refuse(path, Reason.UNREADABLE, detail)

    def link(self, path: str, entry: os.DirEntry[str]) -> Iterator[str]:
        extensions, inner, never, skipped = _names()
        ignored = self.ignored.test(path.rpartition("/")[0])
        if entry.name in skipped or (ignored and (ignored(path) or ignored(path + "/"))):
            return
        real = os.path.realpath(entry.path)
        folder = os.path.isdir(real)
        typical = entry.name.lower().endswith(extensions) or inner.search(entry.name) is not None
        named = typical and not entry.name.lower().endswith(never)
        if not os.path.exists(real):
            if named:
                detail = "a symbolic link that leads nowhere"
                self.refuse(path, Reason.UNREADABLE, detail, hides=False)
        elif not any(_inside(real, given) for given in self.given):
            if folder or named:
                self.refuse(path, Reason.OUTSIDE_ROOT, "a symbolic link that leads outside")
        else:
            target = os.path.relpath(real, self.root).replace(os.sep, "/")
            if folder:
                yield "" if target == "." else target
            elif named and os.path.isfile(real):
                self.found.add(target)
            elif named:
                self.refuse(path, Reason.UNREADABLE, _SPECIAL)


@dataclass(slots=True, kw_only=True)
class _Ignored:
    """The `.gitignore` files of a tree, read as the walk comes by."""

    root: str
    specs: dict[str, tuple[GitIgnoreSpec, re.Pattern[str] | None] | None] = field(
        default_factory=dict
    )
    above: list[tuple[str, GitIgnoreSpec, re.Pattern[str] | None]] = field(default_factory=list)

    def enter(self, folder: str) -> None:
        """Read the ignore file of a folder and of those above it."""
        if folder in self.specs:
            return
        if folder:
            self.enter(folder.rpartition("/")[0])
        else:
            self.above = self._above()
        lines = self._lines(os.path.join(self.root, folder))
        self.specs[folder] = _compiled(lines) if lines else None

    def _above(self) -> list[tuple[str, GitIgnoreSpec, re.Pattern[str] | None]]:
        """Read the ignore files between the root and the top of its Git repository.

        Empty where they ignore the root itself: whoever asks for it wants it read.
        """
        found: list[tuple[str, GitIgnoreSpec, re.Pattern[str] | None]] = []
        folder, prefix = self.root, ""
        while not os.path.lexists(os.path.join(folder, ".git")):
            parent = os.path.dirname(folder)
            if parent == folder:
                return []  # no Git repository
            prefix = f"{os.path.basename(folder)}/{prefix}"
            folder = parent
            if lines := self._lines(folder):
                found.append((prefix, *_compiled(lines)))
        for prefix, spec, _ in found:
            verdict = spec.check_file(prefix).include
            if verdict is not None:
                return [] if verdict else found
        return found

    def _lines(self, folder: str) -> list[str]:
        lines = self._read(os.path.join(folder, ".gitignore"))
        return self._read(os.path.join(folder, ".git", "info", "exclude")) + lines

    def _read(self, path: str) -> list[str]:
        try:
            with open(path, encoding="utf-8", errors="replace", opener=_plain_file) as file:
                return file.read().splitlines()
        except OSError:
            return []

    def test(self, folder: str) -> Any:
        """Return a function that says whether a path inside a folder is ignored, None for never."""
        self.enter(folder)
        chain: list[tuple[int | str, GitIgnoreSpec, re.Pattern[str] | None]] = []
        here: str | None = folder
        while here is not None:
            if spec := self.specs[here]:
                chain.append((len(here) + 1 if here else 0, *spec))
            here = here.rpartition("/")[0] if here else None
        chain.extend(self.above)
        if not chain:
            return None

        def ignored(path: str) -> bool:
            for skip, spec, quick in chain:
                inner = skip + path if isinstance(skip, str) else path[skip:]
                if quick is not None and not quick.match(inner):
                    continue
                verdict = spec.check_file(inner).include
                if verdict is not None:
                    return verdict
            return False

        return ignored


def _plain_file(path: str, flags: int) -> int:
    """Open a file as Git reads ignore files: no links; and without waiting at pipes."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def _compiled(lines: list[str]) -> tuple[GitIgnoreSpec, re.Pattern[str] | None]:
    """Return the patterns, and one expression that matches whatever any of them may match."""
    from pathspec import GitIgnoreSpec  # not needed, and slow to load, without ignore files

    spec = GitIgnoreSpec.from_lines(lines)
    sources = [
        re.sub(r"\(\?P<\w+>", "(?:", p.regex.pattern) for p in spec.patterns if p.regex is not None
    ]
    try:
        return spec, re.compile("|".join(f"(?:{s})" for s in sources) or r"(?!)")
    except re.error:
        return spec, None
