"""Tags and labels that go together on every proxy known: what a proof then rests on (§5).

A policy that leaves tags for labels is the same only where proxies carry both. Made-up proxies
that carry one without the other are left out, and the verdict says so (`proxies: listed`). There
must be something to show that they go together: known proxies, a Service, or the way in which
Kubernetes makes the tags of a proxy from the labels of its Pod.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from kumamigrate.dataclass import replace
from kumamigrate.model.kubernetes.workloads import implied_dataplanes
from kumamigrate.model.resource import NAMESPACE, SERVICE, ZONE, Resource
from kumamigrate.model.state import State
from kumamigrate.prover.assumptions.coupling import WORKLOAD, Coupling, anywhere, says_the_tag
from kumamigrate.prover.assumptions.movedselectors import (
    as_labels,
    follows,
    leaves_tags,
    moved_policies,
)
from kumamigrate.targetref.items import top_of
from kumamigrate.targetref.proxyclasses import Need, need_of, offers_of
from kumamigrate.targetref.select import Proxy, proxy_of, reach, selector_of
from kumamigrate.universe.madeup import Requirement, requirement_of
from kumamigrate.universe.side import Side

OF_GATEWAYS = {"kuma.io/gateway": "enabled"}
"""The words by which Kuma itself is told that a Pod is a delegated gateway: they say it alone."""


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
        for was, now in moved_policies(before, after, self._old):
            top_was, top_now = top_of(was, self._old), top_of(now, self._new)
            if top_was == top_now or not leaves_tags(top_was, top_now):
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
            if self._shown(coupling, near, known) or follows(was, coupling, before):
                yield replace(coupling, chosen=self._chosen(coupling, near))
            elif self._shown_elsewhere(opened := anywhere(coupling), near, known):
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
            return selected < of_all or says_the_tag(one)
        if one.old.top.kind == "Dataplane":
            return bool(of_all)
        asked = as_labels(one.old.top)
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
        tag = SERVICE if key == WORKLOAD else key
        return all(
            new.resource.labels.get(key) == tags[tag]
            for old, new in self.every
            for tags in (old.gateway_tags, *(place.tags for place in old.places))
            if (tags.get(tag) == value if key == WORKLOAD else tag in tags)
        )

    def near(self, one: Coupling) -> list[Pair]:
        """Return the proxies that either reference may choose: the others are chosen by none."""
        needs = [need_of(one.old), need_of(one.new)]
        if None in needs:
            return self.every
        found = {at for need in needs if need is not None for at in self._by_need.get(need, ())}
        return [self.every[at] for at in sorted(found)]
