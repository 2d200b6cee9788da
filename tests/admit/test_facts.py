"""Single facts of matcher.md, each with what is refused and what is taken."""

from __future__ import annotations

import random
from typing import Any

import pytest

from kumamigrate.admit.check import refusals_of, unknown_fields_of, warnings_of
from kumamigrate.admit.form import FORMS
from kumamigrate.model.problem import Problem
from kumamigrate.model.release import UnknownRelease
from kumamigrate.model.resource import DISPLAY_NAME, MESH, ORIGIN, ROLE, ZONE
from kumamigrate.model.state import Environment
from kumamigrate.source.text import path_text
from tests.admit.build import BAD, GOOD
from tests.admit.manifest import resource_of

EAST = Environment(mode="zone", zone="east")
NETWORKING = {"address": "10.0.0.1", "inbound": [{"port": 80, "tags": {"kuma.io/service": "a"}}]}
MESH_REF = {"kind": "Mesh"}
CONF: dict[str, Any] = {
    "MeshTimeout": {"idleTimeout": "1s"},
    "MeshRetry": {"tcp": {"maxConnectAttempt": 1}},
    "MeshCircuitBreaker": {"connectionLimits": {"maxConnections": 1}},
    "MeshAccessLog": {"backends": []},
    "MeshHealthCheck": {"tcp": {}},
    "MeshLoadBalancingStrategy": {"loadBalancer": {"type": "Random"}},
    "MeshRateLimit": {"local": {"tcp": {"disabled": True}}},
    "MeshFaultInjection": {"http": []},
    "MeshTLS": {"mode": "Strict"},
}


def policy(kind: str, spec: Any, **metadata: Any) -> dict[str, Any]:
    """A policy of the system namespace, unless a namespace is given."""
    return {
        "apiVersion": "kuma.io/v1alpha1",
        "kind": kind,
        "metadata": {"name": "p", "namespace": "kuma-system", **metadata},
        "spec": spec,
    }


def to(kind: str, *references: dict[str, Any], top: Any = None, **more: Any) -> dict[str, Any]:
    spec = {"to": [{"targetRef": r, "default": CONF[kind]} for r in references or (MESH_REF,)]}
    return {**({"targetRef": top} if top else {}), **spec, **more}


def refused(kind: str, spec: Any, release: str, **metadata: Any) -> set[str]:
    resource = resource_of(policy(kind, spec, **metadata))
    return {p.field for p in refusals_of(resource, release=release, environment=EAST)}


@pytest.mark.parametrize(
    ("kind", "reference", "releases"),
    [
        ("MeshTimeout", {"kind": "MeshHTTPRoute", "name": "a"}, "2.11 2.12 2.13 2.14"),
        ("MeshTimeout", {"kind": "MeshService", "name": "a"}, "2.9 2.10 2.14"),
        ("MeshTimeout", {"kind": "MeshService", "labels": {"a": "b"}}, "2.9 2.10 2.14 3.0"),
        ("MeshTimeout", {"kind": "MeshExternalService", "name": "a"}, "2.9 2.10 2.14"),
        ("MeshTimeout", {"kind": "MeshServiceSubset", "name": "a"}, ""),
        ("MeshLoadBalancingStrategy", {"kind": "MeshHTTPRoute", "name": "a"}, ""),
        ("MeshLoadBalancingStrategy", {"kind": "MeshExternalService", "labels": {"a": "b"}}, "3.0"),
        ("MeshCircuitBreaker", {"kind": "MeshExternalService", "name": "a"}, "2.10 2.14"),
        ("MeshHealthCheck", {"kind": "MeshMultiZoneService"}, "2.9 2.10 2.14"),
        (
            "MeshHealthCheck",
            {"kind": "MeshMultiZoneService", "labels": {"a": "b"}},
            "2.9 2.10 2.14 3.0",
        ),
        ("MeshRetry", {"kind": "MeshService"}, ""),
        ("MeshRetry", {"kind": "Mesh", "name": "a"}, "3.0"),
        ("MeshRetry", {"kind": "Mesh", "sectionName": "a"}, ""),
        ("MeshRetry", {"kind": "MeshService", "name": "a", "labels": {"a": "b"}}, "3.0"),
        (
            "MeshRetry",
            {"kind": "MeshService", "labels": {"a": "b"}, "sectionName": "c"},
            "2.10 2.14 3.0",
        ),
        ("MeshRetry", {"kind": "MeshService", "name": "a", "sectionName": "c"}, "2.9 2.10 2.14"),
        ("MeshRetry", {"kind": "MeshHTTPRoute", "name": "a", "sectionName": "c"}, ""),
        ("MeshRetry", {"kind": "MeshService", "name": "a", "mesh": "m"}, ""),
        ("MeshRetry", {"kind": "MeshService", "name": "UPPER"}, ""),
    ],
)
def test_a_reference_in_to_is_taken_by_some_releases(
    kind: str, reference: dict[str, Any], releases: str
) -> None:
    tried = ("2.9", "2.10", *releases.split(), "2.14", "3.0")
    taken = {release for release in tried if not refused(kind, to(kind, reference), release)}
    assert taken == set(releases.split())


