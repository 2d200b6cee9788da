"""Labels of services that change although nothing that is known chooses by them.

Proxies say in their Dataplanes, and Pods in an annotation, which services they reach, and may do so
by labels; generators of host names do, too. Of those that are not known nobody can say that they
do not.
"""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.prover.nonpolicy import CALLED
from kumamigrate.targetref.resolve import EXTERNAL, REAL
from kumamigrate.universe.chosen import Chosen
from kumamigrate.universe.side import Side


def nobody_chooses(before: Side, after: Side, chosen: Chosen) -> Iterator[str]:
    """Yield what is taken for granted of the labels of services that both sides have."""
    if before.state.complete and after.state.complete:
        return
    called = [kind for kind in REAL if kind != EXTERNAL]  # its labels are compared, all of them
    old, new = ({r.identity: r for r in side.state.of_type(*called)} for side in (before, after))
    for identity, was in old.items():
        now = new.get(identity)
        if now is None or was.labels == now.labels:
            continue
        keys = {k for k in {*was.labels, *now.labels} if was.labels.get(k) != now.labels.get(k)}
        unseen = sorted(keys - chosen.labels - chosen.of_services - {*CALLED})
        if unseen:
            yield (
                f"no proxy or HostnameGenerator outside of these files chooses {was.type}"
                f" {was.name} of mesh {before.mesh} by label {', '.join(unseen)}"
            )
