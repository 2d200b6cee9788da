"""Proofs that ask nothing of the mesh: a change that says the same in other words.

A policy gives a proxy what it says (its entries, by direction) where its selector and the gates
let it, at the rank that Kuma's sorting gives it. If a change leaves all three as they were, no
proxy can tell the states apart, whatever else the mesh holds: read or unread, in Git or not
(prover.md §3, stage "local"). Where a half has moved to a policy of another name, one thing is
asked of the world: that nothing stands between the two names.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

from kumamigrate.dataclass import dataclass
from kumamigrate.model.conf import canonical
from kumamigrate.model.policytype import PolicyType
from kumamigrate.model.release import Release
from kumamigrate.model.release import release as release_of
from kumamigrate.model.resource import EFFECT, NAMESPACE, ORIGIN, ROLE, ZONE, Resource
from kumamigrate.model.state import State
from kumamigrate.model.targetref import MESH, TargetRef
from kumamigrate.targetref.entry import Entry
from kumamigrate.targetref.items import from_entries, rule_entries, single_entry, to_entries, top_of
from kumamigrate.targetref.subset import subset_of

ROUTES = ("MeshHTTPRoute", "MeshTCPRoute")
"""Policies that others refer to, and whose names stand in Envoy's configuration."""
NAMED_RULES = ("MeshTrafficPermission", "MeshFaultInjection")
"""Policies after which Envoy calls what their rules make."""
DIRECTIONS = {"to": "outbound", "rules": "inbound", "from": "inbound", "default": "proxy"}
_RANKED_BY = (EFFECT, NAMESPACE, ORIGIN, ROLE, ZONE)
"""Labels that gates, ranks and references by name look at (matcher.md (c), (d), (f))."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NothingBetween:
    """The condition of a moved half: no policy of its type is called anything from one name to
    the other, both included, and speaks of the same direction."""

    type: str
    mesh: str
    section: str
    low: str
    high: str

    def holds(self, others: Iterable[Resource], release: Release) -> bool:
        """Say whether it holds among some policies."""
        return not any(
            other.type == self.type
            and other.mesh == self.mesh
            and self.low <= other.display_name <= self.high
            and any(section == self.section for section, _ in said_in(other, release))
            for other in others
        )

    def __str__(self) -> str:
        return (
            f"mesh {self.mesh} has no other {self.type} with {DIRECTIONS[self.section]} settings"
            f" named from {self.low} to {self.high}"
        )


@dataclass(frozen=True, slots=True)
class LocalProof:
    """A change is equivalent in every mesh in which the conditions hold; none: in every mesh."""

    conditions: tuple[NothingBetween, ...] = ()


def local_proof(before: State, after: State) -> LocalProof | None:
    """Return why two states of one release read the same without looking at any proxy.

    None where that is not so plain: another proof has to decide. Conditions are checked against
    all that both states hold.
    """
    if (before.release, before.environment) != (after.release, after.environment):
        return None
    if _unread(before) != _unread(after):
        return None  # what cannot be read has changed
    release = release_of(before.release)
    old, new, kept = _changed(before, after)
    if any(r.templated or r.branches for r in (*old, *new)):
        return None  # what a template leaves out or in is not known
    if _others(old, release) != _others(new, release):
        return None
    if _others(before.across, release) != _others(after.across, release):
        return None
    if _selected(old, release) != _selected(new, release):
        return None
    conditions: list[NothingBetween] = []
    was, now = _speaking(old, release), _speaking(new, release)
    if was.keys() != now.keys():
        return None
    for place, mine in was.items():
        found = _moved(place, mine, now[place])
        if found is None:
            return None
        conditions.extend(found)
    if not all(one.holds(kept, release) for one in conditions):
        return None
    if conditions and not _is_ordered((*old, *new, *kept), conditions, release):
        return None
    return LocalProof(tuple(dict.fromkeys(conditions)))


def _unread(state: State) -> list[tuple[str, str]]:
    return sorted((one.kind, one.digest) for one in state.unread)


def _changed(before: State, after: State) -> tuple[list[Resource], list[Resource], list[Resource]]:
    """Return what only one of two states holds, and what both do."""
    old, new = {id(r) for r in before.resources}, {id(r) for r in after.resources}
    kept = [r for r in before.resources if id(r) in new]
    only_old: list[Resource] = []
    # The same text read again is another object.
    again: dict[str, list[Resource]] = {}
    for resource in after.resources:
        if id(resource) not in old:
            again.setdefault(_whole(resource), []).append(resource)
    for resource in before.resources:
        if id(resource) in new:
            continue
        same = again.get(_whole(resource))
        (kept if same else only_old).append(resource)
        if same:
            same.pop()
    return only_old, [r for same in again.values() for r in same], kept


def _whole(resource: Resource) -> str:
    known = (resource.created, resource.templated, resource.branches, resource.made_up)
    said = [list(resource.identity), dict(resource.labels), dict(resource.annotations)]
    return canonical([*said, resource.spec, *known, resource.form])


def _others(resources: Iterable[Resource], release: Release) -> list[str]:
    """Return what is no policy of the release: that must not change at all."""
    return sorted(_whole(r) for r in resources if r.type not in release.policy_types)


def _selected(resources: Iterable[Resource], release: Release) -> set[Hashable]:
    """Return whom the policies select, by type: that one reaches a proxy may count by itself."""
    policies = (r for r in resources if r.type in release.policy_types)
    return {(r.type, r.mesh, _chosen_by(r, release)) for r in policies}


def _chosen_by(policy: Resource, release: Release) -> Hashable:
    """Return all but the name that gates, selection, rank and references look at."""
    return (top_of(policy, release), *(policy.labels.get(key, "") for key in _RANKED_BY))


Place = tuple[str, str, str]
"""Type, mesh, section."""
Saying = tuple[str, Hashable]
"""The name of a policy, and what it says in one section, to whom and at which rank."""


def _speaking(resources: Iterable[Resource], release: Release) -> dict[Place, list[Saying]]:
    """Return what policies say, by place, in the order of their names."""
    found: dict[Place, list[Saying]] = {}
    for policy in resources:
        if policy.type not in release.policy_types:
            continue
        for section, said in said_in(policy, release):
            name = policy.display_name
            if policy.type in ROUTES:
                # A route is told by its name, its own and the displayed one, and by its labels.
                labels = tuple(sorted(policy.labels.items()))
                said = (policy.name, policy.namespace, labels, said)
            place = (policy.type, policy.mesh, section)
            found.setdefault(place, []).append((name, (_chosen_by(policy, release), said)))
    return {place: sorted(said, key=lambda one: one[0]) for place, said in found.items()}


def said_in(policy: Resource, release: Release) -> Iterator[tuple[str, Hashable]]:
    """Yield the sections of a policy that a release reads, with what they say."""
    kind = release.policy_types.get(policy.type)
    if kind is None:
        return
    if kind.single_item:
        yield ("default", canonical(single_entry(policy, kind, release).conf))
    for section, entries in _sections(policy, kind, release):
        if entries:
            yield (section, tuple(_entry(section, entry) for entry in entries))


def _sections(
    policy: Resource, kind: PolicyType, release: Release
) -> Iterator[tuple[str, tuple[Entry, ...]]]:
    yield "to", to_entries(policy, kind, release)
    yield "rules", rule_entries(policy, kind, release)
    # Where `from` counts as rules, inbounds read nothing else of it.
    if not (kind.from_as_rules and "rules" in kind.sections):
        yield "from", from_entries(policy, kind, release)


def _entry(section: str, entry: Entry) -> Hashable:
    return (_meant(section, entry.target), canonical(entry.match), canonical(entry.conf))


def _meant(section: str, target: TargetRef | None) -> Hashable:
    """Return whom an entry is about, however it is said."""
    if target is None or (section == "rules" and target == MESH):
        return None  # a `from` item for the whole mesh is a rule for every client
    if section == "from":
        # A service among clients is a tag of theirs.
        subset = subset_of(target)
        return target if subset is None else subset
    return target


def _moved(place: Place, was: list[Saying], now: list[Saying]) -> list[NothingBetween] | None:
    """Return what is asked of the world where one place says the same under other names."""
    if [said for _, said in was] != [said for _, said in now]:
        return None
    type_, mesh, section = place
    moves = [(old, new) for (old, _), (new, _) in zip(was, now, strict=True) if old != new]
    called = type_ in ROUTES or (section == "rules" and type_ in NAMED_RULES)
    if moves and (called or _meet(was) or _meet(now)):
        return None
    return [
        NothingBetween(type=type_, mesh=mesh, section=section, low=min(pair), high=max(pair))
        for pair in moves
    ]


def _meet(said: list[Saying]) -> bool:
    """Say whether two of them have one name, so that chance orders them."""
    names = [name for name, _ in said]
    return len(set(names)) != len(names)


def _is_ordered(
    policies: Iterable[Resource], conditions: Iterable[NothingBetween], release: Release
) -> bool:
    """Say whether one more policy leaves the order of the others alone.

    References to Dataplanes by name and by labels have no order that holds among three.
    """
    if "identity" not in release.dataplane_rank:
        return True
    asked = {(one.type, one.mesh) for one in conditions}
    tops = [top_of(p, release) for p in policies if (p.type, p.mesh) in asked]
    dataplanes = [top for top in tops if top.kind == "Dataplane"]
    return not any(top.name for top in dataplanes)
