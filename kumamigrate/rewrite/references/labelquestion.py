"""What a policy selects today of each known proxy, and whether labels would select the same."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from enum import StrEnum
from itertools import chain
from typing import Any

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.model.release import Release
from kumamigrate.model.resource import Resource
from kumamigrate.model.targetref import TargetRef, read_target_ref
from kumamigrate.model.versions import at_least
from kumamigrate.rewrite.references.knownproxies import Proxies, Reached
from kumamigrate.targetref.items import top_of
from kumamigrate.targetref.select import (
    NOTHING,
    Proxy,
    SelectedPlaces,
    Selector,
    passes_gates,
    reach,
    selector_of,
)

MOST_SECTIONS = 8


class Basis(StrEnum):
    """Why labels are believed to select what the tags select."""

    EVERY = "every proxy"
    MIRROR = "mirror"
    PODS = "pods"
    SERVICE = "service"
    WORKLOAD = "workload"
    LISTED = "listed"
    COPIED = "copied"
    FRESH = "fresh"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelChoice:
    """A top-level reference of kind Dataplane. No labels: every proxy."""

    labels: Mapping[str, str]
    section: str = ""
    basis: Basis

    def ref(self) -> dict[str, Any]:
        """Return it as a targetRef."""
        labels = {"labels": dict(self.labels)} if self.labels else {}
        section = {"sectionName": self.section} if self.section else {}
        return {"kind": "Dataplane", **labels, **section}


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked: a policy, what it selects today of each known proxy, which half matters.

    `known` are the proxies of the mesh, `reached` those of them that it selects. `inbound`: it has
    inbound settings, so each inbound counts. `outbound`: it has others, so it counts that the
    proxy is selected at all.
    """

    policy: Resource
    top: TargetRef
    release: Release
    selector: Selector
    known: Proxies
    reached: Reached
    inbound: bool
    outbound: bool
    sections: bool

    @property
    def selected(self) -> Iterator[tuple[Proxy, SelectedPlaces]]:
        """Yield the proxies that the policy selects, and what of them."""
        return ((self.known[at], found) for at, found in self.reached.items())

    @property
    def everybody(self) -> Iterator[tuple[Proxy, SelectedPlaces]]:
        """Yield the proxies that zone and namespace let the policy reach, and what it selects."""
        return (
            (proxy, self.reached.get(at, NOTHING))
            for at, proxy in enumerate(self.known)
            if passes_gates(self.selector, proxy.resource)
        )


def question(policy: Resource, proxies: Proxies, release: Release, *, sections: bool) -> Question:
    """Return the question which labels a policy's top-level reference stands for."""
    top = top_of(policy, release)
    selector = selector_of(policy, top, {}, release)
    spec = policy.spec
    inbound = bool(spec.get("from") or spec.get("rules"))
    outbound = bool(spec.get("to")) or not inbound
    return Question(
        policy=policy,
        top=top,
        release=release,
        selector=selector,
        known=proxies,
        reached=proxies.reached(selector, release),
        inbound=inbound,
        outbound=outbound,
        sections=sections and inbound,
    )


def same(asked: Question, choice: LabelChoice) -> bool:
    """Say whether a choice selects of every known proxy what the policy selects today."""
    top = read_target_ref(choice.ref(), ("kind", "labels", "sectionName"))
    selector = replace(asked.selector, top=top, identity=None)
    near = asked.known.near(selector)
    if near is not None:
        return _same(asked, selector, near)
    halves = (asked.inbound, asked.outbound, bool(asked.policy.spec.get("to")))
    key = ("same", asked.selector, asked.release.name, selector, halves)
    return asked.known.once(key, lambda: _same(asked, selector, range(len(asked.known))))


def _same(asked: Question, selector: Selector, near: Collection[int]) -> bool:
    """Say whether a selector, which may select those near, selects what the policy does."""
    release = _with_dataplane(asked.release)
    return all(
        comes_to_same(asked, asked.known[at], asked.reached.get(at, NOTHING), found)
        for at in chain(asked.reached, (at for at in near if at not in asked.reached))
        for found in (reach(selector, asked.known[at], release),)
    )


def _with_dataplane(release: Release) -> Release:
    if "Dataplane" in release.top_kinds:
        return release
    return replace(release, top_kinds=(*release.top_kinds, "Dataplane"))


def comes_to_same(
    asked: Question, proxy: Proxy, before: SelectedPlaces, after: SelectedPlaces
) -> bool:
    """Say whether two selections of a proxy come to the same for what the policy holds.

    What is said of the proxy as such (`default`) asks only whether it is selected at all.
    """
    if asked.inbound and before.places != after.places:
        return False
    if not asked.outbound:
        return True
    if not asked.policy.spec.get("to"):
        return bool(before) == bool(after)
    listeners = [i for i, place in enumerate(proxy.places) if place.zone_proxy]
    there = [i for i in listeners if i in before.places] == [
        i for i in listeners if i in after.places
    ]
    return there and bool(before) == bool(after) and before.delegated == after.delegated


def section_names(asked: Question) -> tuple[str, ...]:
    """Return what the inbounds are called that a policy selects today, a few of them."""
    names: dict[str, None] = {}
    for proxy, before in asked.selected if asked.sections else ():
        for index in before.places:
            place = proxy.places[index]
            if _has_known_sections(proxy.resource, asked.release):
                names[place.name or str(place.port)] = None
    return tuple(names)[:MOST_SECTIONS]


def _has_known_sections(dataplane: Resource, release: Release) -> bool:
    """Say whether the inbounds are called as they are here: those of Pods by container ports."""
    if not dataplane.made_up:
        return True
    return not dataplane.templated and at_least(release.name, "2.10")
