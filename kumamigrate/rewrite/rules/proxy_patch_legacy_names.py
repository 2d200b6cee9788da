"""Matches of MeshProxyPatch by names that Envoy resources no longer have in 3.0."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from kumamigrate.legacy.patched import read_patch
from kumamigrate.model.resource import SERVICE
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import finding, items
from kumamigrate.rewrite.view import View, at_path

_NAMES = ("name", "listenerName", "routeConfigurationName", "clusterName")
_TAGS = "listenerTags"


def plan(view: View) -> Iterator[Finding]:
    """Yield a finding for each match by an old name, or by the tag of a service."""
    for patch in view.of_type("MeshProxyPatch"):
        at = (*patch.spec_path, "default", "appendModifications")
        for index, modification in enumerate(items(patch.body, at)):
            for part in modification if isinstance(modification, Mapping) else ():
                match = at_path(modification, (part, "match"))
                if not isinstance(match, Mapping):
                    continue
                path = (*at, index, part, "match")
                probes = read_patch(modification) is not None
                for key in _NAMES:
                    advice = _advice(view, match.get(key), probes=probes)
                    if advice:
                        yield finding(view, patch, (*path, key), advice=advice)
                tag = at_path(match, (_TAGS, SERVICE))
                if tag is not None:
                    advice = view.rule.table["tags"]
                    yield finding(view, patch, (*path, _TAGS, SERVICE), advice=advice)


def _advice(view: View, name: object, *, probes: bool) -> str:
    """Return what to do about a name; `probes`: on the cluster of that name, whatever it is."""
    for known in view.rule.table["names"]:
        if isinstance(name, str) and re.search(known["pattern"], name):
            return str(known["advice"])
    if probes and isinstance(name, str) and not re.match(view.rule.table["new names"], name):
        return str(view.rule.table["probes"])
    return ""
