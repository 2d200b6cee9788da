"""`from` of MeshTrafficPermission where rules or a MeshIdentity end it (matcher.md)."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.model.identity import holder_of, is_ready
from kumamigrate.model.resource import EFFECT, Identity, Resource
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import finding
from kumamigrate.rewrite.references.knownproxies import known_proxies
from kumamigrate.rewrite.view import View
from kumamigrate.targetref.items import top_of
from kumamigrate.targetref.permission import (
    IDENTITY,
    PERMISSION,
    outranked,
    reads_both,
)

Inbound = tuple[str, Resource | None]
"""An inbound, and who ends `from` there, if anybody does."""
Unread = tuple[str, Resource]


def plan(view: View) -> Iterator[Finding]:
    """Yield a finding for each policy whose `from` some inbound that it selects does not read."""
    if not reads_both(view.source):
        return
    known: dict[str, dict[Identity, list[Inbound]]] = {}
    for policy in view.of_type(PERMISSION):
        if not policy.spec.get("from") or policy.labels.get(EFFECT) == "shadow":
            continue
        if policy.mesh not in known:
            known[policy.mesh] = _inbounds(view, policy.mesh)
        selected = known[policy.mesh].get(policy.identity, ())
        unread = [(name, by) for name, by in selected if by is not None]
        by = unread[0][1] if unread else None if selected else _for_everybody(view, policy)
        if by is None:
            continue
        yield finding(
            view,
            policy,
            (*policy.spec_path, "from"),
            inbounds=_words(len(selected), unread),
            why=_why(view, by),
        )


def _inbounds(view: View, mesh: str) -> dict[Identity, list[Inbound]]:
    """Return by permission the known inbounds of a mesh that it selects."""
    matcher = view.matcher(mesh)
    found: dict[Identity, list[Inbound]] = {}
    for proxy in known_proxies(view.state, mesh, view.source):
        selection = matcher.selection(proxy.resource, PERMISSION)
        if not selection.points:
            continue
        holder = holder_of(proxy.resource, view.state)
        identity = None if holder is None else holder.identity
        for point in selection.points:
            by = outranked(matcher.inbound(selection, point).rules, identity)
            for policy in dict.fromkeys(p.identity for p in point.policies):
                found.setdefault(policy, []).append((f"{proxy.resource.name} {point.key}", by))
    return found


def _for_everybody(view: View, policy: Resource) -> Resource | None:
    """Return who ends `from` for every proxy of the mesh, where none is known."""
    spaces = ("", view.environment.system_namespace, policy.namespace_label)
    for other in _for_all(view, policy.mesh):
        if other.namespace_label in spaces:
            return other
    blank = Resource(type="Dataplane", mesh=policy.mesh, name="", labels={}, spec={})
    holder = holder_of(blank, view.state)
    return None if holder is None else holder.identity


def _for_all(view: View, mesh: str) -> list[Resource]:
    """Return the permissions with rules that select every proxy that their namespace lets them."""
    asked = ("permissions for all", mesh)
    if asked not in view.state.known:
        view.state.known[asked] = [
            one
            for one in view.state.of_type(PERMISSION)
            if one.mesh == mesh and one.spec.get("rules") and _is_whole(view, one)
        ]
    found: list[Resource] = view.state.known[asked]
    return found


def _is_whole(view: View, policy: Resource) -> bool:
    top = policy.spec.get("targetRef") or {}
    whole = top_of(policy, view.source).kind == "Mesh" and not top.get("proxyTypes")
    return whole and policy.labels.get(EFFECT) != "shadow"


def _words(selected: int, unread: list[Unread]) -> str:
    if not unread:
        return "any inbound"
    first, more = unread[0][0], len(unread) - 1
    what = first if not more else f"{first} and {more} more"
    return what if len(unread) < selected else f"{what}, all that it selects"


def _why(view: View, by: Resource) -> str:
    place = view.locate(by, by.spec_path)
    at = f" ({place.rsplit(':', 1)[0]})" if place.count(":") > 1 else f" ({place})" if place else ""
    if by.type == IDENTITY:
        ready = is_ready(by, view.mode(by.mesh))
        when = "" if ready else ", once it is ready"
        return f"{IDENTITY} {by.name}{at} selects the proxy, for which rules count alone{when}"
    return f"{by.type} {by.name}{at} has rules there, which count alone"
