"""Whom permissions let in, client by client: what `from` and `rules` have in common.

`from` goes by tags and `rules` by SPIFFE ids, so their texts cannot be compared. What can is
whether the certificate that each known client shows is let in. Envoy compares with `rules` all
names of a certificate as one text, joined by commas; with `from` each name by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kumamigrate.effective.reading import Values
from kumamigrate.model.identity import (
    identities_of,
    is_ready,
    mode_of,
    names_of,
    old_id,
    selects_all,
    trust_domain,
)
from kumamigrate.model.kubernetes.workloads import implied_dataplanes
from kumamigrate.model.resource import SERVICE, mapping
from kumamigrate.model.state import State
from kumamigrate.targetref.inbound import InboundPoint

Names = tuple[str, ...]
Subsets = Sequence[tuple[str, Sequence[tuple[str, bool]]]]
"""Action of each rule of a `from` list, and the names that a certificate has to hold, or not."""

ALLOW, SHADOW = "Allow", "AllowWithShadowDeny"
_BY_SNI = "goes by its SNI as well"


def certificates(state: State, mesh: str) -> Mapping[str, Names | None]:
    """Return the names in the certificate of each known client of a mesh, by what it is called."""
    key = ("certificates", mesh)
    if key not in state.known:
        listed = [r for r in state.of_type("Dataplane") if r.mesh == mesh]
        state.known[key] = {
            proxy.full_name: names_of(proxy, state)
            for proxy in (*listed, *implied_dataplanes(state, mesh))
        }
    found: Mapping[str, Names | None] = state.known[key]
    return found


def reads_rules(point: InboundPoint | None, *, identified: bool | None) -> bool:
    """Say whether an inbound goes by `rules`."""
    return bool(identified) or (point is not None and bool(point.rules))


def admitted(state: State, mesh: str, point: InboundPoint | None, *, by_rules: bool) -> Values:
    """Return what an inbound does with each client that it lets in, of those whose certificate
    is known."""
    found = {}
    subsets = () if by_rules or point is None else _subsets(point, mesh)
    for client, names in certificates(state, mesh).items():
        if names is None:
            continue
        action = _by_rules(point, names) if by_rules else _by_from(subsets, names)
        if action:
            found[f"client {client}"] = action
    return found


def _by_rules(point: InboundPoint | None, names: Names) -> str:
    confs = [rule.conf for rule in point.rules] if point is not None else []
    text = ",".join(names)

    def listed(key: str) -> list[Any]:
        return [m for conf in confs for m in conf.get(key) or () if _meets(m, text)]

    denied, allowed, shadowed = map(listed, ("deny", "allow", "allowWithShadowDeny"))
    if any("sni" in mapping(match) for match in (*denied, *allowed, *shadowed)):
        return _BY_SNI
    if not names or denied:
        return ""
    return ALLOW if allowed else SHADOW if shadowed else ""


def _meets(match: Any, text: str) -> bool:
    """Say whether a match means a certificate, whatever SNI it asks for."""
    spiffe = mapping(mapping(match).get("spiffeID"))
    value = str(spiffe.get("value", ""))
    if not spiffe:
        return True
    return text.startswith(value) if spiffe.get("type") == "Prefix" else text == value


def _subsets(point: InboundPoint, mesh: str) -> Subsets:
    """Return the `from` list of an inbound by the names in the certificates of its clients."""
    return [
        (
            str(rule.conf.get("action")).replace("_", "").lower(),
            [(_name(mesh, tag.key, tag.value), not tag.negated) for tag in rule.subset],
        )
        for rule in point.from_rules
    ]


def _name(mesh: str, key: str, value: str) -> str:
    return old_id(mesh, value) if key == SERVICE else f"kuma://{key}/{value}"


def _by_from(subsets: Subsets, names: Names) -> str:
    if not names:
        return ""
    allowed = {
        action
        for action, asked in subsets
        if all((name in names) is there for name, there in asked)
    }
    if "allow" in allowed:
        return ALLOW
    return SHADOW if "allowwithshadowdeny" in allowed else ""


def everybody_identified(state: State, mesh: str) -> bool:
    """Say whether every proxy that could exist has its certificate from a MeshIdentity."""
    mine = identities_of(state, mesh)
    mode = mode_of(state, mesh)
    return any(map(selects_all, mine)) and all(is_ready(one, mode) for one in mine)


def without_old(conf: Mapping[str, Any], state: State, mesh: str) -> Mapping[str, Any]:
    """Return what rules say without the matches that no certificate meets any more: those for
    services as `Mesh.mtls` names them, where every proxy has a MeshIdentity."""
    zone = state.environment.zone
    domains = (trust_domain(one, zone) for one in identities_of(state, mesh))
    if not everybody_identified(state, mesh) or any(d in (None, mesh) for d in domains):
        return conf
    return {
        key: [match for match in value if not _is_old(match, mesh)]
        if isinstance(value, list)
        else value
        for key, value in conf.items()
    }


def _is_old(match: Any, mesh: str) -> bool:
    spiffe = mapping(mapping(match).get("spiffeID"))
    return str(spiffe.get("value", "")).startswith(old_id(mesh, ""))
