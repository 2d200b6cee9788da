"""Reachable services of Pods become references as well."""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from kumamigrate.model.kinds import WORKLOADS
from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import change, finding, metadata_path, put, words_of
from kumamigrate.rewrite.reachable import EVERYTHING, references
from kumamigrate.rewrite.view import View


def plan(view: View) -> Iterator[Change | Finding]:
    """Yield a change for each workload whose list can be read, a finding for others."""
    old, new = view.rule.table["old"], view.rule.table["new"]
    for workload in view.of_type(*WORKLOADS):
        annotations = words_of(workload, "annotations")
        services = [name.strip() for name in str(annotations.get(old, "")).split(",")]
        services = [name for name in services if name]
        if not services or EVERYTHING in services or new in annotations:
            continue
        at = (*metadata_path(workload), "annotations")
        found, unread = references(services, view.state, workload.mesh)
        for service in unread:
            yield finding(view, workload, (*at, old), service=service)
        if not unread:
            text = yaml.safe_dump({"refs": found}, sort_keys=False)
            body = put(workload.body, (*at, new), text)
            settled = finding(view, workload, (*at, old), pending=True)
            yield change(view, workload, [body], [settled])