@pytest.mark.parametrize(
    ("kind", "top", "releases"),
    [
        ("MeshTimeout", {"kind": "MeshSubset", "tags": {"a": "b"}}, "2.9 2.14"),
        ("MeshTimeout", {"kind": "MeshSubset", "tags": {}, "proxyTypes": []}, ""),
        ("MeshTimeout", {"kind": "MeshServiceSubset", "name": "a", "tags": {}}, "2.9 2.14"),
        ("MeshTimeout", {"kind": "Dataplane"}, "2.10 2.14 3.0"),
        ("MeshTimeout", {"kind": "Dataplane", "name": "a"}, "2.10 2.14 3.0"),
        ("MeshTimeout", {"kind": "Dataplane", "name": "a", "labels": {"a": "b"}}, "3.0"),
        ("MeshTimeout", {"kind": "Dataplane", "sectionName": "a"}, ""),
        ("MeshTimeout", {"kind": "MeshGateway", "name": "a", "tags": {"a": "b"}}, "2.9 2.14"),
        ("MeshTimeout", {"kind": "Mesh", "proxyTypes": ["Sidecar"]}, "2.9 2.14 3.0"),
        ("MeshTimeout", {"kind": "Mesh", "proxyTypes": ["Egress"]}, "3.0"),
        ("MeshTimeout", {}, ""),
        ("MeshTimeout", {"kind": "MeshUnheardOf"}, ""),
    ],
)
def test_a_top_level_reference_is_taken_by_some_releases(
    kind: str, top: dict[str, Any], releases: str
) -> None:
    spec = to(kind) | {"targetRef": top}
    tried = ("2.9", *releases.split(), "2.14", "3.0")
    taken = {release for release in tried if not refused(kind, spec, release)}
    assert taken == set(releases.split())


def test_a_section_name_needs_a_policy_that_acts_on_inbounds() -> None:
    """matcher.md "targetRef fields": set IsInboundPolicy and carry rules or from."""
    top = {"kind": "Dataplane", "sectionName": "a"}
    rules = {"targetRef": top, "rules": [{"default": CONF["MeshTimeout"]}]}
    assert not refused("MeshTimeout", rules, "2.14")
    assert not refused("MeshTimeout", rules, "3.0")
    retry = to("MeshRetry", top=top)
    assert refused("MeshRetry", retry, "2.14") == {"spec.targetRef.sectionName"}


def test_what_may_stand_at_the_top_depends_on_the_computed_role() -> None:
    """legacy-notes A3: a file from Git has no role label."""
    spec = to("MeshTimeout", top={"kind": "MeshHTTPRoute", "name": "r"})
    spec["to"][0]["default"] = {"http": {"requestTimeout": "1s"}}
    assert not refused("MeshTimeout", spec, "2.14")
    assert refused("MeshTimeout", spec, "2.14", namespace="shop") == {"spec.targetRef.kind"}


