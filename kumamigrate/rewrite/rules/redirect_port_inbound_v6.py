"""The inbound port for IPv6 goes; zero is a question."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import change, cut, finding
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import at_path


def plan(view: View) -> Iterator[Change | Finding]:
    """Yield a change for each Dataplane with such a port, a finding where it is zero."""
    for dataplane in view.of_type("Dataplane"):
        at = (*dataplane.spec_path, "networking", "transparentProxying")
        path = (*at, "redirectPortInboundV6")
        port = at_path(dataplane.body, path)
        if port is None:
            continue
        if port == 0 and at_path(dataplane.body, (*at, "ipFamilyMode")) is None:
            yield finding(view, dataplane, path)
            continue
        body = cut(dataplane.body, path)
        yield change(view, dataplane, [body], [finding(view, dataplane, path, pending=True)])
