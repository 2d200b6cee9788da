"""Nonsense in a manifest is never a traceback: a control plane would refuse it, others may not."""

from __future__ import annotations

import copy
import random
from pathlib import Path
from typing import Any

import pytest

from kumamigrate.model.kri import kri_of
from kumamigrate.model.resource import Resource
from kumamigrate.model.state import State
from kumamigrate.targetref.matcher import Matcher
from kumamigrate.targetref.meshdump import inspect_mesh
from kumamigrate.targetref.route import RealResource, ServiceTag
from tests.targetref.meshes import state_of

_ROOT = Path(__file__).parents[2] / "tests" / "golden"
_JUNK: tuple[Any, ...] = (None, 0, 1.5, "", "x", [], {}, [None], [[1]], {"a": {}}, True)


def _places(value: Any) -> list[tuple[Any, Any]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    found = [(value, key) for key, _ in inner]
    for container, key in list(found):
        if isinstance(container[key], dict | list):
            found.extend(_places(container[key]))
    return found


def _damaged(state: State, dice: random.Random) -> State:
    resources: list[Resource] = []
    for resource in state.resources:
        spec: Any = copy.deepcopy(dict(resource.spec))
        places = _places(spec)
        for container, key in dice.sample(places, min(len(places), dice.randint(0, 2))):
            container[key] = dice.choice(_JUNK)
        resources.append(
            Resource(
                type=resource.type,
                mesh=resource.mesh,
                name=resource.name,
                labels=resource.labels,
                spec=spec,
            )
        )
    return State(release=state.release, resources=tuple(resources))


@pytest.mark.parametrize("release", ["2.6", "2.9", "2.14", "3.0"])
def test_damaged_meshes_are_survived(release: str) -> None:
    dice = random.Random(release)
    for case in sorted(_ROOT.glob("matcher-*/*.yaml")):
        state = state_of(case, release)
        for _ in range(3):
            damaged = _damaged(state, dice)
            inspect_mesh(damaged)
            matcher = Matcher(damaged)
            for proxy in matcher.proxies():
                matcher.http_routes(proxy, ServiceTag("web"))
                matcher.tcp_routes(proxy, ServiceTag("web"))
                for target in damaged.of_type("MeshService"):
                    matcher.http_routes(proxy, RealResource(kri_of(target)))
