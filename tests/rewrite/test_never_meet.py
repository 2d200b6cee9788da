"""What keeps a policy and a route from ever choosing one proxy."""

from __future__ import annotations

from typing import Any

import pytest

from kumamigrate.model.resource import Resource
from kumamigrate.rewrite.references.proxies import never_meet

NAMESPACE, ZONE = "k8s.kuma.io/namespace", "kuma.io/zone"


def _of(top: dict[str, Any] | None, **labels: str) -> Resource:
    known = {"role": "kuma.io/policy-role", "origin": "kuma.io/origin", "zone": ZONE}
    named = {known.get(key, NAMESPACE): value for key, value in labels.items()}
    spec = {} if top is None else {"targetRef": top}
    return Resource(type="MeshTimeout", mesh="default", name="p", labels=named, spec=spec)


def _subset(**tags: str) -> dict[str, Any]:
    known = {"namespace": NAMESPACE, "zone": ZONE}
    return {"kind": "MeshSubset", "tags": {known.get(k, k): v for k, v in tags.items()}}


def _labels(**labels: str) -> dict[str, Any]:
    return {"kind": "Dataplane", "labels": labels}


IN_SHOP = {"role": "consumer", "namespace": "shop"}


@pytest.mark.parametrize(
    ("policy", "route", "never"),
    [
        (_of(_subset(version="v1")), _of(_subset(version="v2")), False),
        (_of(_subset(namespace="shop")), _of(_subset(namespace="bank")), True),
        (_of(_subset(zone="east")), _of(_subset(zone="west")), True),
        (_of(_subset(zone="east")), _of(_subset(zone="east")), False),
        (_of(_labels(app="a")), _of(_labels(app="b")), True),
        (_of(_labels(app="a")), _of(_labels(tier="b")), False),
        (
            _of({"kind": "Dataplane", "sectionName": "a"}),
            _of({"kind": "Dataplane", "sectionName": "b"}),
            False,
        ),
        (_of(None, **IN_SHOP), _of(_subset(namespace="bank")), True),
        (_of(None, **IN_SHOP), _of(_subset(namespace="shop")), False),
        (_of(None, origin="zone", zone="east"), _of(_subset(zone="west")), True),
        (
            _of({"kind": "MeshHTTPRoute", "name": "r"}, **IN_SHOP),
            _of(_subset(namespace="bank")),
            True,
        ),
        (_of({"kind": "Mesh"}), _of(None), False),
    ],
)
def test_only_what_a_proxy_has_once_keeps_them_apart(
    policy: Resource, route: Resource, *, never: bool
) -> None:
    """Tags differ from inbound to inbound, and so do their names; namespace and zone do not."""
    assert never_meet(policy, route) is never
