"""Objects of Argo CD and Flux that say what of a repository is applied, where, and how.

They point at folders and charts of the repository, with values; some change what they apply.
Which repository an object means is not asked: a path that is there is meant.
"""

from __future__ import annotations

import fnmatch
import json
import posixpath
from collections.abc import Iterator, Mapping
from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.deployment.environment import Chart
from kumamigrate.deployment.tree import Tree, joined
from kumamigrate.model.resource import mapping, sequence
from kumamigrate.pattern import pattern
from kumamigrate.source.reading.load import read_file
from kumamigrate.source.text import Document, Reason, Refusal, SourceFile

GITOPS_WORDS = (b"argoproj.io/", b"toolkit.fluxcd.io/")
"""What stands in the objects of Argo CD and Flux."""
_FLUX_CHANGES = (
    "patches",
    "patchesStrategicMerge",
    "patchesJson6902",
    "targetNamespace",
    "postBuild",
    "components",
    "namePrefix",
    "nameSuffix",
    "commonMetadata",
)
_ARGO_CHANGES = (
    "patches",
    "namePrefix",
    "nameSuffix",
    "namespace",
    "components",
    "commonLabels",
    "commonAnnotations",
)
_PLACEHOLDER = pattern(r"\{\{-?\s*\.?([\w.\[\]-]+)\s*-?\}\}")


@dataclass(frozen=True, kw_only=True)
class Pointer:
    """What one object applies: a folder, or a chart with values.

    `file` and `line` are where it stands. `destination` names the cluster where it says one.
    `changes` are its fields that make something else of what it points at.
    """

    file: str
    line: int
    name: str
    folder: str
    chart: Chart | None = None
    destination: str = ""
    changes: tuple[str, ...] = ()

    def refusal(self) -> Refusal:
        """Return why what it applies is not known, at its place."""
        return Refusal(
            path=self.file,
            line=self.line,
            column=1,
            reason=Reason.UNBUILDABLE,
            detail=f"{self.name} applies {self.folder or '.'} with {', '.join(self.changes)} of its"
            " own, which are not taken into account",
            advice="move them into a kustomization of the folder, or name the environment in the"
            " settings",
            hides=True,
        )


def pointers(tree: Tree) -> tuple[Pointer, ...]:
    """Return what the objects among the files in memory point at, in path order."""
    if "pointers" not in tree.known:
        tree.known["pointers"] = tuple(
            pointer
            for path in sorted(tree.files)
            for pointer in _in_file(path, tree.files[path], tree)
            if tree.is_folder(pointer.folder)
        )
    found: tuple[Pointer, ...] = tree.known["pointers"]
    return found


def _in_file(path: str, data: bytes | None, tree: Tree) -> Iterator[Pointer]:
    if data is None or not any(word in data for word in GITOPS_WORDS):
        return
    file = read_file(path, data)
    for document in file.documents:
        body = mapping(document.value)
        api, kind = str(body.get("apiVersion", "")), body.get("kind")
        if api.startswith("argoproj.io/") and kind == "Application":
            yield from _application(file, document, body)
        elif api.startswith("argoproj.io/") and kind == "ApplicationSet":
            for made in applications(body, tree):
                yield from _application(file, document, made)
        elif api.startswith("kustomize.toolkit.fluxcd.io/") and kind == "Kustomization":
            yield _flux(file, document, body)
        elif api.startswith("helm.toolkit.fluxcd.io/") and kind == "HelmRelease":
            yield from _release(file, document, body)


def _application(
    file: SourceFile, document: Document, body: Mapping[str, Any]
) -> Iterator[Pointer]:
    spec = mapping(body.get("spec"))
    sources = spec.get("sources")
    listed = sources if isinstance(sources, list) else [spec.get("source")]
    goal = mapping(spec.get("destination"))
    for source in map(mapping, listed):
        path = source.get("path")
        if not isinstance(path, str):
            continue
        folder = joined("", path)
        kustomize, directory = mapping(source.get("kustomize")), mapping(source.get("directory"))
        changes = [f"kustomize.{key}" for key in _ARGO_CHANGES if kustomize.get(key)]
        changes += [f"directory.{key}" for key in ("exclude", "include") if directory.get(key)]
        changes += ["plugin"] if source.get("plugin") else []
        name = str(mapping(body.get("metadata")).get("name", ""))
        yield Pointer(
            file=file.path,
            line=file.position(document.start)[0],
            name=f"Application {name}",
            folder=folder,
            chart=_argo_chart(folder, name, mapping(source.get("helm")), goal),
            destination=str(goal.get("name") or goal.get("server") or ""),
            changes=tuple(changes),
        )


