"""Which TrafficRoutes lead a service anywhere but to itself."""

from __future__ import annotations

from typing import Any

import pytest

from kumamigrate.model.resource import Resource
from kumamigrate.rewrite.sourcedest.routetargets import self_routed

ANY = {"kuma.io/service": "*"}
SUBSET = {"kuma.io/service": "*", "version": "v1"}
API = {"kuma.io/service": "api"}


def _split(*destinations: Any) -> dict[str, Any]:
    return {"split": [{"weight": 1, "destination": one} for one in destinations]}


@pytest.mark.parametrize(
    ("conf", "itself"),
    [
        ({"destination": ANY}, True),
        ({"destination": SUBSET}, True),
        ({"destination": API}, False),
        (_split(ANY, SUBSET), True),
        (_split(ANY, API), False),
        (_split(API, ANY), False),
        ({"destination": ANY, "http": [{"destination": SUBSET}]}, True),
        ({"destination": ANY, "http": [{"destination": API}]}, False),
        ({"destination": ANY, "http": [{"destination": ANY}, _split(ANY, API)]}, False),
        ({"destination": API, "http": [{"destination": ANY}]}, False),
    ],
)
def test_a_route_leads_to_itself_if_all_of_it_does(conf: Any, itself: bool) -> None:
    route = Resource(type="TrafficRoute", mesh="default", name="r", spec={"conf": conf})
    assert self_routed(route) is itself
