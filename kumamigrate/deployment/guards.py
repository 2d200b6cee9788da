"""With which values a chart could be rendered, where nobody says with which it is.

Files of values in the chart are environments. Without any, the default values are one world,
and each condition on a value around something of Kuma's, the other way round, is another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kumamigrate.dataclass import replace
from kumamigrate.deployment.build import resources_in
from kumamigrate.deployment.environment import Chart
from kumamigrate.deployment.helm import build_chart
from kumamigrate.deployment.tree import Tree, joined
from kumamigrate.model.resource import mapping
from kumamigrate.pattern import pattern
from kumamigrate.source.reading.load import read_file
from kumamigrate.source.reading.sift import may_hold_kuma
from kumamigrate.source.text import Reason, Refusal

MOST_WORLDS = 16
"""A chart with more conditions around what is Kuma's is not tried in all of them."""
_IF = pattern(r"\{\{-?\s*(?:else\s+)?(if|with|range)\b(.*?)-?\}\}", re.DOTALL)
_VALUE = pattern(r"\.Values((?:\.[A-Za-z_]\w*)+)")
_EQUAL = pattern(r"""\b(?:eq|ne)\s+\.Values((?:\.[A-Za-z_]\w*)+)\s+"([^"]*)\"""")
_EQUAL_TURNED = pattern(r"""\b(?:eq|ne)\s+"([^"]*)"\s+\.Values((?:\.[A-Za-z_]\w*)+)""")
_VALUES_FILE = pattern(
    r"(?:values[-.](?P<a>[\w.-]+)|(?:values|env|envs|environments)/(?P<b>[\w.-]+))\.ya?ml"
)


def value_files(folder: str, tree: Tree) -> dict[str, str]:
    """Return the files of values in a chart that are beside the default ones, by what they are
    called after: `values-prod.yaml`, `environments/prod.yaml`."""
    found: dict[str, str] = {}
    for path in tree.below(folder):
        inside = path[len(folder) + 1 :] if folder else path
        match = _VALUES_FILE.fullmatch(inside)
        if match is not None:
            found.setdefault(match["a"] or match["b"], path)
    return found


def worlds(chart: Chart, tree: Tree) -> tuple[Chart, ...]:
    """Return a chart with its values as given, and with each condition the other way round.

    Each knows the templates of which something is rendered in none of them.
    """
    turned = list(_turned(chart, tree))
    # Values that were made up may fit no template: such a world is none.
    possible = [one for one in turned[:MOST_WORLDS] if not build_chart(one, tree).shut]
    found = (chart, *possible)
    untold = _untold(found, tree, all_of_it=len(turned) > MOST_WORLDS)
    return tuple(replace(one, untold=untold) for one in found)


def _untold(charts: Sequence[Chart], tree: Tree, *, all_of_it: bool) -> tuple[str, ...]:
    """Return the templates with something of Kuma's that no world renders, or that would need
    more worlds than are tried."""
    built = [build_chart(chart, tree) for chart in charts]
    if any(one.refusals for one in built):
        return ()  # that it cannot be rendered is said by itself
    seen = {(w.path, w.document) for one in built for w in one.origins.values()}
    texts = [text.decode("utf-8", "replace") for one in built for text in one.files.values()]
    found: list[str] = []
    for path in sorted(built[0].manifests):
        data = tree.read(path)
        if data is None or not may_hold_kuma(data):
            continue
        own = [r.where for r in resources_in(path, tree) if r.mesh and r.where is not None]
        inside = path.partition("/templates/")[2]
        rendered = any(f"/templates/{inside}\n" in text for text in texts)
        if all_of_it or not rendered or any((w.path, w.document) not in seen for w in own):
            found.append(path)
    return tuple(found)


def untold_refusal(path: str) -> Refusal:
    """Return why a template may not be edited that no known values render."""
    return Refusal(
        path=path,
        line=1,
        column=1,
        reason=Reason.UNBUILDABLE,
        detail="something of Kuma's in it is rendered only with values that nobody tells of",
        advice="name the values: helm = { chart = …, values = […] } of an [[environment]] in"
        " kumamigrate.toml",
        hides=True,
    )


def _turned(chart: Chart, tree: Tree) -> Iterator[Chart]:
    folder = joined("", chart.chart)
    defaults = _defaults(folder, tree)
    seen: set[tuple[str, str]] = set()
    for path in tree.below(folder):
        data = tree.read(path)
        if "/templates/" not in f"/{path}" or data is None or not may_hold_kuma(data):
            continue
        for setting in _settings(data.decode("utf-8", "replace"), defaults):
            if setting not in seen:
                seen.add(setting)
                yield replace(chart, settings=(*chart.settings, setting))


def _settings(text: str, defaults: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the values that turn a condition of a template round, one at a time."""
    for match in _IF.finditer(text):
        word, condition = match[1], match[2]
        compared = dict(_compared(condition))
        for name in dict.fromkeys(_VALUE.findall(condition)):
            path = name.removeprefix(".")
            value = _at(defaults, path.split("."))
            if name in compared:
                other = compared[name]
                yield (path, other if value != other else f"not-{other}")
            elif value:
                # An empty value is no condition's friend, whatever stood there.
                yield (path, "false" if isinstance(value, bool) else "null")
            elif word == "if":
                yield (path, "true")


def _compared(condition: str) -> Iterator[tuple[str, str]]:
    for match in _EQUAL.finditer(condition):
        yield match[1], match[2]
    for match in _EQUAL_TURNED.finditer(condition):
        yield match[2], match[1]


def _defaults(folder: str, tree: Tree) -> Mapping[str, Any]:
    path = joined(folder, "values.yaml")
    file = read_file(path, tree.read(path) or b"")
    return mapping(file.documents[0].value) if file.documents else {}


def _at(values: Mapping[str, Any], path: Sequence[str]) -> Any:
    found: Any = values
    for part in path:
        found = mapping(found).get(part)
    return found
