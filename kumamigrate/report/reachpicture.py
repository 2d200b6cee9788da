"""Which policies reach which proxies before and after, as data that a page can draw.

Proxies are those known, alike ones as one, and one made up for each selector, so that a repository
without Dataplanes has a picture as well. A tag and a label of one key and value are drawn as one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

from kumamigrate.dataclass import dataclass, field
from kumamigrate.model.conf import canonical
from kumamigrate.model.kinds import OLD_POLICIES
from kumamigrate.model.kubernetes.workloads import implied_dataplanes
from kumamigrate.model.resource import NAMESPACE, SERVICE, ZONE, Resource
from kumamigrate.model.versions import at_least
from kumamigrate.scene.scene import Scene
from kumamigrate.sourcedest.proxy import proxy_of
from kumamigrate.sourcedest.selector import matches, selectors_of
from kumamigrate.sourcedest.winners import old_policies
from kumamigrate.targetref.items import top_of
from kumamigrate.targetref.matcher import Matcher
from kumamigrate.targetref.select import selector_of
from kumamigrate.universe.madeup import OTHER_NAMESPACE, Atom, Requirement, Setting, requirement_of
from kumamigrate.universe.madeupproxy import describe, proxy_with
from kumamigrate.world.estate import Estate

MOST_POLICIES = 300
MOST_PROXIES = 120
_INBOUND = frozenset({"FaultInjection", "RateLimit", "TrafficPermission"})
"""Old kinds that the proxies of their destinations have."""
_OWN = frozenset({"ProxyTemplate", "TrafficTrace"})
_OLD_GONE = "3.0"

Policy = tuple[str, str]
"""Type and name with namespace, by which a policy is the same before and after."""
Reached = tuple[frozenset[Policy], frozenset[Policy]]
"""The policies that reach somebody before and after."""


@dataclass(frozen=True, kw_only=True)
class PictureKind:
    """Proxies that all policies treat alike: what they are called, how many, one of them."""

    name: str
    how: str
    number: int
    proxy: Resource


@dataclass(frozen=True)
class Half:
    """One side of the picture: the policies of a mesh, and who reaches whom."""

    scene: Scene
    matcher: Matcher
    mesh: str
    policies: Mapping[Policy, Resource] = field(default_factory=dict)

    @property
    def old(self) -> list[Resource]:
        """The policies that choose by tags of sources and destinations."""
        return [one for key, one in self.policies.items() if key[0] in OLD_POLICIES]

    def sort_of(self, proxy: Resource) -> tuple[int, frozenset[Policy]]:
        """Return what proxies have in common that no policy can tell apart."""
        return (self.matcher.proxy_class(proxy), frozenset(self._by_tags(proxy)))

    def reaching(self, proxy: Resource) -> frozenset[Policy]:
        """Return the policies that reach a proxy."""
        found = {
            _called(policy)
            for kind in self.matcher.policy_types()
            for policy in self.matcher.selection(proxy, kind).policies
        }
        return frozenset(found | set(self._by_tags(proxy)))

    def _by_tags(self, proxy: Resource) -> Iterator[Policy]:
        tags = proxy_of(proxy, self.scene.environment.zone).tag_sets if self.old else ()
        for policy in self.old:
            chosen = selectors_of(policy.spec, _field(policy.type))
            if any(matches(one, own) for one in chosen for own in tags):
                yield _called(policy)


def pictures(before: Estate, after: Estate, release: str) -> list[dict[str, Any]]:
    """Return one picture for each mesh of each environment, `release` being that of after."""
    olds = {site.name: site.applied for site in before.sites}
    drawn = []
    for site in after.sites:
        old, new = olds.get(site.name), site.applied
        if old is None:
            continue
        states = (old.state(old.source)[0], new.state(release)[0])
        for mesh in dict.fromkeys(m for state in states for m in state.meshes()):
            halves = (_half(old, old.source, mesh), _half(new, release, mesh))
            drawn.append({"mesh": mesh, "environment": site.name, **_picture(*halves)})
    return drawn


def _half(scene: Scene, release: str, mesh: str) -> Half:
    state = scene.state(release)[0].mesh(mesh)
    half = Half(scene, Matcher(state), mesh)
    types = half.matcher.policy_types()
    policies = [r for r in state.of_type(*types) if r.mesh == mesh] if types else []
    if not at_least(release, _OLD_GONE):
        policies += [r for found in old_policies(state, mesh).by_kind.values() for r in found]
    return Half(scene, half.matcher, mesh, {_called(policy): policy for policy in policies})


def _picture(before: Half, after: Half) -> dict[str, Any]:
    names = dict.fromkeys((*before.policies, *after.policies))
    known = _grouped(before, after, _known(before, after))
    chosen = tuple(set().union(*(key[side] for key in known)) for side in (0, 1))
    made_up = _grouped(before, after, _made_up(before, after, chosen))
    reached = {key: [*known.get(key, ()), *made_up.get(key, ())] for key in (*known, *made_up)}
    groups = sorted(reached.items(), key=lambda item: item[0][0] == item[0][1])
    moved = {name for old, new in reached for name in old ^ new}
    order = sorted(names, key=lambda name: name not in moved and _same(name, before, after))
    shown = {name: at for at, name in enumerate(order[:MOST_POLICIES])}
    return {
        "policies": [_policy(name, before, after) for name in shown],
        "proxies": [_proxy(kinds) for _, kinds in groups[:MOST_PROXIES]],
        "reach": [
            [shown[name], at, "same" if name in old & new else "gone" if name in old else "new"]
            for at, ((old, new), _) in enumerate(groups[:MOST_PROXIES])
            for name in sorted(old | new)
            if name in shown
        ],
        "left": {
            "policies": max(0, len(names) - MOST_POLICIES),
            "proxies": max(0, len(groups) - MOST_PROXIES),
        },
    }


def _grouped(
    before: Half, after: Half, kinds: Iterable[PictureKind]
) -> dict[Reached, list[PictureKind]]:
    found: dict[Reached, list[PictureKind]] = defaultdict(list)
    for kind in kinds:
        found[before.reaching(kind.proxy), after.reaching(kind.proxy)].append(kind)
    return found


def _same(name: Policy, before: Half, after: Half) -> bool:
    old, new = before.policies.get(name), after.policies.get(name)
    return old is not None and new is not None and canonical(old.spec) == canonical(new.spec)


def _policy(name: Policy, before: Half, after: Half) -> dict[str, Any]:
    old, new = before.policies.get(name), after.policies.get(name)
    change = "same" if _same(name, before, after) else "changed"
    change = "removed" if new is None else "added" if old is None else change
    half = before if new is None else after
    resource = half.policies[name]
    at = half.scene.locate(resource, ()) if resource.where is not None else ""
    return {"type": name[0], "name": name[1], "change": change, "at": at}


def _proxy(kinds: Iterable[PictureKind]) -> dict[str, Any]:
    listed = list(kinds)
    known = [kind for kind in listed if kind.how != "madeUp"]
    told = known or listed
    return {
        "names": list(dict.fromkeys(kind.name for kind in (*told, *listed)))[:20],
        "kind": told[0].how,
        "number": sum(kind.number for kind in known),
    }


def _known(before: Half, after: Half) -> Iterator[PictureKind]:
    alike: dict[object, list[Resource]] = defaultdict(list)
    seen: dict[str, Resource] = {}
    for half in (before, after):
        seen |= {proxy.name: proxy for proxy in half.matcher.proxies()}
    for proxy in seen.values():
        alike[before.sort_of(proxy), after.sort_of(proxy)].append(proxy)
    for proxies in alike.values():
        more = f" and {len(proxies) - 1} more" if len(proxies) > 1 else ""
        name = f"{proxies[0].name}{more}"
        yield PictureKind(name=name, how="dataplane", number=len(proxies), proxy=proxies[0])
    for proxy in implied_dataplanes(after.matcher.state, after.mesh):
        yield PictureKind(name=f"workload {proxy.name}", how="workload", number=1, proxy=proxy)


def _made_up(before: Half, after: Half, chosen: Sequence[Set[Policy]]) -> Iterator[PictureKind]:
    """Yield a proxy for each selector that chooses none of those known, and any other."""
    zone = after.scene.environment.zone
    asked = [Requirement()]
    for half, already in zip((before, after), chosen, strict=True):
        asked += _requirements(half, already)
    made: dict[str, Resource] = {}
    for requirement in asked:
        setting = _setting(requirement, zone)
        own = () if requirement.atom is None else (requirement.atom,)
        name = describe(own, setting)
        doubled = tuple(_doubled(atom) for atom in own)
        proxy = proxy_with(doubled, setting, after.mesh, one_inbound=True)
        if proxy is not None and setting.admits(requirement):
            made.setdefault(name, proxy)
    for name, proxy in made.items():
        yield PictureKind(name=name, how="madeUp", number=0, proxy=proxy)


def _requirements(half: Half, already: Set[Policy]) -> Iterator[Requirement]:
    release, routes = half.matcher.release, dict[tuple[str, str], Resource]()
    for route in half.matcher.state.of_type("MeshHTTPRoute"):
        routes.setdefault((route.mesh, route.display_name), route)
    seen = set()
    for name, policy in half.policies.items():
        if name in already:
            continue
        if policy.type in OLD_POLICIES:
            own = selectors_of(policy.spec, _field(policy.type))
            found = [Requirement(atom=Atom(tags=tuple(sorted(one.items())))) for one in own if one]
        else:
            top = top_of(policy, release)
            found = [requirement_of(selector_of(policy, top, routes, release))]
        for requirement in found:
            if requirement not in seen:
                seen.add(requirement)
                yield requirement


def _setting(requirement: Requirement, zone: str) -> Setting:
    """Return surroundings in which a proxy may be chosen."""
    labels = dict(requirement.atom.labels) if requirement.atom is not None else {}
    identity = requirement.atom.identity if requirement.atom is not None else ("", "")
    spaces = (labels.get(NAMESPACE), *sorted(requirement.namespaces), identity[1])
    zones = (labels.get(ZONE), *sorted(requirement.zones), identity[0], zone)
    return Setting(
        namespace=next((one for one in spaces if one), OTHER_NAMESPACE),
        zone=next((one for one in zones if one), ""),
        gateway=requirement.proxy_types == ("Gateway",),
    )


def _doubled(atom: Atom) -> Atom:
    """Return what a proxy has that has it as tags and as labels."""
    pairs = {*atom.tags, *atom.labels}
    both = {(k, v) for k, v in pairs if "kuma.io/" not in k and k != SERVICE and v != "*"}
    return Atom(
        tags=tuple(sorted({*atom.tags, *both})),
        labels=tuple(sorted({*atom.labels, *both})),
        name=atom.name,
        identity=atom.identity,
        section=atom.section,
    )


def _called(policy: Resource) -> Policy:
    space = policy.namespace_label or policy.namespace
    return (policy.type, f"{space}/{policy.display_name}" if space else policy.display_name)


def _field(kind: str) -> str:
    if kind in _OWN:
        return "selectors"
    return "destinations" if kind in _INBOUND else "sources"