def test_the_role_of_an_export_is_the_one_it_carries() -> None:
    labels = {MESH: "default", DISPLAY_NAME: "p", ROLE: "consumer", ORIGIN: "global"}
    spec = to("MeshTimeout", top={"kind": "MeshGateway", "name": "g"})
    assert refused("MeshTimeout", spec, "2.14", labels=labels) == {"spec.targetRef.kind"}


def test_an_omitted_target_ref_includes_gateways() -> None:
    """legacy-notes A4."""
    from_ = {"from": [{"targetRef": MESH_REF, "default": CONF["MeshRateLimit"]}]}
    rules = {"rules": [{"default": CONF["MeshRateLimit"]}]}
    sidecars = {"targetRef": {"kind": "Mesh", "proxyTypes": ["Sidecar"]}}
    assert refused("MeshRateLimit", from_, "2.14") == {"spec.from"}
    assert refused("MeshRateLimit", rules, "2.14") == {"spec.rules"}
    assert not refused("MeshRateLimit", from_ | sidecars, "2.14")
    assert not refused("MeshRateLimit", rules | sidecars, "2.14")
    assert refused("MeshRateLimit", rules | sidecars, "3.0") == {"spec.rules"}
    assert not refused("MeshRateLimit", rules | {"targetRef": {"kind": "Dataplane"}}, "3.0")


@pytest.mark.parametrize(
    ("kind", "together", "in_2_14", "in_3_0"),
    [
        ("MeshTimeout", ("rules", "to"), {"spec"}, {"spec"}),
        ("MeshAccessLog", ("rules", "to"), {"spec"}, {"spec"}),
        ("MeshCircuitBreaker", ("rules", "to"), {"spec"}, set()),
        ("MeshCircuitBreaker", ("rules", "from"), {"spec"}, set()),
        ("MeshTLS", ("rules", "from"), {"spec"}, set()),
        ("MeshFaultInjection", ("rules", "to"), set(), set()),
        ("MeshTimeout", ("from", "to"), set(), set()),
        ("MeshTimeout", ("from",), set(), {"spec"}),
        ("MeshTimeout", (), {"spec"}, {"spec"}),
        ("MeshHealthCheck", (), set(), set()),
    ],
)
def test_sections_exclude_each_other(
    kind: str, together: tuple[str, ...], in_2_14: set[str], in_3_0: set[str]
) -> None:
    """matcher.md "to / from / rules exclusivity"; `from` does not exist in 3.0 (#49)."""
    item = {"targetRef": MESH_REF, "default": CONF[kind]}
    spec = {name: [{"default": CONF[kind]} if name == "rules" else item] for name in together}
    assert refused(kind, spec, "2.14") == in_2_14
    assert refused(kind, spec, "3.0") == in_3_0


@pytest.mark.parametrize(
    ("conf", "place"),
    [
        ({"idleTimeout": 5}, "idleTimeout"),
        ({"idleTimeout": "5"}, "idleTimeout"),
        ({"idleTimeout": "5 s"}, "idleTimeout"),
        ({"idleTimeout": "-5s"}, "idleTimeout"),
        ({"connectionTimeout": "0s"}, "connectionTimeout"),
        ({"http": {"requestHeadersTimeout": "1s"}}, "http"),
        ({"http": "1s"}, "http"),
        ({}, ""),
        (None, ""),
    ],
)
def test_a_wrong_timeout_is_refused_where_it_stands(conf: Any, place: str) -> None:
    spec = {"to": [{"targetRef": MESH_REF, "default": conf}]}
    field = f"spec.to[0].default.{place}".removesuffix(".")
    for release in ("2.9", "2.14", "3.0"):
        assert field in refused("MeshTimeout", spec, release)


@pytest.mark.parametrize("text", ["1h30m", "1.5s", "0s", "250ms", "2µs"])
def test_durations_are_gos(text: str) -> None:
    spec = {"to": [{"targetRef": MESH_REF, "default": {"idleTimeout": text}}]}
    assert not refused("MeshTimeout", spec, "2.14")


