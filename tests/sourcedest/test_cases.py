"""The conversion cases of the map: what each old mesh becomes, worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from kumamigrate.model.state import Environment, State
from kumamigrate.rewrite.sourcedest.conversion import Conversion
from kumamigrate.rewrite.sourcedest.convert import CONVERTERS
from kumamigrate.rewrite.sourcedest.known import world_of
from kumamigrate.sourcedest.order import Ties
from tests.cases import LOADER
from tests.sourcedest.meshes import resource

_FOLDER = Path(__file__).parent / "cases"
_NOT_KINDS = {"from", "to", "where", "conf", "created", "spec", "ref", "connect", "request"}
_PROXIES = {"web-1": ("web", "http"), "api-1": ("api", "http"), "db-1": ("db", "tcp")}


def _cases() -> list[Any]:
    found = []
    for path in sorted(_FOLDER.glob("*.yaml")):
        for case in yaml.load(path.read_text(encoding="utf-8"), Loader=LOADER)["cases"]:
            found.append(pytest.param(case, id=case["id"]))
    return found


def _tags(item: Any) -> dict[str, str]:
    tags = {"svc": item} if isinstance(item, str) else dict(item)
    return {("kuma.io/service" if k == "svc" else k): v for k, v in tags.items()}


def _selectors(items: list[Any]) -> list[Any]:
    return [{"match": _tags(item)} for item in items]


def _policy(short: dict[str, Any]) -> dict[str, Any]:
    kind = next(key for key in short if key not in _NOT_KINDS)
    body: dict[str, Any] = {"type": kind, "name": short[kind], "mesh": "default"}
    fields = {"from": "sources", "to": "destinations", "where": "selectors"}
    body |= {new: _selectors(short[old]) for old, new in fields.items() if old in short}
    if "conf" in short:
        body["conf"] = short["conf"]
    if "created" in short:
        body["creationTime"] = short["created"]
    return body


def _dataplane(name: str, inbounds: list[Any], outbounds: list[str]) -> dict[str, Any]:
    networking = {
        "address": "10.0.0.1",
        "inbound": [{"port": 80 + i, "tags": _tags(t)} for i, t in enumerate(inbounds)],
        "outbound": [{"port": 1 + i, "tags": _tags(s)} for i, s in enumerate(outbounds)],
    }
    return {"type": "Dataplane", "name": name, "mesh": "default", "networking": networking}


def _bodies(case: dict[str, Any]) -> list[dict[str, Any]]:
    mesh = case.get("mesh", {})
    skip = {} if case.get("complete") is False else {"skipCreatingInitialPolicies": ["*"]}
    bodies: list[dict[str, Any]] = [{"type": "Mesh", "name": "default", **skip, **mesh}]
    only = case.get("only")
    for name, (service, protocol) in ({} if case.get("unlisted") else _PROXIES).items():
        outbounds = ["web", "api", "db"] if only is None else only.get(name, [])
        inbound = {"svc": service, "kuma.io/protocol": protocol}
        bodies.append(_dataplane(name, [inbound], outbounds))
    for extra in case.get("extra", ()):
        bodies.append(_dataplane(extra["Dataplane"], extra["inbound"], extra["outbound"]))
    if case.get("routed", True):
        route = {"TrafficRoute": "route-all", "from": ["*"], "to": ["*"]}
        conf = {"destination": {"kuma.io/service": "*"}, "loadBalancer": {"roundRobin": {}}}
        bodies.append(_policy({**route, "conf": conf}))
    for item in case.get("have", ()):
        kind = next(iter(item))
        rest = {k: v for k, v in item.items() if k != kind}
        bodies.append({"type": kind, "name": item[kind], "mesh": "default", **rest})
    return bodies + [_policy(short) for short in case.get("old", ())]


def _convert(case: dict[str, Any], bodies: list[dict[str, Any]] | None = None) -> Conversion:
    state = State(
        release=case.get("in-use", "2.9"),
        environment=Environment(zone="east"),
        resources=tuple(resource(body, i) for i, body in enumerate(bodies or _bodies(case))),
        complete=case.get("complete", True),
    )
    world = world_of(
        state,
        "default",
        case.get("target", "2.9"),
        ties=Ties.UNKNOWN,
    )
    default = next((k for s in case.get("old", [])[-1:] for k in s if k not in _NOT_KINDS), "")
    return CONVERTERS[case.get("kind") or default](world)


def _by_service(spec: Any, *path: str) -> dict[str, Any]:
    found = {}
    for entry in spec["to"]:
        value = entry["default"]
        for key in path:
            value = value[key]
        found[entry["targetRef"].get("name", "*")] = value
    return found


def _check_policy(got: Any, want: dict[str, Any]) -> None:
    kind = next(key for key in want if key not in _NOT_KINDS)
    assert (got.type, got.name) == (kind, want[kind])
    if "spec" in want:
        assert got.spec == want["spec"]
    if "ref" in want:
        assert got.spec["targetRef"] == want["ref"]
    if "connect" in want:
        assert _by_service(got.spec, "connectionTimeout") == want["connect"]
    if "request" in want:
        assert _by_service(got.spec, "http", "requestTimeout") == want["request"]


def _keeps_off(done: Conversion, policy: Any) -> bool:
    return done.kind == "TrafficRoute" and policy.type == "MeshTimeout"


def test_what_was_off_without_a_timeout_stays_off() -> None:
    done = _convert({"kind": "TrafficRoute"})
    (timeout,) = done.policies
    off = {"requestTimeout": "0s", "streamIdleTimeout": "0s", "maxStreamDuration": "0s"}
    conf = {"connectionTimeout": "5s", "idleTimeout": "0s", "http": off}
    assert timeout.spec["targetRef"] == {"kind": "Mesh"}
    assert timeout.spec["to"] == [{"targetRef": {"kind": "Mesh"}, "default": conf}]
    assert timeout.spec["from"][0]["default"]["idleTimeout"] == "2h"


def test_a_timeout_for_any_service_is_enough() -> None:
    conf = {"connectionTimeout": "7s"}
    spec = {"targetRef": {"kind": "Mesh"}, "to": [{"targetRef": {"kind": "Mesh"}, "default": conf}]}
    done = _convert({"kind": "TrafficRoute", "have": [{"MeshTimeout": "t", "spec": spec}]})
    assert done.policies == ()


@pytest.mark.parametrize("case", _cases())
def test_case(case: dict[str, Any]) -> None:
    done = _convert(case)
    blocking = [item.message for item in done.manual if item.blocking]
    for text in case.get("blocked", ()):
        assert any(text in message for message in blocking), blocking
    if "blocked" not in case:
        assert blocking == []
    if "new" in case:
        policies = [p for p in done.policies if not _keeps_off(done, p)]
        names = [(p.type, p.name) for p in policies]
        assert len(policies) == len(case["new"]), names
        for got, want in zip(policies, case["new"], strict=True):
            _check_policy(got, want)
    for text in case.get("noted", ()):
        assert any(text in item.message for item in done.manual), done.manual
    dropped = {d.resource.name: d.reason for d in done.dropped if not d.path}
    for name, text in case.get("dropped", {}).items():
        assert text in dropped.get(name, "")
    assert [list(d.path) for d in done.dropped if d.path] == case.get("fields", [])
    kept = [r.name for r in done.kept]
    assert kept == case.get("kept", [])
    assert not dropped.keys() & set(kept)
    assert [list(tie.names) for tie in done.ties] == case.get("ties", [])
    assert done.writable is not (bool(case.get("blocked")) or bool(case.get("ties")))


@pytest.mark.parametrize("weight", [None, 0])
def test_a_mirror_of_a_gateway_route_is_a_mirror(weight: int | None) -> None:
    """legacy.md: it has a percentage and no share, so that a weight says nothing."""
    more = {} if weight is None else {"weight": weight}
    backend = {"destination": {"kuma.io/service": "web"}, **more}
    rule = {
        "matches": [{"path": {"match": "PREFIX", "value": "/"}}],
        "filters": [{"mirror": {"backend": backend, "percentage": 5}}],
        "backends": [{"destination": {"kuma.io/service": "api", "version": "1"}}],
    }
    selectors = [{"match": {"kuma.io/service": "gw"}}]
    have = [
        {
            "MeshGateway": "gw",
            "selectors": selectors,
            "conf": {"listeners": [{"port": 80, "protocol": "HTTP"}]},
        },
        {"MeshGatewayRoute": "r", "selectors": selectors, "conf": {"http": {"rules": [rule]}}},
    ]
    done = _convert({"kind": "MeshGatewayRoute", "have": have})
    (route,) = done.policies
    (read,) = route.spec["to"][0]["rules"]
    mirror = {"percentage": 5, "backendRef": {"kind": "MeshService", "name": "web"}}
    assert read["default"]["filters"] == [{"type": "RequestMirror", "requestMirror": mirror}]
    share = {"kind": "MeshServiceSubset", "name": "api", "tags": {"version": "1"}, "weight": 1}
    assert read["default"]["backendRefs"] == [share]


@pytest.mark.parametrize(("sent", "is_text"), [("Zm9v", True), ("/w==", False)])
def test_a_patch_may_go_once_a_health_check_can_hold_its_probe(sent: str, is_text: bool) -> None:
    """A MeshHealthCheck sends text; what is none has to stay in the patch."""
    times = {"interval": "10s", "timeout": "2s", "unhealthyThreshold": 3, "healthyThreshold": 1}
    events = {"svc": "events", "kuma.io/protocol": "kafka"}
    conf = {**times, "tcp": {"send": sent}}
    done = _convert(
        {
            "kind": "HealthCheck",
            "extra": [{"Dataplane": "events", "inbound": [events], "outbound": ["web"]}],
            "old": [{"HealthCheck": "h", "from": ["*"], "to": ["events"], "conf": conf}],
        }
    )
    (said,) = (m.message for m in done.manual if "a MeshProxyPatch sets the probe" in m.message)
    assert ("drop the patch" in said) is is_text


def test_each_new_policy_takes_the_place_of_another_old_one() -> None:
    """Both old policies are of both classes: the second class takes the place that is left."""
    both = {"from": ["web", "api"]}
    done = _convert(
        {
            "old": [
                {"Retry": "p", **both, "to": ["db"], "conf": {"tcp": {"maxConnectAttempts": 2}}},
                {"Retry": "q", **both, "to": ["web"], "conf": {"http": {"numRetries": 4}}},
            ]
        }
    )
    assert [(p.name, p.home.name) for p in done.policies] == [("p", "p"), ("q", "q")]


@pytest.mark.parametrize("labelled", [True, False])
def test_labels_choose_only_where_each_proxy_says_of_itself_what_its_tags_say(
    labelled: bool,
) -> None:
    """legacy.md §2.6: one proxy without the label would no longer be chosen."""
    case = {
        "in-use": "2.14",
        "target": "2.14",
        "old": [{"Retry": "r", "from": ["web"], "to": ["db"], "conf": {"http": {"numRetries": 4}}}],
    }
    bodies = _bodies(case)
    for body in bodies:
        if body["type"] == "Dataplane" and (labelled or body["name"] != "web-1"):
            (inbound,) = body["networking"]["inbound"]
            body["labels"] = {"kuma.io/service": inbound["tags"]["kuma.io/service"]}
    (policy,) = _convert(case, bodies).policies
    tags = {"kind": "MeshService", "name": "web"}
    by_label = {"kind": "Dataplane", "labels": {"kuma.io/service": "web"}}
    assert policy.spec["targetRef"] == (by_label if labelled else tags)
