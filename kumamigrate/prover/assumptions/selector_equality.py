"""Tags and labels that go together on every proxy known: what a proof then rests on (§5).

A policy that leaves tags for labels is the same only where proxies carry both. Made-up proxies
that carry one without the other are left out, and the verdict says so (`proxies: listed`). There
must be something to show that they go together: known proxies, a Service, or the way in which
Kubernetes makes the tags of a proxy from the labels of its Pod.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from kumamigrate.dataclass import dataclass, field, replace
from kumamigrate.model.kinds import OLD_POLICIES
from kumamigrate.model.labels import name_in_two
from kumamigrate.model.release import Release
from kumamigrate.model.resource import DISPLAY_NAME, ENV, NAMESPACE, SERVICE, ZONE, Form, Resource
from kumamigrate.model.state import State
from kumamigrate.model.taken import Ground, Taken
from kumamigrate.model.targetref import TargetRef
from kumamigrate.model.workloads import implied_dataplanes
from kumamigrate.sourcedest.selector import ANY, selectors_of
from kumamigrate.targetref.backendref import ports_of
from kumamigrate.targetref.items import top_of
from kumamigrate.targetref.proxyclasses import Need, need_of, offers_of
from kumamigrate.targetref.select import Proxy, Selector, proxy_of, reach, selector_of
from kumamigrate.universe.madeup import Requirement, requirement_of
from kumamigrate.universe.side import Side

_BY_TAG = ("MeshSubset", "MeshService", "MeshServiceSubset")
_WORKLOAD = "kuma.io/workload"
OF_GATEWAYS = {"kuma.io/gateway": "enabled"}
"""The words by which Kuma itself is told that a Pod is a delegated gateway: they say it alone."""
_OF_NODES = ("topology.kubernetes.io/", "node.kubernetes.io/", "kubernetes.io/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Coupling:
    """Two references that select the same: one by tags, type or name, one by labels.

    `inbound`: each inbound counts; `outbound`: it counts whether the proxy is selected at all.
    `chosen` is how many of the proxies known both select.
    """

    old: Selector
    new: Selector
    inbound: bool
    outbound: bool
    chosen: int = field(default=0, compare=False)

    def __str__(self) -> str:
        return f"taken for granted that {self.fact}"

    @property
    def fact(self) -> Taken:
        """What is taken for granted."""
        old, new = _text(self.old.top), _text(self.new.top)
        text = f"{old} and {new} mean the same proxies, as they do among those known"
        return Taken(text, Ground.SAME_PROXIES, old, new, str(self.chosen))


class Couplings:
    """The couplings of two states of one mesh, and the proxies that break them."""

    def __init__(self, before: Side, after: Side) -> None:
        self._old, self._new = before.release, after.release
        self._mesh = before.mesh
        self._gateways = tuple(before.state.of_type("MeshGateway"))
        self.all = tuple(dict.fromkeys(self._find(before.state, after.state)))

    @property
    def asked(self) -> Iterator[tuple[Requirement, Requirement]]:
        """What both references of each coupling ask of a proxy."""
        return ((requirement_of(one.old), requirement_of(one.new)) for one in self.all)

    def broken_by(self, dataplane: Resource) -> bool:
        """Say whether a proxy has one side of a coupling without the other."""
        if not self.all:
            return False
        old, new = self._seen(dataplane)
        return any(not self._alike(one, old, new) for one in self._felt(old))

    def _felt(self, proxy: Proxy) -> Iterator[Coupling]:
        """Yield the couplings that may choose a proxy, the others being kept for want of both."""
        yield from self._by_need.get(None, ())
        for need in offers_of(proxy):
            yield from self._by_need.get(need, ())

    @cached_property
    def _by_need(self) -> dict[Need | None, list[Coupling]]:
        """The couplings by one thing without which a proxy is chosen by neither reference, twice
        where each asks for another."""
        found: dict[Need | None, list[Coupling]] = {}
        for one in self.all:
            needs = {need_of(one.old), need_of(one.new)}
            for need in {None} if None in needs else needs:
                found.setdefault(need, []).append(one)
        return found

    def _seen(self, dataplane: Resource) -> tuple[Proxy, Proxy]:
        return (
            proxy_of(dataplane, self._gateways, self._old),
            proxy_of(dataplane, self._gateways, self._new),
        )

    def _find(self, before: State, after: State) -> Iterator[Coupling]:
        known: KnownProxies | None = None
        for was, now in _moved(before, after, self._old):
            top_was, top_now = top_of(was, self._old), top_of(now, self._new)
            if top_was == top_now or not _leaves_tags(top_was, top_now):
                continue
            coupling = Coupling(
                old=selector_of(was, top_was, {}, self._old),
                new=selector_of(now, top_now, {}, self._new),
                inbound=bool(now.spec.get("from") or now.spec.get("rules")),
                outbound=bool(now.spec.get("to") or now.spec.get("default")),
            )
            if known is None:
                pairs = self._known(before, after)
                known = KnownProxies((self._seen(a)[0], self._seen(b)[1]) for a, b in pairs)
            near = known.near(coupling)
            if not all(self._alike(coupling, a, b) for a, b in near):
                continue
            if self._shown(coupling, near, known) or _follows(was, coupling, before):
                yield replace(coupling, chosen=self._chosen(coupling, near))
            elif self._shown_elsewhere(opened := _opened(coupling), near, known):
                yield replace(coupling, chosen=self._chosen(opened, near))

    def _known(self, before: State, after: State) -> Iterator[tuple[Resource, Resource]]:
        """Yield the proxies that both states know, as each has them."""
        later = {r.identity: r for r in self._all(after)}
        for proxy in self._all(before):
            yield proxy, later.get(proxy.identity, proxy)

    def _all(self, state: State) -> list[Resource]:
        listed = [r for r in state.of_type("Dataplane") if not r.made_up]
        return [*listed, *implied_dataplanes(state, self._mesh)]

    def _alike(self, one: Coupling, old: Proxy, new: Proxy) -> bool:
        left = reach(one.old, old, self._old)
        right = reach(one.new, new, self._new)
        if one.inbound and left.places != right.places:
            return False
        return not one.outbound or bool(left) == bool(right)

    def _chosen(self, one: Coupling, near: Sequence[Pair]) -> int:
        return sum(1 for old, _ in near if reach(one.old, old, self._old))

    def _shown_elsewhere(self, one: Coupling, near: Sequence[Pair], known: KnownProxies) -> bool:
        """Whether proxies show it that zone or namespace keep from the policy: what tags and
        labels mean does not depend on who asks, unless they speak of just these."""
        if dict(one.new.top.labels or ()).keys() & {ZONE, NAMESPACE}:
            return False
        alike = all(self._alike(one, a, b) for a, b in near)
        return alike and bool(self._chosen(one, near)) and self._shown(one, near, known)

    def _shown(self, one: Coupling, near: Sequence[Pair], known: KnownProxies) -> bool:
        """Whether known proxies show it: one is selected and another is not, or the labels say what
        the tags say, and nowhere something else. Where only gateways are known there are sidecars
        all the same."""
        selected, of_all = self._chosen(one, near), len(known.every)
        labels = dict(one.new.top.labels or ())
        if one.old.top.kind == "Mesh":
            if "Sidecar" in (one.old.top.proxy_types or ()):
                return bool(of_all)
            return selected > 0 and (selected < of_all or labels == OF_GATEWAYS)
        if selected:
            return selected < of_all or _says(one)
        if one.old.top.kind == "Dataplane":
            return bool(of_all)
        asked = _as_labels(one.old.top)
        return (
            bool(of_all) and asked == labels and all(known.mirrors(*one) for one in asked.items())
        )


Pair = tuple[Proxy, Proxy]
"""A proxy as both states have it."""


class KnownProxies:
    """The proxies that both states know, found by what references cannot do without."""

    def __init__(self, pairs: Iterable[Pair]) -> None:
        self.every = list(pairs)
        self._by_need: dict[Need, list[int]] = {}
        for at, (old, new) in enumerate(self.every):
            for need in {*offers_of(old), *offers_of(new)}:
                self._by_need.setdefault(need, []).append(at)

    def mirrors(self, key: str, value: str) -> bool:
        """Whether the label has the value of the tag on each proxy that has the tag: where nothing
        is selected, all that there is to show what a label means. Workloads are called one by one:
        of those only the one in question counts."""
        tag = SERVICE if key == _WORKLOAD else key
        return all(
            new.resource.labels.get(key) == tags[tag]
            for old, new in self.every
            for tags in (old.gateway_tags, *(place.tags for place in old.places))
            if (tags.get(tag) == value if key == _WORKLOAD else tag in tags)
        )

    def near(self, one: Coupling) -> list[Pair]:
        """Return the proxies that either reference may choose: the others are chosen by none."""
        needs = [need_of(one.old), need_of(one.new)]
        if None in needs:
            return self.every
        found = {at for need in needs if need is not None for at in self._by_need.get(need, ())}
        return [self.every[at] for at in sorted(found)]


def _opened(one: Coupling) -> Coupling:
    """Return a coupling as if its policies reached every zone and namespace."""
    old, new = (replace(s, zone=None, namespace=None) for s in (one.old, one.new))
    return replace(one, old=old, new=new)


def _says(one: Coupling) -> bool:
    """Whether a label has the value of its tag or names the service, or nothing is asked for."""
    tags = dict(one.old.top.tags or ())
    name = one.old.top.name or tags.get(SERVICE, "")
    names = {name, name.split("_")[0]} - {""}
    labels = dict(one.new.top.labels or ())
    return not labels or any(v in names or tags.get(k) == v for k, v in labels.items())


def _moved(before: State, after: State, old: Release) -> Iterator[tuple[Resource, Resource]]:
    """Yield policies of both states that belong together, halves of split ones included.

    A policy that took the place of an old one stands beside what it would be by the same tags.
    """
    known = {p.identity: p for p in before.resources if p.type in old.policy_types}
    order = {identity: at for at, identity in enumerate(known)}
    lengths = {len(name) for p in known.values() for name in (p.name, name_in_two(p)[0])}
    sources = [p for p in before.resources if p.type in OLD_POLICIES]
    for policy in after.resources:
        if policy.type not in old.policy_types:
            continue
        if policy.identity in known:
            yield known[policy.identity], policy
            continue
        stem, home = name_in_two(policy)
        names = (part + home for part in _beginnings(stem, lengths))
        begun = (known.get((*policy.identity[:3], name)) for name in names)
        for other in sorted((p for p in begun if p is not None), key=lambda p: order[p.identity]):
            yield other, policy
        for other in sources:
            if other.mesh == policy.mesh and str(other.name) in str(policy.name):
                for top in _by_tags(other, sources, top_of(policy, old).labels or ()):
                    yield replace(policy, spec={**policy.spec, "targetRef": top}), policy


def _beginnings(name: str, lengths: Iterable[int]) -> Iterator[str]:
    """Yield what a name begins with, of some lengths."""
    return (name[:length] for length in lengths if length <= len(name))


def _by_tags(
    policy: Resource, every: Sequence[Resource], labels: Iterable[tuple[str, str]]
) -> Iterator[dict[str, Any]]:
    """Yield the references by tags to the proxies that an old policy is for, alone and with what
    others of its kind ask besides; a tag of any value has the one that labels give it."""
    given = dict(labels)
    fields = ("sources", "destinations", "selectors")
    own, others = (
        [t for p in some for field in fields for t in selectors_of(p.spec, field)]
        for some in ([policy], [p for p in every if p.type == policy.type])
    )
    found = [
        {k: w for k, v in {**a, **b}.items() if (w := given.get(k, v) if v == ANY else v) != ANY}
        for a in own
        for b in ({}, *others)
    ]
    for tags in {tuple(sorted(tags.items())): tags for tags in found}.values():
        rest = {k: v for k, v in tags.items() if k != SERVICE}
        if SERVICE in tags:
            kind = "MeshServiceSubset" if rest else "MeshService"
            yield {"kind": kind, "name": tags[SERVICE], **({"tags": rest} if rest else {})}
        elif rest:
            yield {"kind": "MeshSubset", "tags": rest}


def _leaves_tags(old: TargetRef, new: TargetRef) -> bool:
    if old.kind in _BY_TAG:
        return new.kind == "Dataplane"
    if old.kind == "Dataplane" and old.name:
        return dict(new.labels or ()).get(DISPLAY_NAME) == old.name
    return bool(old.kind == "Mesh" and old.proxy_types) and new.kind in ("Mesh", "Dataplane")


def _as_labels(top: TargetRef) -> dict[str, str]:
    service = {_WORKLOAD: top.name or ""} if top.kind in _BY_TAG[1:] else {}
    tags = {_WORKLOAD if k == SERVICE else k: v for k, v in top.tags or ()}
    return {**service, **tags}


def _follows(policy: Resource, one: Coupling, state: State) -> bool:
    """Whether Kubernetes makes it so: tags from labels of Pods, a service tag from a Service."""
    labels = dict(one.new.top.labels or ())
    tags = {} if one.old.top.proxy_types else dict(one.old.top.tags or ())
    name = one.old.top.name or tags.pop(SERVICE, "")
    if one.new.top.section_name or one.old.top.proxy_types or "*" in tags.values():
        return False
    if not all(labels.get(key) == value and _of_pods(key) for key, value in tags.items()):
        return False
    rest = {k: v for k, v in labels.items() if k not in tags}
    if not name:
        kubernetes = policy.form is Form.KUBERNETES or policy.labels.get(ENV) == "kubernetes"
        return kubernetes and not rest
    parts = name.split("_")
    if len(parts) != 4:
        return False
    near = [
        service
        for service in state.of_type("Service", "MeshService")
        if (service.namespace or service.namespace_label) == parts[1] and _selector(service)
    ]
    return any(
        service.display_name == parts[0]
        and {**_selector(service), NAMESPACE: parts[1]} in (rest, labels)
        and (not one.inbound or _is_alone(service, near))
        for service in near
    )


def _is_alone(service: Resource, near: Sequence[Resource]) -> bool:
    """Whether the Pods of a service have the one inbound of its one port, as far as is known."""
    own = _selector(service)
    others = [
        other
        for other in near
        if other.display_name != service.display_name
        and all(own.get(key, value) == value for key, value in _selector(other).items())
    ]
    return not others and len(ports_of(service.spec)) == 1


def _selector(service: Resource) -> dict[str, str]:
    selector: Any = service.spec.get("selector")
    if not isinstance(selector, Mapping):
        return {}
    if service.type == "MeshService":
        inner = selector.get("dataplaneLabels")
        by_labels = inner.get("matchLabels") if isinstance(inner, Mapping) else None
        selector = by_labels or selector.get("dataplaneTags") or {}
    # No label of a Dataplane says its service: that is a tag.
    return {} if SERVICE in selector else {str(k): str(v) for k, v in selector.items()}


def _of_pods(key: str) -> bool:
    if key in (NAMESPACE, "kuma.io/zone"):
        return True
    return "kuma.io/" not in key and not key.startswith(_OF_NODES)


def _text(top: TargetRef) -> str:
    parts = [f"{k}: {v}" for k, v in (top.tags or top.labels or ())]
    if top.proxy_types:
        parts.append(f"proxyTypes {', '.join(top.proxy_types)}")
    if top.section_name:
        parts.append(f"inbound {top.section_name}")
    name = f" {top.name}" if top.name else ""
    return f"{top.kind}{name}" + (f" with {', '.join(parts)}" if parts else "")
