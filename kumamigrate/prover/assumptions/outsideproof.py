"""What no state says and a proof goes by: templates stay, nobody else reads what goes, exports are
of one control plane."""

from __future__ import annotations

from collections.abc import Iterator, Set

from kumamigrate.model.labels import is_export
from kumamigrate.model.resource import ORIGIN, Form
from kumamigrate.model.state import State


def template_assumptions(*states: State) -> Iterator[str]:
    """Yield what is taken for granted about templates that stay as they are."""
    if any(r.templated for state in states for r in state.resources):
        yield "what templates fill in is the same before and after; values are not compared"


def reader_assumptions(mesh: str, before: State, after: State) -> Iterator[str]:
    """Yield what is taken for granted where backends go out of a Mesh: that nobody reads them."""
    if after.complete or mesh in after.exported:
        return
    old, new = (
        next((r.spec for r in state.of_type("Mesh") if r.name == mesh), {})
        for state in (before, after)
    )
    for section, reader in _READERS.items():
        stay = any(policy.mesh == mesh for policy in after.of_type(reader))
        if old.get(section) and not new.get(section) and not stay:
            yield f"mesh {mesh} has no {reader} elsewhere"


_READERS = {"tracing": "TrafficTrace", "logging": "TrafficLog"}
"""Fields of a Mesh that hold backends, and who alone reads them."""


def export_assumptions(*states: State) -> Iterator[str]:
    """Yield what is taken for granted about resources that look like read from a control plane but
    do not say when it was given them: the API of one zone refuses what is of another."""
    zones = {zone for state in states for zone in _zones_of_exports(state)}
    if len(zones) > 1:
        yield (
            f"what says it is of zone {' or '.join(sorted(zones))} was read from one control plane,"
            " which holds all of it (--zone, creationTime or an inventory settles it)"
        )


def _zones_of_exports(state: State) -> Set[str]:
    """Return the zones that exports without their times name, where nobody says which reads."""
    if state.environment.zone_known or state.environment.mode != "zone":
        return frozenset()
    if "zones of exports" not in state.known:
        state.known["zones of exports"] = frozenset(
            one.zone
            for one in state.resources
            if one.form is Form.UNIVERSAL and not (one.created or one.stored)
            if one.zone and one.labels.get(ORIGIN) != "global" and is_export(one)
        )
    found: Set[str] = state.known["zones of exports"]
    return found
