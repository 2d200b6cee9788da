"""What an upgrade changes by itself, whatever the manifests say: said with the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kumamigrate.effective.policies.meshtrace import OF_RELEASE_SINCE
from kumamigrate.model.resource import Resource, mapping
from kumamigrate.model.state import mesh_services_mode
from kumamigrate.model.versions import at_least
from kumamigrate.prover.claims.laststep import at_dotted, is_last_step
from kumamigrate.universe.side import Side

_SERVICES = ("%KUMA_SOURCE_SERVICE%", "%KUMA_DESTINATION_SERVICE%")
"""What a log format writes where a line shall name services."""

_NAMING = ("datadog", "openTelemetry")
"""Backends of traces to which Kuma says what a proxy is called (asked of both control planes)."""


def upgrade_notes(before: Side, after: Side) -> Iterator[str]:
    """Yield what an upgrade changes by itself; most of it no manifest can keep as it was."""
    yield from _placed(before, after)
    if not is_last_step(before, after):
        return
    for policy in after.state.of_type("MeshHealthCheck"):
        if any(at_dotted(item, "default.http") is not None for item in policy.spec.get("to") or ()):
            yield (
                f"probes of MeshHealthCheck {policy.name} send the labels of a proxy in x-kuma-tags"
                f" from release {after.release.name} on, where {before.release.name} sends its tags"
            )
    for policy in after.state.of_type("MeshAccessLog"):
        if any(map(_names_services, _logged(policy.spec))):
            yield (
                f"access logs of MeshAccessLog {policy.name} name a proxy by its kuma.io/workload,"
                f" or `unknown`, and a named inbound as `kri_dp_…` from release"
                f" {after.release.name} on, where {before.release.name} writes its kuma.io/service"
            )
    for policy in after.state.of_type("MeshTrace"):
        backends = [mapping(one) for one in at_dotted(policy.spec, "default.backends") or ()]
        if any(kind in one for one in backends for kind in _NAMING):
            split = any(at_dotted(one, "datadog.splitService") for one in backends)
            yield (
                f"spans of MeshTrace {policy.name} name a proxy by its kuma.io/workload"
                + (", and what it calls as `kri_…`," if split else "")
                + f" from release {after.release.name} on, where {before.release.name} writes its"
                " kuma.io/service"
            )
    by_tag = mesh_services_mode(before.state, before.mesh) != "Exclusive"
    if by_tag and not any(map(_times_all, after.state.of_type("MeshTimeout"))):
        yield (
            f"where no MeshTimeout is about a service, a request by its tag has no time limit on"
            f" {before.release.name} and release {after.release.name} gives it 15s (idle streams"
            " 5m and then 30m); a MeshTimeout to kind Mesh of requestTimeout 0s and"
            " streamIdleTimeout 5m, written before the upgrade, keeps it as it is"
        )
    if next(after.state.of_type("MeshFaultInjection"), None) is not None:
        yield (
            f"requests carry the labels of a proxy in x-kuma-tags from release {after.release.name}"
            f" on, where {before.release.name} sends its tags"
        )


def _placed(before: Side, after: Side) -> Iterator[str]:
    """Yield what of telemetry says its mesh and its zone from a release on (asked of 2.9)."""
    old, new = (side.release.name for side in (before, after))
    if at_least(old, OF_RELEASE_SINCE) or not at_least(new, OF_RELEASE_SINCE):
        return
    for kind, what in (("MeshTrace", "spans"), ("MeshAccessLog", "lines for OpenTelemetry")):
        for policy in after.state.of_type(kind):
            said = [policy.spec.get("default"), *_confs(policy.spec)]
            sent = [one for conf in said for one in mapping(conf).get("backends") or ()]
            if any(kind == "MeshTrace" or "openTelemetry" in mapping(one) for one in sent):
                yield f"{what} of {kind} {policy.name} name mesh and zone from release {new} on"


def _confs(spec: Mapping[str, Any]) -> Iterator[Any]:
    for section in ("to", "from", "rules"):
        for item in spec.get(section) or ():
            yield mapping(item).get("default")


def _times_all(timeout: Resource) -> bool:
    """Say whether a MeshTimeout is about all traffic that every proxy sends."""
    top = mapping(timeout.spec.get("targetRef"))
    about = (at_dotted(item, "targetRef.kind") for item in timeout.spec.get("to") or ())
    return top.keys() <= {"kind"} and top.get("kind", "Mesh") == "Mesh" and "Mesh" in about


def _logged(spec: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the backends of a MeshAccessLog."""
    for conf in _confs(spec):
        yield from at_dotted(conf, "backends") or ()


def _names_services(backend: Any) -> bool:
    """Say whether a line of a log names services, which the default formats do as well."""
    for block in ("file", "tcp"):
        said = at_dotted(backend, block)
        if isinstance(said, Mapping):
            return _is_default(said.get("format")) or _is_in(said, _SERVICES)
    otel = at_dotted(backend, "openTelemetry")
    return isinstance(otel, Mapping) and (not otel.get("body") or _is_in(otel, _SERVICES))


def _is_default(form: Any) -> bool:
    return not at_dotted(form, "plain") and not at_dotted(form, "json")


def _is_in(value: Any, words: tuple[str, ...]) -> bool:
    """Say whether one of some words stands in a value, however deep."""
    if isinstance(value, Mapping):
        return any(_is_in(inner, words) for inner in value.values())
    if isinstance(value, list):
        return any(_is_in(inner, words) for inner in value)
    return isinstance(value, str) and any(word in value for word in words)
