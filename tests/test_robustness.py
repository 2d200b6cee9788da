"""Hostile repositories: nothing is lost, everything else is served, the right exit code."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kumamigrate.cli import app
from kumamigrate.scene.gitrev import contents_of_revision
from kumamigrate.scene.loadfiles import load_repository, repository_of
from kumamigrate.scene.repository import Repository
from kumamigrate.source.editing import journal, write
from tests.checkout import git
from tests.runner import CliRunner
from tests.test_commands import MESH, NEW, OLD, ROUTE

OTHER = OLD.replace("slow-api", "other")


def _call(monkeypatch: pytest.MonkeyPatch, folder: Path, *words: str) -> tuple[int, str]:
    monkeypatch.chdir(folder)
    result = CliRunner().invoke(app, list(words))
    text = result.stdout + result.stderr
    assert "internal error" not in text
    return result.exit_code, text


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A mesh in mode Exclusive with one policy in the old form."""
    for name, text in (("mesh", MESH), ("route", ROUTE), ("timeout", OLD)):
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "data",
    [
        OTHER.replace("bank", "b\xe4nk").encode("latin-1"),
        OTHER.encode("utf-16"),
        OTHER.encode("utf-16-le"),
        OTHER.encode("utf-32"),
        OTHER.encode() + b"# " + b"x" * (10 * 1024 * 1024),
    ],
    ids=["latin-1", "utf-16", "utf-16 without mark", "utf-32", "too large"],
)
def test_a_file_that_cannot_be_read_keeps_every_byte(
    data: bytes, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shop / "odd.yaml").write_bytes(data)
    code, text = _call(monkeypatch, shop, "run", "--format", "json")
    report = json.loads(text)
    assert (code, report["coverage"]["unread"][0]["file"]) == (3, "odd.yaml")
    assert "odd.yaml" not in report["files"]
    assert (shop / "odd.yaml").read_bytes() == data