@pytest.mark.parametrize(
    ("value", "taken"),
    [(1, True), (0, False), (-1, False), (2**32, False), ("1", False), (True, False), (1.5, False)],
)
def test_integers_are_whole_and_in_range(value: Any, taken: bool) -> None:
    conf = {"connectionLimits": {"maxConnections": value}}
    spec = {"to": [{"targetRef": MESH_REF, "default": conf}]}
    assert bool(refused("MeshCircuitBreaker", spec, "2.14")) is not taken


@pytest.mark.parametrize(
    ("value", "taken"), [(0, True), (100, True), ("33.3", True), (101, False), ("x", False)]
)
def test_percentages_are_numbers_or_texts(value: Any, taken: bool) -> None:
    spec = {"default": {"backends": [], "sampling": {"overall": value}}}
    assert bool(refused("MeshTrace", spec, "2.14")) is not taken


def test_unknown_words_and_missing_fields_are_refused() -> None:
    conf: dict[str, Any] = {"loadBalancer": {"type": "Fair"}}
    spec = {"to": [{"targetRef": MESH_REF, "default": conf}]}
    field = "spec.to[0].default.loadBalancer.type"
    assert refused("MeshLoadBalancingStrategy", spec, "2.14") == {field}
    conf["loadBalancer"] = {}
    assert refused("MeshLoadBalancingStrategy", spec, "2.14") == {field}


@pytest.mark.parametrize(("protocol", "taken"), [("http", False), ("grpc", False), ("tls", True)])
def test_a_wildcard_needs_a_port_where_the_protocol_says_so(protocol: str, taken: bool) -> None:
    match = {"type": "Domain", "value": "*.example.com", "protocol": protocol}
    spec = {"targetRef": {"kind": "Mesh"}, "default": {"appendMatch": [match]}}
    assert (refused("MeshPassthrough", spec, "2.14") == set()) is taken


def test_backend_kinds_depend_on_the_release() -> None:
    def route(**reference: Any) -> dict[str, Any]:
        rule = {
            "matches": [{"path": {"type": "PathPrefix", "value": "/"}}],
            "default": {"backendRefs": [reference]},
        }
        service = {"kind": "MeshService", "name": "a", "labels": {}}
        return {"to": [{"targetRef": service, "rules": [rule]}]}

    subset = route(kind="MeshServiceSubset", name="a", tags={"v": "1"})
    assert not refused("MeshHTTPRoute", subset, "2.14")
    place = "spec.to[0].rules[0].default.backendRefs[0]"
    assert f"{place}.kind" in refused("MeshHTTPRoute", subset, "3.0")
    multi = route(kind="MeshMultiZoneService", name="a")
    assert refused("MeshHTTPRoute", multi, "2.14") == {f"{place}.port"}
    wrong = route(kind="Mesh")
    assert refused("MeshHTTPRoute", wrong, "2.14") == {f"{place}.kind"}


def test_a_gateway_narrows_the_targets_only_where_a_load_balancer_is_set() -> None:
    top = {"kind": "MeshGateway", "name": "g"}
    service = {"kind": "MeshService", "name": "a"}
    spec = to("MeshLoadBalancingStrategy", service, top=top)
    place = {"spec.to[0].targetRef.kind"}
    assert refused("MeshLoadBalancingStrategy", spec, "2.14") == place
    spec["to"][0]["default"] = {"localityAwareness": {"disabled": True}}
    assert not refused("MeshLoadBalancingStrategy", spec, "2.14")


