"""Effective routes of an outbound, in the order Envoy tries them (matcher.md (g))."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from kumamigrate.dataclass import dataclass
from kumamigrate.model.conf import canonical
from kumamigrate.model.kri import Kri, kri_of
from kumamigrate.model.release import Release
from kumamigrate.targetref.entry import Entry, Found
from kumamigrate.targetref.routehash import CATCH_ALL, route_hash

_PATH_ORDER = ("Exact", "PathPrefix", "RegularExpression")
_ENVOY_PATH = {"Exact": "exact", "PathPrefix": "prefix", "RegularExpression": "regex"}


class ServiceTag(NamedTuple):
    """A service-tag outbound: `kuma.io/service`."""

    service: str


class RealResource(NamedTuple):
    """An outbound to a MeshService, MeshExternalService or MeshMultiZoneService.

    `kri.section` is the name of the port. `number` is that of a port with a name, where the number
    is what refers to it: Kuma looks up by what was said. A policy can be on a section that is
    called by number where the port has a name on 2.9 alone, which asks for no such port (asked).
    """

    kri: Kri
    number: str = ""

    @property
    def looked_up(self) -> Kri:
        """Return the identifier that policies are looked up by."""
        return self.kri.of_section(self.number or self.kri.section)


Destination = ServiceTag | RealResource


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EffectiveRoute:
    """One route as Envoy has it.

    `name` is what Envoy shows: the hash, or the route's KRI at real resources. `kri` is the key of
    route-level look-ups there, `hash` that at service tags. `match` is the Kuma match, `path` what
    it becomes: ("exact" | "prefix" | "regex", value), None without a path. `entry` is the to-item
    that last contributed the rule; None for the catch-all `/`. `backend_refs` and `filters` are
    None where the route has none.
    """

    name: str
    hash: str
    kri: Kri | None
    match: Mapping[str, Any]
    path: tuple[str, str] | None
    backend_refs: Sequence[Mapping[str, Any]] | None
    filters: Sequence[Mapping[str, Any]] | None
    entry: Entry | None


def http_routes(found: Found | None, release: Release, *, real: bool) -> tuple[EffectiveRoute, ...]:
    """Return the HTTP routes that a MeshHTTPRoute look-up makes, catch-all included.

    Kuma sorts what policies say and puts the catch-all behind, so that it hides no regular
    expression; one that a policy says itself is sorted with the rest. `real` says that the
    outbound is one to a real resource.
    """
    rules: list[Mapping[str, Any]] = list(found.conf.get("rules") or ()) if found else []
    whole = canonical(CATCH_ALL)
    single = [(match, rule) for rule in rules for match in rule.get("matches") or ()]
    single.sort(key=lambda pair: _rank(pair[0]))
    if not any(canonical(match) == whole for match, _ in single):
        single.append((CATCH_ALL, {"matches": [CATCH_ALL]}))
    owners = _owners(found.entries) if found else {}
    return tuple(
        route
        for match, rule in single
        for route in _routes(match, rule, owners, release, real=real)
    )


def tcp_routes(found: Found | None, release: Release, *, real: bool) -> tuple[EffectiveRoute, ...]:
    """Return the one TCP route that a MeshTCPRoute look-up makes, or none."""
    if found is None:
        return ()
    entry = found.entries[-1]
    kri, name = _name("", entry, release, real=real)
    return (
        EffectiveRoute(
            name=name,
            hash="",
            kri=kri,
            match={},
            path=None,
            backend_refs=(found.conf.get("default") or {}).get("backendRefs"),
            filters=None,
            entry=entry,
        ),
    )


def _owners(entries: Sequence[Entry]) -> dict[str, Entry]:
    """Return hash → the entry of highest precedence that has the rule."""
    return {
        route_hash(rule.get("matches")): entry
        for entry in entries
        for rule in entry.conf.get("rules") or ()
    }


def _routes(
    match: Mapping[str, Any],
    rule: Mapping[str, Any],
    owners: Mapping[str, Entry],
    release: Release,
    *,
    real: bool,
) -> list[EffectiveRoute]:
    digest = route_hash(rule.get("matches"))
    entry = owners.get(digest)
    kri, name = _name(digest, entry, release, real=real)
    default = rule.get("default") or {}
    return [
        EffectiveRoute(
            name=name,
            hash=digest,
            kri=kri,
            match=match,
            path=path,
            backend_refs=default.get("backendRefs"),
            filters=default.get("filters"),
            entry=entry,
        )
        for path in _paths(match)
    ]


def _name(
    digest: str, entry: Entry | None, release: Release, *, real: bool
) -> tuple[Kri | None, str]:
    if entry is None or not real or not release.route_keys:
        return None, digest
    kri = kri_of(entry.policy)
    if release.route_name == "kri-rule":
        # The number is that of the to-item: all rules of one item share the name.
        return kri, str(kri.of_section(f"rule_{entry.index}"))
    return kri, str(kri)


def _paths(match: Mapping[str, Any]) -> list[tuple[str, str] | None]:
    path = match.get("path")
    if not isinstance(path, Mapping):
        return [None]
    kind, value = str(path.get("type")), str(path.get("value", ""))
    if kind == "PathPrefix" and value != "/":
        return [("exact", value), ("prefix", value + "/")]
    return [(_ENVOY_PATH.get(kind, kind), value)]


def _rank(match: Mapping[str, Any]) -> tuple[int, ...]:
    path = match.get("path")
    kind, length = len(_PATH_ORDER), 0
    if isinstance(path, Mapping):
        name = str(path.get("type"))
        kind = _PATH_ORDER.index(name) if name in _PATH_ORDER else kind
        length = len(str(path.get("value", "")).encode())
    headers, params = match.get("headers") or (), match.get("queryParams") or ()
    return (
        path is None,
        kind,
        -length,
        "method" not in match,
        -len(headers),
        -len(params),
    )
