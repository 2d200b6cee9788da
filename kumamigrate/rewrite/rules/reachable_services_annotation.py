"""Reachable services of Pods become references as well."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kumamigrate.model.kinds import WORKLOADS
from kumamigrate.pattern import pattern
from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import change, finding, metadata_path, put, words_of
from kumamigrate.rewrite.references.reachable import EVERYTHING, references
from kumamigrate.rewrite.view import View

_NO_TEXT = pattern(r"(?i)[0-9].*|y|n|yes|no|on|off|true|false|null")
"""Names that YAML readers take for something else."""


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
            body = put(workload.body, (*at, new), _text(found))
            settled = finding(view, workload, (*at, old), pending=True)
            yield change(view, workload, [body], [settled])


def _text(references: Sequence[Mapping[str, Any]]) -> str:
    """Write references as the text of an annotation."""
    lines = ["refs:"]
    for reference in references:
        (first, *others) = (f"{key}: {_scalar(value)}" for key, value in reference.items())
        lines += [f"- {first}", *(f"  {other}" for other in others)]
    return "\n".join(lines) + "\n"


def _scalar(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) and _NO_TEXT.fullmatch(value) else str(value)