def test_a_cross_zone_setting_is_for_service_tags_only() -> None:
    def spec(**reference: Any) -> dict[str, Any]:
        conf: Any = {"localityAwareness": {"crossZone": {"failover": []}}}
        return {"to": [{"targetRef": {"kind": "MeshService", **reference}, "default": conf}]}

    place = {"spec.to[0].default.localityAwareness.crossZone"}
    assert not refused("MeshLoadBalancingStrategy", spec(name="a_b_svc_80"), "2.14")
    assert refused("MeshLoadBalancingStrategy", spec(name="a", sectionName="h"), "2.14") == place
    assert refused("MeshLoadBalancingStrategy", spec(labels={"a": "b"}), "3.0") == place


def test_what_is_not_kumas_is_never_refused() -> None:
    manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "A_B"}}
    resource = resource_of(manifest)
    assert not refusals_of(resource, release="3.0", environment=EAST)
    assert not warnings_of(resource, release="3.0")


@pytest.mark.parametrize(
    ("kind", "releases"),
    [
        ("Timeout", "2.9 2.14"),
        ("MeshGateway", "2.9 2.14"),
        ("ZoneEgress", "2.9 2.14"),
        ("MeshService", "2.9 2.14 3.0"),
        ("MeshTrust", "2.14 3.0"),
        ("MeshOpenTelemetryBackend", "2.14 3.0"),
        ("SomebodysOwn", "2.9 2.14 3.0"),
    ],
)
def test_kinds_come_and_go(kind: str, releases: str) -> None:
    manifest = policy(kind, {})
    found = {
        release: refusals_of(resource_of(manifest), release=release, environment=EAST)
        for release in ("2.9", "2.14", "3.0")
    }
    gone = {
        release
        for release, problems in found.items()
        if "kind" in {problem.field for problem in problems}
    }
    assert {*found} - gone == {*releases.split()}


@pytest.mark.parametrize(
    ("name", "in_2_14", "in_3_0"),
    [
        ("backend", False, False),
        ("1backend", False, True),
        ("a.b", False, True),
        ("a_b", True, True),
        ("A", True, True),
        ("a" * 64, False, True),
    ],
)
def test_names_get_stricter(name: str, in_2_14: bool, in_3_0: bool) -> None:
    """catalogue, mesh-name-rfc1035."""
    resource = resource_of({"type": "Mesh", "name": name})
    for release, wrong in (("2.14", in_2_14), ("3.0", in_3_0)):
        found = refusals_of(resource, release=release, environment=EAST)
        assert {p.field for p in found} == ({"name"} if wrong else set())
    assert bool(warnings_of(resource, release="2.14")) is (in_3_0 and not in_2_14)


@pytest.mark.parametrize(
    ("role", "release", "refused"),
    [
        ("consumer", "2.9", False),
        ("consumer", "2.14", False),
        ("consumer", "3.0", True),
        ("system", "3.0", False),
        ("", "3.0", False),
    ],
)
def test_a_role_on_universal_is_looked_at_from_3_0_on(
    role: str, release: str, refused: bool
) -> None:
    manifest = {"type": "MeshTimeout", "mesh": "m", "name": "p", "labels": {ROLE: role}}
    resource = resource_of(manifest | {"spec": to("MeshTimeout")})
    found = refusals_of(resource, release=release, environment=EAST)
    assert [p.path for p in found] == ([("labels", ROLE)] if refused else [])


ZONED, OF_MESH, FROM = ("labels", ZONE), ("labels", MESH), ("labels", ORIGIN)


