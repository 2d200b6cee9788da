"""Excluded ports of both protocols stand in one annotation."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.model.kinds import WORKLOADS
from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import change, finding, metadata_path, put, words_of
from kumamigrate.rewrite.view import View
from kumamigrate.source.value import Moved


def plan(view: View) -> Iterator[Change | Finding]:
    """Yield a change for each workload with an old annotation."""
    new = view.rule.table["new"]
    old = {view.rule.table[protocol]: protocol for protocol in ("tcp", "udp")}
    for workload in view.of_type(*WORKLOADS):
        annotations = words_of(workload, "annotations")
        present = [name for name in annotations if name in old]
        if not present:
            continue
        at = (*metadata_path(workload), "annotations")
        entries = [str(annotations[new])] if new in annotations else []
        for name in present:
            parts = (part.strip() for part in str(annotations[name]).split(";"))
            entries += [f"{old[name]}:{part}" for part in parts if part]
        home = new if new in annotations else present[0]
        moved = Moved((*at, home), ";".join(entries))
        kept = {
            new if name == home else name: moved if name == home else value
            for name, value in annotations.items()
            if name == home or name not in present
        }
        settled = [finding(view, workload, (*at, name), pending=True) for name in present]
        yield change(view, workload, [put(workload.body, at, kept)], settled)
