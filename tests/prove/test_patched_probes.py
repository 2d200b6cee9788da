"""Probes that a MeshProxyPatch sets in the place of a HealthCheck: equal only if exactly so."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kumamigrate.effective.difference import HARMLESS
from kumamigrate.effective.policies.patched import read_patch
from kumamigrate.prover.proof import Proof
from kumamigrate.prover.prover import prove
from tests.sourcedest.meshes import state

CHECK = {
    "interval": "10s",
    "timeout": "2s",
    "unhealthyThreshold": 3,
    "healthyThreshold": 1,
    "initialJitter": "0.250s",
    "tcpHealthCheck": {"send": {"text": "666f6f"}},
}
PATCH = {
    "cluster": {
        "operation": "Patch",
        "match": {"name": "events"},
        "jsonPatches": [{"op": "add", "path": "/healthChecks", "value": [CHECK]}],
    }
}
EMPTY = {
    "cluster": {
        **PATCH["cluster"],
        "jsonPatches": [{"op": "add", "path": "/healthChecks", "value": []}],
    }
}
OTHER = {"cluster": {"operation": "Patch", "match": {"name": "db"}, "value": "lbPolicy: RANDOM"}}
SAME_CLUSTER = {
    "cluster": {"operation": "Patch", "match": {"name": "events"}, "value": "lbPolicy: RANDOM"}
}
ALL_CLUSTERS = {
    "cluster": {"operation": "Patch", "match": {"origin": "outbound"}, "value": "lbPolicy: RANDOM"}
}
MESH = {"type": "Mesh", "name": "default", "skipCreatingInitialPolicies": ["*"]}
ROUTE = {
    "type": "TrafficRoute",
    "name": "route-all",
    "sources": [{"match": {"kuma.io/service": "*"}}],
    "destinations": [{"match": {"kuma.io/service": "*"}}],
    "conf": {"destination": {"kuma.io/service": "*"}},
}
HEALTH_CHECK = {
    "type": "HealthCheck",
    "name": "probe",
    "sources": [{"match": {"kuma.io/service": "*"}}],
    "destinations": [{"match": {"kuma.io/service": "events"}}],
    "conf": {
        "interval": "10s",
        "timeout": "2s",
        "unhealthyThreshold": 3,
        "healthyThreshold": 1,
        "initialJitter": "250ms",
        "tcp": {"send": "Zm9v"},
    },
}


def proxy(name: str, inbound: dict[str, str], *outbounds: dict[str, str]) -> dict[str, Any]:
    listed = [{"port": 10_000 + at, "tags": tags} for at, tags in enumerate(outbounds)]
    return {
        "type": "Dataplane",
        "name": name,
        "networking": {
            "address": "10.0.0.1",
            "inbound": [{"port": 80, "tags": {"kuma.io/service": name, **inbound}}],
            "outbound": listed,
        },
    }


def patch(*changes: Any, name: str = "probe", top: Any = None) -> dict[str, Any]:
    return {
        "type": "MeshProxyPatch",
        "name": name,
        "spec": {
            "targetRef": top or {"kind": "Mesh"},
            "default": {"appendModifications": list(changes)},
        },
    }


WEB = proxy("web", {"kuma.io/protocol": "http"}, {"kuma.io/service": "events"})
EVENTS = proxy("events", {"kuma.io/protocol": "kafka"})
GROUND = (MESH, ROUTE, WEB, EVENTS)


def compare(before: tuple[Any, ...], after: tuple[Any, ...]) -> Proof:
    texts = ("\n---\n".join(json.dumps(r) for r in resources) for resources in (before, after))
    return prove(*map(state, texts), claims=("live",))


def equal(proof: Proof) -> bool:
    harmful = [w for w in proof.witnesses("live") if w.effect not in HARMLESS]
    return not harmful and not proof.unknown("live")


def changed(path: tuple[Any, ...], value: Any) -> Any:
    """Return the patch with another value at a path, or without what stands there (None)."""
    result = put(path, value)
    if value is None:
        del _at(result, path[:-1])[path[-1]]
    return result


def put(path: tuple[Any, ...], value: Any) -> Any:
    """Return the patch with another value at a path."""
    if not path:
        return value
    result = json.loads(json.dumps(PATCH))
    _at(result, path[:-1])[path[-1]] = value
    return result


def _at(node: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        node = node[key]
    return node


def test_a_patch_takes_the_place_of_a_health_check() -> None:
    assert equal(compare((*GROUND, HEALTH_CHECK), (*GROUND, patch(PATCH))))


def test_without_it_the_probe_is_lost() -> None:
    assert not equal(compare((*GROUND, HEALTH_CHECK), GROUND))


_CLUSTER = ("cluster",)
_CHANGE = ("cluster", "jsonPatches", 0)
_BLOCK = (*_CHANGE, "value", 0)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ((*_BLOCK, "interval"), "11s"),
        ((*_BLOCK, "interval"), "10000ms"),
        ((*_BLOCK, "interval"), None),
        ((*_BLOCK, "healthyThreshold"), 2),
        ((*_BLOCK, "healthyThreshold"), "1"),
        ((*_BLOCK, "reuseConnection"), False),
        ((*_BLOCK, "noTrafficInterval"), "1s"),
        ((*_BLOCK, "timeToFirstProbe"), "1s"),
        ((*_BLOCK, "grpcHealthCheck"), {}),
        ((*_BLOCK, "tcpHealthCheck"), {}),
        ((*_BLOCK, "tcpHealthCheck"), {"send": {"text": "666f6"}}),
        ((*_BLOCK, "tcpHealthCheck"), {"send": {"binary": "Zm9v"}}),
        ((*_CHANGE, "op"), "replace"),
        ((*_CHANGE, "path"), "/healthChecks/-"),
        ((*_CHANGE, "value"), []),
        ((*_CLUSTER, "match", "name"), "event"),
        ((*_CLUSTER, "match", "origin"), "outbound"),
        ((*_CLUSTER, "match"), None),
        ((*_CLUSTER, "value"), "lbPolicy: RANDOM"),
        ((*_CLUSTER, "jsonPatches"), [PATCH["cluster"]["jsonPatches"][0]] * 2),
    ],
)
def test_any_other_patch_is_a_difference(path: tuple[Any, ...], value: Any) -> None:
    after = (*GROUND, patch(changed(path, value)))
    assert not equal(compare((*GROUND, HEALTH_CHECK), after))


DURATIONS = ("interval", "timeout", "initialJitter", "intervalJitter", "noTrafficInterval")
KINDS = {
    **dict.fromkeys(DURATIONS, "duration"),
    **dict.fromkeys(("unhealthyThreshold", "healthyThreshold"), "count"),
    **dict.fromkeys(("alwaysLogHealthCheckFailures", "reuseConnection"), "flag"),
    "intervalJitterPercent": "number",
    "eventLogPath": "text",
    "altPort": "unknown",
}
"""What a field of Envoy's HealthCheck is; not all of them are known here."""
VALUES = [
    ("4s", {"duration", "text"}),
    ("0.250s", {"duration", "text"}),
    ("250ms", {"text"}),
    ("s", {"text"}),
    ("", {"text"}),
    (2, {"count", "number"}),
    (0, {"number"}),
    (-1, set[str]()),
    (1.5, set[str]()),
    (False, {"flag"}),
    (None, set[str]()),
    ([], set[str]()),
    ({}, set[str]()),
]
HEX = {"text": "666f"}
PROBES = [
    ({}, ("", [])),
    ({"send": HEX}, ("fo", [])),
    ({"receive": [HEX, {"text": "6f"}]}, ("", ["fo", "o"])),
    ({"send": HEX, "receive": []}, ("fo", [])),
]
NO_PROBES = [
    None,
    [],
    "send",
    {"more": 1},
    {"send": HEX, "receive": [], "more": 1},
    *({"send": one} for one in (None, "666f", {}, {"text": 66}, {"text": "6"}, {"text": "FF"})),
    *({"receive": one} for one in (None, {}, "666f", HEX, [{}], [HEX, {"binary": "Zm9v"}])),
    {"send": {**HEX, "binary": "Zm9v"}},
]
"""TCP probes whose bytes are not said in small hexadecimal digits, and what is none at all."""