@pytest.mark.parametrize("release", ["2.9", "2.14", "3.0"])
@pytest.mark.parametrize("kind", ["MeshTimeout", "Dataplane", "Mesh"])
@pytest.mark.parametrize(
    ("labels", "wrong"),
    [
        ({ZONE: "east"}, []),
        ({ZONE: "west"}, [ZONED]),
        ({ZONE: "west", ORIGIN: "zone"}, [ZONED]),
        ({ZONE: "west", ORIGIN: "global"}, []),
        ({MESH: "other"}, [OF_MESH]),
        ({MESH: "other", ORIGIN: "global"}, []),
        ({ORIGIN: "q"}, [FROM]),
        ({ORIGIN: ""}, []),
        ({ORIGIN: "q", ZONE: "west"}, [FROM, ZONED]),
    ],
)
def test_the_api_of_a_zone_looks_at_where_a_resource_is_from(
    labels: dict[str, str], wrong: list[Any], kind: str, release: str
) -> None:
    """What control planes of 2.14 and 3.0 answered; 2.9 has the same rule."""
    name = {"type": kind, "name": "p", "labels": labels}
    rest = {
        "MeshTimeout": {"mesh": "m", "spec": to("MeshTimeout")},
        "Dataplane": {"mesh": "m", "networking": NETWORKING},
        "Mesh": {},
    }
    resource = resource_of(name | rest[kind])
    found = refusals_of(resource, release=release, environment=EAST)
    assert [p.path for p in found if p.path[0] == "labels"] == wrong
    for elsewhere in (Environment(mode="global", zone="east"), Environment(mode="zone")):
        found = refusals_of(resource, release=release, environment=elsewhere)
        assert ZONED not in [p.path for p in found]


def test_3_0_drops_what_it_does_not_know() -> None:
    spec = to("MeshTimeout", {"kind": "MeshService", "name": "a", "labels": {"a": "b"}})
    spec["targetRef"] = {"kind": "Mesh", "proxyTypes": ["Sidecar"]}
    spec["from"] = []
    resource = resource_of(policy("MeshTimeout", spec))
    found = {path_text(path) for path in unknown_fields_of(resource, "3.0")}
    assert found == {"spec.targetRef.proxyTypes", "spec.to[0].targetRef.name", "spec.from"}
    assert not unknown_fields_of(resource, "2.14")


def test_unknown_fields_of_other_resources_are_found() -> None:
    mesh = resource_of({"type": "Mesh", "name": "m", "mtls": {}, "meshServices": {}})
    assert set(unknown_fields_of(mesh, "3.0")) == {("mtls",), ("meshServices",)}
    inbound = {"port": 80, "tags": {"kuma.io/service": "a"}}
    manifest = policy("Dataplane", {"networking": {"address": "10.0.0.1", "inbound": [inbound]}})
    found = unknown_fields_of(resource_of(manifest), "3.0")
    assert found == (("spec", "networking", "inbound", 0, "tags"),)


def test_unknown_fields_inside_conf_and_maps() -> None:
    conf = {"idleTimeout": "1s", "http": {"requestTimeout": "1s", "typo": 1}}
    labels = {"anything": "goes"}
    spec = {"to": [{"targetRef": {"kind": "MeshService", "labels": labels}, "default": conf}]}
    found = unknown_fields_of(resource_of(policy("MeshTimeout", spec)), "2.14")
    assert found == (("spec", "to", 0, "default", "http", "typo"),)


@pytest.mark.parametrize(
    ("kind", "spec", "release", "places"),
    [
        ("MeshTimeout", to("MeshTimeout"), "2.14", set()),
        ("MeshTimeout", {"from": [{"targetRef": MESH_REF}]}, "2.14", {"spec.from"}),
        ("MeshTimeout", {"from": [{"targetRef": MESH_REF}]}, "2.9", set()),
        (
            "MeshRetry",
            to("MeshRetry", top={"kind": "MeshSubset"}),
            "2.14",
            {"spec.targetRef.kind"},
        ),
        ("MeshRetry", to("MeshRetry", top={"kind": "MeshSubset"}), "2.9", set()),
        (
            "MeshTrafficPermission",
            {"from": [{"targetRef": {"kind": "MeshService", "name": "a"}}]},
            "2.14",
            {"spec.from", "spec.from[0].targetRef.kind"},
        ),
        (
            "MeshPassthrough",
            {"targetRef": {"kind": "MeshSubset"}, "default": {}},
            "2.14",
            set(),
        ),
    ],
)
def test_deprecations_are_those_of_the_release(
    kind: str, spec: Any, release: str, places: set[str]
) -> None:
    """matcher.md "Deprecation warnings"."""
    found = warnings_of(resource_of(policy(kind, spec)), release=release)
    assert {p.field for p in found} == places


