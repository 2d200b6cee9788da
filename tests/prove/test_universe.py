"""Small things that what a proof looks at rests on: made-up services, references, clusters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from kumamigrate.model.kri import kri_of
from kumamigrate.model.resource import Resource
from kumamigrate.model.state import Environment, State
from kumamigrate.prover.subject import Subject
from kumamigrate.targetref.route import RealResource, ServiceTag
from kumamigrate.universe.answering import Endpoint, answered, endpoints
from kumamigrate.universe.backend import cluster_of, outbound_destinations
from kumamigrate.universe.chosen import Chosen, chosen_by
from kumamigrate.universe.contents import Contents
from kumamigrate.universe.dataplaneparts import inbounds_of, may_be_transparent, protocol_of
from kumamigrate.universe.excluding import asked_slots
from kumamigrate.universe.madeup import Atom, Setting
from kumamigrate.universe.namedresources import ByName, carries
from kumamigrate.universe.services import _made_up, worlds_of
from kumamigrate.universe.side import Side
from kumamigrate.universe.tagprotocols import real_protocol, tag_protocols, tags_of
from kumamigrate.universe.traffic import Outbound, is_given, outbounds_of

MESH, NAME, ZONE = "kuma.io/mesh", "kuma.io/display-name", "kuma.io/zone"
ORIGIN = "kuma.io/origin"
OWN = {MESH: "default", NAME: "web"}


@pytest.mark.parametrize(
    ("mode", "given", "labels"),
    [
        ("zone", {}, {**OWN, ZONE: "east", ORIGIN: "zone"}),
        ("zone", {ZONE: "west"}, {**OWN, ZONE: "west", ORIGIN: "zone"}),
        ("zone", {ORIGIN: "global"}, {**OWN, ORIGIN: "global"}),
        ("global", {}, OWN),
        ("global", {ZONE: "west"}, {**OWN, ZONE: "west", ORIGIN: "zone"}),
    ],
)
def test_a_made_up_service_has_the_labels_that_its_control_plane_would_write(
    mode: Any, given: dict[str, str], labels: dict[str, str]
) -> None:
    state = State(release="2.14", environment=Environment(zone="east", mode=mode))
    made = _made_up("MeshService", "web", given, [{"port": 80}], state, "default")
    assert made.labels == labels
    assert (made.name, made.mesh, made.made_up) == ("web", "default", True)


def _service(**labels: str) -> Resource:
    return Resource(type="MeshService", mesh="default", name="web", labels={**OWN, **labels})


@pytest.mark.parametrize(
    ("asked", "carried"),
    [
        ((("app", "x"),), True),
        ((("app", "y"),), False),
        ((("app", "x"), (NAME, "web")), True),
        ((("app", "x"), (NAME, "api")), False),
        (((NAME, "web"),), True),
        (((NAME, "api"),), False),
    ],
)
def test_a_reference_means_what_carries_each_of_its_labels(
    asked: tuple[tuple[str, str], ...], carried: bool
) -> None:
    assert carries(_service(app="x"), asked) is carried


@pytest.mark.parametrize(
    ("outbound", "tags"),
    [
        ({"port": 1, "service": "web"}, ()),
        ({"port": 1, "tags": {"kuma.io/service": "web"}}, ()),
        ({"port": 1, "service": "api", "tags": {"kuma.io/service": "web", "v": 1}}, (("v", "1"),)),
    ],
)
def test_an_outbound_leads_to_its_service_tag_wherever_it_says_it(
    outbound: dict[str, Any], tags: Any
) -> None:
    """Before there were tags, an outbound had a field `service`."""
    nobody = cast("Any", None)
    (cluster,) = outbound_destinations(nobody, nobody, outbound)
    assert (cluster.destination, cluster.tags) == (ServiceTag("web"), tags)


def test_an_outbound_that_names_no_service_leads_to_the_one_without_a_name() -> None:
    nobody = cast("Any", None)
    (cluster,) = outbound_destinations(nobody, nobody, {"port": 1})
    assert cluster.destination == ServiceTag("")


@pytest.mark.parametrize("key", ["backendRef", "backendRefs"])
def test_services_are_chosen_by_labels_of_one_backend_and_of_several(key: str) -> None:
    ref = {"kind": "MeshService", "labels": {"app": "x"}}
    spec = {"to": [{"rules": [{"default": {key: ref if key == "backendRef" else [ref]}}]}]}
    route = Resource(type="MeshHTTPRoute", mesh="default", name="r", labels={}, spec=spec)
    side = Side(State(release="2.14", resources=(route,)), "default", Contents())
    assert chosen_by(side).of_services == {"app"}


MATCHED = {"matchLabels": {"app": "x"}}
IDENTITY = {"k8s.kuma.io/namespace", "k8s.kuma.io/service-account"}


@pytest.mark.parametrize(
    ("kind", "spec", "labels", "tags"),
    [
        ("MeshService", {"selector": {"dataplaneTags": {"v": "1"}}}, set(), {"v"}),
        ("MeshService", {"selector": {"dataplaneLabels": MATCHED}}, {"app"}, set()),
        ("HostnameGenerator", {"selector": {"meshService": MATCHED}}, {"app"}, set()),
        ("HostnameGenerator", {"template": '{{ label "team" }}.mesh'}, {"team"}, set()),
        ("HostnameGenerator", {"template": 'label "team"'}, set(), set()),
        ("MeshIdentity", {}, IDENTITY | {"kuma.io/workload"}, set()),
        ("MeshIdentity", {"spiffeID": {"path": "/x"}}, IDENTITY, set()),
        ("MeshProxyPatch", {"match": {"tags": {"v": "1"}}}, {"v"}, {"tags", "v"}),
        ("MeshIdentity", {"spiffeID": {"path": "/{{ .Workload }}"}},
         IDENTITY | {"kuma.io/workload"}, set()),
        ("TrafficRoute", {"conf": {"destination": {"v": "1"}}}, set(), {"v"}),
        ("TrafficRoute", {"conf": {"split": [{"destination": {"v": 1}}]}}, set(), {"v"}),
        ("Timeout", {"sources": [{"match": {"v": "1"}}]}, set(), {"v"}),
        ("MeshTimeout", {"targetRef": {"kind": "MeshSubset", "tags": {"v": "1"}}}, set(), {"v"}),
        ("MeshTimeout", {"targetRef": {"kind": "Dataplane", "labels": {"v": "1"}}}, set(), set()),
        ("Dataplane", {"networking": {"inbound": [{"tags": {"v": "1"}}]}}, set(), set()),
        ("Namespace", MATCHED, set(), set()),
    ],
)  # fmt: skip
def test_labels_and_tags_that_something_goes_by(
    kind: str, spec: Any, labels: set[str], tags: set[str]
) -> None:
    chosen = _chosen(kind, spec)
    assert (chosen.labels, chosen.of_proxies, chosen.tags) == (labels, labels, tags)
    assert (chosen.of_services, chosen.near) == (set(), set())


def _chosen(kind: str, spec: Any) -> Chosen:
    found = Resource(type=kind, mesh="default", name="a", spec=spec)
    return chosen_by(Side(State(release="2.14", resources=(found,)), "default", Contents()))


def test_traffic_stays_near_by_a_label_or_tag() -> None:
    """Which of the two the release says (`affinityTags`)."""
    near = {"localZone": {"affinityTags": [{"key": "rack"}, {"weight": 1}]}}
    spec = {"to": [{"default": {"localityAwareness": near}}]}
    chosen = _chosen("MeshLoadBalancingStrategy", spec)
    assert chosen.near == chosen.tags == chosen.of_proxies == {"rack", ""}
    assert chosen.labels == set()


def test_a_proxy_reaches_backends_by_their_labels() -> None:
    refs = [{"kind": "MeshService", "labels": {"app": "x"}}]
    spec = {"networking": {"transparentProxying": {"reachableBackends": {"refs": refs}}}}
    assert _chosen("Dataplane", spec).of_services == {"app"}
    assert _chosen("Deployment", spec).of_services == set()


@pytest.mark.parametrize(
    ("inbound", "protocol"),
    [
        ({}, "tcp"),
        ({"protocol": "http"}, "http"),
        ({"tags": {"kuma.io/protocol": "grpc"}}, "grpc"),
        ({"protocol": "http", "tags": {"kuma.io/protocol": "grpc"}}, "http"),
        ({"protocol": "", "tags": {"kuma.io/service": "a"}}, "tcp"),
        ({"tags": "kuma.io/protocol"}, "tcp"),
    ],
)
def test_an_inbound_speaks_what_its_field_says_or_its_tag(inbound: Any, protocol: str) -> None:
    assert protocol_of(inbound) == protocol


@pytest.mark.parametrize(
    ("networking", "made_up", "may_be"),
    [({}, False, False), ({}, True, True), ({"transparentProxying": {"x": 1}}, False, True),
     ({"transparentProxying": {}}, False, False), ("x", False, False)],
)  # fmt: skip
def test_who_may_have_its_traffic_redirected(networking: Any, made_up: bool, may_be: bool) -> None:
    spec = {"networking": networking}
    proxy = Resource(type="Dataplane", mesh="default", name="a", spec=spec, made_up=made_up)
    assert may_be_transparent(proxy) is may_be
    assert inbounds_of(proxy) == []
    inbound = {"port": 80}
    listed = {"networking": {"inbound": [inbound]}}
    assert inbounds_of(Resource(type="Dataplane", mesh="default", name="a", spec=listed)) == [
        inbound
    ]


SHOP, WEST = ("k8s.kuma.io/namespace", "shop"), (ZONE, "west")


@pytest.mark.parametrize(
    ("asked", "carried"),
    [
        ([(NAME, "web")], False),
        ([(NAME, "web"), SHOP], True),
        ([(NAME, "web"), SHOP, WEST], True),
        ([(NAME, "web"), SHOP, (ZONE, "east")], False),
        ([(NAME, "web"), (SHOP[0], "bank")], False),
        ([(NAME, "api"), SHOP], False),
        ([SHOP], True),
        ([WEST], True),
        ([(NAME, "web"), ("app", "x")], True),
    ],
)
def test_an_identity_that_a_reference_names_has_to_be_the_whole_of_it(
    asked: list[tuple[str, str]], carried: bool
) -> None:
    service = _service(**dict([SHOP, WEST]), app="x")
    assert carries(service, frozenset(asked)) is carried
    assert ByName([service]).has("MeshService", frozenset(asked)) is carried


@pytest.mark.parametrize(
    ("labels", "section", "tags"),
    [
        ({"kuma.io/service": "own"}, "80", [("own", "")]),
        ({"kuma.io/service": "own", **dict([SHOP])}, "80", [("own", "")]),
        ({}, "80", [("web", "")]),
        (dict([SHOP]), "80", [("web_shop_svc_80", "80")]),
        (dict([SHOP]), "admin", [("web_shop_svc_81", "81")]),
        (dict([SHOP]), "81", []),
    ],
)
def test_the_tags_that_a_port_takes_the_place_of(
    labels: dict[str, str], section: str, tags: list[tuple[str, str]]
) -> None:
    spec = {"ports": [{"port": 80}, {"port": 81, "name": "admin"}]}
    service = Resource(
        type="MeshService", mesh="default", name="web", labels={**OWN, **labels}, spec=spec
    )
    assert tags_of(service, section) == tags


def test_a_proxy_reaches_what_its_annotation_chooses_by_labels() -> None:
    said = "refs: [{kind: MeshService, labels: {app: x}}]"
    proxy = Resource(
        type="Dataplane",
        mesh="default",
        name="a",
        labels={},
        spec={},
        annotations={"kuma.io/reachable-backends": said, "kuma.io/other": "{tier: y}"},
    )
    side = Side(State(release="2.14", resources=(proxy,)), "default", Contents())
    chosen = chosen_by(side).of_services
    assert "app" in chosen
    assert "tier" not in chosen


def test_an_outbound_to_a_backend_without_a_port_asks_for_port_0() -> None:
    """Absent numbers of a Dataplane are 0, and no service has such a port."""
    web = Resource(
        type="MeshService",
        mesh="default",
        name="web",
        labels={NAME: "web"},
        spec={"ports": [{"port": 80}]},
    )
    proxy = Resource(type="Dataplane", mesh="default", name="a", labels={}, spec={})
    side = Side(State(release="2.14", resources=(web, proxy)), "default", Contents())
    ref = {"kind": "MeshService", "name": "web"}
    for port, section in (({}, "0"), ({"port": 80}, "80")):
        (cluster,) = outbound_destinations(side, proxy, {"backendRef": {**ref, **port}})
        assert isinstance(cluster.destination, RealResource)
        assert cluster.destination.kri.section == section


def test_a_resource_is_found_by_its_name_and_without_one() -> None:
    named = ByName((_service(app="x"),))
    for labels in ((("app", "x"),), ((NAME, "web"),), ((NAME, "web"), ("app", "x"))):
        assert named.has("MeshService", labels)
        assert not named.has("MeshExternalService", labels)
    for labels in ((("app", "y"),), ((NAME, "api"),), ((NAME, "web"), ("app", "y"))):
        assert not named.has("MeshService", labels)


@pytest.mark.parametrize(
    ("chosen", "answers"), [({"app": "x"}, {"web", "all"}), ({"app": "y"}, {"web"})]
)
def test_an_endpoint_answers_for_its_service_and_for_those_of_several_zones(
    chosen: dict[str, str], answers: set[str]
) -> None:
    proxy = Resource(type="Dataplane", mesh="default", name="a", labels={"app": "web"}, spec={})
    labels = {**OWN, "app": "x"}
    spec = {"selector": {"dataplaneLabels": {"matchLabels": {"app": "web"}}}}
    web = Resource(type="MeshService", mesh="default", name="web", labels=labels, spec=spec)
    several = Resource(
        type="MeshMultiZoneService",
        mesh="default",
        name="all",
        labels={**OWN, NAME: "all"},
        spec={"selector": {"meshService": {"matchLabels": chosen}}},
    )
    state = State(release="2.14", resources=(web, several, proxy))
    endpoint = Endpoint(proxy=proxy, address="10.0.0.1:80", tags={}, labels={})
    found = answered(Side(state, "default", Contents()), endpoint)
    assert {kri.name for kri in found} == answers


@pytest.mark.parametrize(
    ("whole", "made_up"), [((True, True), False), ((True, False), True), ((False, True), True)]
)
def test_services_that_are_named_may_be_there_unless_both_states_are_whole(
    whole: tuple[bool, bool], *, made_up: bool
) -> None:
    ref = {"kind": "MeshService", "name": "web"}
    spec = {"to": [{"targetRef": ref, "default": {}}]}
    policy = Resource(type="MeshTimeout", mesh="default", name="t", labels={}, spec=spec)
    before, after = (
        State(release="2.14", resources=(policy,), complete=complete) for complete in whole
    )
    worlds = worlds_of(before, after, "default").worlds
    assert any(world.resources for world in worlds) is made_up


MADE, TAG, REAL = "made up", Outbound.SERVICE_TAG, Outbound.REAL


@pytest.mark.parametrize(
    ("release", "mode", "held", "kinds"),
    [
        ("2.14", "Disabled", "", {TAG}),
        ("2.14", "Disabled", MADE, {TAG}),
        ("2.14", "Disabled", "MeshService", {TAG, REAL}),
        ("2.14", "Disabled", "MeshExternalService", {TAG, REAL}),
        ("2.14", "Everywhere", "", {TAG, REAL}),
        ("2.14", "Exclusive", "MeshService", {REAL}),
        ("3.0", "Disabled", "", {REAL}),
    ],
)
def test_a_mode_says_which_outbounds_there_are(
    release: str, mode: str, held: str, kinds: set[Outbound]
) -> None:
    """Mode Disabled generates nothing; what somebody wrote has its outbounds (features-2.14/a3)."""
    mesh = Resource(type="Mesh", mesh="", name="default", spec={"meshServices": {"mode": mode}})
    kind = "MeshService" if held in ("", MADE) else held
    web = Resource(type=kind, mesh="default", name="web", made_up=held == MADE, spec=PORTS)
    resources = (mesh, web) if held else (mesh,)
    state = State(release=release, environment=Environment(zone="east"), resources=resources)
    assert outbounds_of(state, "default") == kinds
    if held:
        assert is_given(RealResource(kri_of(web, "")), mode, state) is (REAL in kinds)
    assert not is_given(ServiceTag("web"), "Exclusive", state)


PORTS = {"ports": [{"port": 80}]}


@pytest.mark.parametrize(
    ("more", "inbound", "address"),
    [
        ({}, {}, "10.0.0.1:80"),
        ({"advertisedAddress": "192.168.0.1"}, {}, "192.168.0.1:80"),
        ({}, {"address": "10.0.0.2"}, "10.0.0.2:80"),
        ({"advertisedAddress": "192.168.0.1"}, {"address": "10.0.0.2"}, "10.0.0.2:80"),
    ],
)
def test_an_endpoint_is_where_its_inbound_says(
    more: dict[str, str], inbound: dict[str, str], address: str
) -> None:
    """Its own address counts before what the Dataplane advertises, and that before its address."""
    tags = {"kuma.io/service": "web"}
    net = {"address": "10.0.0.1", **more, "inbound": [{"port": 80, "tags": tags, **inbound}]}
    proxy = Resource(type="Dataplane", mesh="default", name="a", spec={"networking": net})
    side = Side(State(release="2.14", resources=(proxy,)), "default", Contents())
    assert [one.address for one in endpoints(side, frozenset())] == [address]


@pytest.mark.parametrize(
    ("ports", "protocols"),
    [
        ([{"port": 80, "appProtocol": "http"}], {"http"}),
        ([{"port": 80}], {"tcp"}),
        ([{"port": 80, "appProtocol": "http"}, {"port": 81}], None),
    ],
)
def test_a_service_says_the_protocol_of_its_tag_where_its_ports_agree(
    ports: list[dict[str, Any]], protocols: set[str] | None
) -> None:
    spec = {"selector": {"dataplaneTags": {"kuma.io/service": "web"}}, "ports": ports}
    web = Resource(type="MeshService", mesh="default", name="web", labels=OWN, spec=spec)
    state = State(release="2.14", environment=Environment(zone="east"), resources=(web,))
    assert tag_protocols(state).get("web") == protocols


def test_who_tells_the_protocol_of_a_tag() -> None:
    """Endpoints before services, and a Service of Kubernetes as its inbounds will."""

    def told(kind: str, spec: Any, **more: Any) -> dict[str, set[str]]:
        service = Resource(type=kind, mesh="default", name="web", labels=OWN, spec=spec)
        found = replace(service, **more)
        return tag_protocols(State(release="2.14", resources=(found,)))

    ports = {"ports": [{"port": 80, "name": "main", "appProtocol": "http"}]}
    assert told("MeshService", ports) == {"web": {"http"}}
    assert told("MeshService", ports, labels={**OWN, **dict([SHOP])}) == {
        "web_shop_svc_80": {"http"}
    }
    assert told("MeshService", ports, made_up=True) == {}
    external = {"tags": {"kuma.io/service": "far", "kuma.io/protocol": "http"}}
    assert told("ExternalService", external) == {"far": {"http"}}
    assert told("Service", ports, namespace="shop") == {"web_shop_svc_80": {"http"}}
    assert told("Service", ports, namespace="shop", templated=True) == {}


@pytest.mark.parametrize(
    ("section", "made_up", "protocol"),
    [("80", False, "http"), ("81", False, "tcp"), ("", False, ""), ("82", False, ""),
     ("80", True, "")],
)  # fmt: skip
def test_a_real_resource_says_one_protocol_at_a_port_or_none(
    section: str, made_up: bool, protocol: str
) -> None:
    spec = {"ports": [{"port": 80, "appProtocol": "http"}, {"port": 81}]}
    service = replace(_service(), spec=spec, made_up=made_up)
    assert real_protocol(service, kri_of(service, section=section)) == protocol


def test_references_that_mean_nothing_are_as_different_as_they_are_written() -> None:
    state = State(release="2.14")
    side = Side(state, "default", Contents())
    refs: list[dict[str, Any]] = [
        {"kind": "MeshService", "labels": {"app": "a", "v": "1"}, "port": 80},
        {"kind": "MeshService", "labels": {"app": "b", "v": "1"}, "port": 80},
        {"kind": "MeshService", "labels": {"app": "a"}, "port": 80},
        {"kind": "MeshService", "labels": {"app": "a", "v": "1"}, "port": 81},
        {"kind": "MeshExternalService", "labels": {"app": "a", "v": "1"}, "port": 80},
    ]
    keys = {cluster_of(side, ref, None).key for ref in refs}
    turned = {**refs[0], "labels": {"v": "1", "app": "a"}}
    assert len(keys) == len(refs)
    assert cluster_of(side, turned, None).key in keys


def test_what_is_known_of_protocols_besides_is_kept() -> None:
    tags = {"kuma.io/service": "api", "kuma.io/protocol": "http"}
    networking = {"address": "10.0.0.1", "inbound": [{"port": 80, "tags": tags}]}
    proxy = Resource(type="Dataplane", mesh="default", name="api", spec={"networking": networking})
    side = Side(State(release="2.14", resources=(proxy,)), "default", Contents())
    told = side.knowing({"ghost": "grpc"})
    assert [told.protocol(ServiceTag(name)) for name in ("api", "ghost")] == ["http", "grpc"]
    assert side.protocol(ServiceTag("ghost")) == ""


def test_a_name_is_one_of_its_zone_and_namespace() -> None:
    atom = Atom(name="web", identity=("east", "shop"))
    places = [("shop", "east"), ("bank", "east"), ("shop", "west")]
    found = [asked_slots([atom], Setting(*place, False), one_inbound=True) for place in places]
    assert [one is not None for one in found] == [True, False, False]


def test_a_subject_is_where_the_side_is_that_has_it() -> None:
    proxy = Resource(type="Dataplane", mesh="default", name="web", namespace="shop")
    there = [Subject(name="web", was=proxy, now=None), Subject(name="web", was=None, now=proxy)]
    assert [one.at for one in there] == [("shop", "web")] * 2
    assert Subject(name="web", was=None, now=None).at == ("", "web")
