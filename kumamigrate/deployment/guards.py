"""With which values a chart could be rendered, where nobody says with which it is.

Files of values in the chart are environments. Without any, the default values are one world,
and each condition on a value around something of Kuma's, the other way round, is another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kumamigrate.deployment.environment import Chart
from kumamigrate.deployment.tree import Tree, joined
from kumamigrate.model.resource import mapping
from kumamigrate.source.find import may_hold_kuma
from kumamigrate.source.load import read_file

MOST_WORLDS = 16
"""A chart with more conditions around what is Kuma's is not tried in all of them."""
_IF = re.compile(r"\{\{-?\s*(?:else\s+)?(if|with|range)\b(.*?)-?\}\}", re.DOTALL)
_VALUE = re.compile(r"\.Values((?:\.[A-Za-z_]\w*)+)")
_EQUAL = re.compile(r"""\b(?:eq|ne)\s+\.Values((?:\.[A-Za-z_]\w*)+)\s+"([^"]*)\"""")
_EQUAL_TURNED = re.compile(r"""\b(?:eq|ne)\s+"([^"]*)"\s+\.Values((?:\.[A-Za-z_]\w*)+)""")
_VALUES_FILE = re.compile(
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
    """Return a chart with its values as given, and with each condition the other way round."""
    return (chart, *list(_turned(chart, tree))[:MOST_WORLDS])


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
