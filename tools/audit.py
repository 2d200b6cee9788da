"""Holds requirements/dev.lock against known faults: `python tools/audit.py OSV.zip|FOLDER`.

Reads advisories in the OSV format from a file system, so it needs no network: the dump for PyPI is
one zip file (https://osv-vulnerabilities.storage.googleapis.com/PyPI/all.zip). Exit code 1 and one
line per fault where a locked version is affected.
"""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

ROOT = Path(__file__).resolve().parent.parent


def locked(text: str) -> dict[str, Version]:
    """Return the version of every package that a lock names."""
    found = {}
    for line in text.splitlines():
        if line and not line.startswith(("#", " ")):
            requirement = Requirement(line.rstrip(" \\"))
            (pin,) = requirement.specifier
            found[canonicalize_name(requirement.name)] = Version(pin.version)
    return found


def faults(advisory: Mapping[str, Any], versions: Mapping[str, Version]) -> Iterator[str]:
    """Yield a line for every locked version that an advisory speaks of."""
    if advisory.get("withdrawn"):
        return
    for affected in advisory.get("affected", ()):
        package = affected.get("package", {})
        name = canonicalize_name(package.get("name", ""))
        version = versions.get(name)
        if package.get("ecosystem") == "PyPI" and version and _affects(affected, version):
            summary = advisory.get("summary") or advisory.get("details", "")[:100]
            yield f"{name} {version}  {advisory.get('id', '')}  {summary}"


def _affects(affected: Mapping[str, Any], version: Version) -> bool:
    if any(_version(one) == version for one in affected.get("versions", ())):
        return True
    return any(
        _within(one.get("events", ()), version)
        for one in affected.get("ranges", ())
        if one.get("type") == "ECOSYSTEM"
    )


def _within(events: Any, version: Version) -> bool:
    """Return whether a version lies in one of the ranges that events open and close in order."""
    inside = False
    for event in events:
        if "introduced" in event:
            begins = event["introduced"]
            inside = inside or begins == "0" or _version(begins) <= version
        elif "fixed" in event:
            inside = inside and version < _version(event["fixed"])
        elif "last_affected" in event:
            inside = inside and version <= _version(event["last_affected"])
    return inside


def _version(text: str) -> Version:
    try:
        return Version(text)
    except InvalidVersion:
        return Version("0")


def advisories(place: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the advisories of a dump or of a folder of JSON files."""
    if place.is_dir():
        for path in sorted(place.rglob("*.json")):
            yield json.loads(path.read_text(encoding="utf-8"))
        return
    with zipfile.ZipFile(place) as dump:
        for name in dump.namelist():
            if name.endswith(".json"):
                yield json.loads(dump.read(name))


def main(place: Path) -> int:
    """Print what is known against the lock."""
    versions = locked((ROOT / "requirements" / "dev.lock").read_text(encoding="utf-8"))
    found = [line for one in advisories(place) for line in faults(one, versions)]
    print("\n".join(sorted(set(found))) or f"{len(versions)} packages, no fault known")
    return min(len(found), 1)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        print(__doc__)
        sys.exit(2)
    sys.exit(main(Path(sys.argv[1])))
