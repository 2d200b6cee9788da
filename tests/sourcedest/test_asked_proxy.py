"""What both engines see of a proxy that writes its outbounds down."""

from __future__ import annotations

from kumamigrate.effective.bothengines.askedproxy import asked_of, mentioned
from tests.sourcedest.meshes import resource


def test_outbounds_by_tags_count_once_and_the_last_of_equal_ones_stands() -> None:
    """notes C2b; what leads to a real resource has no service, and is none of the old engine's."""
    tags = [
        {"kuma.io/service": "a"},
        {"kuma.io/service": "a", "version": "v1"},
        {"kuma.io/service": "b"},
        {"kuma.io/service": "a"},
    ]
    listed = [{"port": 80 + at, "tags": one} for at, one in enumerate(tags)]
    real = {"port": 90, "backendRef": {"kind": "MeshService", "name": "c", "port": 80}}
    networking = {"address": "10.0.0.1", "outbound": [listed[0], real, *listed[1:]]}
    proxy = resource({"type": "Dataplane", "name": "web", "networking": networking})
    asked = asked_of(proxy, "east", ("d",))
    assert (asked.services, asked.ordered) == (("a", "b"), True)
    assert [mentioned(one) for one in asked.outbounds] == ["a{version=v1}", "b", "a"]


def test_a_transparent_proxy_reaches_all_services_in_no_order() -> None:
    networking = {"address": "10.0.0.1", "transparentProxying": {"redirectPortOutbound": 15001}}
    proxy = resource({"type": "Dataplane", "name": "web", "networking": networking})
    asked = asked_of(proxy, "east", ("d", "e"))
    assert (asked.services, asked.ordered) == (("d", "e"), False)
    assert [mentioned(one) for one in asked.outbounds] == ["d", "e"]
