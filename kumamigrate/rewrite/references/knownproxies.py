"""The known proxies of a mesh, and which of them a selector selects, without asking each.

A policy selects few proxies, a large repository has many of both: what is asked of each proxy for
each policy takes time by their product. Indexes by tag and label name the few that can be meant.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import cached_property
from typing import TypeVar, cast

from kumamigrate.dataclass import replace
from kumamigrate.model.release import Release
from kumamigrate.model.resource import DISPLAY_NAME, Identity, Resource
from kumamigrate.model.state import State
from kumamigrate.model.targetref import TargetRef
from kumamigrate.targetref.select import Proxy, SelectedPlaces, Selector, proxy_of, reach

WORKLOAD = "kuma.io/workload"
_BY_TAGS = ("MeshSubset", "MeshService", "MeshServiceSubset")

Answer = TypeVar("Answer")
Reached = Mapping[int, SelectedPlaces]
"""What is selected, by the place of the proxy; who is not selected does not stand here."""
_UNSTABLE = frozenset(
    {
        "controller-revision-hash",
        "controller-uid",
        "job-name",
        "kuma.io/display-name",
        "kuma.io/env",
        "kuma.io/mesh",
        "kuma.io/origin",
        "kuma.io/proxy-type",
        "kuma.io/sidecar-injection",
        "pod-template-generation",
        "pod-template-hash",
        "rollouts-pod-template-hash",
    }
)
_UNSTABLE_GROUPS = ("batch.kubernetes.io/", "statefulset.kubernetes.io/", "apps.kubernetes.io/")


def is_stable(key: str) -> bool:
    """Say whether a label stays the same while a workload lives, so that one may select by it."""
    return key not in _UNSTABLE and not key.startswith(_UNSTABLE_GROUPS)


class Proxies(tuple[Proxy, ...]):
    """The proxies of a mesh, and what was found out about them."""

    @cached_property
    def carriers(self) -> Mapping[tuple[str, str], frozenset[int]]:
        """Return by tag the places of the proxies that carry it somewhere."""
        found: dict[tuple[str, str], set[int]] = {}
        for at, proxy in enumerate(self):
            for tags in (proxy.gateway_tags, *(place.tags for place in proxy.places)):
                for key, value in tags.items():
                    if isinstance(value, str):
                        found.setdefault((key, value), set()).add(at)
        return {tag: frozenset(places) for tag, places in found.items()}

    @cached_property
    def labelled(self) -> Mapping[tuple[str, str], frozenset[int]]:
        """Return by label the places of the proxies that have it."""
        found: dict[tuple[str, str], set[int]] = {}
        for at, proxy in enumerate(self):
            for key, value in proxy.resource.labels.items():
                found.setdefault((key, value), set()).add(at)
        return {label: frozenset(places) for label, places in found.items()}

    @cached_property
    def label_keys(self) -> frozenset[str]:
        """Return the keys of all labels."""
        return frozenset(key for key, _ in self.labelled)

    @cached_property
    def plain(self) -> int:
        """Return how many are no built-in gateways."""
        return sum(proxy.gateway != "builtin" for proxy in self)

    @cached_property
    def _kept(self) -> dict[Hashable, object]:
        return {}

    def once(self, key: Hashable, answer: Callable[[], Answer]) -> Answer:
        """Return what was answered before to a question about these proxies, or the answer."""
        if key not in self._kept:
            self._kept[key] = answer()
        return cast("Answer", self._kept[key])

    def reached(self, selector: Selector, release: Release) -> Reached:
        """Return what a selector selects of the proxies, in their order."""
        near = self.near(selector)
        if near is None:
            key = ("reached", selector, release.name, release.top_kinds)
            return self.once(key, lambda: self._reached(range(len(self)), selector, release))
        return self._reached(sorted(near), selector, release)

    def _reached(self, places: Iterable[int], selector: Selector, release: Release) -> Reached:
        asked = ((at, reach(selector, self[at], release)) for at in places)
        return {at: found for at, found in asked if found}

    def near(self, selector: Selector) -> frozenset[int] | None:
        """Return the places that tags or labels leave, None where those leave them all."""
        top, near = selector.top, None
        for one in _indexed(top):
            index = self.carriers if top.kind in _BY_TAGS else self.labelled
            mine = index.get(one, frozenset[int]())
            near = mine if near is None else near & mine
        return near


def _indexed(top: TargetRef) -> Iterable[tuple[str, str]]:
    """Return the tags or labels by which proxies can be found that a reference selects."""
    if top.kind in _BY_TAGS:
        return [(k, v) for k, v in top.asked_tags if isinstance(v, str) and v != "*"]
    if top.kind == "Dataplane":
        # Some releases look for a display name elsewhere as well.
        return [(key, value) for key, value in top.labels or () if key != DISPLAY_NAME]
    return ()


def known_proxies(state: State, mesh: str, release: Release) -> Proxies:
    """Return the Dataplanes of a mesh, listed ones first, then those its workloads imply."""
    asked = ("known proxies", mesh, release.name)
    if asked not in state.known:
        state.known[asked] = _known_proxies(state, mesh, release)
    found: Proxies = state.known[asked]
    return found


def _known_proxies(state: State, mesh: str, release: Release) -> Proxies:
    from kumamigrate.model.kubernetes.workloads import implied_dataplanes  # no hook asks

    gateways = tuple(state.of_type("MeshGateway"))
    listed = [r for r in state.of_type("Dataplane") if r.mesh == mesh]
    return Proxies(
        proxy_of(r, gateways, release) for r in (*listed, *implied_dataplanes(state, mesh))
    )


def before_upgrade(proxies: Proxies, before: State) -> Proxies:
    """Return proxies without the workload labels that the state the run began with lacks.

    Those come with the upgrade, and nothing that is deployed earlier may rest on them.
    """
    old = {r.identity for r in before.of_type("Dataplane") if WORKLOAD in r.labels}
    if not any(_is_new(proxy.resource, old) for proxy in proxies):
        return proxies
    return Proxies(
        replace(proxy, resource=_without_workload(proxy.resource))
        if _is_new(proxy.resource, old)
        else proxy
        for proxy in proxies
    )


def _is_new(dataplane: Resource, old: set[Identity]) -> bool:
    return WORKLOAD in dataplane.labels and not dataplane.made_up and dataplane.identity not in old


def _without_workload(dataplane: Resource) -> Resource:
    return dataplane.with_labels({k: v for k, v in dataplane.labels.items() if k != WORKLOAD})
