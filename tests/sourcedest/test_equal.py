"""Every golden mesh, converted kind by kind: what proxies get is the same, or a note says why not.

The old side is `legacy.effective`, the new side the matcher; neither knows the conversion.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from kumamigrate.model.state import State
from kumamigrate.rewrite.sourcedest.convert import CONVERTERS
from kumamigrate.rewrite.sourcedest.known import world_of
from tests.frontdoor import fewer
from tests.sourcedest.equality import differences
from tests.sourcedest.meshes import state

_GOLDENS = Path(__file__).parents[3] / "shared" / "goldens" / "legacy-2.9"
_KINDS = (
    "TrafficPermission",
    "Timeout",
    "Retry",
    "CircuitBreaker",
    "HealthCheck",
    "FaultInjection",
    "TrafficLog",
    "TrafficTrace",
    "ProxyTemplate",
)


@cache
def _meshes() -> list[tuple[str, State]]:
    asked = fewer(fewer(sorted(_GOLDENS.glob("*.yaml"))))
    return [(p.stem, state(p.read_text(encoding="utf-8"))) for p in asked]


def _several_inbounds(mesh: State) -> bool:
    dataplanes = mesh.of_type("Dataplane")
    return any(len(d.spec["networking"].get("inbound") or ()) > 1 for d in dataplanes)


@pytest.mark.parametrize("kind", _KINDS)
def test_golden_meshes_keep_their_effects(kind: str) -> None:
    if not _GOLDENS.is_dir():
        pytest.skip("the goldens are not beside this checkout")
    wrong: list[str] = []
    written = equal = 0
    for name, mesh in _meshes():
        world = world_of(mesh, "default", "2.9", ties="file-order")
        done = CONVERTERS[kind](world)
        if not world.old.of(kind) or not done.writable:
            continue
        written += 1
        found = differences(world, [done])
        equal += not found
        if found and not done.manual and not _several_inbounds(mesh):
            wrong.append(f"{name}: {found[0]}")
    assert wrong == []
    assert written > len(_meshes()) / 8
    assert equal >= 0.75 * written
