"""The MeshIdentity that takes the place of the mTLS backend of a Mesh, as it is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kumamigrate.model.resource import MESH, Form, Resource, mapping
from kumamigrate.model.state import Environment
from kumamigrate.pattern import pattern
from kumamigrate.rewrite.manifest import Json, items
from kumamigrate.source.text import at_path

NAME, PUBLISHED = "identity", "identity-published"
"""Of two that select a proxy the smaller name wins: that of the one with certificates."""

_LIFETIME = pattern(
    r"(?:([0-9]{1,9})y)?(?:([0-9]{1,9})w)?(?:([0-9]{1,9})d)?(?:([0-9]{1,9})h)?"
    r"((?:[0-9]{1,9}m)?(?:[0-9]{1,9}s)?(?:[0-9]{1,9}ms)?)"
)
"""How long a certificate of a Mesh lives: years, weeks and days as well, which a MeshIdentity,
whose durations are Go's, does not know."""
_HOURS = (365 * 24, 7 * 24, 24, 1)


def enabled_backend(mesh: Resource) -> Mapping[str, Any]:
    """Return the enabled mTLS backend of a Mesh, empty where it is not there."""
    name = at_path(mesh.spec, ("mtls", "enabledBackend"))
    found = (b for b in items(mesh.spec, ("mtls", "backends")) if mapping(b).get("name") == name)
    return mapping(next(found, {}))


def domain_of(mesh: str, environment: Environment) -> str:
    """Return the trust domain that a mesh gets, said in full: every proxy then has the id that
    rules name, whatever its zone is called."""
    zone = f".{environment.zone}" if environment.mode == "zone" and environment.zone else ""
    return f"{mesh}{zone}.mesh.local"


def published(mesh: Resource, environment: Environment) -> Json:
    """Return the MeshIdentity that says which ids are to come, and gives nobody a certificate."""
    spec = {"selector": _ALL, "spiffeID": _spiffe(mesh, environment)}
    return _manifest(mesh, PUBLISHED, spec, environment)


def trusted(mesh: Resource, environment: Environment, provider: Json) -> Json:
    """Return the MeshIdentity with a provider that selects nobody yet: its CA is trusted."""
    spec = {"selector": {}, "spiffeID": _spiffe(mesh, environment), "provider": provider}
    return _manifest(mesh, NAME, spec, environment)


_ALL = {"dataplane": {"matchLabels": dict[str, str]()}}


def _spiffe(mesh: Resource, environment: Environment) -> dict[str, str]:
    return {"trustDomain": domain_of(mesh.name, environment)}


def _manifest(mesh: Resource, name: str, spec: Json, environment: Environment) -> Json:
    if mesh.form is Form.UNIVERSAL:
        return {"type": "MeshIdentity", "mesh": mesh.name, "name": name, "spec": spec}
    return {
        "apiVersion": "kuma.io/v1alpha1",
        "kind": "MeshIdentity",
        "metadata": {
            "name": name,
            "namespace": environment.system_namespace,
            "labels": {MESH: mesh.name},
        },
        "spec": spec,
    }


def as_planned(mesh: Resource, environment: Environment) -> Resource:
    """Return the MeshIdentity to come, for asking which ids it gives."""
    return Resource(
        type="MeshIdentity",
        mesh=mesh.name,
        name=NAME,
        labels={},
        spec={"selector": _ALL, "spiffeID": _spiffe(mesh, environment)},
        made_up=True,
    )


def provider_of(backend: Mapping[str, Any]) -> Json | str:
    """Return the provider that takes the place of a backend, or what there is to decide."""
    bundled: dict[str, Any] = {"meshTrustCreation": "Enabled", "insecureAllowSelfSigned": True}
    match backend.get("type"):
        case "builtin":
            bundled["autogenerate"] = {"enabled": True}
        case "provided":
            ca = _ca(mapping(backend.get("conf")))
            if ca is None:
                return "its certificate and key are no secrets; say where a MeshIdentity finds them"
            bundled["ca"] = ca
        case other:
            return f"a {other} backend has no counterpart here; decide for Spire or an extension"
    expiry = _in_hours(at_path(backend, ("dpCert", "rotation", "expiration")))
    if expiry:
        bundled["certificateParameters"] = {"expiry": expiry}
    return {"type": "Bundled", "bundled": bundled}


def _in_hours(lifetime: object) -> str:
    """Return the lifetime of a certificate as Go writes it, empty where there is none."""
    found = _LIFETIME.fullmatch(lifetime) if isinstance(lifetime, str) else None
    if found is None:
        return ""
    *units, rest = found.groups()
    hours = sum(int(n) * each for n, each in zip(units, _HOURS, strict=True) if n is not None)
    return (f"{hours}h" if hours else "") + rest


def _ca(conf: Mapping[str, Any]) -> Json | None:
    found = {}
    for old, new in (("cert", "certificate"), ("key", "privateKey")):
        secret = mapping(conf.get(old)).get("secret")
        if not isinstance(secret, str) or not secret:
            return None
        found[new] = {"type": "Secret", "secretRef": {"kind": "Secret", "name": secret}}
    return found
