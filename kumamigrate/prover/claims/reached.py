"""Whom a proxy says that it reaches, before an upgrade and after it.

2.x reads two lists of a transparent proxy: service tags (`reachableServices`) narrow the outbounds
by tag, references (`reachableBackends`) those to real resources, of which there are none where only
tags are listed. 3.0 reads the references alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.effective.difference import Value, Witness
from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.model.resource import Resource, mapping, sequence
from kumamigrate.model.state import mesh_services_mode
from kumamigrate.prover.endpointmoves import EVERY_SERVICE
from kumamigrate.targetref.backendref import meant_by, port_said, ports_of
from kumamigrate.targetref.route import RealResource
from kumamigrate.universe.backend import called
from kumamigrate.universe.dataplaneparts import networking
from kumamigrate.universe.side import Side
from kumamigrate.universe.traffic import is_given, successors

FIELDS = ("reachableServices", "reachableBackends")
_PLACE = "networking.transparentProxying.reachableBackends"

Reached = frozenset[str] | None
"""What a proxy reaches, each as a reader calls it; None for everything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Owed:
    """What a proxy has to reach after an upgrade; `unknown`: tags of which nobody knows what
    takes their place."""

    reached: Reached
    unknown: tuple[str, ...] = ()


def reach_differences(before: Side, after: Side, was: Resource, now: Resource) -> Iterator[Witness]:
    """Yield what a proxy reaches after an upgrade to real resources only, and not before it, or
    the other way round."""
    owed = _owed(before, after, was)
    found = _by_references(after, now)
    only_tags = _references(was) is None and found is None
    if owed.unknown or owed.reached == found or only_tags:
        return  # what says nothing for 3.0 yet is a doubt: see upgrade.py
    yield Witness(
        mesh=before.mesh,
        proxy="",
        policy_type="Dataplane",
        direction="proxy",
        place=was.name,
        field=_PLACE,
        before=Value(value=_said(owed.reached)),
        after=Value(value=_said(found)),
    )


def reach_doubts(before: Side, after: Side, was: Resource, now: Resource) -> Iterator[Doubt]:
    """Yield the service tags that a proxy reaches and of which nothing tells what replaces them."""
    if _references(now) is not None:
        for tag in _owed(before, after, was).unknown:
            yield Doubt(
                DoubtKind.RELEASE,
                f"{was.name} reaches {tag}, and which service takes its place is not known",
            )


def _owed(before: Side, after: Side, was: Resource) -> _Owed:
    """Return what a proxy reaches before the upgrade, each tag by what replaces it later."""
    tags, references = _tags(was), _by_references(before, was)
    mode = mesh_services_mode(before.state, before.mesh)
    if mode == "Exclusive":
        return _Owed(reached=frozenset() if tags and references is None else references)
    if tags is None:
        return _Owed(reached=None)
    replaced = {tag: [called(one) for one in successors(after, tag)] for tag in tags}
    own = references if references is not None else frozenset[str]()
    return _Owed(
        reached=own.union(*replaced.values()),
        unknown=tuple(tag for tag, found in replaced.items() if not found),
    )


def _tags(proxy: Resource) -> tuple[str, ...] | None:
    """Return the service tags that a proxy lists; None where it reaches every one."""
    listed = _transparent(proxy).get(FIELDS[0])
    tags = tuple(map(str, sequence(listed)))
    return None if not tags or EVERY_SERVICE in tags else tags


def _references(proxy: Resource) -> Sequence[Mapping[str, Any]] | None:
    """Return the references that a proxy lists; None where it has no list, which is everything."""
    listed = _transparent(proxy).get(FIELDS[1])
    if listed is None:
        return None
    return [mapping(ref) for ref in sequence(mapping(listed).get("refs"))]


def _transparent(proxy: Resource) -> Mapping[str, Any]:
    return mapping(networking(proxy).get("transparentProxying"))


def _by_references(side: Side, proxy: Resource) -> Reached:
    refs = _references(proxy)
    if refs is None:
        return None
    return frozenset(one for ref in refs for one in _meant(side, proxy, ref))


def _meant(side: Side, proxy: Resource, ref: Mapping[str, Any]) -> Iterator[str]:
    """Yield the ports that a reference means: without a port all of those of the resource."""
    mode = mesh_services_mode(side.state, side.mesh) if side.release.subset_rules else None
    whole = not port_said(ref)
    meant = meant_by(side.places, {**ref, "port": "0"} if whole else ref, proxy)
    for one in (meant.destination, *meant.instead):
        if not isinstance(one, RealResource) or not is_given(one, mode, side.state):
            continue
        if not whole:
            yield called(one)
            continue
        bare = one.kri.of_section("")
        resource = side.places.real.get(bare)
        ports = ports_of(resource.spec) if resource is not None else []
        for section in [str(p.get("name") or p.get("port")) for p in ports] or [""]:
            yield called(RealResource(bare.of_section(section)))


def _said(reached: Reached) -> str | list[str]:
    return "everything" if reached is None else sorted(reached)
