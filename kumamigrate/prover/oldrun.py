"""One comparison of both engines, before and after, place by place and proxy by proxy."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from kumamigrate.effective.compare import value_of
from kumamigrate.effective.difference import Effect, Locate, Value, Witness
from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.effective.makers import Makers
from kumamigrate.effective.mtlsmode import MTLS_UNKNOWN
from kumamigrate.effective.oldclients import BARE, Identity, clients, existing, is_loose, shown
from kumamigrate.effective.oldexternal import EXTERNAL, external_access
from kumamigrate.effective.oldin import inbound_places, whole_places
from kumamigrate.effective.oldmade import (
    ANY_SERVICE,
    INBOUND,
    OUTBOUND,
    ROUTES,
    WHOLE,
    Traits,
    TraitSets,
    called,
    from_tags,
    kinds_of,
    made_up,
    services_of,
    trait_sets,
)
from kumamigrate.effective.oldout import (
    CROSSED,
    NORMALIZED,
    SHARED,
    TREATED,
    log_of_passthrough,
    outbound_places,
)
from kumamigrate.effective.oldroute import Table, first_difference
from kumamigrate.effective.oldsection import section_places
from kumamigrate.effective.oldside import (
    Asked,
    OldSide,
    Outcome,
    Place,
    Places,
    Routes,
    asked_of,
    names,
)
from kumamigrate.effective.picture import Fact
from kumamigrate.effective.policies.meshtimeout import DOWNSTREAM
from kumamigrate.model.resource import Resource
from kumamigrate.model.state import mesh_services_mode
from kumamigrate.sourcedest.goduration import Duration
from kumamigrate.sourcedest.proxy import Proxy, proxy_of
from kumamigrate.sourcedest.selector import Tags, selectors_of
from kumamigrate.sourcedest.winners import OldPolicies
from kumamigrate.targetref.route import ServiceTag
from kumamigrate.universe.oldtraits import split
from kumamigrate.universe.traffic import Outbound

MOST_PAIRS = 60


@dataclass(slots=True)
class Answer:
    """What the comparison came to, proxy by proxy, and what it rests on.

    `doubts` is what is not known of listed proxies, `elsewhere` of others, `unknown` of all.
    """

    witnesses: dict[str, list[Witness]] = field(default_factory=dict)
    unknown: dict[Doubt, None] = field(default_factory=dict)
    doubts: dict[str, dict[Doubt, None]] = field(default_factory=dict)
    elsewhere: dict[Doubt, None] = field(default_factory=dict)
    beyond: dict[str, None] = field(default_factory=dict)
    assumptions: dict[str, None] = field(default_factory=dict)


class Run:
    """One comparison under one assumption about protocols.

    `covered` are the new types to compare, `known` says that the state has Dataplanes, which
    settle what a made-up proxy leaves open. Proxies that are `broken_by` what is taken for granted
    of tags and labels (selector_equality.py) are not made up; `pairs` is the same as traits that
    go together. `suspects` tells what those policies of a type ask that can make a difference, None
    where any can.
    """

    def __init__(
        self,
        *,
        was: OldSide,
        now: OldSide,
        covered: frozenset[str],
        changed_sections: Sequence[str],
        locate: tuple[Locate, Locate],
        known: bool,
        broken_by: Callable[[Resource], bool],
        pairs: Sequence[tuple[Traits, Traits]],
        suspects: Callable[[str], Sequence[Tags] | None],
    ) -> None:
        self.was, self.now = was, now
        self.broken_by, self.pairs, self.suspects = broken_by, pairs, suspects
        self.covered, self.changed_sections = covered, changed_sections
        self.locate, self.known = locate, known
        self.found = Answer()
        self.zone = was.side.state.environment.zone
        self.services = tuple(sorted(services_of(was, now, covered)))
        self._clients: dict[tuple[Any, ...], tuple[dict[str, Identity], set[str]]] = {}
        self._loose: dict[str, set[str]] = {}
        self._seen: set[tuple[str, ...]] = set()
        self._residues: set[tuple[str, ...]] = set()
        self._crossed: set[tuple[str, ...]] = set()
        self._same: dict[str, tuple[Sequence[Witness], Mapping[Doubt, None]]] = {}
        self._noted = self.found.elsewhere

    def clients(self, policy_type: str, was: Asked, now: Asked) -> dict[str, Identity]:
        """Return the clients of a proxy to ask for, as far as anybody whose policies reach it tells
        them apart, by what they show."""
        reaching = [
            side.matcher.selection(asked.dataplane, policy_type).policies
            if policy_type in side.side.types
            else ()
            for side, asked in ((self.was, was), (self.now, now))
        ]
        key = (policy_type, *(tuple(map(id, policies)) for policies in reaching))
        if key not in self._clients:
            self._clients[key] = self._told_apart(policy_type, [p for one in reaching for p in one])
        found, self._loose[policy_type] = self._clients[key]
        return found

    def _told_apart(
        self, policy_type: str, reaching: Sequence[Resource]
    ) -> tuple[dict[str, Identity], set[str]]:
        """Return the clients that some policies and the old ones tell apart, and which of them
        have values that nobody names."""
        selectors: list[Tags] = []
        for side in (self.was, self.now):
            for kind in kinds_of(policy_type):
                for policy in side.old.of(kind):
                    selectors += selectors_of(policy.spec, "sources")
        for policy in reaching:
            named = from_tags(policy)
            selectors += named
            if policy_type == "MeshFaultInjection":  # each tag is negated by itself (C19)
                selectors += [{k: v} for tags in named for k, v in tags.items()]
        found = clients(selectors, several=policy_type == "MeshTrafficPermission")
        if found is None:
            self.found.unknown[_too_many(policy_type)] = None
            found = []
        here = existing(self._proxies, selectors)
        every = dict.fromkeys((*found, *here))
        if policy_type in ("MeshFaultInjection", "MeshRateLimit"):
            every[BARE] = None
        loose = {shown(client) for client in every if is_loose(client)}
        named_by = {shown(client): client for client in every}
        return named_by, loose - {shown(client) for client in here}

    @cached_property
    def _proxies(self) -> list[Proxy]:
        return [
            proxy_of(dataplane, self.zone)
            for side in (self.was.side, self.now.side)
            for dataplane in side.state.of_type("Dataplane")
        ]

    def _is_loose(self, place: Place) -> bool:
        """Say whether a place is about clients that nobody names and no Dataplane is."""
        return len(place) > 3 and place[3] in self._loose.get(place[0], ())

    # -- proxies -----------------------------------------------------------------------------

    def listed(self, name: str, was: Resource, now: Resource) -> None:
        """Compare a Dataplane of the states; proxies that read the same are compared once."""
        key = repr([(d.spec.get("networking"), sorted(d.labels.items())) for d in (was, now)])
        if key not in self._same:
            self._same[key] = self._listed(was, now)
        found, noted = self._same[key]
        for witness in found:
            self._add(name, witness)
        if noted:
            self.found.doubts[name] = dict(noted)

    def _listed(
        self, was: Resource, now: Resource
    ) -> tuple[Sequence[Witness], Mapping[Doubt, None]]:
        """Return what differs for a Dataplane, and what is not known of it."""
        asked = [asked_of(d, self.zone, self.services) for d in (was, now)]
        self._noted = {}
        kept = self._kept(was, now, asked[0].services)
        found = tuple(self._compare(asked[0], asked[1], self.covered, kept=kept))
        noted, self._noted = self._noted, self.found.elsewhere
        return found, noted

    def _kept(self, was: Resource, now: Resource, services: Sequence[str]) -> frozenset[str]:
        """Return the services whose outbounds the old engine makes on either side.

        The others the new engine's own reading compares.
        """
        sides = ((Makers(self.was.side), was), (Makers(self.now.side), now))
        return frozenset(
            service
            for service in services
            if not all(all(makers.new(d, ServiceTag(service))) for makers, d in sides)
        )

    def made_up(self, policy_type: str) -> None:
        """Compare a proxy for every set of tags that policies of a type tell apart."""
        among = self.suspects(policy_type)
        if among is not None and not among:
            return
        asked = partial(
            trait_sets,
            self.was,
            self.now,
            policy_type,
            on_routes=self._only_real,
            pairs=self.pairs,
        )
        sets = asked(among=among)
        if sets is None:
            self.found.unknown[_too_many(policy_type)] = None
            return
        kinds = frozenset({policy_type})
        for own, loose in sets:
            self._try([own], kinds, loose=loose)
        if policy_type in INBOUND and policy_type != "MeshTimeout":
            return
        pairs = _pairs_of(sets, sets if among is None else asked())
        if pairs is None:
            self._beyond("a proxy with several inbounds that different policies choose")
            return
        for one, two in pairs:
            self._try([one, two], kinds, loose=True)

    def _try(self, sets: Sequence[Tags], kinds: frozenset[str], *, loose: bool) -> None:
        dataplane = made_up(sets, self.zone, self.was.side.mesh)
        if dataplane is None or self.broken_by(dataplane):
            return
        asked = asked_of(dataplane, self.zone, self.services)
        name = called(sets)
        found = list(self._compare(asked, asked, kinds, made_up=name))
        if loose and self.known:
            if any(w.effect is Effect.VALUE for w in found):
                self._beyond(name)
            return
        for witness in found:
            if self._unled(witness) and self.known:
                where = f"traffic to {witness.destination}, which depends on its outbounds"
                self._beyond(f"{name} with {where}")
                continue
            key = witness.key[1:]
            if key not in self._seen:
                self._seen.add(key)
                self._add(name, witness)

    def _unled(self, witness: Witness) -> bool:
        """Whether only a proxy's own outbounds tell what it reads.

        TrafficRoutes cross: they lead a connection nowhere, or past its protocol (notes C3), or
        several to one cluster (C2b); or they lead services that nobody named elsewhere (§2.6, 6).
        Or it is about an ExternalService, which matters to those that have an outbound to it.
        """
        was = str(witness.before.value)
        routes = witness.field == "routes"
        nowhere = routes and (was == "nothing" or was.startswith("treated as"))
        unnamed = routes and witness.destination.split(" ")[0] == ANY_SERVICE
        led = witness.field == TREATED or witness.policy_type == EXTERNAL
        return nowhere or unnamed or led or witness.key in self._crossed

    def _beyond(self, what: str) -> None:
        self.found.beyond[f"compared for the Dataplanes of the state, not for {what}"] = None

    # -- comparing ---------------------------------------------------------------------------

    def _compare(
        self,
        was: Asked,
        now: Asked,
        kinds: frozenset[str],
        *,
        made_up: str = "",
        kept: frozenset[str] | None = None,
    ) -> Iterator[Witness]:
        if kinds & set(OUTBOUND) and self._routed and not self._only_real:
            ways = [side.scenarios(asked) for side, asked in ((self.was, was), (self.now, now))]
            if ways[0] is None or ways[1] is None:
                words = "old TrafficRoutes tie in more ways than can be tried"
                self._noted[Doubt(DoubtKind.COMBINATIONS, words)] = None
                return
            for left, right in _couples(ways[0], ways[1]):
                yield from self._differing(
                    outbound_places(self.was, was, kinds, left, kept),
                    outbound_places(self.now, now, kinds, right, kept),
                    made_up,
                )
        if "MeshAccessLog" in kinds:
            passed = [log_of_passthrough(*s) for s in ((self.was, was), (self.now, now))]
            yield from self._differing(passed[0], passed[1], made_up)
        led_to = self._led_to(was, now)
        told = kinds & set(INBOUND) - {"MeshTimeout"}
        asking = {kind: self.clients(kind, was, now) for kind in sorted(told)}
        places = [
            self._places(s, a, kinds, led_to, asking) for s, a in ((self.was, was), (self.now, now))
        ]
        yield from self._differing(places[0], places[1], made_up)

    def _led_to(self, was: Asked, now: Asked) -> frozenset[str]:
        """Return where traffic of a proxy may end; only ExternalServices make anybody ask."""
        if not (self.was.external or self.now.external):
            return frozenset()
        return self.was.led_to(was) | self.now.led_to(now)

    def _differing(self, old: Places, new: Places, made_up: str) -> Iterator[Witness]:
        for place in dict.fromkeys((*old, *new)):
            if place not in old or place not in new:
                continue  # a cluster that comes or goes shows in the routes
            found = self._differ(place, old[place], new[place], made_up)
            if self.known and self._is_loose(place):
                if any(w.effect is Effect.VALUE for w in found):
                    self._beyond(f"clients with {place[3]} and values that nobody names")
                continue
            yield from found

    def _places(
        self,
        side: OldSide,
        asked: Asked,
        kinds: frozenset[str],
        led_to: frozenset[str],
        clients_: Mapping[str, dict[str, Identity]],
    ) -> Places:
        found: Places = {}
        if kinds & {*ROUTES, "MeshTrafficPermission"}:
            found |= external_access(side, asked, led_to)
        inbound = kinds & set(INBOUND)
        if inbound:
            found |= inbound_places(side, asked, inbound, clients_)
        if kinds & set(WHOLE):
            found |= whole_places(side, asked, kinds)
        return found

    @property
    def _routed(self) -> bool:
        """Whether the old engine makes outbounds on either side."""
        return self.was.routed or self.now.routed

    @cached_property
    def _only_real(self) -> bool:
        """Whether the mesh has no service-tag outbounds, which alone the old engine makes."""
        modes = {mesh_services_mode(s.side.state, s.side.mesh) for s in (self.was, self.now)}
        return modes == {"Exclusive"}

    def _differ(self, place: Place, old: Outcome, new: Outcome, made_up: str) -> Iterator[Witness]:
        if old.certain and new.certain:
            if old.effects[0] != new.effects[0]:
                yield from self._witnesses(place, old, new)
            return
        if old.effects == new.effects and _alike(old.old, new.old):
            return  # whoever of them wins, wins on both sides
        tied = old if not old.certain else new
        if made_up and self.known and tied.why != MTLS_UNKNOWN:
            self._beyond(f"{made_up}, for which {tied.why} decides between {names(tied.old)}")
            return
        self._noted[_undecided(place, tied)] = None

    def _witnesses(self, place: Place, old: Outcome, new: Outcome) -> Iterator[Witness]:
        left, right = old.effects[0], new.effects[0]
        names_ = dict.fromkeys((*left, *right))
        if left.get(TREATED) != right.get(TREATED):
            names_ = {TREATED: None}
        for name in names_:
            was, now = left.get(name), right.get(name)
            if was != now:
                found = self._witness(place, name, (was, now), (old, new))
                if old.why in CROSSED or new.why in CROSSED:
                    self._crossed.add(found.key)
                yield found

    def _witness(
        self, place: Place, name: str, values: tuple[Any, Any], outcomes: tuple[Outcome, Outcome]
    ) -> Witness:
        shown = [plain(v) for v in values]
        target = ", ".join(place[2:])
        if isinstance(values[0], Table) and isinstance(values[1], Table):
            found = first_difference(*values)
            if found is not None:
                shown = [found[1], found[2]]
                target = f"{target} ({found[0]})" if found[0] != "any request" else target
        direction = {"cluster": "outbound", "listener": "outbound"}.get(place[1], place[1])
        return Witness(
            mesh=self.was.side.mesh,
            proxy="",
            policy_type=place[0],
            direction=direction,
            destination=target,
            place="/".join(place[1:]),
            outbound=Outbound.SERVICE_TAG if direction == "outbound" else None,
            field=name,
            before=self._value(outcomes[0], name, shown[0], 0),
            after=self._value(outcomes[1], name, shown[1], 1),
            effect=self._effect(place, name, values),
        )

    def _effect(self, place: Place, name: str, values: tuple[Any, Any]) -> Effect:
        """Say what kind of difference it is: what no targetRef policy can express is residue."""
        if name in (DOWNSTREAM, NORMALIZED):
            return Effect.RESIDUE
        service = place[2].split("{")[0] if len(place) > 2 else ""
        idle = place[:2] == ("MeshTimeout", "cluster") and name == "idleTimeout"
        if idle and self.was.protocol(service) == "grpc":
            return Effect.RESIDUE
        if name == "faults" and _spelled(values[0]) == _spelled(values[1]):
            return Effect.ACTIVATION  # with the old unit the control plane failed
        return Effect.VALUE

    def _value(self, outcome: Outcome, name: str, value: Any, side: int) -> Value:
        if outcome.found is not None:
            said = value_of(Fact({}, outcome.found), name, value, self.locate[side])
            entry = outcome.found.entries[-1]
            if said.policy:
                return said
            at = self.locate[side](entry.policy, (*entry.policy.spec_path, *entry.path))
            return Value(value=value, policy=entry.policy.name, at=at)
        if len(outcome.old) == 1:
            policy = outcome.old[0]
            at = self.locate[side](policy, (*policy.spec_path, "conf"))
            return Value(value=value, policy=policy.name, at=at)
        return Value(value=value)

    def sections(self, listed: Sequence[tuple[str, Resource, Resource]]) -> None:
        """Compare what the Mesh said itself with the policies that say it now."""
        plain_ = made_up([{}], self.zone, self.was.side.mesh)
        assert plain_ is not None
        for name, was, now in [*listed, ("any proxy", plain_, plain_)]:
            asked = [asked_of(d, self.zone, self.services) for d in (was, now)]
            old = section_places(self.was, asked[0], self.changed_sections)
            new = section_places(self.now, asked[1], self.changed_sections)
            for place in old:
                for witness in self._differ(place, old[place], new[place], ""):
                    self._add(name, witness)

    def _add(self, name: str, witness: Witness) -> None:
        if witness.effect is Effect.RESIDUE:
            key = witness.key[1:]
            if witness.direction == "inbound" or witness.field == NORMALIZED:
                key = (witness.policy_type, witness.field, *key[-2:])
            if key in self._residues:
                return
            self._residues.add(key)
        self.found.witnesses.setdefault(name, []).append(replace(witness, proxy=name))


def _pairs_of(
    sets: TraitSets, others: TraitSets | None
) -> list[tuple[dict[str, str], dict[str, str]]] | None:
    """Return the traits of two inbounds, one of some sets and one of others; None: too many."""
    mine, more = (
        [own for own, loose in one if not loose and split(own)[0]] for one in (sets, others or ())
    )
    pairs = {
        frozenset((tuple(sorted(a.items())), tuple(sorted(b.items())))): (a, b)
        for a in mine
        for b in more
        if a != b
    }
    return None if others is None or len(pairs) > MOST_PAIRS else list(pairs.values())


def _undecided(place: Place, tied: Outcome) -> Doubt:
    """Return what decides at a place, and what would tell."""
    if tied.why == MTLS_UNKNOWN:
        words = f"{place[0]}: {MTLS_UNKNOWN}; give an inventory with the Mesh (--inventory)"
        return Doubt(DoubtKind.MISSING, words, concerns=place[0])
    advice = (
        "give an inventory with creation times (--inventory)"
        if tied.why != SHARED
        else "give an inventory with the Dataplanes"
    )
    words = f"{names(tied.old)}: {tied.why} decides between them; {advice}"
    return Doubt(DoubtKind.MISSING, words, concerns=place[0])


def _couples(
    left: Sequence[Mapping[str, Resource | None]], right: Sequence[Mapping[str, Resource | None]]
) -> list[tuple[list[Routes], list[Routes]]]:
    """Return the ways in which TrafficRoutes may win, each with the same way on the other side.

    Where both sides know the same ways, whichever wins on one wins on the other.
    """
    keyed = [{_way(one): one for one in ways} for ways in (left, right)]
    if keyed[0].keys() == keyed[1].keys():
        return [([one], [keyed[1][key]]) for key, one in keyed[0].items()]
    return [(list(left), list(right))]


def _way(routes: Mapping[str, Resource | None]) -> str:
    said = [(s, r and (r.identity, r.created, r.spec)) for s, r in sorted(routes.items())]
    return repr(said)


def _alike(one: Sequence[Resource], two: Sequence[Resource]) -> bool:
    """Say whether two lists hold the same policies, unchanged."""
    sets = [
        sorted(repr((p.identity, p.created, p.spec)) for p in policies) for policies in (one, two)
    ]
    return sets[0] == sets[1]


def _spelled(faults: Any) -> str:
    """Return faults with the units of bandwidth spelled alike."""
    text = json.dumps(plain(faults), sort_keys=True)
    return text.replace("mbps", "Mbps").replace("gbps", "Gbps")


def _too_many(policy_type: str) -> Doubt:
    words = (
        f"{policy_type}: old policies choose proxies or clients in more ways than can be tried;"
        " simplify their selectors"
    )
    return Doubt(DoubtKind.COMBINATIONS, words, concerns=policy_type)


def said(old: OldPolicies, kind: str) -> list[Any]:
    """Return what the policies of a kind say, in no order."""
    return sorted(repr((p.name, p.spec)) for p in old.of(kind))


def plain(value: Any) -> Any:
    """Return a setting as JSON can hold it."""
    if isinstance(value, Duration):
        return str(value)
    if isinstance(value, Table):
        return value.family or "nothing"
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, frozenset | set):
        return sorted((plain(v) for v in value), key=str)
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return value
