"""What the control plane of an environment gets, made from the sources in memory.

Plain manifests are applied as they are; kustomizations and charts are built (world.md §3).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set

from kumamigrate.dataclass import replace
from kumamigrate.deployment.build import Built
from kumamigrate.deployment.environment import Chart, Deployment
from kumamigrate.deployment.filegraph import FolderLayout, layout_of
from kumamigrate.deployment.gitops import pointers
from kumamigrate.deployment.guards import untold_refusal
from kumamigrate.deployment.helm import build_chart
from kumamigrate.deployment.kustomize import build
from kumamigrate.deployment.rendering import Rendering
from kumamigrate.deployment.tree import CHART, Tree, joined
from kumamigrate.source.reading.sift import may_hold_kuma


def render(deployment: Deployment, tree: Tree) -> Rendering:
    """Return what the control plane of an environment gets of the sources in a tree."""
    layout = layout_of(tree)
    built = [
        *(_kustomized(folder, layout, tree) for folder in _folders(deployment, layout)),
        *(build_chart(chart, tree) for chart in deployment.charts),
        *(_charted(chart, tree) for chart in _charts(deployment, layout)),
    ]
    read = layout.owned.union(*(one.sources for one in built))
    if "**" in deployment.include:
        # What another kustomization lists is not applied as it is, unless that is asked for.
        read |= layout.listed()
    own = {
        path: data
        for path, data in tree.files.items()
        if data is not None and deployment.holds(path) and path not in read
    }
    plain = Built(
        files=own,
        manifests=frozenset(own),
        sources=frozenset(own),
        how="plain manifests" if own or not built else "",
    )
    changed = _changed(built, plain, tree) if deployment.found else ()
    untold = (
        Built(sources=frozenset({path}), refusals=(untold_refusal(path),), shut=True)
        for chart in deployment.charts
        for path in chart.untold
    )
    return _together([*built, plain, *changed, *untold])


def _changed(built: Sequence[Built], plain: Built, tree: Tree) -> Iterator[Built]:
    """Yield what objects of Argo CD and Flux change of what they apply: that is not known here.

    Whoever names an environment in the settings says what it comes to.
    """
    for pointer in pointers(tree) if built or plain.sources else ():
        if not pointer.changes:
            continue
        inside = f"{pointer.folder}/" if pointer.folder else ""
        mine = {path for path in plain.sources if path.startswith(inside)}
        for part in built:
            if any(path.startswith(inside) for path in part.sources):
                mine |= part.sources
        if _of_kuma(mine - {pointer.file}, tree):
            yield Built(sources=frozenset(mine), refusals=(pointer.refusal(),), shut=True)


def _kustomized(folder: str, layout: FolderLayout, tree: Tree) -> Built:
    """Return what a kustomization comes to. One without a word of Kuma's is not built: at most
    workloads come of it, and whether it can be built is no concern here, unless an edit took the
    last of these words out of it."""
    closure = layout.closures.get(folder)
    if closure is None or closure.refusals or _is_of_kuma(closure.files, tree):
        return build(folder, tree, closure)
    listed = sorted(closure.files - layout.owned)
    return Built(
        files={path: data for path in listed if (data := tree.read(path)) is not None},
        manifests=frozenset(listed),
        sources=closure.files,
    )


def _charted(chart: Chart, tree: Tree) -> Built:
    """Return what a chart comes to, likewise."""
    inside = tree.below(joined("", chart.chart))
    if _of_kuma(inside, tree):
        return build_chart(chart, tree)
    listed = [path for path in inside if "templates/" in path]
    return Built(
        files={path: data for path in listed if (data := tree.read(path)) is not None},
        manifests=frozenset(listed),
        sources=frozenset(inside),
    )


def _is_of_kuma(paths: Set[str], tree: Tree) -> bool:
    """Whether files have a word of Kuma's, or had one: what an edit changed is one that had."""
    return not tree.changed.isdisjoint(paths) or _of_kuma(paths, tree)


def _of_kuma(paths: Iterable[str], tree: Tree) -> bool:
    return any(may_hold_kuma(tree.read(path) or b"") for path in paths)


def _folders(deployment: Deployment, layout: FolderLayout) -> Iterator[str]:
    """Yield the folders to build: those named, and the roots among what is included."""
    named = [joined("", folder) for folder in deployment.kustomize]
    yield from named
    for folder in layout.roots:
        path = layout.closures[folder].parts[0].path
        if folder not in named and deployment.holds(path):
            yield folder


def _charts(deployment: Deployment, layout: FolderLayout) -> Iterator[Chart]:
    """Yield the charts among what is included that are not named, to be rendered as they are."""
    named = {joined("", chart.chart) for chart in deployment.charts}
    for folder in layout.charts:
        if folder not in named and deployment.holds(joined(folder, CHART)):
            yield Chart(chart=folder or ".")


def _together(parts: list[Built]) -> Rendering:
    rendering = Rendering()
    for part in parts:
        rendering = replace(
            rendering,
            files={**rendering.files, **part.files},
            manifests=rendering.manifests | part.manifests,
            sources=rendering.sources | part.sources,
            origins={**rendering.origins, **part.origins},
            refusals=tuple(dict.fromkeys((*rendering.refusals, *part.refusals))),
            shut={
                **rendering.shut,
                **(dict.fromkeys(part.sources, part.refusals) if part.shut else {}),
            },
            how="; ".join(how for how in (rendering.how, part.how) if how),
        )
    return rendering
