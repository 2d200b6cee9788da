"""Makes a mesh for measuring the matcher and the prover, and measures proofs of it.

Beside them stands what PyYAML's C loader takes to read the two states of a proof.
"""

from __future__ import annotations

import gc
import json
import random
import resource
import sys
import time
from typing import Any

import yaml

from kumamigrate.model.resource import Resource
from kumamigrate.model.state import State

TYPES = ("MeshTimeout", "MeshRetry", "MeshCircuitBreaker", "MeshHealthCheck")
RELEASE = "2.14"


def make_mesh(*, proxies: int, services: int, policies: int, routes: int, seed: int = 7) -> State:
    """Return a state of one mesh in mode Everywhere.

    Every service has proxies in three versions. A quarter of the policies is for all proxies, the
    others for one service's or one version's; so many of them, as `routes` says, are for a route.
    """
    rng = random.Random(seed)
    found = [_mesh()]
    found += [_dataplane(n, services) for n in range(proxies)]
    found += [_service(n) for n in range(services)]
    found += [_route(n, services, rng) for n in range(routes)]
    found += [_policy(n, services, routes, rng) for n in range(policies)]
    return State(release=RELEASE, resources=tuple(found), complete=True)


def mutated(state: State) -> State:
    """Return the state with another timeout in one policy that is for a single service."""
    changed = list(state.resources)
    for at, one in enumerate(changed):
        if one.type == "MeshTimeout" and "labels" in one.spec["targetRef"]:
            spec = json.loads(json.dumps(one.spec))
            spec["to"][0]["default"] = {"connectionTimeout": "77s"}
            changed[at] = _resource(one.type, one.name, spec, labels=dict(one.labels))
            return State(release=RELEASE, resources=tuple(changed), complete=True)
    raise AssertionError("no policy to change")


def _resource(
    type_: str, name: str, spec: dict[str, Any], *, labels: dict[str, str] | None = None
) -> Resource:
    shown = {"kuma.io/display-name": name, "kuma.io/mesh": "default", **(labels or {})}
    mesh = "" if type_ == "Mesh" else "default"
    return Resource(type=type_, mesh=mesh, name=name, labels=shown, spec=spec)


def _mesh() -> Resource:
    return _resource("Mesh", "default", {"meshServices": {"mode": "Everywhere"}})


def _dataplane(number: int, services: int) -> Resource:
    app = number % services
    version = number // services % 3
    own = {"app": f"app-{app}", "version": f"v{version}", "pod": f"pod-{number}"}
    tags = {"kuma.io/service": f"app-{app}", "kuma.io/protocol": "http", **own}
    inbound = [{"port": 8080, "name": "http", "tags": tags}]
    proxying = {"redirectPortInbound": 15006, "redirectPortOutbound": 15001}
    networking = {"address": "10.0.0.1", "inbound": inbound, "transparentProxying": proxying}
    spec = {"networking": networking}
    return _resource("Dataplane", f"proxy-{number}", spec, labels=own)


def _service(number: int) -> Resource:
    ports = [{"name": "http", "port": 8080, "targetPort": 8080, "appProtocol": "http"}]
    match = {"dataplaneTags": {"kuma.io/service": f"app-{number}"}}
    spec = {"ports": ports, "selector": match}
    return _resource("MeshService", f"app-{number}", spec, labels={"app": f"app-{number}"})


def _route(number: int, services: int, rng: random.Random) -> Resource:
    entries = [
        {
            "targetRef": {"kind": "MeshService", "name": f"app-{rng.randrange(services)}"},
            "rules": [{"matches": [{"path": {"type": "PathPrefix", "value": f"/{number}"}}],
                       "default": {}}],
        }
    ]  # fmt: skip
    return _resource("MeshHTTPRoute", f"route-{number}", {"to": entries})


def _policy(number: int, services: int, routes: int, rng: random.Random) -> Resource:
    if number < routes:
        top: dict[str, Any] = {"kind": "MeshHTTPRoute", "name": f"route-{number}"}
        conf = {"http": {"requestTimeout": f"{number + 1}s"}}
        to = [{"targetRef": {"kind": "Mesh"}, "default": conf}]
        return _resource("MeshTimeout", f"policy-{number}", {"targetRef": top, "to": to})
    app = f"app-{rng.randrange(services)}"
    if number % 4 == 0:
        top = {"kind": "Mesh"}
    elif number % 4 == 1:
        top = {"kind": "MeshSubset", "tags": {"version": f"v{rng.randrange(3)}", "app": app}}
    else:
        top = {"kind": "Dataplane", "labels": {"app": app}}
    type_ = TYPES[number % len(TYPES)] if number % 8 < 4 else rng.choice(TYPES)
    goal: dict[str, Any] = {"kind": "Mesh"}
    if rng.random() < 0.6:
        goal = {"kind": "MeshService", "name": f"app-{rng.randrange(services)}"}
    to = [{"targetRef": goal, "default": _conf(type_, rng)}]
    return _resource(type_, f"policy-{number}", {"targetRef": top, "to": to})


def _conf(type_: str, rng: random.Random) -> dict[str, Any]:
    number = rng.randrange(1, 60)
    if type_ == "MeshTimeout":
        return {"http": {"requestTimeout": f"{number}s"}, "idleTimeout": "1h"}
    if type_ == "MeshRetry":
        return {"http": {"numRetries": number}}
    if type_ == "MeshCircuitBreaker":
        return {"connectionLimits": {"maxConnections": number}}
    return {"interval": f"{number}s", "timeout": "2s", "unhealthyThreshold": 3}


def main() -> None:
    """Prove a mesh equal to itself and to a changed one; print seconds and peak memory as JSON."""
    from kumamigrate.__main__ import NEW_OBJECTS
    from kumamigrate.prover import Verdict, prove

    gc.set_threshold(NEW_OBJECTS, 5, 5)  # as the command does
    proxies, services, policies, routes = map(int, sys.argv[1:5])
    claims = sys.argv[5].split(",")
    size = {"proxies": proxies, "services": services, "policies": policies, "routes": routes}
    before, same = make_mesh(**size), make_mesh(**size)
    start = time.process_time()
    equal = prove(before, same, claims=claims)
    first = time.process_time()
    other = prove(before, mutated(before), claims=claims)
    second = time.process_time()
    found = equal.verdict("live"), other.verdict("live")
    if "live" in claims and found != (Verdict.EQUIVALENT, Verdict.DIFFERENT):
        raise AssertionError("the change that is measured has to be one that proxies feel")
    texts = [_text(state) for state in (before, same)]
    third = time.process_time()
    for text in texts:
        list(yaml.load_all(text, Loader=yaml.CSafeLoader))
    loaded = time.process_time() - third
    print(
        json.dumps(
            {
                "equal": first - start,
                "mutated": second - first,
                "loaded": loaded,
                "mebibytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            }
        )
    )


def _text(state: State) -> str:
    """Return the manifests of a state."""
    return yaml.dump_all(
        ({"type": r.type, "mesh": r.mesh, "name": r.name, "labels": dict(r.labels), "spec": r.spec}
         for r in state.resources),
        Dumper=yaml.CSafeDumper,
    )  # fmt: skip


if __name__ == "__main__":
    main()
