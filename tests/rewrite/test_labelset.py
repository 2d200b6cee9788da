"""Labels for tags: only what something known shows (catalogue, top-level-subset-to-dataplane)."""

from __future__ import annotations

import pytest

from kumamigrate.model.read import read_resources
from kumamigrate.model.release import release
from kumamigrate.model.state import Environment, State
from kumamigrate.rewrite.references.knownproxies import known_proxies
from kumamigrate.rewrite.references.labelquestion import Basis, LabelChoice, question
from kumamigrate.rewrite.references.labelset import choose, names_it
from kumamigrate.scene.storedstate import state_of
from kumamigrate.source.reading.load import read_file


def _state(text: str) -> State:
    read = read_file("mesh.yaml", text.encode())
    state, refused = state_of(read_resources(read), release="2.14", environment=Environment())
    assert not refused
    return state


def _choice(text: str) -> LabelChoice | str:
    state = _state(text)
    policy = next(state.of_type("MeshTimeout"))
    proxies = known_proxies(state, "default", release("2.14"))
    return choose(question(policy, proxies, release("2.14"), sections=True), state)


def _dataplane(name: str, labels: str, *inbounds: str) -> str:
    lines = "".join(f"    - {inbound}\n" for inbound in inbounds)
    return (
        f"type: Dataplane\nmesh: default\nname: {name}\nlabels: {labels}\n"
        f"networking:\n  address: 10.0.0.1\n  inbound:\n{lines}---\n"
    )


def _policy(top: str, inbound: bool = False) -> str:
    conf = "rules: [{default: {idleTimeout: 1m}}]"
    if not inbound:
        conf = "to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1m}}]"
    return f"type: MeshTimeout\nmesh: default\nname: t\nspec:\n  targetRef: {top}\n  {conf}\n"


WEB = _dataplane("web-1", "{app: web}", "{port: 80, tags: {kuma.io/service: web, app: web}}")
DB = _dataplane("db-1", "{app: db}", "{port: 81, tags: {kuma.io/service: db, app: db}}")


def test_a_tag_that_is_a_label_on_every_proxy_stays_what_it_is() -> None:
    chosen = _choice(WEB + DB + _policy("{kind: MeshSubset, tags: {app: web}}"))
    assert isinstance(chosen, LabelChoice)
    assert (chosen.ref(), chosen.basis) == (
        {"kind": "Dataplane", "labels": {"app": "web"}},
        Basis.MIRROR,
    )


def test_a_mirrored_tag_that_no_proxy_has_today_is_translated_too() -> None:
    chosen = _choice(WEB + DB + _policy("{kind: MeshSubset, tags: {app: cache}}"))
    assert isinstance(chosen, LabelChoice)
    assert chosen.ref() == {"kind": "Dataplane", "labels": {"app": "cache"}}


def test_without_tags_every_proxy_is_selected_one_rank_above_mesh() -> None:
    chosen = _choice(WEB + _policy("{kind: MeshSubset}"))
    assert isinstance(chosen, LabelChoice)
    assert chosen.ref() == {"kind": "Dataplane"}


def test_a_service_is_found_by_labels_of_the_listed_proxies() -> None:
    chosen = _choice(WEB + DB + _policy("{kind: MeshService, name: web}"))
    assert isinstance(chosen, LabelChoice)
    assert (dict(chosen.labels), chosen.basis) == ({"app": "web"}, Basis.LISTED)


def test_a_label_that_leaves_out_no_known_proxy_must_name_the_service() -> None:
    assert isinstance(_choice(WEB + _policy("{kind: MeshService, name: web}")), LabelChoice)
    lone = _dataplane("web-1", "{team: red}", "{port: 80, tags: {kuma.io/service: web}}")
    said = _choice(lone + _policy("{kind: MeshService, name: web}"))
    assert isinstance(said, str) and "every proxy known" in said


def test_labels_that_name_a_service_come_before_fewer_that_do_not() -> None:
    """`env: prod` alone would do, and says nothing of a service."""
    web = "{port: 80, tags: {kuma.io/service: web}}"
    old = "{port: 80, tags: {kuma.io/service: web-old}}"
    text = _dataplane("web-1", "{app: web, env: prod, tier: a}", web)
    text += _dataplane("web-2", "{app: web, env: dev, tier: b}", old)
    text += _dataplane("db-1", "{app: db, env: dev, tier: a}", web.replace("web", "db"))
    chosen = _choice(text + _policy("{kind: MeshService, name: web}"))
    assert isinstance(chosen, LabelChoice)
    assert chosen.labels == {"app": "web", "env": "prod"}
    assert names_it(chosen, {"kuma.io/service": "web"})


