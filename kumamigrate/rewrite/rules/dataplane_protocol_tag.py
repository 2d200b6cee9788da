"""The protocol of an inbound as the field that 3.0 reads, beside the tag that 2.x reads."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import Json, change, finding, items, put
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import at_path

TAG = "kuma.io/protocol"


def plan(view: View) -> Iterator[Change | Finding]:
    """Yield a change for each Dataplane with inbounds whose protocol is only a tag."""
    for dataplane in view.of_type("Dataplane"):
        body: Json = dataplane.body
        settled = []
        at = (*dataplane.spec_path, "networking", "inbound")
        for index, inbound in enumerate(items(dataplane.body, at)):
            protocol = at_path(inbound, ("tags", TAG))
            if protocol and not at_path(inbound, ("protocol",)):
                body = put(body, (*at, index, "protocol"), protocol)
                path = (*at, index, "tags", TAG)
                settled.append(finding(view, dataplane, path, pending=True))
        if settled:
            yield change(view, dataplane, [body], settled)
