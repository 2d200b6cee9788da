"""A claim for every proxy that could exist: made-up proxies, as few as tell policies apart.

Which policies reach a proxy is a set of selectors; what it reads at a place is decided by few of
them: by the policy whose value wins, for a route by the route that wins, and by one policy on it
that hides what the service says. Where both sides agree on all sets that hold so many selectors
for each side, they agree on all sets, because merging lets the last of a fixed order win. So sets
of bounded size are enough. Lists that are appended to need three.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product

from kumamigrate.effective.difference import Witness
from kumamigrate.effective.picture import BY_ROUTE, ON_OUTBOUNDS, ROUTING, TCP_ROUTING
from kumamigrate.model.resource import Resource
from kumamigrate.prove.claims.carry import CARRIED, as_tags, carry_one
from kumamigrate.prove.doubts.doubt import tie_doubts
from kumamigrate.prove.mesh import INBOUND_TYPES, SINGLE_TYPES, MeshComparison
from kumamigrate.prove.proof import ProxyVerdict, Verdict
from kumamigrate.targetref.route import Destination, RealResource, ServiceTag
from kumamigrate.universe.madeup import (
    Atom,
    Requirement,
    Setting,
    count,
    describe,
    proxy_with,
    settings_of,
    subsets,
)
from kumamigrate.universe.reach import Known, Reach
from kumamigrate.universe.side import ROUTES
from kumamigrate.universe.traffic import successors

ANY_PROXY = "any proxy"
"""What the plainest made-up proxy is called in proofs."""

FEW = 7
"""Up to so many atoms every subset is tried."""
MOST_SETS = 6_000
"""More sets of atoms than this at one place are not tried: the verdict is unknown."""
ROUTE_SETS, ENTRY_SETS, VALUE_SETS, LIST_SETS = 4, 2, 2, 3

Check = Callable[[Resource], Sequence[Witness]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Atoms:
    """Atoms that matter at one place, by the part they can play."""

    routes: tuple[Atom, ...] = ()
    entries: tuple[Atom, ...] = ()
    values: tuple[Atom, ...] = ()
    every_set: bool = False

    @property
    def _everything(self) -> tuple[Atom, ...]:
        return tuple(dict.fromkeys((*self.values, *self.entries, *self.routes)))

    def smallest(self) -> Iterator[tuple[Atom, ...]]:
        """Yield the smallest sets, for a difference at least, where there are too many."""
        everything = self._everything
        return subsets(everything, 2 if count(len(everything), 2) <= MOST_SETS else 1)

    def sets(self, most: int) -> Iterator[tuple[Atom, ...]] | None:
        """Yield the sets to try, small ones first; None where there are too many."""
        everything = self._everything
        if len(everything) <= FEW or (self.every_set and len(everything) <= FEW + 3):
            return subsets(everything, len(everything))
        if self.every_set:
            return None
        parts = ((self.values, most), (self.entries, ENTRY_SETS), (self.routes, ENTRY_SETS))
        total = 1
        for atoms, size in parts:
            total *= count(len(atoms), size)
        if total > MOST_SETS:
            return None
        chosen = (
            tuple(dict.fromkeys((*v, *e, *r)))
            for v, e, r in product(*(tuple(subsets(atoms, size)) for atoms, size in parts))
        )
        return iter(sorted(set(chosen), key=len))


@dataclass(slots=True, kw_only=True)
class Findings:
    """What was found so far: each difference once, at the smallest proxy that shows it.

    `beyond` says for which proxies besides the listed ones nothing was found out.
    """

    proxies: dict[str, list[Witness]] = field(default_factory=dict)
    seen: set[tuple[str, ...]] = field(default_factory=set)
    unknown: dict[str, None] = field(default_factory=dict)
    beyond: dict[str, None] = field(default_factory=dict)

    def add(self, name: str, found: Iterable[Witness]) -> None:
        """Note the differences of a proxy that no smaller one has shown."""
        for witness in found:
            key = witness.key[1:]
            if key not in self.seen:
                self.seen.add(key)
                self.proxies.setdefault(name, []).append(replace(witness, proxy=name))


class Coverage:
    """Tries one claim on made-up proxies.

    `listed`: the states hold Dataplanes, so that there is a verdict for those at least.
    """

    def __init__(
        self,
        pair: MeshComparison,
        changed: frozenset[str],
        destinations: Sequence[Destination],
        zone: str,
        *,
        listed: bool,
    ) -> None:
        self.pair = pair
        self.listed = listed
        self.changed = changed
        self.destinations = destinations
        self.zone = zone
        self.reaches = pair.reaches
        self.found = Findings()
        self._proxies: dict[tuple[frozenset[Atom], Setting, bool], Resource | None] = {}

    # -- claims ------------------------------------------------------------------------------

    def live(self, *, names: bool) -> Findings:
        """Try everything in which something changed."""
        pair = self.pair
        for policy_type in self._affected((*ON_OUTBOUNDS, ROUTING)):
            for destinations, atoms in self._places(policy_type):
                self._try(policy_type, atoms, _outbound(pair, policy_type, destinations, names))
        for policy_type in self._affected(INBOUND_TYPES):
            listed = self._all(policy_type)
            self._try(
                policy_type,
                Atoms(values=self._atoms(listed), every_set=_subset_rules(policy_type, listed)),
                partial(_inbound, pair, policy_type),
                most=LIST_SETS,
                one_inbound=True,
            )
        for policy_type in self._affected(SINGLE_TYPES):
            self._try(
                policy_type,
                Atoms(values=self._atoms(self._all(policy_type))),
                partial(_single, pair, policy_type),
                most=LIST_SETS,
            )
        return self.found

    def carry(self, services: Sequence[str], *, live: bool = False) -> Findings:
        """Try every service with what replaces it; `live` says that its outbounds exist."""
        pair = self.pair
        for policy_type in (ROUTING, *CARRIED):
            groups: dict[Atoms, list[tuple[ServiceTag, RealResource]]] = {}
            for service in services:
                for target in successors(pair.after, service):
                    old = ServiceTag(service)
                    atoms = self._atoms_at(policy_type, (old,), (target,))
                    groups.setdefault(atoms, []).append((old, target))
            for atoms, couples in groups.items():
                self._try(policy_type, atoms, _carried(pair, policy_type, couples, live))
        return self.found

    # -- places ------------------------------------------------------------------------------

    def _affected(self, kinds: Sequence[str]) -> Iterator[str]:
        """Yield the types in which something can differ at all."""
        changed = set(self.changed)
        if TCP_ROUTING in changed:
            changed.add(ROUTING)
        everything = not self.pair.same_ground
        there = set(self.pair.before.types | self.pair.after.types)
        if TCP_ROUTING in there:
            there.add(ROUTING)  # Both kinds of route are looked at together.
        if not self.pair.same_outbounds:
            there.add(ROUTING)
            changed.add(ROUTING)
        for kind in kinds:
            if kind in there and (everything or kind in changed):
                yield kind

    def _places(self, policy_type: str) -> Iterator[tuple[tuple[Destination, ...], Atoms]]:
        """Yield destinations with the atoms that matter there, those with equal ones together."""
        groups: dict[Atoms, list[Destination]] = {}
        for destination in self.destinations:
            atoms = self._atoms_at(policy_type, (destination,), (destination,))
            groups.setdefault(atoms, []).append(destination)
        for atoms, destinations in groups.items():
            yield tuple(destinations), atoms

    def _atoms_at(
        self, policy_type: str, before: Sequence[Destination], after: Sequence[Destination]
    ) -> Atoms:
        routes: list[Known] = []
        entries: list[Known] = []
        values: list[Known] = []
        every_set = False
        for reach, destinations in zip(self.reaches, (before, after), strict=True):
            for destination in destinations:
                at = reach.routes_at(destination)
                routes += at
                if policy_type in (ROUTING, TCP_ROUTING):
                    continue
                listed = reach.of(policy_type)
                for cluster in reach.clusters_at(destination):
                    values += reach.about(policy_type, cluster, at)
                entries += (k for k in reach.about(policy_type, destination, at) if k.on_route)
                if policy_type in BY_ROUTE and _may_lose(reach, destination, listed):
                    values += listed
                    every_set = True
        if policy_type in (ROUTING, TCP_ROUTING):
            return Atoms(values=self._atoms(routes), every_set=False)
        if policy_type not in BY_ROUTE:
            return Atoms(values=self._atoms(values))
        return Atoms(
            routes=self._atoms(routes),
            entries=self._atoms(entries),
            values=self._atoms(values),
            every_set=every_set,
        )

    def _all(self, policy_type: str) -> list[Known]:
        return [known for reach in self.reaches for known in reach.of(policy_type)]

    def _atoms(self, known: Iterable[Known]) -> tuple[Atom, ...]:
        found = {k.requirement.atom for k in known} - {None}
        return tuple(sorted((a for a in found if a is not None), key=str))

    # -- trying ------------------------------------------------------------------------------

    def _give_up(self, policy_type: str) -> None:
        """Note that proxies can be chosen in too many ways to try them."""
        said = f"{policy_type}: policies choose proxies in more ways than can be tried"
        if self.listed:
            self.found.beyond[f"{said}; compared for the Dataplanes of the state"] = None
        else:
            advice = "add an inventory of the Dataplanes, and the verdict will hold for those"
            self.found.unknown[f"{said}; {advice}"] = None

    def _try(
        self,
        policy_type: str,
        atoms: Atoms,
        check: Check,
        *,
        most: int = 0,
        one_inbound: bool = False,
    ) -> None:
        most = most or (ROUTE_SETS if policy_type == ROUTING else VALUE_SETS)
        for setting, admitted in self._settings(policy_type, atoms):
            sets = admitted.sets(most)
            if sets is None:
                self._give_up(policy_type)
                sets = admitted.smallest()
            for chosen in sets:
                proxy = self._proxy(chosen, setting, one_inbound)
                if proxy is None:
                    continue
                kinds = {policy_type, *(ROUTES if policy_type in (*BY_ROUTE, ROUTING) else ())}
                tied = tie_doubts(self.pair, proxy, proxy, kinds)
                if tied:
                    self.found.unknown.update(dict.fromkeys(d for t in tied.values() for d in t))
                    continue
                found = check(proxy)
                if found:
                    self.found.add(describe(chosen, setting), found)

    def _settings(self, policy_type: str, atoms: Atoms) -> Iterator[tuple[Setting, Atoms]]:
        """Yield the surroundings with the atoms that can be chosen there."""
        kinds = [policy_type]
        if policy_type in BY_ROUTE or policy_type == ROUTING:
            kinds += [ROUTING, TCP_ROUTING]
        requirements = [k.requirement for kind in kinds for k in self._all(kind)]
        for setting in settings_of(requirements, self.zone):
            here = _here(requirements, setting)
            yield (
                setting,
                Atoms(
                    routes=tuple(a for a in atoms.routes if a in here),
                    entries=tuple(a for a in atoms.entries if a in here),
                    values=tuple(a for a in atoms.values if a in here),
                    every_set=atoms.every_set,
                ),
            )

    def _proxy(
        self, chosen: tuple[Atom, ...], setting: Setting, one_inbound: bool
    ) -> Resource | None:
        """Return the made-up proxy, the same each time: the matcher knows proxies by identity."""
        key = (frozenset(chosen), setting, one_inbound)
        if key not in self._proxies:
            mesh = self.pair.before.mesh
            made = proxy_with(chosen, setting, mesh, one_inbound=one_inbound)
            broken = made is not None and self.pair.couplings.broken_by(made)
            self._proxies[key] = None if broken else made
        return self._proxies[key]


def _here(requirements: Iterable[Requirement], setting: Setting) -> frozenset[Atom]:
    return frozenset(r.atom for r in requirements if r.atom is not None and setting.admits(r))


def _inbound(pair: MeshComparison, policy_type: str, proxy: Resource) -> Sequence[Witness]:
    return pair.inbound_type(proxy, proxy, policy_type)


def _single(pair: MeshComparison, policy_type: str, proxy: Resource) -> Sequence[Witness]:
    return pair.single_type(proxy, proxy, policy_type)


def _subset_rules(policy_type: str, listed: Iterable[Known]) -> bool:
    """Whether the old list of client subsets counts, in which overlaps hang on every item."""
    return policy_type in ("MeshTrafficPermission", "MeshFaultInjection") and any(
        known.policy.spec.get("from") for known in listed
    )


def _outbound(
    pair: MeshComparison, policy_type: str, destinations: Sequence[Destination], names: bool
) -> Check:
    def check(proxy: Resource) -> list[Witness]:
        found: list[Witness] = []
        for destination in destinations:
            if policy_type == ROUTING:
                found += pair.routes(proxy, proxy, destination, names=names)
            else:
                found += pair.outbound_type(proxy, proxy, policy_type, destination)
        return found

    return check


def _carried(
    pair: MeshComparison,
    policy_type: str,
    couples: Sequence[tuple[ServiceTag, RealResource]],
    live: bool,
) -> Check:
    def check(proxy: Resource) -> Sequence[Witness]:
        found: list[Witness] = []
        for old, new in couples:
            found += carry_one(pair, proxy, proxy, policy_type, old, new)
        return as_tags(found) if live else found

    return check


def _may_lose(reach: Reach, destination: Destination, listed: Sequence[Known]) -> bool:
    """Whether another service's route can take this one's values away (matcher-notes §2).

    Then the order of all items of the type decides, not only of those about the destination.
    """
    if not isinstance(destination, ServiceTag) or not reach.side.release.subset_rules:
        return False
    if not any(k.everything for k in listed):
        return False
    hashes = reach.hashes_at(destination)
    others = {h for k in listed for s, h in k.bound if s != destination.service}
    own = any(destination.service in k.tags and not k.bound for k in listed)
    return own and bool(others & hashes)


def verdicts(found: Findings) -> tuple[ProxyVerdict, ...]:
    """Return the findings proxy by proxy; without any, one verdict for every proxy.

    What could not be decided stands with the plainest proxy: a harmless difference elsewhere
    does not settle it.
    """
    unknown = tuple(found.unknown)
    listed = tuple(
        ProxyVerdict(name=name, verdict=Verdict.DIFFERENT, witnesses=tuple(witnesses), made_up=True)
        for name, witnesses in found.proxies.items()
    )
    if listed and not unknown:
        return listed
    if ANY_PROXY in found.proxies:
        return tuple(replace(p, unknown=unknown) if p.name == ANY_PROXY else p for p in listed)
    verdict = Verdict.UNKNOWN if unknown else Verdict.EQUIVALENT
    any_proxy = ProxyVerdict(name=ANY_PROXY, verdict=verdict, unknown=unknown, made_up=True)
    return (*listed, any_proxy)
