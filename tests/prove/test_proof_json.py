"""`kumamigrate.proof/1` is a contract (product.md §5)."""

from __future__ import annotations

import json

from kumamigrate.model.resource import Resource
from kumamigrate.prover import to_json
from kumamigrate.prover.prover import prove
from kumamigrate.source.text import FieldPath
from tests.prove.states import state

TEXT = """
type: Mesh
name: default
meshServices: {{mode: Disabled}}
---
type: Dataplane
mesh: default
name: web-1
networking:
  address: 10.0.0.1
  inbound: [{{port: 80, tags: {{kuma.io/service: web, kuma.io/protocol: http}}}}]
  outbound: [{{port: 10001, tags: {{kuma.io/service: backend}}}}]
---
type: Dataplane
mesh: default
name: backend-1
networking:
  address: 10.0.0.2
  inbound: [{{port: 80, tags: {{kuma.io/service: backend, kuma.io/protocol: http}}}}]
---
type: MeshHTTPRoute
mesh: default
name: api
spec:
  to:
  - targetRef: {{kind: MeshService, name: backend}}
    rules: [{{matches: [{{path: {{type: PathPrefix, value: /v1}}}}], default: {{}}}}]
---
type: MeshTimeout
mesh: default
name: slow-api
spec:
  targetRef: {{kind: MeshHTTPRoute, name: api}}
  to: [{{targetRef: {{kind: Mesh}}, default: {{http: {{requestTimeout: {value}}}}}}}]
"""


def locate(resource: Resource, path: FieldPath) -> str:
    assert resource.where is not None
    return f"{resource.where.path}:{'.'.join(map(str, path))}"


def test_the_shape() -> None:
    before = state(TEXT.format(value="7s"), complete=True)
    after = state(TEXT.format(value="60s"), complete=True)
    proof = prove(before, after, claims=("live",), locate_before=locate, locate_after=locate)
    printed = to_json(proof, {"files": 1, "documents": 5, "kuma": 5, "unread": []})
    at = "state.yaml:spec.to.0.default.http.requestTimeout"
    witness = {
        "policyType": "MeshTimeout",
        "direction": "outbound",
        "destination": "backend",
        "outbound": "service-tag",
        "route": {"path": {"type": "PathPrefix", "value": "/v1"}},
        "field": "http.requestTimeout",
        "before": {"value": "7s", "policy": "slow-api", "at": at},
        "after": {"value": "1m0s", "policy": "slow-api", "at": at},
        "effect": "value",
    }
    assert printed == {
        "schema": "kumamigrate.proof/1",
        "release": {"before": "2.14", "after": "2.14"},
        "proxies": "listed",
        "allow": ["activation", "name", "residue"],
        "claims": {
            "live": {
                "verdict": "different",
                "allowing": "different",
                "dataplanes": {
                    "web-1": {"verdict": "different", "witnesses": [witness]},
                    # It names no outbound and no redirection, so it sends nothing.
                    "backend-1": {"verdict": "equivalent", "witnesses": []},
                },
            }
        },
        "beyond": ["only the Dataplanes that the states hold were compared"],
        "assumptions": [],
        "ties": [],
        "coverage": {"files": 1, "documents": 5, "kuma": 5, "unread": []},
    }
    json.dumps(printed)


def test_a_default_has_no_policy() -> None:
    before = state(TEXT.format(value="7s"), complete=True)
    after = state(TEXT.format(value="7s").rsplit("---", 1)[0], complete=True)
    proof = prove(before, after, claims=("live",))
    values = {
        w.field: (w.before.policy, w.after.value, w.after.policy) for w in proof.witnesses("live")
    }
    assert values == {
        "http.requestTimeout": ("slow-api", "0s", ""),
        "http.streamIdleTimeout": ("", "5m0s", ""),  # Envoy's own
    }


def test_many_witnesses_are_counted() -> None:
    routes = "".join(
        f"""
---
type: MeshTimeout
mesh: default
name: t{at}
spec:
  to: [{{targetRef: {{kind: MeshService, name: s{at}}}, default: {{connectionTimeout: VALUE}}}}]
"""
        for at in range(60)
    )
    mesh = "type: Mesh\nname: default\n"
    before, after = (state(mesh + routes.replace("VALUE", v)) for v in ("1s", "2s"))
    proof = prove(before, after, claims=("live",))
    (printed,) = to_json(proof)["claims"]["live"]["dataplanes"].values()
    assert len(printed["witnesses"]) == 50
    assert printed["moreWitnesses"] == 10
