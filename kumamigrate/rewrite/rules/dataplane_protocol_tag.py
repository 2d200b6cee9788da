"""The protocol of an inbound as the field that 3.0 reads, beside the tag that 2.x reads."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.model.protocols import HTTP_LIKE
from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import Json, change, finding, items, put
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import at_path

TAG = "kuma.io/protocol"
_READ = (*HTTP_LIKE, "tcp")
"""The protocols of which 3.0 makes MeshServices. It refuses `kafka` in the field, and what it makes
of `mysql` and `tls`; of a tag alone it makes TCP (asked of a 3.0)."""
_NO_MORE = "kafka"
_PLAIN = (
    "3.0 knows no protocol kafka: the inbound is plain TCP there, as is its MeshService, and the"
    " counts of Kafka's requests end"
)


def plan(view: View) -> Iterator[Change | Finding]:
    """Yield a change for each Dataplane with inbounds whose protocol is only a tag, and what has no
    successor: Kafka's own filter."""
    for dataplane in view.of_type("Dataplane"):
        body: Json = dataplane.body
        settled = []
        at = (*dataplane.spec_path, "networking", "inbound")
        for index, inbound in enumerate(items(dataplane.body, at)):
            protocol = at_path(inbound, ("tags", TAG))
            if at_path(inbound, ("protocol",)):
                continue
            path = (*at, index, "tags", TAG)
            if protocol in _READ:
                body = put(body, (*at, index, "protocol"), protocol)
                settled.append(finding(view, dataplane, path, pending=True))
            elif protocol == _NO_MORE:
                yield finding(view, dataplane, path, message=_PLAIN)
        if settled:
            yield change(view, dataplane, [body], settled)
