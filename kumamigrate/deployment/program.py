"""Runs the programs that render manifests: bounded, without a shell, without the network.

They are looked for on the PATH, never in the repository, and are given copies of its files.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from kumamigrate.dataclass import dataclass
from kumamigrate.deployment.tree import Tree
from kumamigrate.pattern import pattern

MOST_SECONDS = 60
MOST_BYTES = 64 * 1024 * 1024
"""What a build may print; more is no set of manifests."""
_KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "TEMP", "SYSTEMROOT")
_LOGGED = pattern(r"""E\d{4} .*?\] "command failed" err="(.*)\"""")
"""How kubectl says what went wrong."""
_NOWHERE = "http://127.0.0.1:9"
"""A proxy that nobody answers at: whatever should try to fetch something fails at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """What a program printed. `error` says why it failed, empty where it did not."""

    text: bytes = b""
    error: str = ""


def found(name: str, root: Path | None) -> str | None:
    """Return where a program is installed, None where it is not, or only in the repository."""
    path = shutil.which(name)
    if path is None:
        return None
    real = Path(path).resolve()
    top = root.resolve() if root is not None else None
    bundled = top is not None and real.is_relative_to(top)
    return None if bundled or not Path(path).is_absolute() else path


def installed(name: str, tree: Tree) -> str | None:
    """Return where a program is that shall run on files of a tree, None where it is not."""
    path = found(name, tree.root)
    tree.note("program", name, path)
    return path


def asked_again(tree: Tree, what: str, where: str) -> None:
    """Ask a tree once more what one like it was asked; `tree.asked` has the answer."""
    if what == "file":
        tree.read(where)
    elif what == "folder":
        tree.is_folder(where)
    elif what == "link":
        tree.real(where)
    elif what == "below":
        tree.below(where)
    elif what == "program":
        installed(where, tree)


@contextmanager
def copied(files: Mapping[str, bytes], links: Mapping[str, str]) -> Iterator[Path]:
    """Give a folder that holds some files, and links to their folders, for as long as it takes."""
    with tempfile.TemporaryDirectory(prefix="kumamigrate-") as place:
        top = Path(place).resolve() / "repository"
        top.mkdir()
        for path, data in files.items():
            target = top / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        for path, leads in links.items():
            link = top / path
            link.parent.mkdir(parents=True, exist_ok=True)
            if not link.exists():
                link.symlink_to(os.path.relpath(top / leads, link.parent))
        yield top


def run(command: Sequence[str], place: Path) -> Printed:
    """Run a program in a folder that `copied` gave, and return what it printed."""
    home = place.parent / "home"
    home.mkdir(exist_ok=True)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            process = subprocess.Popen(
                list(command),
                cwd=place,
                env=_surroundings(home),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        except OSError as error:
            return Printed(error=error.strerror or str(error))
        try:
            code = process.wait(timeout=MOST_SECONDS)
        except subprocess.TimeoutExpired:
            _end(process)
            return Printed(error=f"it did not end within {MOST_SECONDS} seconds")
        out.seek(0)
        err.seek(0)
        text = out.read(MOST_BYTES + 1)
        said = err.read(100_000).decode("utf-8", "replace")
    if code != 0:
        return Printed(error=_plain(said, place) or f"it ended with exit code {code}")
    if len(text) > MOST_BYTES:
        return Printed(error=f"it printed more than {MOST_BYTES // 1024 // 1024} MiB")
    return Printed(text=text)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program and what it started."""
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


def _surroundings(home: Path) -> dict[str, str]:
    """Return the environment of a program: a home without settings, no cluster, no network."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    nowhere = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), _NOWHERE)
    folders = {f"HELM_{kind}_HOME": str(home) for kind in ("CACHE", "CONFIG", "DATA")}
    return {
        **kept,
        **nowhere,
        **folders,
        "HOME": str(home),
        "HELM_PLUGINS": str(home),
        "KUBECONFIG": os.devnull,
        "GIT_ALLOW_PROTOCOL": "none",
    }


def _plain(said: str, place: Path) -> str:
    """Return what a program complains about in one line, without the place of the copy."""
    for inner in (f"{place}/", str(place)):
        said = said.replace(inner, "")
    lines = [line.strip() for line in said.splitlines() if not line.startswith(("#", "WARNING"))]
    text = " ".join(line for line in lines if line)
    told = _LOGGED.fullmatch(text)
    text = told[1] if told is not None else text
    text = text.removeprefix("Error: ").removeprefix("error: ")
    return text if len(text) <= 500 else f"{text[:240]} … {text[-240:]}"
