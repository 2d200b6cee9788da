"""Which fields of a policy a release knows, below lists and maps."""

from __future__ import annotations

from typing import Any

import pytest

from kumamigrate.admit.shape import known_part, spec_shape, unknown_part

CONF = {"connectionTimeout": "1s"}
ALLOW = {"allow": [{"spiffeID": {"type": "Exact", "value": "spiffe://a"}}]}
FAULT = {"http": [{"abort": {"httpStatus": 500, "percentage": 1}}]}
MATCH = {"spiffeID": {"type": "Exact", "value": "spiffe://a"}}


@pytest.mark.parametrize(
    ("kind", "release", "spec", "unknown"),
    [
        ("MeshTimeout", "2.14", {"rules": [{"default": CONF}]}, []),
        ("MeshTimeout", "2.14", {"rules": [{"default": {"x": 1}}]}, ["rules.0.default.x"]),
        ("MeshTimeout", "2.14", {"to": [{"default": CONF, "x": 1}]}, ["to.0.x"]),
        ("MeshTimeout", "2.14", {"targetRef": {"kind": "Mesh", "x": 1}}, ["targetRef.x"]),
        ("MeshTimeout", "2.14", {"x": {"y": 1}}, ["x"]),
        ("MeshTimeout", "3.0", {"from": [{"default": CONF}]}, ["from"]),
        ("MeshFaultInjection", "2.14", {"rules": [{"matches": [MATCH], "default": FAULT}]}, []),
        (
            "MeshFaultInjection",
            "2.14",
            {"rules": [{"matches": [{"x": 1}], "default": FAULT}]},
            ["rules.0.matches.0.x"],
        ),
        ("MeshTrafficPermission", "2.14", {"rules": [{"default": ALLOW}]}, []),
        ("MeshMetric", "2.14", {"default": {"x": 1}}, ["default.x"]),
        # An object of no fields has none that is known.
        (
            "MeshLoadBalancingStrategy",
            "2.14",
            {"to": [{"default": {"loadBalancer": {"random": {"x": 1}}}}]},
            ["to.0.default.loadBalancer.random.x"],
        ),
        (
            "MeshTCPRoute",
            "2.14",
            {"to": [{"rules": [{"default": {"backendRefs": [{"kind": "MeshService", "x": 1}]}}]}]},
            ["to.0.rules.0.default.backendRefs.0.x"],
        ),
    ],
)
def test_what_is_not_known_is_told_where_it_stands(
    kind: str, release: str, spec: Any, unknown: list[str]
) -> None:
    shape = spec_shape(kind, release)
    found = [".".join(map(str, path)) for path in unknown_part(spec, shape)]
    assert found == unknown
    left = known_part(spec, shape)
    assert list(unknown_part(left, shape)) == []
    assert (left == spec) is (unknown == [])
