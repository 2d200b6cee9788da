"""Settings: command line over the nearest `kumamigrate.toml` or `[tool.kumamigrate]`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from kumamigrate.errors import UsageError
from kumamigrate.model.initial import CHOICES
from kumamigrate.rewrite.finding import FAIL_ON

_WORDS = {
    "target",
    "from",
    "mesh-services",
    "zone",
    "control-plane-mode",
    "system-namespace",
    "stage",
    "initial-policies",
    "activations",
    "baseline",
    "fail-on",
}
_LISTS = {"inventory", "select", "ignore", "accept", "allow", "hold", "exclude"}
_NAMES = {"from": "source"}
_CHOICES = {
    "stage": ("auto", "expand", "contract"),
    "control-plane-mode": ("zone", "global"),
    "mesh-services": ("Disabled", "Everywhere", "ReachableBackends", "Exclusive"),
    "initial-policies": CHOICES,
    "activations": ("write", "review"),
    "fail-on": FAIL_ON,
}


def settings(given: Mapping[str, Any], start: Path) -> dict[str, Any]:
    """Return the arguments given, completed by the nearest configuration file upwards.

    Paths in the file are relative to it. Raises UsageError, naming file and key, for what the
    file may not say.
    """
    found = _nearest(start.resolve())
    if found is None:
        return dict(given)
    path, table = found
    read: dict[str, Any] = {"home": path.parent}
    for key, value in table.items():
        if key == "environment":
            from kumamigrate.deployment.environmentsettings import read_environments

            read["environments"] = read_environments(path, value)
            continue
        read[_NAMES.get(key, key.replace("-", "_"))] = _checked(path, key, value)
    if "inventory" in read:
        read["inventory"] = [path.parent / name for name in read["inventory"]]
    if "baseline" in read and read["baseline"] != "none":
        read["baseline"] = path.parent / read["baseline"]
    if read.pop("activations", "") == "review":
        read["hold"] = [*read.get("hold", ()), "activation"]
    return {**read, **given}


def has_settings(folder: Path) -> bool:
    """Say whether a folder holds settings: what lies below it is one repository."""
    return _in(folder) is not None


def settings_file(folder: Path) -> tuple[Path, str]:
    """Return the file that holds the settings of a folder, or could, and the table they are in."""
    found = _in(folder)
    if found is None or found[0].name == "kumamigrate.toml":
        return folder / "kumamigrate.toml", ""
    return found[0], "tool.kumamigrate."


def _checked(path: Path, key: str, value: Any) -> Any:
    if key in _WORDS:
        if not isinstance(value, str):
            raise UsageError(f"{path}: {key} must be a string (write releases in quotes)")
        choices = _CHOICES.get(key)
        if choices is not None and value not in choices:
            raise UsageError(f"{path}: {key} must be one of {', '.join(choices)}")
        if not value:
            raise UsageError(f"{path}: {key} must not be empty")
        return value
    if key in _LISTS:
        if isinstance(value, list) and all(isinstance(word, str) for word in value):
            return value
        raise UsageError(f"{path}: {key} must be a list of strings")
    known = ", ".join(sorted(_WORDS | _LISTS | {"environment"}))
    raise UsageError(f"{path}: unknown setting {key}; known are {known}")


def _nearest(start: Path) -> tuple[Path, dict[str, Any]] | None:
    folder = start if start.is_dir() else start.parent
    for place in (folder, *folder.parents):
        if (found := _in(place)) is not None:
            return found
    return None


def _in(folder: Path) -> tuple[Path, dict[str, Any]] | None:
    own, project = folder / "kumamigrate.toml", folder / "pyproject.toml"
    if own.is_file():
        return own, _toml(own)
    if project.is_file():
        tools = _toml(project).get("tool")
        table = tools.get("kumamigrate") if isinstance(tools, dict) else None
        if isinstance(table, dict):
            return project, table
        if table is not None:
            raise UsageError(f"{project}: tool.kumamigrate must be a table")
    return None


def _toml(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        return _parsed(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: {error}") from error


@lru_cache(maxsize=4)
def _parsed(text: str) -> dict[str, Any]:
    """Return what a text says: the settings of a folder are asked for more than once."""
    import tomllib

    return tomllib.loads(text)
