"""New halves that stood beside an old policy until the upgrade: what an expansion wrote.

The road to a release that knows only the new form leads over the one that reads both. It has to
end where the direct one does: in the policy that the user wrote, not in the half beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kumamigrate.dataclass import replace
from kumamigrate.model.resource import Resource
from kumamigrate.model.state import State
from kumamigrate.rewrite.routes.inheriteddraft import InheritedDraft
from kumamigrate.rewrite.routes.routes import ROUTE
from kumamigrate.rewrite.siblings import is_beside


def halves_of(policy: Resource, state: State) -> tuple[Resource, ...]:
    """Return the policies beside one that may be new halves of it, by their names."""
    return tuple(
        other
        for other in state.of_type(policy.type)
        if is_beside(other, policy) and _names_routes_only(other)
    )


def without(state: State, resources: Iterable[Resource]) -> State:
    """Return a state in which some resources never stood."""
    gone = {resource.identity for resource in resources}
    kept = tuple(r for r in state.resources if r.identity not in gone)
    return replace(state, resources=kept)


def just_as_written(halves: Iterable[Resource], drafts: Iterable[InheritedDraft]) -> bool:
    """Say whether halves hold what an expansion writes and nothing else, so that they may go."""
    written = {d.name: (_plain(d.top), [conf for *_, conf in d.confs]) for d in drafts}
    found = {
        half.name: (
            _plain(half.spec.get("targetRef")),
            [item.get("default") for item in half.spec["to"]],
        )
        for half in halves
    }
    return bool(found) and found == written


def _plain(top: Any) -> dict[str, Any]:
    return dict(top) if isinstance(top, Mapping) and top != {"kind": "Mesh"} else {}


def _names_routes_only(policy: Resource) -> bool:
    entries = policy.spec.get("to")
    return isinstance(entries, list) and all(
        isinstance(item, Mapping)
        and isinstance(item.get("targetRef"), Mapping)
        and item["targetRef"].get("kind") == ROUTE
        for item in entries
    )
