"""`proxyTypes` goes: dropped where it told nothing apart, else labels that do."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.dataclass import replace
from kumamigrate.model.resource import Resource
from kumamigrate.model.targetref import MESH
from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import change as removal
from kumamigrate.rewrite.references.freshlabels import marked, names_services
from kumamigrate.rewrite.references.knownproxies import Proxies, known_proxies
from kumamigrate.rewrite.references.labelquestion import Question, comes_to_same, question
from kumamigrate.rewrite.references.labelset import searched
from kumamigrate.rewrite.references.topref import ONLY_FOR_MESH_TO, change, finding, with_marking
from kumamigrate.rewrite.view import View
from kumamigrate.targetref.select import Selector, reach

_BOTH = {"Sidecar", "Gateway"}


def plan(view: View) -> Iterator[Change | Finding]:
    """Yield one change or finding per policy of kind Mesh that has proxyTypes."""
    proxies: dict[str, Proxies] = {}
    for policy in view.policies():
        ref = policy.spec.get("targetRef")
        if not isinstance(ref, dict) or "proxyTypes" not in ref or ref.get("kind") != "Mesh":
            continue
        if policy.mesh not in proxies:
            proxies[policy.mesh] = known_proxies(view.state, policy.mesh, view.source)
        yield _policy(view, policy, proxies[policy.mesh])


def _policy(view: View, policy: Resource, proxies: Proxies) -> Change | Finding:
    kind = view.target.policy_types[policy.type]
    sections = kind.dataplane_section_name
    asked = question(policy, proxies, view.source, sections=sections)
    if _acts_on_nothing(asked, policy):
        said = finding(view, policy, notes=(_NO_INBOUNDS,))
        return removal(view, policy, (), (said,))
    if policy.spec.get("from"):
        return finding(
            view, policy, missing="`from` must become `rules` first; no 2.x takes it without this"
        )
    every = policy.type in ONLY_FOR_MESH_TO[:1] and asked.inbound
    if _drops_nothing(asked, policy):
        note = "no gateway proxy is known that it kept out"
        if every:
            return change(view, policy, {"kind": "Dataplane"}, (note, _RATE_LIMIT))
        dropped = change(view, policy, None, (note,))
        if _spares_built_in(asked):
            kept = change(view, policy, {"kind": "Dataplane"}, (_BUILT_IN,))
            return replace(kept, otherwise=dropped)
        return dropped
    if not asked.known:
        return finding(view, policy, missing="no Dataplane or workload is known, so there may be"
                       " gateways")  # fmt: skip
    if policy.type in ONLY_FOR_MESH_TO and policy.spec.get("to"):
        return finding(view, policy, missing="its `to` is only taken under kind Mesh")
    if not asked.reached:
        return finding(view, policy, missing="no known proxy is of that kind")
    found = searched(asked)
    marking = marked(view, asked) if found is None or names_services(found, asked.top) else None
    if marking is not None:
        return with_marking(view, policy, marking)
    if found is None:
        return finding(view, policy, missing="no labels tell these proxies from the others")
    note = "proxies: listed; the labels tell apart the proxies known, look whether they always will"
    return change(view, policy, found.ref(), (note,))


_NO_INBOUNDS = (
    "it is for inbounds of gateways, and a delegated gateway has none: it goes, for it does nothing"
    " and would reach every sidecar without the field"
)
_READ_BY_EGRESS = ("MeshTrafficPermission", "MeshFaultInjection", "MeshRateLimit")
"""Types that a zone egress reads for what lies outside the mesh, whoever they are for."""
_RATE_LIMIT = (
    "MeshRateLimit takes rules under kind Dataplane only; without labels it is every proxy"
)


_BUILT_IN = "kind Dataplane without labels is every proxy but the built-in gateways it kept out"


def _spares_built_in(asked: Question) -> bool:
    """Say whether a built-in gateway is known that kind Mesh alone would reach."""
    return any(
        proxy.gateway == "builtin" and not before and reach(_by_mesh(asked), proxy, asked.release)
        for proxy, before in asked.everybody
    )


def _by_mesh(asked: Question) -> Selector:
    return replace(asked.selector, top=MESH)


def _acts_on_nothing(asked: Question, policy: Resource) -> bool:
    """Say whether a policy is for inbounds alone and for gateways, of which none has any."""
    written = policy.spec["targetRef"]["proxyTypes"]
    if asked.outbound or written != ["Gateway"] or policy.type in _READ_BY_EGRESS:
        return False
    return not any(r.places for r in asked.reached.values())


def _drops_nothing(asked: Question, policy: Resource) -> bool:
    """Say whether kind Mesh alone selects the same. Built-in gateways are gone in 3.0.

    A mesh of which only gateways are known has sidecars all the same.
    """
    written = policy.spec["targetRef"]["proxyTypes"]
    if not written or _BOTH.issubset(written):
        return True
    if "Sidecar" not in written or (asked.outbound and not asked.known):
        return False
    selector = _by_mesh(asked)
    return all(
        comes_to_same(asked, proxy, before, reach(selector, proxy, asked.release))
        for proxy, before in asked.everybody
        if proxy.gateway != "builtin"
    )
