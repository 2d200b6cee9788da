"""What a proof compares: two states of one mesh in every world that could be, with what stood."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.effective.difference import Locate
from kumamigrate.model.state import State
from kumamigrate.prover.assumptions.protocol_conflict import alike, as_spoken
from kumamigrate.prover.owed import Begun, Owed
from kumamigrate.prover.slots.mesh import MeshComparison
from kumamigrate.universe.contents import Contents
from kumamigrate.universe.services import with_world, worlds_of
from kumamigrate.universe.side import Side
from kumamigrate.universe.traffic import service_tags


@dataclass(frozen=True, slots=True)
class InWorld:
    """Two sides in one world, and the service tags to look at.

    What stood already does not count (`standing`).
    """

    pair: MeshComparison
    services: tuple[str, ...]
    standing: Owed | None = None


class ProofScene:
    """Two states of one mesh in every world, matchers and all; claims share it."""

    def __init__(
        self,
        mesh: str,
        before: State,
        after: State,
        contents: Contents,
        locate: tuple[Locate, Locate],
        *,
        one_protocol: bool = False,
        also: Sequence[State] = (),
        types: Collection[str] | None = None,
        standing: Begun | None = None,
    ) -> None:
        self.mesh = mesh
        self._types = types
        self.states = (before, after)
        self.complete = before.complete and after.complete
        begun = () if standing is None else (standing.goal, standing.current)
        self.worlds = worlds_of(before, after, mesh, (*also, *begun))
        self.compared: list[InWorld] = []
        self._locate = locate
        for world in self.worlds.worlds:
            was, now = (Side(with_world(s, world), mesh, contents) for s in (before, after))
            services = tags_on(was, now, world.tags)
            of_one = services if one_protocol else ()
            owed = None
            if standing is not None:
                sides = [Side(with_world(s, world), mesh, contents) for s in begun]
                stood = self._pair(sides[0], sides[1], of_one, unsaid=True)
                owed = Owed(stood, now, standing.activated)
            self.compared.append(InWorld(self._pair(was, now, of_one), services, owed))

    def _pair(
        self, was: Side, now: Side, of_one_protocol: Sequence[str], *, unsaid: bool = False
    ) -> MeshComparison:
        sides = alike(was, now, of_one_protocol)
        return MeshComparison(*sides, self._locate, self._types, unsaid)

    @cached_property
    def carrying(self) -> list[InWorld]:
        """Return what claims compare that hold service tags to what replaces them."""
        return [self._carried(one) for one in self.compared]

    def _carried(self, one: InWorld) -> InWorld:
        standing = one.standing
        if standing is not None:
            standing = replace(standing, pair=self._spoken(standing.pair, one.services))
        return InWorld(self._spoken(one.pair, one.services), one.services, standing)

    def _spoken(self, pair: MeshComparison, services: Sequence[str]) -> MeshComparison:
        before = as_spoken(pair.before, pair.after, services)
        if before is pair.before:
            return pair
        return MeshComparison(before, pair.after, self._locate, self._types)


def tags_on(before: Side, after: Side, more: Sequence[str]) -> tuple[str, ...]:
    """Return the service tags of two sides, and more to look at."""
    listed = (tag for side in (before, after) for tag in service_tags(side.state))
    return tuple(dict.fromkeys((*listed, *more)))
