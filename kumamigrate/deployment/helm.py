"""Renders a chart by `helm template` where helm is installed: with values, without a cluster.

Nothing is fetched: what a chart depends on must lie beside it. A chart is taken to be installed
where Kuma is: what it asks of the cluster's API versions about Kuma is answered with yes.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from kumamigrate.dataclass import replace
from kumamigrate.deployment.build import Built, resources_in, twin
from kumamigrate.deployment.environment import Chart
from kumamigrate.deployment.program import Printed, copied, installed, run
from kumamigrate.deployment.tree import CHART, Tree, joined
from kumamigrate.model.kinds import CLUSTER_SCOPED
from kumamigrate.model.read import read_resources
from kumamigrate.model.resource import Where, mapping
from kumamigrate.pattern import pattern
from kumamigrate.source.node import MapNode, Style, node_at
from kumamigrate.source.reading.load import read_file
from kumamigrate.source.text import Reason, Refusal

INLINE = ".kumamigrate-values.yaml"
"""Where values that stand inside an object lie in the copy that is rendered."""
_API = pattern(rb"kuma\.io/v1alpha1(?:/[A-Za-z]+)?")
_NAME = pattern(r"[a-z0-9]([-.a-z0-9]*[a-z0-9])?")
_SOURCE = pattern(r"^# Source: (.+)$", re.MULTILINE)
_TEMPLATE = pattern(r"(?:charts/[^/]+/)*templates/(?:.*/)?[^_/][^/]*\.(?:ya?ml|json)")


def build_chart(chart: Chart, tree: Tree) -> Built:
    """Return what `helm template` of a chart gives, or why it cannot be known."""
    folder = joined("", chart.chart)
    files = tree.below(folder)
    texts = {path: data for path in files if (data := tree.read(path)) is not None}
    values = tuple(joined("", path) for path in chart.values)
    templates = frozenset(p for p in texts if _is_template(p, folder))
    bare = Built(
        files={path: texts[path] for path in templates},
        manifests=templates,
        sources=frozenset((*texts, *values)),
        how=f"chart {folder or '.'}, read without helm",
    )
    refusals = tuple(_faults(chart, folder, texts, tree))
    if refusals:
        return replace(bare, refusals=refusals, shut=True)
    program = installed("helm", tree)
    if program is None:
        if not any(b"{{" in texts[path] for path in templates):
            return bare
        detail = "what the templates of the chart come to is not known without helm"
        advice = "install helm, so that it can be rendered and compared"
        return replace(bare, refusals=(_refusal(folder, detail, advice),))
    return _run(program, chart, folder, texts, bare, tree)


def charts_within(tree: Tree) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the folders of the charts that no other one holds or depends on, and all files of
    charts."""
    folders = sorted(posixpath.dirname(p) for p in tree.files if posixpath.basename(p) == CHART)
    texts = {path: data for path, data in tree.files.items() if data is not None}
    used: set[str] = set()
    for folder in folders:
        for _, repository in _dependencies(folder, texts):
            if repository.startswith("file://"):
                used.add(joined(folder, repository.removeprefix("file://")))
        inside = f"{folder}/charts/" if folder else "charts/"
        used.update(other for other in folders if other.startswith(inside))
    starts = tuple(f"{folder}/" if folder else "" for folder in folders)
    # Of a chart in the root only what helm reads is its own; the rest may be anything.
    parts = ("templates/", "charts/", "crds/", CHART, "values")
    of_charts = {
        path
        for path in texts
        for start in starts
        if path.startswith(start) and (start or path.startswith(parts))
    }
    return tuple(f for f in folders if f not in used), frozenset(of_charts)


def _run(
    program: str,
    chart: Chart,
    folder: str,
    texts: Mapping[str, bytes],
    bare: Built,
    tree: Tree,
) -> Built:
    contents = {**texts, **_bundled(folder, texts, tree)}
    for path in chart.values:
        contents[joined("", path)] = tree.read(joined("", path)) or b""
    if chart.inline:
        contents[INLINE] = chart.inline.encode()
    command = (program, *_arguments(chart, folder, texts))
    tree.ran.add(command)
    printed = _printed(command, frozenset(contents.items()))
    how = " ".join(("helm template", chart.release, folder or ".", *_shown(chart)))
    if printed.error:
        advice = f"correct it until `{how}` succeeds"
        detail = f"it cannot be rendered: {printed.error}"
        return replace(bare, refusals=(_refusal(folder, detail, advice),), shut=True, how=how)
    path = joined(folder, CHART)
    if chart.release != Chart(chart="").release:
        path = f"{path} of {chart.release}"  # a chart may be installed more than once
    text = _in_namespace(path, printed.text, chart.namespace)
    return replace(
        bare,
        files={path: text},
        origins=dict(_origins(path, folder, text, tree)),
        how=how,
    )


@lru_cache(maxsize=512)
def _printed(command: tuple[str, ...], contents: frozenset[tuple[str, bytes]]) -> Printed:
    """Return what helm prints: the same sources give the same, so they are rendered once."""
    with copied(dict(contents), {}) as top:
        return run(command, top)