@pytest.mark.parametrize(("name", "kind"), KINDS.items())
def test_a_field_is_read_as_what_it_is_or_the_patch_is_not_read(name: str, kind: str) -> None:
    for value, kinds in VALUES:
        read = read_patch(put((*_BLOCK, name), value))
        assert (read is not None) is (kind in kinds), value
        if read is not None:
            said = {"0.250s": "250ms"}.get(value, value) if kind == "duration" else value
            assert read[1][0][name] == said
            assert type(read[1][0][name]) is type(said)


def test_bytes_to_send_and_to_wait_for_are_read_or_the_patch_is_not_read() -> None:
    for node, (send, receive) in PROBES:
        read = read_patch(put((*_BLOCK, "tcpHealthCheck"), node))
        assert read is not None
        assert (read[1][0]["tcp.send"], read[1][0]["tcp.receive"]) == (send, receive)
    for odd in NO_PROBES:
        assert read_patch(put((*_BLOCK, "tcpHealthCheck"), odd)) is None, odd


def test_only_a_list_of_checks_that_are_all_known_is_read() -> None:
    assert read_patch(EMPTY) == ("events", ())
    more = {**CHECK, "healthyThreshold": 2}
    read = read_patch(put((*_CHANGE, "value"), [CHECK, more]))
    assert read is not None
    assert [one["healthyThreshold"] for one in read[1]] == [1, 2]
    needed = ("interval", "timeout", "unhealthyThreshold", "healthyThreshold", "tcpHealthCheck")
    for name in needed:
        less = {key: value for key, value in CHECK.items() if key != name}
        assert read_patch(put((*_CHANGE, "value"), [CHECK, less])) is None
    for odd in (None, {}, "x", CHECK, [None], ["x"], [[]], [CHECK, {**CHECK, "x": 1}]):
        assert read_patch(put((*_CHANGE, "value"), odd)) is None


