"""Set up and run this checkout: `python3 dev.py example`, `… test`, `… lint`, `… tools`, `… hosts`.

Needs Python 3.11 and pip, nothing else. Everything it installs goes into `.venv`; `tools` builds
kustomize and helm, with which some tests render, into `.tools` where Go is installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if sys.platform == "win32" else "bin")
PYTHON = BIN / "python"
TOOLS = ROOT / ".tools"
PROGRAMS = {
    "kustomize": "sigs.k8s.io/kustomize/kustomize/v5@v5.7.1",
    "helm": "helm.sh/helm/v3/cmd/helm@v3.19.0",
}
EXAMPLE = ROOT / "fixtures" / "example" / "before"
MEMORY = Path("/dev/shm")
"""Where Linux keeps files in memory."""
MOST_BYTES = 2**30
"""More than the folders of all tests that run at once and of those that failed."""


def _stamp(needed: str) -> Path:
    return VENV / f"installed-{needed}"


def _wanted(needed: str) -> str:
    files = (ROOT / "pyproject.toml", ROOT / "requirements" / f"{needed}.lock")
    return "".join(file.read_text(encoding="utf-8") for file in files)


def _is_installed(needed: str) -> bool:
    stamp = _stamp(needed)
    return stamp.is_file() and stamp.read_text(encoding="utf-8") == _wanted(needed)


def set_up(needed: str) -> None:
    """Create `.venv` and install what requirements/ locks, for a run or for tests and linters.

    Every file is checked against its hash; the project itself comes last and fetches nothing.
    """
    if sys.version_info < (3, 11):  # noqa: UP036  # an older Python can read this far
        sys.exit(f"dev.py: Python 3.11 or newer is needed, this is {sys.version.split()[0]}")
    if any(_is_installed(one) for one in {needed, "dev"}):
        return
    lock = ROOT / "requirements" / f"{needed}.lock"
    packages = sum("==" in line for line in lock.read_text(encoding="utf-8").splitlines())
    print(f"dev.py: installing {packages} packages into {VENV.name} …", file=sys.stderr, flush=True)
    if not PYTHON.exists():
        # Without ensurepip, which Debian packs apart: the pip at hand installs into the venv.
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", VENV], check=True)
    pip = [sys.executable, "-m", "pip", "--python", PYTHON, "--disable-pip-version-check"]
    pip += ["install", "--quiet"]
    subprocess.run([*pip, "--require-hashes", "--requirement", lock], check=True)
    alone = ["--no-deps", "--no-build-isolation", "--editable", ROOT]
    subprocess.run([*pip, *alone], check=True)
    _stamp(needed).write_text(_wanted(needed), encoding="utf-8")


def example() -> int:
    """Run the main job on a copy of the bundled repository: first the diff, then for real."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "gitops"
        shutil.copytree(EXAMPLE, copy)
        if shutil.which("git"):  # the report says how far it read: to the top of the repository
            subprocess.run(["git", "init", "--quiet"], cwd=copy, check=False)
        command = [PYTHON, "-m", "kumamigrate", "run"]
        print("$ kumamigrate run --dry-run", flush=True)
        subprocess.run([*command, "--dry-run"], cwd=copy, check=False)
        print("\n$ kumamigrate run", flush=True)
        code = subprocess.run(command, cwd=copy, check=False).returncode
        print("\n$ kumamigrate run    # again", flush=True)
        again = subprocess.run(command, cwd=copy, check=False).returncode
    return code or again


def test() -> int:
    """Run the tests on all cores; further arguments go to pytest (`-n 0`: in one process).

    To have every assertion tell what it compared takes ten seconds of each core before the first
    test runs, so that is asked of what failed alone. What Python compiles is kept, beside the
    sources' folders where it is not to be in them: else each process compiles everything. The
    tests' own folders are in memory where there is such a place.
    """
    env = dict(os.environ)
    if env.pop("PYTHONDONTWRITEBYTECODE", None):
        env.setdefault("PYTHONPYCACHEPREFIX", str(ROOT / ".pytest_cache" / "compiled"))
    further = sys.argv[2:]
    command = [str(PYTHON), "-m", "pytest"]
    if "TMPDIR" not in env and _takes(MEMORY):
        # Of a disk each write that is to last, and each folder that goes, is waited for.
        env["TMPDIR"] = str(MEMORY)
        command += ["-o", "tmp_path_retention_policy=failed"]
    # Neighbours stay in one process, since they share what they load, until another has no work.
    spread = [] if "no:xdist" in further else ["-n", "auto", "--dist", "worksteal"]
    quick = [] if further else ["--assert=plain"]
    words = [*spread, *quick, *further]
    code = subprocess.run([*command, *words], cwd=ROOT, env=env, check=False).returncode
    if code == 1 and quick:
        print("dev.py: what failed once more, with what was compared …", flush=True)
        subprocess.run([*command, "--last-failed", "-n", "0"], cwd=ROOT, env=env, check=False)
    return code


def _takes(folder: Path) -> bool:
    """Say whether tests can have their folders there: programs run in it, and a run fits in."""
    if not os.access(folder, os.W_OK):
        return False
    told = os.statvfs(folder)
    return not told.f_flag & os.ST_NOEXEC and told.f_bavail * told.f_frsize > MOST_BYTES


def hosts() -> int:
    """Run what code hosts run, installed as they install: hooks, action, template, site, page.

    pre-commit, mkdocs and playwright are for this only, so no lock has them.
    """
    import tomllib  # an older Python reads this far, to be told that it is too old

    pip = [sys.executable, "-m", "pip", "--python", PYTHON, "--disable-pip-version-check"]
    print("dev.py: installing what hosts bring along …", file=sys.stderr, flush=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = project["optional-dependencies"]["hosts"]
    subprocess.run([*pip, "install", "--quiet", *wanted], check=True)
    arguments = [str(PYTHON), "-m", "pytest", "tests/hosts", "tests/reports/test_html.py"]
    env = {**os.environ, "KUMAMIGRATE_HOSTS": "1"}
    return subprocess.run([*arguments, *sys.argv[2:]], cwd=ROOT, env=env, check=False).returncode


def lint() -> int:
    """Run ruff and mypy."""
    commands = (["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"])
    codes = [
        subprocess.run([str(PYTHON), "-m", *command], cwd=ROOT, check=False).returncode
        for command in commands
    ]
    return max(codes)


def tools() -> int:
    """Build the programs that render manifests, as far as they are missing and Go is there.

    Tests that need one that is not there are skipped, so this never fails for want of Go.
    """
    missing = [name for name in PROGRAMS if not (TOOLS / name).exists()]
    if missing and shutil.which("go") is None:
        print(f"dev.py: {' and '.join(missing)} cannot be built without Go; tests skip them")
        return 0
    codes = [
        subprocess.run(
            ["go", "install", PROGRAMS[name]],
            env={**os.environ, "GOBIN": str(TOOLS)},
            check=False,
        ).returncode
        for name in missing
    ]
    return max(codes, default=0)


def main() -> int:
    """Run the task named on the command line."""
    tasks = {"example": example, "test": test, "lint": lint, "tools": tools, "hosts": hosts}
    if len(sys.argv) < 2 or sys.argv[1] not in tasks:
        print(__doc__)
        return 2
    if sys.argv[1] != "tools":  # which Go builds, while others set up
        set_up("run" if sys.argv[1] == "example" else "dev")
    return tasks[sys.argv[1]]()


if __name__ == "__main__":
    sys.exit(main())
