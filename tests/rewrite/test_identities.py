"""Which provider of a MeshIdentity takes the place of a backend of `mtls`."""

from __future__ import annotations

from typing import Any

import pytest

from kumamigrate.model.state import Environment
from kumamigrate.rewrite.identities.manifests import domain_of, provider_of
from kumamigrate.rewrite.references.spiffe import Clients, matches_for

OWN = {"meshTrustCreation": "Enabled", "insecureAllowSelfSigned": True}
SECRETS = {"cert": {"secret": "ca-cert"}, "key": {"secret": "ca-key"}}


def _secret(name: str) -> dict[str, Any]:
    return {"type": "Secret", "secretRef": {"kind": "Secret", "name": name}}


@pytest.mark.parametrize(
    ("backend", "bundled"),
    [
        ({"type": "builtin"}, {"autogenerate": {"enabled": True}}),
        (
            {"type": "builtin", "dpCert": {"rotation": {"expiration": "24h"}}},
            {"autogenerate": {"enabled": True}, "certificateParameters": {"expiry": "24h"}},
        ),
        (
            {"type": "builtin", "dpCert": {"rotation": {"expiration": "soon"}}},
            {"autogenerate": {"enabled": True}},
        ),
        (
            {"type": "provided", "conf": SECRETS},
            {"ca": {"certificate": _secret("ca-cert"), "privateKey": _secret("ca-key")}},
        ),
    ],
)
def test_a_backend_of_kuma_is_bundled(backend: dict[str, Any], bundled: dict[str, Any]) -> None:
    assert provider_of(backend) == {"type": "Bundled", "bundled": {**OWN, **bundled}}


@pytest.mark.parametrize(
    ("backend", "said"),
    [
        ({"type": "provided", "conf": {**SECRETS, "key": {"inline": "x"}}}, "no secrets"),
        ({"type": "provided", "conf": {**SECRETS, "cert": {"secret": ""}}}, "no secrets"),
        ({"type": "provided"}, "no secrets"),
        ({"type": "vault", "conf": {}}, "a vault backend has no counterpart"),
    ],
)
def test_what_people_have_to_decide_is_said(backend: dict[str, Any], said: str) -> None:
    found = provider_of(backend)
    assert isinstance(found, str)
    assert said in found


@pytest.mark.parametrize(
    ("written", "expiry"),
    [("1d", "24h"), ("2w", "336h"), ("1y", "8760h"), ("1y1d2h30m", "8786h30m"), ("90m", "90m")],
)
def test_days_and_years_are_hours(written: str, expiry: str) -> None:
    """A Mesh counts lives in days and years of 365 days, a MeshIdentity as Go does."""
    found = provider_of({"type": "builtin", "dpCert": {"rotation": {"expiration": written}}})
    assert isinstance(found, dict)
    assert found["bundled"]["certificateParameters"] == {"expiry": expiry}


@pytest.mark.parametrize("target", [{"kind": "Mesh"}, {"kind": "MeshSubset", "tags": None}])
def test_a_target_without_tags_names_everybody(target: dict[str, Any]) -> None:
    """Nothing was filled in: only that no client is known keeps it from an answer."""
    said = matches_for(target, Clients())
    assert said == "no Dataplane or workload is known, so neither are the clients"


@pytest.mark.parametrize(
    ("environment", "domain"),
    [
        (Environment(mode="zone", zone="east"), "default.east.mesh.local"),
        (Environment(mode="zone", zone=""), "default.mesh.local"),
        (Environment(mode="global", zone="east"), "default.mesh.local"),
    ],
)
def test_a_trust_domain_names_the_zone_of_a_zone(environment: Environment, domain: str) -> None:
    assert domain_of("default", environment) == domain
