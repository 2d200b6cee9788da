"""Which names that a patch matches by mean something else after an upgrade, or go with tags."""

from __future__ import annotations

from typing import Any

import pytest

from kumamigrate.model.resource import Resource
from kumamigrate.prover.doubts.patchnames import mode_name_doubts, upgrade_name_doubts

PROBE = {
    "cluster": {
        "operation": "Patch",
        "match": {"name": "api"},
        "jsonPatches": [
            {
                "op": "add",
                "path": "/healthChecks",
                "value": [
                    {
                        "interval": "1s",
                        "timeout": "1s",
                        "unhealthyThreshold": 1,
                        "healthyThreshold": 1,
                        "tcpHealthCheck": {},
                    }
                ],
            }
        ],
    }
}
KRI = "kri_msvc_default_east_shop_api_http"
Named = list[tuple[str, str]]


def _patch(*changes: Any) -> Resource:
    spec = {"default": {"appendModifications": list(changes)}}
    return Resource(type="MeshProxyPatch", mesh="default", name="p", spec=spec)


def _said(doubts: Any) -> Named:
    words = (doubt.words.split(" ", 3) for doubt in doubts)
    return [(field, name.rstrip(",")) for _, field, name, _ in words]


@pytest.mark.parametrize(
    ("change", "ending", "of_tags"),
    [
        ({"cluster": {"match": {"name": "api"}}}, ["cluster.match.name api"], True),
        ({"cluster": {"match": {"origin": "outbound"}}}, [], False),
        ({"cluster": {"match": {"name": KRI}}}, [f"cluster.match.name {KRI}"], False),
        (
            {"cluster": {"match": {"name": "localhost:80"}}},
            ["cluster.match.name localhost:80"],
            False,
        ),
        ({"listener": {"match": {"name": "inbound:10.0.0.1:80"}}}, [
            "listener.match.name inbound:10.0.0.1:80"
        ], False),
        # The name of a filter stays; that of where it stands does not.
        ({"httpFilter": {"match": {"name": "router", "listenerName": "outbound:1"}}}, [
            "httpFilter.match.listenerName outbound:1"
        ], True),
        ({"virtualHost": {"match": {"name": "api", "routeConfigurationName": KRI}}}, [
            "virtualHost.match.name api"
        ], True),
        ({"networkFilter": {"match": {"clusterName": "api"}}}, [
            "networkFilter.match.clusterName api"
        ], True),
        ({"listener": {"match": {"listenerTags": {"kuma.io/service": "api"}}}}, [
            "listener.match.listenerTags kuma.io/service"
        ], False),
        # What an old HealthCheck became is a doubt of its own.
        (PROBE, [], False),
        ("odd", [], False),
        ({"cluster": "odd"}, [], False),
        ({"cluster": {"match": {"name": ""}}}, [], False),
        ({"cluster": {"match": {"name": 7}}}, [], False),
    ],
)  # fmt: skip
def test_names(change: Any, ending: list[str], of_tags: bool) -> None:
    policy = _patch(change)
    found = [f"{field} {name}" for field, name in _said(upgrade_name_doubts([policy, policy]))]
    assert found == ending
    gone = [f"{field} {name}" for field, name in _said(mode_name_doubts([policy]))]
    assert gone == (ending if of_tags else [])


def test_a_patch_of_nothing_has_no_names() -> None:
    for spec in ({}, {"default": None}, {"default": {"appendModifications": {}}}):
        policy = Resource(type="MeshProxyPatch", mesh="default", name="p", spec=spec)
        assert list(upgrade_name_doubts([policy])) == list(mode_name_doubts([policy])) == []
