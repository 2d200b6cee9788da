"""Writes `requirements/` anew: every dependency, of every platform, with the hashes of its files.

`python tools/lock.py` needs uv (`pip install uv`) and asks the package index that uv is set up for.
What a run needs is in run.lock, what the tests and linters need as well in dev.lock, and bom.json
lists the former as a CycloneDX bill of materials.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "requirements"
HEAD = """\
# Made from pyproject.toml by tools/lock.py; a test holds the two together.
"""
COMPILE = (
    *("pip", "compile", "--quiet", "--universal", "--python-version", "3.11"),
    *("--generate-hashes", "--no-header", "--no-annotate", "--group", "build", "pyproject.toml"),
)
EXTRAS = {"run.lock": (), "dev.lock": ("--extra", "dev")}


def bill(lock: str) -> dict[str, Any]:
    """Return a lock as a bill of materials in the format CycloneDX 1.5."""
    components: list[dict[str, Any]] = []
    for line in lock.splitlines():
        found = re.match(r"([A-Za-z0-9_.-]+)==(\S+)", line)
        if found is not None:
            name, version = found.groups()
            purl = f"pkg:pypi/{name}@{version}"
            one = {"type": "library", "bom-ref": purl, "name": name, "version": version}
            components.append({**one, "purl": purl, "hashes": []})
        elif "--hash=sha256:" in line:
            digest = line.split("--hash=sha256:")[1].split()[0]
            components[-1]["hashes"].append({"alg": "SHA-256", "content": digest})
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    itself = {"type": "application", "name": project["name"], "version": project["version"]}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": itself},
        "components": components,
    }


def main() -> int:
    """Resolve and write the locks; say what is missing otherwise."""
    uv = shutil.which("uv")
    if uv is None:
        print("tools/lock.py: uv is needed; pip install uv", file=sys.stderr)
        return 2
    for name, extra in EXTRAS.items():
        command = [uv, *COMPILE, *extra]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            print(done.stderr, file=sys.stderr)
            return done.returncode
        (FOLDER / name).write_text(HEAD + done.stdout, encoding="utf-8")
    listed = bill((FOLDER / "run.lock").read_text(encoding="utf-8"))
    (FOLDER / "bom.json").write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