def _command(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    done = subprocess.run(
        [sys.executable, "-m", "kumamigrate", *words],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert b"internal error" not in done.stderr
    assert b"Traceback" not in done.stderr
    return done


def test_what_is_no_file_is_not_opened(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(shop / "pipe.yaml")
    (shop / "link.yaml").symlink_to("pipe.yaml")
    (shop / "self.yaml").symlink_to("self.yaml")
    (shop / "zero.yaml").symlink_to("/dev/zero")
    code, text = _call(monkeypatch, shop, "check", "--format", "json")
    unread = {one["file"] for one in json.loads(text)["coverage"]["unread"]}
    assert (code, unread) == (3, {"pipe.yaml", "link.yaml", "self.yaml", "zero.yaml"})
    code, text = _call(monkeypatch, shop, "check", "pipe.yaml")
    assert (code, "neither a file nor a folder" in text) == (3, True)


def test_links_lead_to_nothing_outside_the_paths_given(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shop / "a").mkdir()
    (shop / "b").mkdir()
    for name in ("mesh.yaml", "route.yaml"):
        (shop / name).rename(shop / "a" / name)
    (shop / "timeout.yaml").rename(shop / "b" / "timeout.yaml")
    (shop / "a" / "file.yaml").symlink_to("../b/timeout.yaml")
    (shop / "a" / "folder").symlink_to("../b")
    assert _call(monkeypatch, shop, "run", "a")[0] == 3
    assert (shop / "b" / "timeout.yaml").read_text() == OLD
    assert _call(monkeypatch, shop, "run", "a", "b")[0] == 0
    assert (shop / "b" / "timeout.yaml").read_text() == NEW
    assert (shop / "a" / "file.yaml").is_symlink()


def test_names_that_are_no_text_are_printed_and_saved(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = os.fsencode(shop) + b"/t\xff.yaml"
    os.rename(shop / "timeout.yaml", name)  # noqa: PTH104
    done = _command(shop, "run", "--dry-run", "--format", "json", PYTHONIOENCODING="utf-8")
    assert json.loads(done.stdout)["files"] == ["t\udcff.yaml"]
    code, _ = _call(monkeypatch, shop, "run", "--dry-run", "--diff", "my.patch")
    assert (code, b"b/t\xff.yaml" in (shop / "my.patch").read_bytes()) == (1, True)


def test_a_terminal_that_lacks_characters_gets_escapes(shop: Path) -> None:
    (shop / "timeout.yaml").rename(shop / "t\u00fc\U0001f4a9.yaml")
    for words in (("run", "--dry-run"), ("run", "--dry-run", "--format", "json")):
        done = _command(shop, *words, PYTHONIOENCODING="ascii")
        assert done.returncode == 1
        assert b"\\xfc" in done.stdout or b"\\u00fc" in done.stdout
    assert json.loads(done.stdout)["files"] == ["t\u00fc\U0001f4a9.yaml"]


def test_a_report_that_cannot_be_printed_says_what_was_written(shop: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "kumamigrate", "run"],
            cwd=shop,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert (done.returncode, (shop / "timeout.yaml").read_text()) == (2, NEW)
    assert b"the files were written" in done.stderr


def test_nothing_is_read_from_a_half_written_repository(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = shop / ".kumamigrate-journal"
    journal.write_text('{"state": "preparing", "swaps": []}')
    (shop / "sub").mkdir()
    (shop / "sub" / "values.yaml").write_text("a: 1\n")
    against = ("prove", "--against", "HEAD")
    for words in (("check",), ("run", "--dry-run"), ("inspect",), ("prove", ".", "."), against):
        for folder in (shop, shop / "sub"):
            code, text = _call(monkeypatch, folder, *words)
            assert (code, "interrupted" in text) == (2, True)
    assert journal.exists()
    assert _call(monkeypatch, shop / "sub", "run")[0] == 0
    assert not journal.exists()


def test_ignore_files_above_count_up_to_the_top_of_the_git_repository(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(["git", "init", "-q"], cwd=shop, check=True)
    inner = shop / "mesh"
    for folder in ("gen", "kept"):
        (inner / folder).mkdir(parents=True)
        (inner / folder / "odd.yaml").write_bytes(b"kuma.io\xff")
    (shop / ".gitignore").write_text("gen/\nmesh/kept/*\n!odd.yaml\n")
    (shop.parent / ".gitignore").write_text("*\n")
    code, text = _call(monkeypatch, inner, "check", "--format", "json")
    assert [one["file"] for one in json.loads(text)["coverage"]["unread"]] == ["mesh/kept/odd.yaml"]
    code, text = _call(monkeypatch, inner / "gen", "check")
    assert (code, "odd.yaml" in text) == (3, True)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("kumamigrate.toml", 'stage = "later"\n', "stage must be one of auto, expand, contract"),
        ("kumamigrate.toml", 'mesh-services = "exclusive"\n', "must be one of Disabled"),
        ("kumamigrate.toml", 'control-plane-mode = "local"\n', "must be one of zone, global"),
        ("kumamigrate.toml", 'zone = ""\n', "zone must not be empty"),
        ("pyproject.toml", "[tool]\nkumamigrate = 3\n", "tool.kumamigrate must be a table"),
    ],
)
def test_settings_that_mean_nothing_are_refused(
    name: str, text: str, said: str, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shop / name).write_text(text)
    code, output = _call(monkeypatch, shop, "check")
    assert (code, said in output, name in output) == (2, True, True), output


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ('a\t\n"\\ b.yaml', OLD),
        ("t.yaml", OLD.replace("\n", "\r\n")[:-2]),
        ("t.yaml", OLD.replace("\n", "\r")),
        ("t.yaml", OLD + 'note: {a: "\u2028", b: "\u0085"}\n'),
    ],
    ids=["name", "crlf without final line end", "cr", "other line ends"],
)
def test_git_applies_the_patch(
    name: str, text: str, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shop / "timeout.yaml").unlink()
    (shop / name).write_bytes(text.encode())
    assert _call(monkeypatch, shop, "run", "--dry-run", "--diff", "my.patch")[0] == 1
    patch = (shop / "my.patch").read_bytes()
    assert _call(monkeypatch, shop, "run")[0] == 0
    changed = (shop / name).read_bytes()
    assert changed != text.encode()
    (shop / name).write_bytes(text.encode())
    subprocess.run(["git", "apply", "-"], cwd=shop, check=True, input=patch)
    assert (shop / name).read_bytes() == changed


def test_suppressions_count_lines_as_yaml_does(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = "  # kumamigrate: ignore[route-in-target-ref] until the bank is ready\n"
    text = OLD.replace("spec:\n", 'note: {a: "\u2028\u0085\u2028"}\nspec:\n')
    text = text.replace("    kind: MeshHTTPRoute\n", mark + "    kind: MeshHTTPRoute\n")
    (shop / "timeout.yaml").write_text(text)
    _, out = _call(monkeypatch, shop, "run", "--format", "json")
    statuses = [(f["rule"], f["status"]) for f in json.loads(out)["findings"]]
    assert ("route-in-target-ref", "suppressed") in statuses
    assert (shop / "timeout.yaml").read_text() == text


KILLED_ANYWHERE = """
import os, sys
from pathlib import Path
from kumamigrate.source.editing.write import recover, write_all
old = {path: path.read_bytes() for path in Path().iterdir()}
def counted(call):
    def inner(*args, **more):
        global left
        left -= 1
        if left < 0:
            os._exit(9)
        return call(*args, **more)
    return inner
def write():
    for name in ("open", "replace", "unlink", "chmod", "fsync"):
        setattr(os, name, counted(getattr(os, name)))
    change = {n: (Path(n).read_bytes(), b"new") for n in ("mesh.yaml", "route.yaml")}
    change["timeout.yaml"] = (Path("timeout.yaml").read_bytes(), None)
    write_all(Path(), {**change, "x.yaml": (None, b"x")})
    os._exit(0)
for left in range(200):
    for path in Path().iterdir():
        path.unlink()
    for path, data in old.items():
        path.write_bytes(data)
    child = os.fork()
    if not child:
        write()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    recover(Path())
    print((code, {path.name: path.read_bytes() for path in Path().iterdir()}))
    if code != 9:
        break
"""


def test_each_call_that_changes_something_is_one_to_die_before() -> None:
    """What both modules ask of the system, but for what only looks: all is counted above."""
    trees = [ast.parse(Path(one.__file__).read_text(encoding="utf-8")) for one in (write, journal)]
    parts = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    asked = {one.attr for one in parts if ast.unparse(one.value) == "os" and one.attr.islower()}
    looking = {"access", "close", "fstat", "path", "sep"}
    assert all(f'"{name}"' in KILLED_ANYWHERE for name in asked - looking), asked


def test_a_run_killed_anywhere_leaves_old_or_new_and_nothing_else(shop: Path) -> None:
    """Kill a write before each of its system calls that change something.

    One process forks all that die, since each would read the same modules.
    """
    old = {path.name: path.read_bytes() for path in shop.iterdir()}
    new = {"mesh.yaml": b"new", "route.yaml": b"new", "x.yaml": b"x"}
    done = subprocess.run(
        [sys.executable, "-c", KILLED_ANYWHERE], cwd=shop, check=True, capture_output=True
    )
    ended = [ast.literal_eval(line) for line in done.stdout.decode().splitlines()]
    for kill_at, (_, after) in enumerate(ended):
        assert after in (old, new), (kill_at, sorted(after))
    assert [code for code, _ in ended] == [9] * (len(ended) - 1) + [0]
    assert len(ended) > 10
    assert {after == new for _, after in ended} == {True, False}


@pytest.mark.parametrize(
    "words",
    [
        ("rule", "\x1b[31m\n"),
        ("inspect", "--labels", "\x1b[31m"),
        ("check", "--ignore", "\x1b[31m"),
    ],
)
def test_errors_show_escape_codes(
    words: tuple[str, ...], shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, text = _call(monkeypatch, shop, *words)
    assert (code, "\x1b" in text, "\\x1b" in text, len(text.splitlines())) == (2, False, True, 1)


def _revision(paths: list[Path], root: Path) -> Repository:
    contents, refusals, _ = contents_of_revision("HEAD", paths, root)
    return repository_of(contents, root=root, refusals=refusals)


def test_a_revision_holds_what_the_working_tree_would_show_of_it(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("notes.md", "gen/x.yaml", "sub/deep.yaml", "sub/local/y.yaml"):
        (shop / name).parent.mkdir(exist_ok=True)
        (shop / name).write_text(OLD.replace("slow-api", name.replace("/", "-")))
    os.rename(shop / "route.yaml", os.fsencode(shop) + b"/\xff\n.yaml")  # noqa: PTH104
    git(shop, "init", "-q")
    git(shop, "add", ".")
    git(shop, "commit", "-qm", "x")
    (shop / ".gitignore").write_text("gen/\n")
    (shop / "sub" / ".gitignore").write_text("local/\n!x.yaml\n")

    def both(*words: str) -> tuple[list[str], list[str]]:
        monkeypatch.chdir(shop)
        paths = [Path(word) for word in words]
        revision = _revision(paths, shop)
        return sorted(revision.files), sorted(load_repository(paths, shop).files)

    wanted = ["mesh.yaml", "sub/deep.yaml", "timeout.yaml", "\udcff\n.yaml"]
    assert both(".") == (wanted, wanted)
    assert both("sub", "notes.md") == (["notes.md", "sub/deep.yaml"],) * 2
    assert both("gen") == ([], [])


def test_a_revision_holds_its_submodules(
    shop: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outer = tmp_path_factory.mktemp("outer")
    for folder in (shop, outer):
        git(folder, "init", "-q")
    git(shop, "add", ".")
    git(shop, "commit", "-qm", "x")
    git(outer, "submodule", "add", "-q", str(shop), "in/side")
    git(outer, "commit", "-qm", "x")
    names = ["in/side/mesh.yaml", "in/side/route.yaml", "in/side/timeout.yaml"]
    assert sorted(_revision([Path()], outer).files) == names
    (outer / "in/side/mesh.yaml").write_text("changed\n")
    assert _revision([Path("in")], outer).files["in/side/mesh.yaml"].text == MESH
    git(outer, "update-index", "--cacheinfo", f"160000,{'1' * 40},in/side")
    git(outer, "commit", "-qm", "y")
    assert [one.path for one in _revision([Path()], outer).unread] == ["in/side"]


FILLED_UP = """
import json, os, resource, sys
from pathlib import Path
from kumamigrate.cli import app
words = ["run", "--initial-policies", "none"]
app([*words, "--dry-run"])  # so that each of the next has all modules
for size in map(int, sys.argv[1:]):
    child = os.fork()
    if not child:
        os.dup2(1, 2)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        sys.exit(app(words))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    left = {path.name: path.read_bytes().decode() for path in Path().iterdir()}
    print("\\n" + json.dumps({"code": code, "left": left}), flush=True)
"""


def test_a_disk_that_fills_up_in_the_middle_of_a_file_leaves_the_old_ones(shop: Path) -> None:
    """No file may grow beyond some bytes, as if the disk were full: whichever write fails."""
    old = {path.name: path.read_text() for path in shop.iterdir()}
    sizes = ("0", "10", "60", "150", "100000")
    done = subprocess.run(
        [sys.executable, "-B", "-c", FILLED_UP, *sizes],
        cwd=shop,
        capture_output=True,
        check=True,
        text=True,
        timeout=100,
    )
    assert "Traceback" not in done.stdout + done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"code"')]
    assert len(told) == len(sizes)
    for one in told:
        if one["code"] == 0:
            assert one["left"] == {**old, "timeout.yaml": NEW}
        else:
            assert (one["code"], one["left"]) == (2, old), done.stdout
    assert {one["code"] for one in told} == {0, 2}


def test_two_runs_at_once_leave_what_one_would(shop: Path) -> None:
    command = [sys.executable, "-m", "kumamigrate", "run", "--initial-policies", "none"]
    runs = [
        subprocess.Popen(command, cwd=shop, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for _ in range(3)
    ]
    codes = []
    for one in runs:
        _, said = one.communicate(timeout=100)
        assert b"internal error" not in said, said
        codes.append(one.returncode)
    assert set(codes) <= {0, 2}, codes
    assert 0 in codes
    assert (shop / "timeout.yaml").read_text() == NEW
    assert sorted(path.name for path in shop.iterdir()) == [
        "mesh.yaml",
        "route.yaml",
        "timeout.yaml",
    ]
