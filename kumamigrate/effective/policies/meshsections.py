"""Fields of the Mesh that policies take the place of, or that old policies refer to (§1.15)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kumamigrate.model.resource import Resource, mapping, sequence
from kumamigrate.sourcedest.oldconf import conf_of

Spec = Mapping[str, Any]
STRICT, PERMISSIVE, OFF = "Strict", "Permissive", ""


def backends(spec: Spec, section: str) -> list[Any]:
    """Return the backends of a section of the Mesh, as they stand."""
    return sequence(mapping(spec.get(section)).get("backends"))


def backend_of(policy: Resource | None, spec: Spec, section: str) -> Spec | None:
    """Return the backend of a section that an old policy means: the named one, or the default."""
    if policy is None:
        return None
    name = conf_of(policy).get("backend") or mapping(spec.get(section)).get("defaultBackend")
    return _named(spec, section, name)


def enabled_backend(spec: Spec, section: str) -> Spec | None:
    """Return the backend of a section that is switched on."""
    return _named(spec, section, mapping(spec.get(section)).get("enabledBackend"))


def backend_mode(spec: Spec) -> str:
    """Return the mode of the enabled mTLS backend of a Mesh; OFF without one."""
    backend = enabled_backend(spec, "mtls")
    if backend is None:
        return OFF
    return PERMISSIVE if backend.get("mode") == "PERMISSIVE" else STRICT


def _named(spec: Spec, section: str, name: Any) -> Spec | None:
    named = (b for b in backends(spec, section) if isinstance(b, Mapping) and b.get("name") == name)
    return next(named, None) if name else None


def passes_through(spec: Spec) -> bool:
    """Say whether proxies let traffic out that is for no service of the mesh."""
    outbound = mapping(mapping(spec.get("networking")).get("outbound"))
    return outbound.get("passthrough") is not False


def locality_aware(spec: Spec) -> bool:
    """Say whether proxies prefer endpoints of their own zone, where no policy says so."""
    return mapping(spec.get("routing")).get("localityAwareLoadBalancing") is True