WRONG = {"to": [{"targetRef": {"kind": "Mesh"}, "default": {"idleTimeout": "soon"}}]}


def test_template_values_pass_and_gaps_in_templates_are_not_missing() -> None:
    spec: Any = to("MeshTimeout", {"kind": "{{ .Values.kind }}"})
    spec["to"][0]["default"] = {"idleTimeout": "{{ .Values.idle }}"}
    assert not refused("MeshTimeout", spec, "2.14")
    from dataclasses import replace

    resource = resource_of(policy("MeshTimeout", {"to": [{"targetRef": MESH_REF}]}))
    assert refusals_of(resource, release="2.14", environment=EAST)
    templated = replace(resource, templated=True)
    assert not refusals_of(templated, release="2.14", environment=EAST)
    wrong = policy("MeshTimeout", WRONG)
    assert refusals_of(
        replace(resource_of(wrong), templated=True), release="2.14", environment=EAST
    )


def test_an_unknown_release_is_an_error_of_the_caller() -> None:
    resource = resource_of(policy("MeshTimeout", to("MeshTimeout")))
    with pytest.raises(UnknownRelease):
        refusals_of(resource, release="9.9", environment=EAST)


def test_a_problem_reads_like_kumas() -> None:
    problem = Problem(path=("spec", "to", 0, "targetRef"), message="no")
    assert str(problem) == "spec.to[0].targetRef: no"


@pytest.mark.parametrize("form", sorted(GOOD))
def test_forms_tell_good_from_bad(form: str) -> None:
    assert FORMS[form](GOOD[form])
    assert not FORMS[form](BAD[form])


@pytest.mark.parametrize(
    ("form", "text", "taken"),
    [
        ("address", "127.0.0.1:5000", True),
        ("address", "[::1]:5000", True),
        ("address", "http://zipkin.ns:9411/api/v2/spans", True),
        ("address", "collector", False),
        ("address", "a b:1", False),
        ("file-path", "/dev/stdout", True),
        ("file-path", "", False),
        ("retry-on", "5xx", True),
        ("retry-on", "429", True),
        ("retry-on", "429x", False),
        ("retry-on", "999", False),
        ("domain", "*.example.com", True),
        ("domain", "a..b", False),
        ("spiffe", "spiffe://default.east.mesh.local/ns/shop/sa/web", True),
        ("spiffe", "spiffe://my_mesh/A/a-._b", True),
        ("spiffe", "spiffe://default//a", False),
        ("spiffe", "spiffe://default/a/../b", False),
        ("spiffe", "spiffe://default/.", False),
        ("spiffe", "spiffe://default/*", False),
        ("spiffe", "spiffe://default/a%20b", False),
        ("regex", "a[(]b", True),
        ("ip", "fe80::1", True),
    ],
)
def test_forms_by_example(form: str, text: str, taken: bool) -> None:
    assert FORMS[form](text) is taken


JUNK: tuple[Any, ...] = (None, True, 0, -1, 1.5, "", "x", [], {}, [None], [[]], {"a": None}, [{}])


@pytest.mark.parametrize("seed", range(150))
def test_nothing_in_a_manifest_makes_it_fail(seed: int) -> None:
    """Any value anywhere gives problems or none, never an exception."""
    chance = random.Random(seed)
    kind = chance.choice(sorted(CONF))
    spec: Any = to(kind, top={"kind": "Dataplane", "labels": {"a": "b"}})
    spec["from"] = [{"targetRef": {"kind": "MeshService", "name": "a"}, "default": CONF[kind]}]
    spec["rules"] = [{"matches": [{"spiffeID": {"type": "Exact"}}], "default": CONF[kind]}]
    for _ in range(chance.randint(1, 4)):
        spec = spoiled(spec, chance)
    manifest = policy(kind, spec, namespace=chance.choice(["shop", "kuma-system"]))
    if not isinstance(spec, dict):
        manifest["spec"] = {}
    resource = resource_of(manifest)
    for release in ("2.6", "2.9", "2.11", "2.14", "3.0"):
        refusals_of(resource, release=release, environment=EAST)
        warnings_of(resource, release=release)
        unknown_fields_of(resource, release)


