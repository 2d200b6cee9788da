"""References by name on the way to 3.0 (catalogue, labels-only-refs and backendref-real)."""

from __future__ import annotations

from typing import Any

import pytest

from kumamigrate.model.read import read_resources
from kumamigrate.model.state import Environment
from kumamigrate.rewrite.references import proxies
from kumamigrate.rewrite.references.oldrefs import Meaning, references
from kumamigrate.rewrite.references.realref import meaning
from kumamigrate.rewrite.rule import Rule
from kumamigrate.rewrite.rulebook import rulebook
from kumamigrate.rewrite.view import View
from kumamigrate.scene.storedstate import state_of
from kumamigrate.source.reading.load import read_file


def _rule(name: str) -> Rule:
    return next(rule for rule in rulebook() if rule.id == name)


def _meanings(text: str, zone: str = "east") -> list[Meaning | str]:
    read = read_file("mesh.yaml", text.encode())
    state, refused = state_of(
        read_resources(read), release="2.14", environment=Environment(zone=zone)
    )
    assert not refused
    view = View(rule=_rule("reference-by-name"), state=state, before=state, target_name="3.0")
    owner = next(r for r in state.resources if r.name == "p")
    return [meaning(view, owner, one) for one in references(owner)]


HTTP = "[{port: 80, name: http, appProtocol: http}]"


def _service(name: str, zone: str, ports: str = HTTP, shown: str = "") -> str:
    """Return a service: of this zone as it is written, of another as it was handed over."""
    display = f"kuma.io/display-name: {shown or name}, kuma.io/mesh: default, "
    display = display if shown or zone != "east" else ""
    return (
        f"type: MeshService\nmesh: default\nname: {name}\n"
        f"labels: {{{display}kuma.io/origin: zone, kuma.io/zone: {zone}}}\n"
        f"spec: {{selector: {{dataplaneTags: {{kuma.io/service: {name}}}}}, ports: {ports}}}\n---\n"
    )


def _policy(ref: str) -> str:
    return (
        "type: MeshRetry\nmesh: default\nname: p\n"
        f"spec: {{to: [{{targetRef: {ref}, default: {{http: {{numRetries: 1}}}}}}]}}\n"
    )


EXCLUSIVE = "type: Mesh\nname: default\nmeshServices: {mode: Exclusive}\n---\n"
NAMED = _policy("{kind: MeshService, name: web}")


def test_the_only_service_of_a_name_needs_no_zone() -> None:
    (meant,) = _meanings(EXCLUSIVE + _service("web", "east") + NAMED)
    assert isinstance(meant, Meaning)
    assert meant.labels == {"kuma.io/display-name": "web"}


def test_of_two_zones_the_label_says_which() -> None:
    two = _service("web", "east") + _service("web-west", "west", shown="web")
    (meant,) = _meanings(EXCLUSIVE + two + NAMED)
    assert isinstance(meant, Meaning)
    assert meant.labels == {"kuma.io/display-name": "web", "kuma.io/zone": "east"}


def test_a_name_that_means_another_zones_service_is_asked_about() -> None:
    (meant,) = _meanings(EXCLUSIVE + _service("web", "west") + NAMED)
    assert isinstance(meant, str)
    assert "zone west" in meant


def test_where_service_tags_are_read_a_name_means_every_zone() -> None:
    (meant,) = _meanings("type: Mesh\nname: default\n---\n" + _service("web", "west") + NAMED)
    assert isinstance(meant, Meaning)
    assert meant.labels == {"kuma.io/display-name": "web"}


def test_a_service_that_is_not_there_is_assumed_and_said() -> None:
    (meant,) = _meanings(EXCLUSIVE + NAMED)
    assert isinstance(meant, Meaning)
    assert meant.note == "MeshService web is in neither repository nor inventory"


def test_a_route_that_is_not_there_is_not_assumed() -> None:
    (meant,) = _meanings(_policy("{kind: MeshHTTPRoute, name: gone}"))
    assert isinstance(meant, str)


K8S = """apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {ports: [{port: 80}, {port: 81, name: admin}]}
---
apiVersion: kuma.io/v1alpha1
kind: MeshRetry
metadata: {name: p, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec: {to: [{targetRef: {kind: MeshService, name: %s}, default: {http: {numRetries: 1}}}]}
"""


@pytest.mark.parametrize(
    ("name", "section"),
    [("web_shop_svc_80", "80"), ("web_shop_svc_81", "admin"), ("web_shop_svc", None)],
)
def test_a_service_tag_gets_the_name_of_its_port(name: str, section: str | None) -> None:
    (meant,) = _meanings(K8S % name)
    assert isinstance(meant, Meaning)
    assert meant.labels == {"kuma.io/display-name": "web", "k8s.kuma.io/namespace": "shop"}
    assert meant.section == section


def test_a_service_tag_without_its_service_is_asked_about() -> None:
    (meant,) = _meanings(K8S % "db_shop_svc_80")
    assert isinstance(meant, str)


def _route(backend: str) -> str:
    return (
        "type: MeshHTTPRoute\nmesh: default\nname: p\nspec:\n  to:\n"
        "    - targetRef: {kind: MeshService, labels: {kuma.io/display-name: web}}\n"
        "      rules:\n"
        "        - matches: [{path: {type: PathPrefix, value: /}}]\n"
        f"          default: {{backendRefs: [{backend}]}}\n"
    )


