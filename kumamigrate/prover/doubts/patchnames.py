"""MeshProxyPatches that match by a name, where the names change under them.

A match is string equality. 3.0 names listeners, clusters and virtual hosts after resources and
sections, 2.x after service tags, ports and addresses, so that a match which hit something on one
may hit nothing on the other, or something else. Filters keep their names. When a mesh goes over
to real outbounds on one release, what was named after service tags goes as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from kumamigrate.effective.doubted import Doubt, DoubtKind, doubt_of
from kumamigrate.effective.policies.patched import PATCH, read_patch
from kumamigrate.model.resource import EFFECT, Resource, mapping, mappings
from kumamigrate.pattern import pattern
from kumamigrate.universe.side import Side

_OWN_NAME = ("cluster", "listener", "virtualHost")
"""The kinds of modification whose `match.name` is the name of something of the proxy's."""
_NAMES = ("listenerName", "routeConfigurationName", "clusterName")
_NOT_OUTBOUND = pattern(r"^(inbound:|localhost:|kuma:|self_|system_)")
_REAL = pattern(r"^kri_")

Named = tuple[str, str]
"""The field of a match, and the name in it."""


def patches_of(side: Side, proxy: Resource | None) -> tuple[Resource, ...]:
    """Return the patches that reach a proxy; without one, all that could reach some."""
    if PATCH not in side.types:
        return ()
    if proxy is not None:
        return tuple(side.selection(proxy, PATCH).policies)
    return tuple(p for p in side.state.of_type(PATCH) if p.labels.get(EFFECT) != "shadow")


def upgrade_name_doubts(policies: Iterable[Resource]) -> Iterator[Doubt]:
    """Yield the names that 2.x and 3.0 do not give to the same."""
    why = "a name that 2.x and 3.0 do not give to the same thing"
    yield from _doubts(policies, _ending_names, why)


def mode_name_doubts(policies: Iterable[Resource]) -> Iterator[Doubt]:
    """Yield the names of what the outbound of a service tag has, and a real one has not."""
    why = "a name that goes with the service-tag outbounds"
    yield from _doubts(policies, _tag_names, why)


def _doubts(
    policies: Iterable[Resource], names: Callable[[Resource], Iterator[Named]], why: str
) -> Iterator[Doubt]:
    seen: set[tuple[str, str, str]] = set()
    for policy in policies:
        for field, name in names(policy):
            key = (policy.name, field, name)
            if key not in seen:
                seen.add(key)
                yield doubt_of(
                    DoubtKind.NAME,
                    policy,
                    f"matches {field} {name}, {why}; compare by hand what it changes",
                )


def _ending_names(policy: Resource) -> Iterator[Named]:
    for part, match in _matches(policy):
        for field, name in _names(part, match):
            # A route configuration of a real outbound has one name on all releases.
            if not (field.endswith("routeConfigurationName") and _REAL.match(name)):
                yield field, name
        for field in ("listenerTags", *(("tags",) if part == "listener" else ())):
            tags = match.get(field)
            for key in tags if isinstance(tags, Mapping) else ():
                yield f"{part}.match.{field}", str(key)


def _tag_names(policy: Resource) -> Iterator[Named]:
    for part, match in _matches(policy):
        for field, name in _names(part, match):
            if not _REAL.match(name) and not _NOT_OUTBOUND.match(name):
                yield field, name


def _matches(policy: Resource) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the kind and the match of each modification; not the probes of old HealthChecks,
    which are a doubt of their own."""
    for modification in mappings(mapping(policy.spec.get("default")).get("appendModifications")):
        if read_patch(modification) is not None:
            continue
        for part, body in modification.items():
            match = mapping(body).get("match")
            if isinstance(match, Mapping):
                yield str(part), match


def _names(part: str, match: Mapping[str, Any]) -> Iterator[Named]:
    keys = (("name",) if part in _OWN_NAME else ()) + _NAMES
    for key in keys:
        name = match.get(key)
        if isinstance(name, str) and name:
            yield f"{part}.match.{key}", name
