"""Files that differ between two states and are read as nothing that a proof compares.

A proof speaks of what was read. What changed beside it may change what is applied: an object of
Argo CD or Flux, values that nobody is known to give to a chart, an overlay of ytt, a directive of
a template, a file that is encrypted. Each is said, and nothing is called equal over it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.deployment.environment import Chart
from kumamigrate.deployment.filegraph import layout_of
from kumamigrate.deployment.gitops import GITOPS_WORDS
from kumamigrate.deployment.tree import CHART, joined
from kumamigrate.model.resource import mapping
from kumamigrate.source.reading.embedded import MARKDOWN, TERRAFORM
from kumamigrate.source.reading.find import generates, is_script
from kumamigrate.source.reading.load import read_file
from kumamigrate.source.reading.sift import may_hold_kuma
from kumamigrate.source.text import Refusal
from kumamigrate.world.estate import Estate, Site
from kumamigrate.world.scope import Extent

_CLOSED = {
    b"\0GITCRYPT\0": "git-crypt",
    b"age-encryption.org/": "age",
    b"-----BEGIN AGE ": "age",
    b"-----BEGIN PGP ": "PGP",
    b"$ANSIBLE_VAULT;": "Ansible Vault",
}
_POINTER = b"version https://git-lfs.github.com/"
_SEALED = re.compile(rb"""["']?sops["']?[ \t]*:""")
_YTT = re.compile(rb"(?m)^[ \t]*#@")
_DIRECTIVE = re.compile(
    rb"\{%.{0,500}?%\}"
    rb"|\{\{-?[ \t]*(?:\$\w+[ \t]*:?=|define|if|else|range|with|block|end)\b.{0,500}?\}\}",
    re.DOTALL,
)
_VALUE = re.compile(rb"\.Values\.(\w+)")
_OF_CHART = (CHART, "values.yaml", "values.schema.json", "requirements.yaml")
_HELMFILE = re.compile(r"(^|/)helmfile[^/]*$|(^|/)helmfile\.d/")
_MANNER = (
    *("syncPolicy", "project", "interval", "retryInterval", "timeout", "prune", "wait", "info"),
    *("revisionHistoryLimit", "ignoreDifferences", "install", "upgrade", "healthChecks"),
)
"""Fields of Argo CD and Flux that say when and how something is applied, not what."""
Files = Mapping[str, bytes]


@dataclass(frozen=True, kw_only=True)
class _Two:
    """Both states, and their files by the paths that are alike in both."""

    estates: tuple[Estate, Estate]
    files: tuple[Files, Files]
    prefixes: tuple[str, str]
    keys: frozenset[str]

    def datas(self, path: str) -> list[bytes]:
        """Return what a file holds, in each state that has it."""
        return [files[path] for files in self.files if path in files]

    def sides(self, path: str) -> Iterator[tuple[Estate, str]]:
        """Yield the states, with what each calls a file."""
        for estate, prefix in zip(self.estates, self.prefixes, strict=True):
            yield estate, prefix + path if path else prefix.removesuffix("/")


def uncompared(before: Estate, after: Estate) -> tuple[str, ...]:
    """Return why two states may differ in what was not compared, in path order."""
    prefixes = (_prefix(before), _prefix(after))
    files = (_files(before, prefixes[0]), _files(after, prefixes[1]))
    changed = sorted(p for p in {*files[0], *files[1]} if files[0].get(p) != files[1].get(p))
    if not changed:
        return ()
    two = _Two(
        estates=(before, after), files=files, prefixes=prefixes, keys=_keys_of_charts(files[1])
    )
    return tuple(
        f"{shown} differs and is not compared: {why}"
        for path in changed
        for shown in (path or prefixes[1].removesuffix("/"),)
        if (why := _why(path, two))
    )


def _prefix(estate: Estate) -> str:
    """Return what the paths of a state begin with that stands for itself."""
    scope = estate.scope
    if scope is None or scope.world is not Extent.NAMED or len(scope.given) != 1:
        return ""
    given = scope.given[0].as_posix()
    return "" if given == "." else f"{given}/"


def _files(estate: Estate, prefix: str) -> Files:
    others = {**estate.beside, **estate.scripts}
    said = {path: data for path, data in others.items() if _may_apply(path, data)}
    return {
        path.removeprefix(prefix) if path != prefix.removesuffix("/") else "": data
        for path, data in {**estate.tree.files, **said}.items()
        if data is not None
    }


def _may_apply(path: str, data: bytes) -> bool:
    """Say whether a file of another language may apply or make resources of Kuma's."""
    if path.endswith(MARKDOWN) or not may_hold_kuma(data):
        return False
    return not is_script(path) or b"kubectl" in data or b"kumactl" in data


def _why(path: str, two: _Two) -> str:
    """Return why it could matter that a file differs, empty where it is read or cannot."""
    datas = two.datas(path)
    if is_script(path) or generates(path) or path.endswith(TERRAFORM):
        return "it speaks of resources of Kuma's, in a language that is not run here"
    if any(word in data for data in datas for word in GITOPS_WORDS):
        return _applies_otherwise(path, two)
    if any(_is_built(estate, name) for estate, name in two.sides(path)):
        return ""
    for data in datas:
        if closed := _closed(data):
            return closed
    if any(_YTT.search(data) for data in datas):
        return "it holds directives of ytt, which is not run; render it and compare the result"
    if any(map(may_hold_kuma, datas)):
        if not _is_read(path, two):
            return "nothing says that it is applied"
        told = {tuple(_DIRECTIVE.findall(data)) for data in datas}
        return "" if len(told) == 1 else "its template says something else; render it first"
    if two.keys and _HELMFILE.search(path):
        return "it may give values to a chart with resources of Kuma's; name the environment"
    if any(_may_be_values(path, data, two.keys) for data in datas):
        return (
            "it may be values of a chart with resources of Kuma's; name the environment that"
            " uses it in kumamigrate.toml"
        )
    return ""


def _is_built(estate: Estate, path: str) -> bool:
    """Say whether a build takes a file in: a chart's own, or one that a kustomization names."""
    for site in estate.sites:
        if not site.rendering.built or path not in site.rendering.sources:
            continue
        if path in layout_of(estate.tree).listed():
            return True
        if any(_is_of_chart(path, chart) for chart in site.deployment.charts):
            return True
    return False


def _is_of_chart(path: str, chart: Chart) -> bool:
    start = "" if chart.chart in ("", ".") else f"{chart.chart}/"
    if path in chart.values:
        return True
    if not path.startswith(start):
        return False
    folder, _, name = path.removeprefix(start).partition("/")
    return folder != "crds" if name else folder in _OF_CHART


def _closed(data: bytes) -> str:
    if data.startswith(_POINTER):
        return "it lies in Git LFS; fetch it there"
    for mark, program in _CLOSED.items():
        if data.startswith(mark):
            return f"it is encrypted with {program}; decrypt both states and compare them"
    if _SEALED.search(data) and b"ENC[" in data and not _says_kind(data):
        return "it is encrypted with sops; decrypt both states and compare them"
    return ""


def _says_kind(data: bytes) -> bool:
    bodies = [mapping(document.value) for document in read_file("", data).documents]
    return all("kind" in body or "type" in body for body in bodies)


def _applies_otherwise(path: str, two: _Two) -> str:
    """Return what an object that applies folders with Kuma's resources says otherwise."""
    said = [_applied(path, files.get(path)) for files in two.files]
    if said[0] == said[1]:
        return ""
    for folder in sorted({one for data in two.datas(path) for one in _folders(path, data)}):
        if any(_holds_kuma(files, folder) for files in two.files):
            return f"it says what of {folder or 'all files'} is applied, and how"
    if any(map(may_hold_kuma, two.datas(path))) and not _is_read(path, two):
        return "it speaks of resources of Kuma's"
    return ""


def _applied(path: str, data: bytes | None) -> list[str]:
    """Return what the objects in a file apply, without the manner of it."""
    bodies = [mapping(d.value) for d in read_file(path, data).documents] if data else []
    return [
        json.dumps([body.get("kind"), _without_manner(mapping(body.get("spec")))], default=str)
        for body in bodies
        if any(word in str(body.get("apiVersion", "")).encode() for word in GITOPS_WORDS)
    ]


def _without_manner(spec: Mapping[str, Any]) -> dict[str, Any]:
    kept = {str(key): value for key, value in spec.items() if key not in _MANNER}
    inner = mapping(kept.get("template")).get("spec")
    if isinstance(inner, Mapping):
        kept["template"] = _without_manner(inner)
    return kept


def _folders(path: str, data: bytes) -> Iterator[str]:
    """Yield the folders that objects in a file name; what a generator fills in stands for any."""
    for document in read_file(path, data).documents:
        for said in _paths(mapping(document.value).get("spec")):
            plain, filled, _ = said.partition("{{")
            yield joined("", plain.rpartition("/")[0] if filled else plain)


def _paths(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for inner in value:
            yield from _paths(inner)
    for key, inner in mapping(value).items():
        if key in ("path", "chart") and isinstance(inner, str):
            yield inner
        else:
            yield from _paths(inner)


def _holds_kuma(files: Files, folder: str) -> bool:
    start = f"{folder}/" if folder else ""
    return any(may_hold_kuma(data) for path, data in files.items() if path.startswith(start))


def _is_read(path: str, two: _Two) -> bool:
    """Say whether a file is a manifest of some environment, or is known as not read."""
    return any(
        name in site.rendering.manifests or name in {r.path for r in _unread(site)}
        for estate, name in two.sides(path)
        for site in estate.sites
    )


def _unread(site: Site) -> tuple[Refusal, ...]:
    return (*site.written.repository.unread, *site.applied.repository.unread, *site.beside)


def _keys_of_charts(files: Files) -> frozenset[str]:
    """Return the names of values that charts with Kuma's resources read."""
    found: set[bytes] = set()
    for chart in (path for path in files if path.rpartition("/")[2] == CHART):
        start = chart.removesuffix(CHART)
        datas = [data for path, data in files.items() if path.startswith(start)]
        if any(map(may_hold_kuma, datas)):
            found.update(key for data in datas for key in _VALUE.findall(data))
    return frozenset(key.decode() for key in found)


def _may_be_values(path: str, data: bytes, keys: frozenset[str]) -> bool:
    documents = read_file(path, data).documents if keys else ()
    bodies = [mapping(document.value) for document in documents]
    return len(bodies) == 1 and "apiVersion" not in bodies[0] and not keys.isdisjoint(bodies[0])