@pytest.mark.parametrize(
    ("services", "expected"),
    [
        (_service("web", "east"), 80),
        (_service("web", "east", "[{port: 80}, {port: 81}]"), "which port of"),
        (_service("web", "east") + _service("web-w", "west", shown="web"), "the service tag web"),
        ("", "no MeshService is known"),
    ],
    ids=["one port", "two ports", "two zones", "no service"],
)
def test_a_backend_by_service_tag_needs_one_service_and_port(services: str, expected: Any) -> None:
    (meant,) = _meanings(services + _route("{kind: MeshService, name: web}"))
    if isinstance(expected, int):
        assert isinstance(meant, Meaning)
        assert meant.port == expected
    else:
        assert isinstance(meant, str)
        assert meant.startswith(expected)


PORTS = """[{port: 80, targetPort: 8080, appProtocol: http},
  {port: 81, targetPort: 9090, appProtocol: http}, {port: 82, targetPort: ui, appProtocol: http}]"""
PROXY = """type: Dataplane
mesh: default
name: web-1
networking:
  address: 10.0.0.1
  inbound: [{port: 7070, tags: {kuma.io/service: other}}, {INBOUND, tags: {kuma.io/service: web}}]
---
"""


@pytest.mark.parametrize(
    ("inbounds", "port"),
    [
        (("port: 8080",), 80),
        (("port: 9090, name: admin",), 81),
        (("port: 6060, name: ui",), 82),
        (("port: 8080", "port: 9090"), None),
        (("port: 5050",), None),
    ],
)
def test_of_several_ports_a_tag_means_the_one_that_leads_to_its_inbounds(
    inbounds: tuple[str, ...], port: int | None
) -> None:
    proxies = "".join(
        PROXY.replace("INBOUND", one).replace("web-1", f"web-{at}")
        for at, one in enumerate(inbounds)
    )
    text = proxies + _service("web", "east", PORTS) + _route("{kind: MeshService, name: web}")
    (meant,) = _meanings(text)
    assert (meant.port if isinstance(meant, Meaning) else None) == port


def test_a_share_by_tags_is_never_rewritten() -> None:
    backend = "{kind: MeshServiceSubset, name: web, tags: {version: v1}}"
    (meant,) = _meanings(_service("web", "east") + _route(backend))
    assert isinstance(meant, str)


@pytest.mark.parametrize(
    ("route", "protocol", "why"),
    [
        ("MeshHTTPRoute", "tcp", "3.0 would answer 500"),
        ("MeshHTTPRoute", "kafka", "3.0 would answer 500"),
        ("MeshTCPRoute", "kafka", "3.0 would close the connection"),
        ("MeshTCPRoute", "tcp", ""),
        ("MeshHTTPRoute", "grpc", ""),
    ],
)
def test_a_backend_is_carried_by_its_route(route: str, protocol: str, why: str) -> None:
    ports = f"[{{port: 80, appProtocol: {protocol}}}]"
    text = _route("{kind: MeshService, name: web}").replace("MeshHTTPRoute", route)
    (meant,) = _meanings(_service("web", "east", ports) + text)
    assert isinstance(meant, str) is bool(why)
    assert why in str(meant)


def test_a_filter_that_answers_by_itself_asks_no_backend() -> None:
    ports = "[{port: 80, appProtocol: tcp}]"
    answer = "filters: [{type: RequestRedirect, requestRedirect: {port: 81}}], backendRefs"
    text = _route("{kind: MeshService, name: web}").replace("backendRefs", answer)
    (meant,) = _meanings(_service("web", "east", ports) + text)
    assert isinstance(meant, Meaning)


@pytest.mark.parametrize(("tag", "place", "guessed"), [
    ("web", "", True),
    ("web_shop_svc_80", "k8s.kuma.io/namespace: shop, ", False),
])  # fmt: skip
def test_a_tag_of_kubernetes_is_nobodys_workload(tag: str, place: str, guessed: bool) -> None:
    """An export of Kubernetes has Universal's form, and its Pods no label with such a value."""
    service = _service("web", "east", HTTP).replace("labels: {", "labels: {" + place, 1)
    other = (
        "type: Dataplane\nmesh: default\nname: other\nlabels: {tier: back}\n"
        "networking:\n  address: 192.168.0.1\n"
        "  inbound: [{port: 80, tags: {kuma.io/service: other}}]\n---\n"
    )
    backend = f"{{kind: MeshServiceSubset, name: {tag}, tags: {{version: v2}}}}"
    (meant,) = _meanings(service + other + _route(backend))
    assert isinstance(meant, str)
    assert "no known proxy has" in meant
    assert (f"kuma.io/workload: {tag}" in meant) is guessed


@pytest.mark.parametrize("number", [1, 2, 5, 11, 14, 30, 300, 4000])
def test_proxies_for_some_policies_each_and_for_all_of_them_are_tried_and_no_more_than_few(
    number: int,
) -> None:
    asked = [frozenset({("name", str(at))}) for at in range(number)]
    sets = list(proxies._subsets(asked))
    assert len(set(sets)) == len(sets)
    assert {(one,) for one in asked} | {tuple(asked)} <= set(sets)
    assert len(sets) <= proxies.MOST + max(2, number)
    if 2**number <= proxies.MOST:
        assert len(sets) == 2**number
