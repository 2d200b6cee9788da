"""Units of bandwidth have one spelling."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.pattern import pattern
from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import Json, change, finding, items, put
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import at_path

_RIGHT = pattern(r"[0-9]+ ?([kMG]bps)")
_OLD = pattern(r"([0-9]+ ?)([mg]bps)")


def plan(view: View) -> Iterator[Change | Finding]:
    """Yield a change for each policy whose limits have an old unit; report other limits."""
    for policy in view.of_type("MeshFaultInjection"):
        body: Json = policy.body
        settled = []
        for section in ("to", "from", "rules"):
            for item, entry in enumerate(items(policy.spec, (section,))):
                for fault, conf in enumerate(items(entry, ("default", "http"))):
                    limit = at_path(conf, ("responseBandwidth", "limit"))
                    at = (*policy.spec_path, section, item, "default", "http", fault)
                    path = (*at, "responseBandwidth", "limit")
                    if not isinstance(limit, str) or _RIGHT.fullmatch(limit):
                        continue
                    old = _OLD.fullmatch(limit)
                    if old is None:
                        yield finding(view, policy, path)
                        continue
                    body = put(body, path, old[1] + view.rule.table[old[2]])
                    settled.append(finding(view, policy, path, pending=True))
        if settled:
            yield change(view, policy, [body], settled)