def _argo_chart(folder: str, name: str, helm: Mapping[str, Any], goal: Mapping[str, Any]) -> Chart:
    inline = helm.get("valuesObject") or helm.get("values")
    parameters = [mapping(one) for one in helm.get("parameters") or ()]
    return Chart(
        chart=folder or ".",
        values=tuple(_value_file(folder, str(path)) for path in helm.get("valueFiles") or ()),
        release=str(helm.get("releaseName") or name or "release"),
        namespace=str(goal.get("namespace") or ""),
        settings=tuple((str(one.get("name")), str(one.get("value"))) for one in parameters),
        inline=_inline(inline),
    )


def _value_file(folder: str, path: str) -> str:
    """Return where a file of values lies: beside the chart, from the top, or of another source."""
    if path.startswith("$"):
        return joined("", path.partition("/")[2])
    return joined("", path.lstrip("/")) if path.startswith("/") else joined(folder, path)


def _inline(values: Any) -> str:
    if isinstance(values, str):
        return values
    return json.dumps(values) if isinstance(values, Mapping) and values else ""


def _flux(file: SourceFile, document: Document, body: Mapping[str, Any]) -> Pointer:
    spec = mapping(body.get("spec"))
    name = mapping(body.get("metadata")).get("name", "")
    return Pointer(
        file=file.path,
        line=file.position(document.start)[0],
        name=f"Kustomization {name}",
        folder=joined("", str(spec.get("path") or ".")),
        changes=tuple(f"spec.{key}" for key in _FLUX_CHANGES if spec.get(key)),
    )


def _release(file: SourceFile, document: Document, body: Mapping[str, Any]) -> Iterator[Pointer]:
    spec, metadata = mapping(body.get("spec")), mapping(body.get("metadata"))
    says = mapping(mapping(spec.get("chart")).get("spec"))
    path = says.get("chart")
    if not isinstance(path, str) or mapping(says.get("sourceRef")).get("kind") != "GitRepository":
        return
    name, goal = str(metadata.get("name", "")), str(spec.get("targetNamespace") or "")
    release = spec.get("releaseName") or (f"{goal}-{name}" if goal else name)
    folder = joined("", path)
    files = says.get("valuesFiles") or ()
    yield Pointer(
        file=file.path,
        line=file.position(document.start)[0],
        name=f"HelmRelease {name}",
        folder=folder,
        chart=Chart(
            chart=folder or ".",
            values=tuple(joined("", str(one)) for one in files),
            release=str(release or "release"),
            namespace=goal or str(metadata.get("namespace") or ""),
            inline=_inline(spec.get("values")),
        ),
        changes=tuple(f"spec.{key}" for key in ("valuesFrom", "postRenderers") if spec.get(key)),
    )


def applications(body: Mapping[str, Any], tree: Tree) -> Iterator[Mapping[str, Any]]:
    """Yield the Applications that an ApplicationSet makes of lists and folders.

    What other generators make is told by a cluster or a forge: nothing is known of it here, and
    the layout of the repository says which environments there are.
    """
    spec = mapping(body.get("spec"))
    for generator in map(mapping, spec.get("generators") or ()):
        for parameters in _parameters(generator, tree):
            yield _filled(spec.get("template"), parameters)


def _parameters(generator: Mapping[str, Any], tree: Tree) -> list[dict[str, str]]:
    listed, git = generator.get("list"), mapping(generator.get("git"))
    if isinstance(listed, Mapping) and isinstance(listed.get("elements"), list):
        return [
            {str(key): str(value) for key, value in mapping(one).items()}
            for one in listed["elements"]
        ]
    wanted = git.get("directories")
    patterns = [mapping(one) for one in sequence(wanted)]
    return [
        {"path": folder, "path.path": folder, "path.basename": posixpath.basename(folder)}
        for folder in tree.folders()
        if _meant(folder, patterns)
    ]


def _meant(folder: str, patterns: list[Mapping[str, Any]]) -> bool:
    """Say whether a folder is among those of a generator; `*` stays within a folder there."""
    here = [
        bool(one.get("exclude"))
        for one in patterns
        if str(one.get("path", "")).count("/") == folder.count("/")
        and fnmatch.fnmatchcase(folder, str(one.get("path", "")))
    ]
    return bool(here) and not any(here)


def _filled(template: Any, parameters: Mapping[str, str]) -> Mapping[str, Any]:
    def fill(value: Any) -> Any:
        if isinstance(value, str):
            return _PLACEHOLDER.sub(lambda m: parameters.get(m[1], m[0]), value)
        if isinstance(value, Mapping):
            return {key: fill(inner) for key, inner in value.items()}
        return [fill(inner) for inner in value] if isinstance(value, list) else value

    return mapping(fill(template))