def test_labels_that_happen_to_select_the_same_do_not_name_it() -> None:
    web = _dataplane("web-1", "{env: prod}", "{port: 80, tags: {kuma.io/service: web}}")
    db = _dataplane("db-1", "{env: dev}", "{port: 80, tags: {kuma.io/service: db}}")
    chosen = _choice(web + db + _policy("{kind: MeshService, name: web}"))
    assert isinstance(chosen, LabelChoice)
    assert not names_it(chosen, {"kuma.io/service": "web"})


def test_proxies_of_other_zones_show_what_labels_mean_as_well() -> None:
    """The policy is for zone east; in west a proxy of another service has the label."""
    web = _dataplane("web-1", "{team: red, kuma.io/origin: zone, kuma.io/zone: east}",
                     "{port: 80, tags: {kuma.io/service: web}}")  # fmt: skip
    far = _dataplane("db-1", "{team: red, kuma.io/origin: zone, kuma.io/zone: west}",
                     "{port: 81, tags: {kuma.io/service: db}}")  # fmt: skip
    near = _dataplane("db-2", "{team: blue, kuma.io/origin: zone, kuma.io/zone: east}",
                      "{port: 81, tags: {kuma.io/service: db}}")  # fmt: skip
    policy = _policy("{kind: MeshService, name: web}").replace(
        "name: t\n", "name: t\nlabels: {kuma.io/origin: zone, kuma.io/zone: east}\n"
    )
    alone = _choice(web + near + policy)
    assert isinstance(alone, LabelChoice) and dict(alone.labels) == {"team": "red"}
    chosen = _choice(web + near + far + policy)
    assert isinstance(chosen, LabelChoice)
    assert dict(chosen.labels) == {"kuma.io/zone": "east", "team": "red"}


OF_WEST = _policy("{kind: MeshService, name: web}").replace(
    "name: t\n", "name: t\nlabels: {kuma.io/origin: zone, kuma.io/zone: west}\n"
)


def test_a_policy_of_another_zone_takes_labels_from_the_proxies_it_does_not_reach() -> None:
    """What a tag and a label mean does not depend on who asks."""
    web = _dataplane("web-1", "{app: web, kuma.io/origin: zone, kuma.io/zone: east}",
                     "{port: 80, tags: {kuma.io/service: web}}")  # fmt: skip
    chosen = _choice(web + OF_WEST)
    assert isinstance(chosen, LabelChoice) and dict(chosen.labels) == {"app": "web"}


def test_a_policy_of_another_zone_is_told_what_keeps_the_proxies_from_it() -> None:
    """With the zone of those it does not reach among its labels it would never select any."""
    web = _dataplane("web-1", "{team: red, kuma.io/origin: zone, kuma.io/zone: east}",
                     "{port: 80, tags: {kuma.io/service: web}}")  # fmt: skip
    far = _dataplane("db-1", "{team: red, kuma.io/origin: zone, kuma.io/zone: west}",
                     "{port: 81, tags: {kuma.io/service: db}}")  # fmt: skip
    near = _dataplane("db-2", "{team: blue, kuma.io/origin: zone, kuma.io/zone: east}",
                      "{port: 81, tags: {kuma.io/service: db}}")  # fmt: skip
    said = _choice(web + far + near + OF_WEST)
    assert isinstance(said, str) and "zone or namespace keeps" in said


def test_a_zone_is_no_name_for_a_service() -> None:
    web = _dataplane("web-1", "{kuma.io/origin: zone, kuma.io/zone: east}",
                     "{port: 80, tags: {kuma.io/service: web}}")  # fmt: skip
    db = _dataplane("db-1", "{kuma.io/origin: zone, kuma.io/zone: west}",
                    "{port: 81, tags: {kuma.io/service: db}}")  # fmt: skip
    assert isinstance(_choice(web + db + _policy("{kind: MeshService, name: web}")), str)