def _arguments(chart: Chart, folder: str, texts: Mapping[str, bytes]) -> Iterator[str]:
    place = f"./{folder}" if folder else "."
    yield from ("template", chart.release, place, "--namespace", chart.namespace or "default")
    # A schema may name others to be fetched, and says nothing about what is rendered.
    yield from ("--skip-tests", "--skip-schema-validation")
    for path in chart.values:
        yield from ("--values", f"./{joined('', path)}")
    if chart.inline:
        yield from ("--values", INLINE)
    for name, value in chart.settings:
        escaped = value.replace("\\", "\\\\").replace(",", "\\,")
        yield from ("--set", f"{name}={escaped}")
    versions = {match.decode() for data in texts.values() for match in _API.findall(data)}
    for version in sorted(versions | {"kuma.io/v1alpha1"}):
        yield from ("--api-versions", version)


def _shown(chart: Chart) -> Iterator[str]:
    if chart.namespace:
        yield from ("--namespace", chart.namespace)
    for path in chart.values:
        yield from ("--values", path)
    for name, value in chart.settings:
        yield from ("--set", f"{name}={value}")


def _in_namespace(path: str, text: bytes, namespace: str) -> bytes:
    """Return manifests in which those without a namespace have that of the release.

    helm leaves it to the cluster to put them there.
    """
    file = read_file(path, text)
    if not namespace:
        return text
    places: dict[int, str] = {}
    for resource in read_resources(file):
        if resource.where is None or resource.namespace or resource.type in CLUSTER_SCOPED:
            continue
        root = file.documents[resource.where.document].root
        metadata = node_at(root, (*resource.where.item, "metadata"))
        if isinstance(metadata, MapNode) and metadata.entries:
            at = metadata.entries[0][0].start
            column = file.position(at)[1] - 1
            flow = metadata.style is Style.FLOW
            places[at] = f"namespace: {namespace}" + (", " if flow else "\n" + " " * column)
    pieces, last = [], 0
    for at in sorted(places):
        pieces += [file.text[last:at], places[at]]
        last = at
    return "".join((*pieces, file.text[last:])).encode()


def _origins(
    path: str, folder: str, text: bytes, tree: Tree
) -> Iterator[tuple[tuple[str, int], Where]]:
    """Yield for each document of a chart's output where the resource stands in its templates."""
    file = read_file(path, text)
    for resource in read_resources(file):
        if resource.where is None:
            continue
        span = file.documents[resource.where.document].span
        told = _SOURCE.search(file.text, span.start, span.end)
        if told is None:
            continue
        source = joined(folder, told[1].partition("/")[2])
        found = twin(resource, resources_in(source, tree))
        if found is not None and found.where is not None:
            yield (path, resource.where.document), found.where


def _is_template(path: str, folder: str) -> bool:
    """Say whether a file is a template whose output is applied."""
    return _TEMPLATE.match(path[len(folder) + 1 :] if folder else path) is not None


def _faults(chart: Chart, folder: str, texts: Mapping[str, bytes], tree: Tree) -> Iterator[Refusal]:
    """Yield what keeps a chart from being rendered here."""
    values = tuple(joined("", path) for path in chart.values)
    if not _NAME.fullmatch(chart.release):
        # Never more than a name: what begins with a dash would be an option.
        detail = f"{chart.release!r} is no name of a release"
        yield _refusal(folder, detail, "correct it where the chart is installed")
    if joined(folder, CHART) not in texts:
        yield _refusal(folder, "there is no such chart", "correct the path in the settings")
        return
    for path in values:
        if tree.read(path) is None:
            detail = f"its values file {path} does not exist"
            yield _refusal(folder, detail, "correct the path in the settings")
    for name, repository in _dependencies(folder, texts):
        there = any(_holds(path, folder, name) for path in texts)
        local = repository.startswith("file://")
        if not there and (
            not local or not tree.is_folder(joined(folder, repository.removeprefix("file://")))
        ):
            detail = f"it depends on {name} of {repository or 'no repository'}, which is not there"
            yield _refusal(folder, detail, f"`helm dependency build {folder}` brings it")


def _holds(path: str, folder: str, name: str) -> bool:
    inside = path[len(folder) + 1 :] if folder else path
    return inside.startswith((f"charts/{name}/", f"charts/{name}-"))


def _dependencies(folder: str, texts: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    says = _value(joined(folder, CHART), texts)
    for entry in says.get("dependencies") or ():
        if isinstance(entry, Mapping) and entry.get("name"):
            yield str(entry["name"]), str(entry.get("repository") or "")


def _bundled(folder: str, texts: Mapping[str, bytes], tree: Tree) -> dict[str, bytes]:
    """Return the charts beside this one that it depends on, where helm would bring them."""
    found: dict[str, bytes] = {}
    for name, repository in _dependencies(folder, texts):
        if not repository.startswith("file://") or any(_holds(p, folder, name) for p in texts):
            continue
        beside = joined(folder, repository.removeprefix("file://"))
        for path in tree.below(beside):
            data = tree.read(path)
            if data is not None:
                found[joined(folder, f"charts/{name}/{path[len(beside) + 1 :]}")] = data
    return found


def _value(path: str, texts: Mapping[str, bytes]) -> Mapping[str, Any]:
    file = read_file(path, texts.get(path, b""))
    return mapping(file.documents[0].value) if file.documents else {}


def _refusal(folder: str, detail: str, advice: str) -> Refusal:
    return Refusal(
        path=joined(folder, CHART),
        line=1,
        column=1,
        reason=Reason.UNBUILDABLE,
        detail=detail,
        advice=advice,
        hides=True,
    )