def spoiled(value: Any, chance: random.Random) -> Any:
    if not isinstance(value, dict | list) or not value or chance.random() < 0.15:
        return chance.choice(JUNK)
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    key = chance.choice(list(copy)) if isinstance(copy, dict) else chance.randrange(len(copy))
    copy[key] = spoiled(copy[key], chance)
    return copy


def test_a_templated_namespace_leaves_the_role_open() -> None:
    spec = to("MeshTimeout", top={"kind": "MeshGateway", "name": "g"})
    assert refused("MeshTimeout", spec, "2.14", namespace="shop")
    assert not refused("MeshTimeout", spec, "2.14", namespace="{{ .Values.namespace }}")


def test_universal_fields_outside_spec_are_not_read() -> None:
    manifest = {"type": "MeshTimeout", "mesh": "m", "name": "p", **to("MeshTimeout")}
    found = refusals_of(resource_of(manifest), release="2.14", environment=EAST)
    assert [p.field for p in found] == ["spec"]


def test_a_predicate_has_its_frequency_by_default() -> None:
    """2.14 fills the default in before it looks, as a control plane showed (mixed-2.14/20-0084)."""
    conf = {"http": {"hostSelection": [{"predicate": "OmitPreviousPriorities"}]}}
    spec = {"to": [{"targetRef": MESH_REF, "default": conf}]}
    assert [bool(refused("MeshRetry", spec, name)) for name in ("2.9", "2.14")] == [True, False]


TAG_VALUES = [("a", True), ("A.b-c_d", True), ("a:b", True), ("-a", True), ("x" * 64, True),
              ("", False), ("a/b", False), ("a b", False), ("*", False), ("é", False)]  # fmt: skip
TAG_NAMES = [("a", True), ("a/b", True), ("a:b", True), ("-a", True), ("a_b", True),
             ("a b", False), ("", False), ("*", False), ("k8s.io/é", False)]  # fmt: skip
TAGGED = [({"app": value}, taken) for value, taken in TAG_VALUES]
TAGGED += [({name: "x"}, taken) for name, taken in TAG_NAMES]


@pytest.mark.parametrize(("tags", "taken"), TAGGED)
@pytest.mark.parametrize("place", ["top", "from"])
def test_tags_of_a_reference_are_of_limited_characters(
    tags: dict[str, str], taken: bool, place: str
) -> None:
    """As a control plane of 2.14.3 took or refused each of them; labels it takes as they are."""
    subset = {"kind": "MeshSubset", "tags": tags}
    top, client = (subset, MESH_REF) if place == "top" else (MESH_REF, subset)
    entry = {"targetRef": client, "default": {"action": "Allow"}}
    spec = {"targetRef": top, "from": [entry]}
    assert (not refused("MeshTrafficPermission", spec, "2.14")) is taken
    labelled = {"targetRef": {"kind": "Dataplane", "labels": tags}, "from": [entry]}
    if place == "top":
        assert not refused("MeshTrafficPermission", labelled, "2.14")


@pytest.mark.parametrize(
    ("value", "taken"), [("*", True), ("a:b", True), ("", False), ("a b", False)]
)
def test_a_share_of_a_service_may_be_of_any_value(value: str, taken: bool) -> None:
    """A tag that has to be there, with whatever value, is a share: `*` is taken in a backend."""
    backend = {"kind": "MeshServiceSubset", "name": "web", "tags": {"v": value}, "weight": 1}
    rule = {
        "matches": [{"path": {"type": "PathPrefix", "value": "/"}}],
        "default": {"backendRefs": [backend]},
    }
    to = [{"targetRef": {"kind": "MeshService", "name": "web"}, "rules": [rule]}]
    assert (not refused("MeshHTTPRoute", {"to": to}, "2.14")) is taken
