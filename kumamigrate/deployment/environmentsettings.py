"""`[[environment]]` in the settings: read, checked, and written."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from kumamigrate.deployment.environment import Chart, Deployment, Facts
from kumamigrate.errors import UsageError

_WORDS = {
    "zone": None,
    "control-plane-mode": ("zone", "global"),
    "mesh-services": ("Disabled", "Everywhere", "ReachableBackends", "Exclusive"),
    "system-namespace": None,
    "initial-policies": ("none", "2.5", "2.6"),
}
_LISTS = ("include", "exclude", "inventory")
_KNOWN = ("name", *_LISTS, "kustomize", "helm", *_WORDS)
_HELM = ("chart", "values", "release", "namespace", "set")


def read_environments(file: Path, tables: Any) -> tuple[Deployment, ...]:
    """Return the environments that a settings file lists.

    Paths in it are relative to it. Raises UsageError, naming file and key, for what it may
    not say.
    """
    if not isinstance(tables, list) or not all(isinstance(t, Mapping) for t in tables):
        raise UsageError(f"{file}: write [[environment]], once for each environment")
    read = tuple(_environment(file, at, table) for at, table in enumerate(tables, start=1))
    names = [one.name for one in read]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{file}: two environments are called {name}; rename one")
    return read


def _environment(file: Path, at: int, table: Mapping[str, Any]) -> Deployment:
    name = table.get("name")
    if not isinstance(name, str) or not name:
        raise UsageError(f'{file}: environment {at} has no name; add name = "..."')
    where = f"{file}: environment {name}"
    for key in table:
        if key not in _KNOWN:
            raise UsageError(f"{where}: unknown setting {key}; known are {', '.join(_KNOWN)}")
    facts = {key.replace("-", "_"): _word(where, key, table.get(key)) for key in _WORDS}
    lists = {key: _texts(where, key, table.get(key, [])) for key in _LISTS}
    deployment = Deployment(
        name=name,
        include=lists["include"],
        exclude=lists["exclude"],
        kustomize=_kustomize(where, table.get("kustomize", [])),
        charts=tuple(_charts(where, table.get("helm", []))),
        facts=Facts(**facts),
        inventory=tuple(file.parent / path for path in lists["inventory"]),
        why=f"{file.name}",
    )
    if not (deployment.include or deployment.kustomize or deployment.charts):
        raise UsageError(f"{where} names no sources; give it include, kustomize or helm")
    return deployment


def _word(where: str, key: str, value: Any) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not value:
        raise UsageError(f"{where}: {key} must be a string (write releases in quotes)")
    choices = _WORDS[key]
    if choices is not None and value not in choices:
        raise UsageError(f"{where}: {key} must be one of {', '.join(choices)}")
    return value


def _texts(where: str, key: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, list) and all(isinstance(word, str) and word for word in value):
        return tuple(value)
    raise UsageError(f"{where}: {key} must be a list of strings")


def _kustomize(where: str, value: Any) -> tuple[str, ...]:
    folders = _texts(where, "kustomize", [value] if isinstance(value, str) else value)
    return tuple(_folder(folder) for folder in folders)


def _charts(where: str, value: Any) -> Iterator[Chart]:
    for table in [value] if isinstance(value, Mapping) else value:
        if not isinstance(table, Mapping) or not isinstance(table.get("chart"), str):
            raise UsageError(f'{where}: helm must be a table like {{ chart = "charts/shop" }}')
        for key in table:
            if key not in _HELM:
                raise UsageError(f"{where}: helm: unknown {key}; known are {', '.join(_HELM)}")
        words = {key: table[key] for key in ("release", "namespace") if key in table}
        if not all(isinstance(word, str) and word for word in words.values()):
            raise UsageError(f"{where}: helm: release and namespace must be strings")
        values = _texts(where, "helm values", table.get("values", []))
        settings = tuple(_settings(where, table.get("set", {})))
        yield Chart(chart=_folder(table["chart"]), values=values, settings=settings, **words)


def _settings(where: str, value: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(value, Mapping) or not all(isinstance(one, str) for one in value.values()):
        raise UsageError(f'{where}: helm set must be a table of strings: {{ "a.b" = "1" }}')
    yield from value.items()


def _folder(path: str) -> str:
    return path.removeprefix("./").rstrip("/") or "."


def environments_text(deployments: Iterable[Deployment], *, table: str = "environment") -> str:
    """Return environments as the settings list them."""
    return "".join(f"\n[[{table}]]\n{_entries(one)}" for one in deployments)


def _entries(deployment: Deployment) -> str:
    facts = deployment.facts
    said: dict[str, Any] = {"name": deployment.name or "all"}
    said |= {"include": deployment.include, "exclude": deployment.exclude}
    said |= {"kustomize": deployment.kustomize, "helm": [_helm(c) for c in deployment.charts]}
    said |= {key: getattr(facts, key.replace("-", "_")) for key in _WORDS}
    said["inventory"] = [path.as_posix() for path in deployment.inventory]
    return "".join(f"{key} = {_value(value)}\n" for key, value in said.items() if value)


def _helm(chart: Chart) -> dict[str, Any]:
    said = {"chart": chart.chart, "values": chart.values, "release": chart.release}
    return {**said, "namespace": chart.namespace, "set": dict(chart.settings)}


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items() if v)
        return f"{{ {inner} }}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(one) for one in value) + "]"
    # The strings of JSON are strings of TOML.
    return json.dumps(value, ensure_ascii=False)


def _key(word: str) -> str:
    return word if word.isalpha() else json.dumps(word, ensure_ascii=False)
