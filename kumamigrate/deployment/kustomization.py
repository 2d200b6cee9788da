"""Kustomizations as written: what each of them includes, and the files it uses otherwise."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kumamigrate.source.load import read_file

NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
"""What the file may be called, as kustomize looks for it."""
_INCLUDES = ("resources", "bases", "components")
_PLAIN = frozenset({"apiVersion", "kind", "metadata", "resources", "bases"})
_USES = (
    "patches",
    "patchesStrategicMerge",
    "patchesJson6902",
    "replacements",
    "configurations",
    "crds",
    "generators",
    "transformers",
    "validators",
    "openapi",
    "configMapGenerator",
    "secretGenerator",
    "helmCharts",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kustomization:
    """One kustomization: paths relative to the root, with `/`.

    `resources` are files it includes as manifests, `folders` those with a kustomization of
    their own, `uses` files it needs for something else (patches, values, configuration),
    `remote` what it fetches from elsewhere, `missing` what it names and is not there. `plain`
    says that it only lists resources. `unread` says that the file itself could not be read.
    """

    path: str
    folder: str
    resources: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    remote: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    plain: bool = True
    unread: bool = False


def kustomizations(files: Mapping[str, bytes]) -> dict[str, Kustomization]:
    """Return the kustomizations among some files by folder ("" is the root)."""
    found: dict[str, Kustomization] = {}
    folders = {posixpath.dirname(path) for path in files if path.rpartition("/")[2] in NAMES}
    for folder in sorted(folders):
        path = next(p for n in NAMES if (p := posixpath.join(folder, n)) in files)
        body = _body(path, files[path])
        if body is None or _is_other(body):
            # Flux has a kind of the same name, which lies in a file of any name.
            if body is None:
                found[folder] = Kustomization(path=path, folder=folder, plain=False, unread=True)
            continue
        found[folder] = _read(path, folder, body, files, folders)
    return found


def claimed(
    all_of_them: Mapping[str, Kustomization], start: str
) -> tuple[list[Kustomization], list[str]]:
    """Return a kustomization with all it includes, each once, and the folders of a cycle."""
    seen: dict[str, Kustomization] = {}
    cycle: list[str] = []

    def enter(folder: str, above: tuple[str, ...]) -> None:
        if folder in above:
            cycle.extend((*above[above.index(folder) :], folder))
            return
        if folder in seen or folder not in all_of_them:
            return
        seen[folder] = all_of_them[folder]
        for inner in all_of_them[folder].folders:
            enter(inner, (*above, folder))

    enter(start, ())
    return list(seen.values()), cycle


def roots(all_of_them: Mapping[str, Kustomization]) -> list[str]:
    """Return the folders whose kustomization nobody else includes, sorted."""
    included = {inner for one in all_of_them.values() for inner in one.folders}
    return sorted(folder for folder in all_of_them if folder not in included)


def _body(path: str, data: bytes) -> Mapping[str, Any] | None:
    file = read_file(path, data)
    values = [d.value for d in file.documents if d.holds]
    if file.refusals and not values:
        return None
    value = values[0] if values else {}
    return value if isinstance(value, Mapping) else None


def _is_other(body: Mapping[str, Any]) -> bool:
    group = str(body.get("apiVersion") or "kustomize.config.k8s.io/v1beta1")
    return not group.startswith("kustomize.config.k8s.io/")


def _read(
    path: str,
    folder: str,
    body: Mapping[str, Any],
    files: Mapping[str, bytes],
    folders: Iterable[str],
) -> Kustomization:
    resources, inner, remote, missing = [], [], [], []
    known = set(folders)
    for name in _included(body):
        if "://" in name or name.startswith("git@") or "?ref=" in name:
            remote.append(name)
            continue
        place = _join(folder, name)
        if place in files:
            resources.append(place)
        elif place in known:
            inner.append(place)
        elif name.startswith(("github.com/", "gitlab.com/", "bitbucket.org/")):
            remote.append(name)
        else:
            missing.append(name)
    used = {_join(folder, text) for key in _USES for text in _texts(body.get(key))}
    return Kustomization(
        path=path,
        folder=folder,
        resources=tuple(resources),
        folders=tuple(inner),
        uses=tuple(sorted(used & files.keys())),
        remote=tuple(remote),
        missing=tuple(missing),
        plain=set(body) <= _PLAIN and "components" not in body,
    )


def _included(body: Mapping[str, Any]) -> Iterator[str]:
    for key in _INCLUDES:
        listed = body.get(key)
        yield from (
            (name for name in listed or () if isinstance(name, str))
            if isinstance(listed, list)
            else ()
        )


def _texts(value: Any) -> Iterator[str]:
    """Yield the short strings in a value that may be names of files, `key=file` included."""
    if isinstance(value, str) and "\n" not in value and len(value) < 1000:
        yield value.rpartition("=")[2]
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _join(folder: str, name: str) -> str:
    place = posixpath.normpath(posixpath.join(folder, name))
    return "" if place == "." else place
