"""With which values the charts of an environment are installed: as objects, files or nobody say.

Objects of Argo CD and Flux come first, then files of values in the chart: each is an environment
of its own. Where nobody says anything, every condition on a value is tried both ways; an edit has
to hold in each of these worlds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kumamigrate.dataclass import replace
from kumamigrate.deployment.environment import Chart, Deployment
from kumamigrate.deployment.filegraph import layout_of
from kumamigrate.deployment.gitops import Pointer, pointers
from kumamigrate.deployment.guards import value_files, worlds
from kumamigrate.deployment.tree import CHART, Tree, joined
from kumamigrate.source.reading.sift import may_hold_kuma


def with_charts(deployments: Sequence[Deployment], tree: Tree) -> tuple[Deployment, ...]:
    """Return environments, found by their layout, with the charts that are installed in each."""
    charts = [folder for folder in layout_of(tree).charts if _of_kuma(folder, tree)]
    if not charts:
        return tuple(deployments)
    told = [one for one in pointers(tree) if one.chart is not None and one.folder in charts]
    return tuple(
        variant
        for deployment in deployments
        for variant in _installed(deployment, charts, told, tree)
    )


def _of_kuma(folder: str, tree: Tree) -> bool:
    return any(may_hold_kuma(tree.read(path) or b"") for path in tree.below(folder))


def _installed(
    deployment: Deployment, charts: Sequence[str], told: Sequence[Pointer], tree: Tree
) -> Iterator[Deployment]:
    """Yield an environment once for each way in which its charts may be installed."""
    named = {joined("", chart.chart) for chart in deployment.charts}
    mine = [f for f in charts if f not in named and deployment.holds(joined(f, CHART))]
    here = [one for one in told if deployment.holds(one.file)]
    places = sorted({one.destination for one in here})
    for place in places or [""]:
        pointed = [one.chart for one in here if one.destination == place and one.chart is not None]
        there = replace(deployment, charts=(*deployment.charts, *pointed))
        if len(places) > 1:
            there = _called(there, place)
        pointed_at = {one.folder for one in here}
        yield from _by_files(there, [f for f in mine if f not in pointed_at], tree)


def _by_files(deployment: Deployment, charts: Sequence[str], tree: Tree) -> Iterator[Deployment]:
    """Yield an environment for each file of values that some charts hold beside the default."""
    files = {folder: value_files(folder, tree) for folder in charts}
    names = sorted({name for found in files.values() for name in found})
    free = [folder for folder in charts if not files[folder]]
    for name in names:
        chosen = tuple(_with_file(folder, found, name) for folder, found in files.items() if found)
        yield from _by_worlds(
            _called(replace(deployment, charts=(*deployment.charts, *chosen)), name), free, tree
        )
    if not names:
        yield from _by_worlds(deployment, free, tree)


def _with_file(folder: str, found: Mapping[str, str], name: str) -> Chart:
    return Chart(chart=folder or ".", values=(found[name],) if name in found else ())


def _by_worlds(deployment: Deployment, charts: Sequence[str], tree: Tree) -> Iterator[Deployment]:
    """Yield an environment with the default values, and with each condition turned round."""
    turned = {folder: worlds(Chart(chart=folder or "."), tree) for folder in charts}
    plain = {folder: found[0] for folder, found in turned.items()}
    yield replace(deployment, charts=(*deployment.charts, *plain.values()))
    for folder, found in turned.items():
        for world in found[1:]:
            chosen = {**plain, folder: world}.values()
            values = ", ".join(f"{name}={value}" for name, value in world.settings)
            there = replace(deployment, charts=(*deployment.charts, *chosen))
            yield _called(there, f"{folder or '.'} {values}")


def _called(deployment: Deployment, name: str) -> Deployment:
    return replace(deployment, name=" ".join(word for word in (deployment.name, name) if word))