TWO = _dataplane(
    "web-1",
    "{app: web}",
    "{port: 80, name: http, tags: {kuma.io/service: web}}",
    "{port: 81, name: admin, tags: {kuma.io/service: web-admin}}",
)


def test_one_inbound_is_named_where_the_policy_is_about_inbounds() -> None:
    chosen = _choice(TWO + DB + _policy("{kind: MeshService, name: web-admin}", inbound=True))
    assert isinstance(chosen, LabelChoice)
    assert chosen.ref() == {"kind": "Dataplane", "labels": {"app": "web"}, "sectionName": "admin"}


def test_an_outbound_policy_reaches_the_whole_proxy_and_gets_no_section() -> None:
    chosen = _choice(TWO + DB + _policy("{kind: MeshService, name: web-admin}"))
    assert isinstance(chosen, LabelChoice)
    assert chosen.ref() == {"kind": "Dataplane", "labels": {"app": "web"}}


PODS = """apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {kuma.io/sidecar-injection: enabled}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - ports: [{containerPort: 80}, {containerPort: 90, name: metrics}]
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{port: 80}, {port: 81, name: m, targetPort: 90}]}
---
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: t, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec:
  targetRef: {kind: MeshService, name: TAG}
  rules: [{default: {idleTimeout: 1m}}]
"""


@pytest.mark.parametrize(
    ("tag", "section"), [("web_shop_svc_80", "80"), ("web_shop_svc_81", "metrics")]
)
def test_an_inbound_of_pods_is_named_by_their_containers(tag: str, section: str) -> None:
    chosen = _choice(PODS.replace("TAG", tag))
    assert isinstance(chosen, LabelChoice)
    labels = {"app": "web", "k8s.kuma.io/namespace": "shop"}
    assert chosen.ref() == {"kind": "Dataplane", "labels": labels, "sectionName": section}


def test_a_template_that_fills_in_pods_may_name_their_ports() -> None:
    pods = PODS.replace("- ports: [{containerPort: 80},", "{{ more }}\n        - ports: [")
    chosen = _choice(pods.replace("TAG", "web_shop_svc_80"))
    assert isinstance(chosen, str)
    assert "some inbounds only" in chosen


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (_policy("{kind: MeshSubset, tags: {env: prod}}"), "no Dataplane or workload is known"),
        (WEB + _policy("{kind: MeshService, name: cache_shop_svc_80}"), "no known proxy has"),
        (
            _dataplane("a", "{app: web}", "{port: 80, tags: {kuma.io/service: web, env: prod}}")
            + _dataplane("b", "{app: web}", "{port: 80, tags: {kuma.io/service: web, env: dev}}")
            + _policy("{kind: MeshSubset, tags: {env: prod}}"),
            "no set of labels selects exactly",
        ),
    ],
    ids=["nothing is known", "nobody has the service", "the tag is no label"],
)
def test_what_nothing_shows_is_left_to_a_human(text: str, reason: str) -> None:
    chosen = _choice(text)
    assert isinstance(chosen, str)
    assert chosen.startswith(reason)


SERVICE = """apiVersion: v1
kind: Service
metadata: {name: redis, namespace: demo}
spec: {selector: {app: redis}, ports: [{port: 6379}]}
---
"""
K8S_POLICY = """apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: t, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec:
  targetRef: %s
  to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1m}}]
"""


def test_a_service_tag_of_kubernetes_is_the_selector_of_its_service() -> None:
    chosen = _choice(SERVICE + K8S_POLICY % "{kind: MeshService, name: redis_demo_svc_6379}")
    assert isinstance(chosen, LabelChoice)
    assert chosen.ref()["labels"] == {"app": "redis", "k8s.kuma.io/namespace": "demo"}


def test_tags_of_pods_are_their_labels_but_for_those_kuma_makes() -> None:
    tags = "{kind: MeshSubset, tags: {app: redis, k8s.kuma.io/namespace: demo}}"
    chosen = _choice(K8S_POLICY % tags)
    assert isinstance(chosen, LabelChoice)
    assert chosen.basis is Basis.PODS
    made = _choice(K8S_POLICY % "{kind: MeshSubset, tags: {topology.kubernetes.io/zone: a}}")
    assert isinstance(made, str)