@pytest.mark.parametrize(
    "path",
    [
        (),
        _CLUSTER,
        *((*_CLUSTER, name) for name in ("match", "operation", "jsonPatches")),
        (*_CLUSTER, "match", "name"),
        _CHANGE,
        *((*_CHANGE, name) for name in ("op", "path", "value")),
    ],
)
def test_what_is_no_such_patch_is_not_read(path: tuple[Any, ...]) -> None:
    for odd in (None, "", 1, {}, [1], [None, None], {"x": "y"}):
        assert read_patch(put(path, odd)) is None, odd


@pytest.mark.parametrize("touching", [SAME_CLUSTER, ALL_CLUSTERS])
def test_what_may_touch_the_cluster_before_it_is_overridden(touching: Any) -> None:
    """After the patch it meets the health checks that the old engine set; before it, others."""
    before = (*GROUND, HEALTH_CHECK, patch(touching, name="own"))
    assert equal(compare(before, (*GROUND, patch(PATCH, touching, name="own"))))
    assert not equal(compare(before, (*GROUND, patch(touching, PATCH, name="own"))))


ELSEWHERE = [
    {kind: {"operation": "Remove", "match": {"origin": "outbound"}}}
    for kind in ("listener", "networkFilter", "httpFilter", "virtualHost")
]


@pytest.mark.parametrize("other", [OTHER, *ELSEWHERE])
def test_what_touches_another_cluster_may_stand_before_it(other: Any) -> None:
    before = (*GROUND, HEALTH_CHECK, patch(other, name="own"))
    assert equal(compare(before, (*GROUND, patch(other, PATCH, name="own"))))


