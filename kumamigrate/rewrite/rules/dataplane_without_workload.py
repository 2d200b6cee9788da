"""A Universal Dataplane gets the label from which 3.0 generates its MeshService."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.admit.places import is_template
from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.dataplanes import (
    WORKLOAD,
    is_from_kubernetes,
    services_of,
    with_labels,
    workload_to_come,
    written_labels,
)
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import change, finding
from kumamigrate.rewrite.view import View


def plan(view: View) -> Iterator[Change | Finding]:
    """Yield a change for each Dataplane of one service; ask about others."""
    for dataplane in view.of_type("Dataplane"):
        services = services_of(dataplane)
        if not services or is_from_kubernetes(dataplane) or WORKLOAD in written_labels(dataplane):
            continue
        path = (*dataplane.spec_path, "networking", "inbound")
        if len(services) > 1:
            reason = (
                f"It offers {', '.join(services)}. Choose one name for the label {WORKLOAD}, and"
                " write a MeshService by hand for each service that shall keep its own"
            )
            yield finding(view, dataplane, path, reason=reason + ".")
        elif is_template(services[0]):
            reason = f"Its service is filled in by a template. Give the same to {WORKLOAD}."
            yield finding(view, dataplane, path, reason=reason)
        elif not workload_to_come(dataplane):
            reason = f"{services[0]} is no name for a MeshService. Choose one for {WORKLOAD}."
            yield finding(view, dataplane, path, reason=reason)
        else:
            body = with_labels(dataplane, {WORKLOAD: services[0]})
            yield change(view, dataplane, [body], [finding(view, dataplane, path, pending=True)])
