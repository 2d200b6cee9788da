"""Certificates: which names a proxy shows, by `Mesh.mtls` or by the MeshIdentity that it gets.

A certificate of `Mesh.mtls` holds one SPIFFE id for each service of the proxy and a name for each
of its tags; one of a MeshIdentity holds a single id.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.model.resource import NAMESPACE, SERVICE, ZONE, Resource, mapping
from kumamigrate.model.state import State, mesh_services_mode
from kumamigrate.model.versions import at_least
from kumamigrate.pattern import pattern

IDENTITY = "MeshIdentity"
SCHEME = "spiffe://"
WORKLOAD = "kuma.io/workload"
TRUST_DOMAIN = "{{ .Mesh }}.{{ .Zone }}.mesh.local"
KUBERNETES_PATH = "/ns/{{ .Namespace }}/sa/{{ .ServiceAccount }}"
UNIVERSAL_PATH = "/workload/{{ .Workload }}"
REMOVED = "3.0"
"""The release that reads neither `Mesh.mtls` nor a mode of real services, which are all it has."""
_ACCOUNT = "k8s.kuma.io/service-account"
_WORD = pattern(r'\{\{-?\s*(?:\.(\w+)|label\s+"([^"{}]*)")\s*-?\}\}')


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """The MeshIdentity that a proxy gets; `sure` where nothing outside the state decides it."""

    identity: Resource
    sure: bool


def identities_of(state: State, mesh: str) -> tuple[Resource, ...]:
    """Return the MeshIdentities of a mesh, in file order."""
    return tuple(one for one in state.of_type(IDENTITY) if one.mesh == mesh)


def holder_of(proxy: Resource, state: State) -> Holder | None:
    """Return the MeshIdentity that gives a proxy its certificate, if one does.

    Of those that select it the one with the most labels wins, then the smaller name; if that
    one is not ready, the proxy gets none, whatever the others are.
    """
    chosen = [one for one in identities_of(state, proxy.mesh) if selects(one, proxy)]
    if not chosen:
        return None
    best = min(chosen, key=lambda one: (-len(match_labels(one) or {}), one.name))
    ready = is_ready(best, mode_of(state, proxy.mesh))
    return None if ready is False else Holder(identity=best, sure=ready is True)


def selects(identity: Resource, proxy: Resource) -> bool:
    """Say whether a MeshIdentity selects a proxy; without a selector it selects none."""
    labels = match_labels(identity)
    if labels is None:
        return False
    return all(proxy.labels.get(str(k)) == str(v) for k, v in labels.items())


def selects_all(identity: Resource) -> bool:
    """Say whether a MeshIdentity selects every proxy that could exist."""
    return match_labels(identity) == {}


def match_labels(identity: Resource) -> Mapping[str, Any] | None:
    wanted = mapping(identity.spec.get("selector")).get("dataplane")
    return mapping(wanted.get("matchLabels")) if isinstance(wanted, Mapping) else None


def mode_of(state: State, mesh: str) -> str | None:
    """Return the MeshService mode of a mesh, which a later release no longer asks for."""
    return "Exclusive" if at_least(state.release, REMOVED) else mesh_services_mode(state, mesh)


def is_ready(identity: Resource, mode: str | None) -> bool | None:
    """Say whether a 2.x gives out certificates for a MeshIdentity; None where it cannot be told.

    It does in MeshService mode Exclusive alone, needs a provider, and refuses a CA that signs
    itself unless that is allowed.
    """
    provider = mapping(identity.spec.get("provider"))
    if not provider or mode not in (None, "Exclusive"):
        return False
    ready = _is_provided(provider)
    return None if ready and mode is None else ready


def _is_provided(provider: Mapping[str, Any]) -> bool | None:
    if provider.get("type") == "Spire":
        return True
    if provider.get("type") != "Bundled":
        return None
    bundled = mapping(provider.get("bundled"))
    if bundled.get("insecureAllowSelfSigned") is True:
        return True
    # Nobody sees here whether a CA of one's own signs itself.
    return False if mapping(bundled.get("autogenerate")).get("enabled") is True else None


def spiffe_id(identity: Resource, proxy: Resource, zone: str) -> str | None:
    """Return the id that a MeshIdentity gives a proxy, None where something of it is not known.

    `zone` is where the control plane is, for a MeshIdentity that names none.
    """
    spiffe = mapping(identity.spec.get("spiffeID"))
    domain = trust_domain(identity, zone)
    on_kubernetes = bool(proxy.labels.get(NAMESPACE))
    path = spiffe.get("path")
    path = (KUBERNETES_PATH if on_kubernetes else UNIVERSAL_PATH) if path is None else str(path)
    words = {
        "TrustDomain": domain or "",
        "Namespace": proxy.labels.get(NAMESPACE, ""),
        "ServiceAccount": proxy.labels.get(_ACCOUNT, ""),
        "Workload": proxy.labels.get(WORKLOAD, ""),
    }
    rest = _filled(path, words, proxy.labels)
    return None if domain is None or rest is None else f"{SCHEME}{domain}{rest}"


def ids_of(proxy: Resource, state: State) -> tuple[str, ...]:
    """Return the ids by which clients know a proxy: those that MeshIdentities could give it.

    Kuma lists them with the services that the proxy answers for, whichever of them is the best
    (asked of 2.14 and 3.0); one without a provider says ids alone.
    """
    mode = mode_of(state, proxy.mesh)
    found = (
        spiffe_id(one, proxy, state.environment.zone)
        for one in identities_of(state, proxy.mesh)
        if selects(one, proxy) and not (one.spec.get("provider") and is_ready(one, mode) is False)
    )
    return tuple(sorted({one for one in found if one is not None}))


def ids_of_namespace(identity: Resource, namespace: str, zone: str) -> str | None:
    """Return how the ids begin that a MeshIdentity gives to all of a Kubernetes namespace, and to
    nobody else; None where that cannot be told.

    Without the slash at the end, which Kuma refuses: what comes before it ends no name.
    """
    path = mapping(identity.spec.get("spiffeID")).get("path")
    domain = trust_domain(identity, zone)
    if domain is None or (path is not None and _spaced(str(path)) != KUBERNETES_PATH):
        return None
    return f"{SCHEME}{domain}/ns/{namespace}/sa"


def _spaced(template: str) -> str:
    return _WORD.sub(lambda m: f"{{{{ .{m.group(1)} }}}}" if m.group(1) else m.group(), template)


def trust_domain(identity: Resource, zone: str) -> str | None:
    """Return the trust domain of a MeshIdentity, None where it cannot be told."""
    template = mapping(identity.spec.get("spiffeID")).get("trustDomain")
    words = {"Mesh": identity.mesh, "Zone": identity.labels.get(ZONE) or zone}
    return _filled(TRUST_DOMAIN if template is None else str(template), words, identity.labels)


def _filled(template: str, words: Mapping[str, str], labels: Mapping[str, str]) -> str | None:
    """Return a template filled in, None where a word is not known or is none of these."""
    missing = False

    def fill(found: re.Match[str]) -> str:
        nonlocal missing
        word, label = found.group(1), found.group(2)
        value = words.get(word, "") if word else labels.get(label, "")
        missing = missing or not value
        return value

    text = _WORD.sub(fill, template)
    return None if missing or "{{" in text else text


def has_mtls(state: State, mesh: str) -> bool | None:
    """Say whether `Mesh.mtls` is on; None where the state has no such Mesh, or two that differ."""
    if at_least(state.release, REMOVED):
        return False
    meshes = (r.spec for r in state.of_type("Mesh") if r.name == mesh)
    found = {bool(mapping(spec.get("mtls")).get("enabledBackend")) for spec in meshes}
    return found.pop() if len(found) == 1 else None


def nobody_is_asked(state: State, mesh: str) -> bool:
    """Say whether the state tells that no proxy of a mesh has a certificate, so that no permission
    does anything."""
    return has_mtls(state, mesh) is False and not identities_of(state, mesh)


def old_names(proxy: Resource) -> tuple[str, ...]:
    """Return the names in a certificate of `Mesh.mtls`, in their order: services, then tags."""
    tags: dict[str, set[str]] = {}
    for key, value in _tags(proxy):
        tags.setdefault(key, set()).add(value)
    services = [old_id(proxy.mesh, name) for name in sorted(tags.get(SERVICE, ()))]
    return (*services, *(f"kuma://{k}/{v}" for k in sorted(tags) for v in sorted(tags[k])))


def old_id(mesh: str, service: str) -> str:
    """Return the SPIFFE id of a service in certificates of `Mesh.mtls`."""
    return f"{SCHEME}{mesh}/{service}"


def _tags(proxy: Resource) -> Iterator[tuple[str, str]]:
    networking = mapping(proxy.spec.get("networking"))
    listed = networking.get("inbound")
    places: Iterable[Any] = (networking.get("gateway"), *(listed or ()))
    for place in places:
        for key, value in mapping(mapping(place).get("tags")).items():
            yield str(key), str(value)


def names_of(proxy: Resource, state: State) -> tuple[str, ...] | None:
    """Return the names in the certificate that a proxy shows; none without TLS, None where that
    cannot be told."""
    holder = holder_of(proxy, state)
    if holder is not None:
        found = spiffe_id(holder.identity, proxy, state.environment.zone) if holder.sure else None
        return None if found is None else (found,)
    mtls = has_mtls(state, proxy.mesh)
    if mtls is None:
        return None
    return old_names(proxy) if mtls else ()