def test_a_template_beside_probes_of_other_clusters_becomes_a_patch_of_any_name() -> None:
    """The template worked on what the patches left, its successor may come before them."""
    template = {
        "type": "ProxyTemplate",
        "name": "own",
        "selectors": [{"match": {"kuma.io/service": "web"}}],
        "conf": {
            "imports": ["default-proxy"],
            "modifications": [{"cluster": {**OTHER["cluster"], "operation": "patch"}}],
        },
    }
    top = {"kind": "MeshService", "name": "web"}
    ground = (*GROUND, patch(PATCH, top=top))
    turned = compare((*ground, template), (*ground, patch(OTHER, name="z", top=top)))
    assert turned.verdict("live") == "equivalent"
    touching = {"cluster": {**SAME_CLUSTER["cluster"], "value": "healthChecks: []"}}
    template["conf"]["modifications"] = [{"cluster": {**touching["cluster"], "operation": "patch"}}]
    assert not equal(compare((*ground, template), (*ground, patch(touching, name="z", top=top))))


def test_the_patch_of_a_narrower_class_counts_whole() -> None:
    top = {"kind": "MeshService", "name": "web"}
    broad = patch(EMPTY, name="a")
    assert equal(
        compare((*GROUND, HEALTH_CHECK), (*GROUND, patch(PATCH), patch(PATCH, name="w", top=top)))
    )
    assert not equal(
        compare((*GROUND, HEALTH_CHECK), (*GROUND, patch(PATCH), patch(EMPTY, name="w", top=top)))
    )
    assert not equal(compare((*GROUND, HEALTH_CHECK), (*GROUND, patch(PATCH), broad)))


@pytest.mark.parametrize(
    ("mesh", "route", "web", "events"),
    [
        ({"meshServices": {"mode": "Everywhere"}}, {}, WEB, EVENTS),
        ({}, {"conf": {"destination": {"kuma.io/service": "*", "version": "v1"}}}, WEB, EVENTS),
        ({}, {}, proxy("web", {}, {"kuma.io/service": "events", "version": "v1"}), EVENTS),
        ({}, {}, WEB, proxy("events", {"kuma.io/protocol": "kafka", "k8s.kuma.io/namespace": "x"})),
    ],
    ids=["mode", "route", "outbound", "kubernetes"],
)
def test_a_cluster_of_another_name_is_not_patched(
    mesh: Any, route: Any, web: Any, events: Any
) -> None:
    ground = ({**MESH, **mesh}, {**ROUTE, **route}, web, events)
    assert not equal(compare((*ground, HEALTH_CHECK), (*ground, patch(PATCH))))


def test_a_service_that_a_mesh_health_check_probes_is_left_to_it() -> None:
    ground = (MESH, ROUTE, WEB, proxy("events", {"kuma.io/protocol": "tcp"}))
    assert not equal(compare((*ground, HEALTH_CHECK), (*ground, patch(PATCH))))


def test_virtual_outbounds_make_outbounds_of_their_own() -> None:
    virtual = {
        "type": "VirtualOutbound",
        "name": "v",
        "selectors": [{"match": {"kuma.io/service": "*"}}],
        "conf": {
            "host": "{{.v}}.{{.s}}.mesh",
            "port": "80",
            "parameters": [
                {"name": "s", "tagKey": "kuma.io/service"},
                {"name": "v", "tagKey": "version"},
            ],
        },
    }
    ground = (*GROUND, virtual)
    assert not equal(compare((*ground, HEALTH_CHECK), (*ground, patch(PATCH))))


def _real(name: str, protocol: str) -> dict[str, Any]:
    ports = [{"port": 80, "appProtocol": protocol}]
    return {
        "type": "MeshService",
        "name": name,
        "labels": {"kuma.io/display-name": name},
        "spec": {"ports": ports, "selector": {"dataplaneTags": {"kuma.io/service": name}}},
    }


@pytest.mark.parametrize(("claim", "upgraded"), [("carry", ""), ("release", "3.0")])
def test_the_probe_ends_with_the_service_tags(claim: str, upgraded: str) -> None:
    ground = (MESH, WEB, EVENTS, _real("web", "http"), _real("events", "kafka"))
    for resources, lost in ((ground, False), ((*ground, patch(PATCH)), True)):
        text = "\n---\n".join(json.dumps(r) for r in resources)
        later = state(text, release=upgraded) if upgraded else None
        proof = prove(state(text), state(text), claims=(claim,), upgraded=later)
        assert any("health checks of cluster" in doubt for doubt in proof.unknown(claim)) == lost
