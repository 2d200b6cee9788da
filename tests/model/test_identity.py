"""Names in certificates: of `Mesh.mtls`, and of the MeshIdentity that a proxy gets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kumamigrate.model.identity import (
    holder_of,
    is_ready,
    names_of,
    old_names,
    spiffe_id,
    trust_domain,
)
from kumamigrate.model.resource import Resource
from kumamigrate.model.state import Environment, State

ACCOUNT = {"k8s.kuma.io/namespace": "shop", "k8s.kuma.io/service-account": "web"}


def _proxy(labels: dict[str, str], *tags: dict[str, str]) -> Resource:
    inbounds = [{"port": 80 + at, "tags": one} for at, one in enumerate(tags)]
    spec = {"networking": {"address": "10.0.0.1", "inbound": inbounds}}
    return Resource(type="Dataplane", mesh="default", name="web-1", labels=labels, spec=spec)


def _identity(name: str = "i", labels: dict[str, str] | None = None, **spec: Any) -> Resource:
    chosen = {"dataplane": {"matchLabels": labels or {}}}
    return Resource(
        type="MeshIdentity",
        mesh="default",
        name=name,
        labels={},
        spec={"selector": chosen, **spec},
    )


def _state(*resources: Resource, mode: str = "Exclusive") -> State:
    mesh = Resource(
        type="Mesh",
        mesh="",
        name="default",
        labels={},
        spec={
            "meshServices": {"mode": mode},
            "mtls": {"enabledBackend": "ca", "backends": [{"name": "ca", "type": "builtin"}]},
        },
    )
    return State(release="2.14", environment=Environment(zone="east"), resources=(mesh, *resources))


SPIRE = {"type": "Spire"}


def test_a_certificate_by_the_mesh_names_services_first_then_tags() -> None:
    web = {"kuma.io/service": "web", "version": "v1"}
    admin = {"kuma.io/service": "admin", "version": "v1"}
    assert old_names(_proxy({}, web, admin)) == (
        "spiffe://default/admin",
        "spiffe://default/web",
        "kuma://kuma.io/service/admin",
        "kuma://kuma.io/service/web",
        "kuma://version/v1",
    )


@pytest.mark.parametrize(
    ("spec", "labels", "found"),
    [
        ({}, ACCOUNT, "spiffe://default.east.mesh.local/ns/shop/sa/web"),
        ({}, {"kuma.io/workload": "web"}, "spiffe://default.east.mesh.local/workload/web"),
        ({}, {}, None),
        (
            {"spiffeID": {"trustDomain": "shop.example", "path": '/t/{{ label "team" }}'}},
            {"team": "red"},
            "spiffe://shop.example/t/red",
        ),
        ({"spiffeID": {"path": "/x/{{ .Unknown }}"}}, ACCOUNT, None),
        ({"spiffeID": {"path": "/x/{{ upper .Workload }}"}}, ACCOUNT, None),
    ],
    ids=["kubernetes", "universal", "nothing known", "own words", "no such word", "no template"],
)
def test_the_id_of_a_proxy(spec: dict[str, Any], labels: dict[str, str], found: str | None) -> None:
    assert spiffe_id(_identity(**spec), _proxy(labels), "east") == found


@pytest.mark.parametrize(
    ("of_the_identity", "here", "domain"),
    [
        (None, "east", "default.east.mesh.local"),
        ("west", "east", "default.west.mesh.local"),
        ("west", "", "default.west.mesh.local"),
        (None, "", None),
    ],
)
def test_the_trust_domain_is_of_the_zone_that_the_identity_is_from(
    of_the_identity: str | None, here: str, domain: str | None
) -> None:
    labels = {"kuma.io/zone": of_the_identity} if of_the_identity else {}
    assert trust_domain(replace(_identity(), labels=labels), here) == domain


def test_an_identity_counts_only_with_real_services_and_a_provider() -> None:
    proxy = _proxy({"kuma.io/workload": "web"}, {"kuma.io/service": "web"})
    ready, bare = _identity(provider=SPIRE), _identity()
    assert names_of(proxy, _state(ready)) == ("spiffe://default.east.mesh.local/workload/web",)
    for state in (_state(bare), _state(ready, mode="Disabled"), _state()):
        assert names_of(proxy, state) == old_names(proxy)


def test_the_identity_with_most_labels_wins_then_the_smaller_name() -> None:
    proxy = _proxy({"app": "web"})
    narrow = _identity("z", {"app": "web"}, provider=SPIRE)
    for others in ((narrow, _identity("a")), (_identity("b"), narrow)):
        holder = holder_of(proxy, _state(*others))
        assert holder is not None
        assert holder.identity.name == "z"
    assert holder_of(proxy, _state(_identity("b", provider=SPIRE), _identity("a"))) is None


def test_whether_certificates_are_given_out_cannot_be_told_without_the_mode() -> None:
    ready = _identity(provider=SPIRE)
    assert [is_ready(ready, mode) for mode in ("Exclusive", "Everywhere", None)] == [
        True,
        False,
        None,
    ]
    assert is_ready(_identity(), None) is False
