"""The proxies that a claim is asked about, as they are on both sides."""

from __future__ import annotations

from kumamigrate.dataclass import dataclass
from kumamigrate.model.resource import Resource
from kumamigrate.prover.nonpolicy import dataplanes
from kumamigrate.prover.slots.mesh import MeshComparison
from kumamigrate.prover.workload import Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A proxy on both sides; None where a side lacks it."""

    name: str
    was: Resource | None
    now: Resource | None
    made_up: bool = False
    workload: Workload | None = None

    @property
    def at(self) -> tuple[str, str]:
        """Where the proxy is (its namespace), and its name."""
        there = self.was or self.now
        return ("" if there is None else there.namespace, self.name)


def subjects(pair: MeshComparison) -> tuple[Subject, ...]:
    """Return the Dataplanes of both sides."""
    left, right = dataplanes(pair.before.state), dataplanes(pair.after.state)
    return tuple(
        Subject(name=name, was=left.get((space, name)), now=right.get((space, name)))
        for space, name in dict.fromkeys((*left, *right))
    )
