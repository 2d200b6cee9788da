"""Policies in the new form that may take the place of old ones, and the state with them in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.model.conf import JsonConf
from kumamigrate.model.resource import DISPLAY_NAME, Resource
from kumamigrate.rewrite.routes.inherited import InheritedSlot, Reader, may_show
from kumamigrate.rewrite.routes.routes import ROUTE, old_route_name
from kumamigrate.targetref.matcher import Matcher
from kumamigrate.targetref.resolve import REAL, keep_index


@dataclass(frozen=True, slots=True, kw_only=True)
class InheritedDraft:
    """A policy in the new form: `confs` are route, reference and conf of each `to` entry.

    `stands_for` is the policy whose place in the order it takes. `top` is spec.targetRef.
    """

    stands_for: Resource
    name: str
    top: Mapping[str, Any] | None
    confs: tuple[tuple[Resource, Mapping[str, Any], JsonConf], ...]
    group: bool = False

    def resource(self) -> Resource:
        """Return the policy as a state would hold it."""
        labels = dict(self.stands_for.labels)
        if DISPLAY_NAME in labels:
            labels[DISPLAY_NAME] = self.name
        to = [{"targetRef": dict(ref), "default": conf} for _, ref, conf in self.confs]
        spec: dict[str, Any] = {"targetRef": dict(self.top)} if self.top else {}
        return replace(
            self.stands_for, name=self.name, labels=labels, spec={**spec, "to": to}, where=None
        )


def with_drafts(
    reader: Reader, drafts: Sequence[InheritedDraft], slots: Iterable[InheritedSlot]
) -> Reader:
    """Return a reader of the state in which drafts stand in place of the old policies.

    Only what can show at some slots is in it: policies in the new form with an entry for the
    whole mesh, for a route, or for a destination of the slots.
    """
    names = {slot.destination.name for slot in slots}
    others = reader.state.of_type(ROUTE, "Mesh", "MeshGateway", *REAL)
    mine = (p for p in reader.state.of_type(reader.policy_type) if old_route_name(p) is None)
    kept = [*others, *(p for p in mine if may_show(p, names))]
    new = [draft.resource() for draft in drafts]
    state = replace(reader.state, resources=(*kept, *new))
    if reader.policy_type != ROUTE:
        keep_index(state, reader.index)  # what references mean is in it as it was
    return Reader(matcher=Matcher(state), policy_type=reader.policy_type, mesh=reader.mesh)
