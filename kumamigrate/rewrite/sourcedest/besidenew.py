"""New policies of a mesh that stand beside an old kind: which act there, and of whom they speak."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kumamigrate.effective.policies.patched import only_probes
from kumamigrate.model.resource import SERVICE, Resource, mapping, mappings
from kumamigrate.rewrite.sourcedest.conversion import named
from kumamigrate.rewrite.sourcedest.known import KnownWorld
from kumamigrate.sourcedest.selector import ANY, Tags, selectors_of, tags_of

INBOUND = ("TrafficPermission", "FaultInjection", "RateLimit")
"""Kinds that choose by destination, and decide there alone."""


def acting(world: KnownWorld, old: str, new: str) -> list[Resource]:
    """Return the new policies of a mesh that act where an old kind does: others say nothing of
    inbounds, or nothing of what leaves proxies."""
    sections = ("from", "rules") if old in INBOUND else ("to", "default")
    return [
        r
        for r in world.existing(new)
        if not only_probes(r) and (r.templated or any(r.spec.get(k) for k in sections))
    ]


def said_of_services(present: Iterable[Resource]) -> Mapping[str, Mapping[str, Any]] | None:
    """Return what new policies say of each service, None unless they name each, one policy one."""
    found: dict[str, Mapping[str, Any]] = {}
    for policy in present:
        for item in mappings(policy.spec.get("to")):
            ref = mapping(item.get("targetRef"))
            service = ref.get("name")
            if set(ref) != {"kind", "name"} or ref["kind"] != "MeshService" or service in found:
                return None
            found[str(service)] = mapping(item.get("default"))
    return found or None


def overruled_by(present: Sequence[Resource]) -> str:
    """Return why an old policy goes that says nothing beside new ones."""
    names = named(sorted(r.name for r in present))
    return f"{present[0].type} {names} says all that proxies read"


def besides_others(old: str, present: Iterable[Resource], policies: Iterable[Resource]) -> bool:
    """Say whether new policies speak of others than the old ones of a kind do."""
    return (_at_others if old in INBOUND else _for_others)(present, policies)


def _for_others(present: Iterable[Resource], policies: Iterable[Resource]) -> bool:
    """Say whether new policies name other services than the old ones, one by one.

    So it is where a part of the kind had to stay for a while; only destinations count.
    """
    wanted = {t.get(SERVICE, ANY) for p in policies for t in selectors_of(p.spec, "destinations")}
    named = services_named(present)
    return bool(wanted) and ANY not in wanted and named is not None and named.isdisjoint(wanted)


def _at_others(present: Iterable[Resource], policies: Iterable[Resource]) -> bool:
    """Say whether no inbound can be selected by a new and by an old policy."""
    old = [tags for p in policies for tags in selectors_of(p.spec, "destinations")]
    new = [_selected(policy) for policy in present]
    return all(tags is not None and all(_differ(tags, o) for o in old) for tags in new)


def names_inbounds(present: Iterable[Resource]) -> bool:
    """Say whether each of some new policies is for some inbounds, and none for all."""
    refs = [mapping(policy.spec.get("targetRef")) for policy in present]
    return all(ref.get("name") or ref.get("tags") or ref.get("labels") for ref in refs)


def _selected(policy: Resource) -> dict[str, str] | None:
    """Return the tags that a policy selects inbounds by, None where it goes by something else."""
    ref = mapping(policy.spec.get("targetRef"))
    named = {SERVICE: str(ref.get("name", ""))}
    match ref.get("kind"):
        case "MeshSubset":
            return tags_of(ref.get("tags"))
        case "MeshService" if set(ref) == {"kind", "name"}:
            return named
        case "MeshServiceSubset":
            return {**tags_of(ref.get("tags")), **named}
    return None


def _differ(one: Tags, two: Tags) -> bool:
    return any(ANY not in (one[k], two[k]) and one[k] != two[k] for k in one.keys() & two.keys())


def services_named(present: Iterable[Resource]) -> frozenset[str] | None:
    """Return the services that new policies are for, None unless they name each and no more."""
    named: set[str] = set()
    for policy in present:
        to = policy.spec.get("to")
        if set(policy.spec) - {"targetRef", "to"} or not isinstance(to, list):
            return None
        refs = [mapping(mapping(item).get("targetRef")) for item in to]
        if any(set(ref) != {"kind", "name"} or ref["kind"] != "MeshService" for ref in refs):
            return None
        named |= {ref["name"] for ref in refs}
    return frozenset(named)
