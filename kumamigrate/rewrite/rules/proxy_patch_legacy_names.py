"""Matches of MeshProxyPatch by names that Envoy resources no longer have in 3.0."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from kumamigrate.effective.policies.patched import read_patch
from kumamigrate.model.resource import SERVICE, Resource
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import finding, items
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import FieldPath, at_path

_NAMES = ("name", "listenerName", "routeConfigurationName", "clusterName")
_FILTERS = ("httpFilter", "networkFilter")
_TAGS = "listenerTags"


def plan(view: View) -> Iterator[Finding]:
    """Yield a finding for each match by an old name, or by the tag of a service."""
    for patch in view.of_type("MeshProxyPatch"):
        at = (*patch.spec_path, "default", "appendModifications")
        for index, modification in enumerate(items(patch.body, at)):
            for part in modification if isinstance(modification, Mapping) else ():
                match = at_path(modification, (part, "match"))
                if isinstance(match, Mapping):
                    probes = read_patch(modification) is not None
                    path = (*at, index, part, "match")
                    yield from _of_match(view, patch, str(part), path, match, probes=probes)


def _of_match(
    view: View,
    patch: Resource,
    part: str,
    path: FieldPath,
    match: Mapping[str, object],
    *,
    probes: bool,
) -> Iterator[Finding]:
    for key in _NAMES:
        name = match.get(key)
        # The name of a filter is its own, and the same on every release.
        if not isinstance(name, str) or not name or (part in _FILTERS and key == "name"):
            continue
        advice = _advice(view, part, name, probes=probes)
        if advice:
            yield finding(view, patch, (*path, key), advice=advice)
    if at_path(match, (_TAGS, SERVICE)) is not None:
        yield finding(view, patch, (*path, _TAGS, SERVICE), advice=view.rule.table["tags"])


def _advice(view: View, part: str, name: str, *, probes: bool) -> str:
    """Return what to do about a name; `probes`: on the cluster of that name, whatever it is.

    A name of no known pattern is that of a service on Universal, or one of Kuma's own: either
    is another in 3.0.
    """
    table = view.rule.table
    if re.match(table["new names"], name):
        return ""
    for known in table["names"]:
        if re.search(known["pattern"], name):
            return str(known["advice"])
    if probes:
        return str(table["probes"])
    return str(table["service"] if part in ("cluster", "virtualHost") else table["other"])
