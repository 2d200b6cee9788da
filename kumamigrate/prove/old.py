"""The old engine's part of a proof: where old policies are, both engines are compared together.

Before = the old engine, and the new one where both reach a proxy; after = the same question asked
of the other side. Types that this part compares are taken out of the plain comparison, which
knows the new engine alone. Old policies that nobody touched, beside new ones that nobody touched,
are equal by construction.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib import resources
from typing import Any

from kumamigrate.legacy.duration import Duration
from kumamigrate.legacy.engine import order
from kumamigrate.legacy.selector import ANY, Tags, matches, selectors_of
from kumamigrate.legacy.targets import UNKNOWN
from kumamigrate.legacy.winners import OldPolicies
from kumamigrate.match.items import to_entries, top_of
from kumamigrate.model.kinds import OLD_POLICIES
from kumamigrate.model.resource import MESH, PROXY_TYPE, SERVICE, ZONE, Resource
from kumamigrate.model.state import State, mesh_services_mode
from kumamigrate.prove.compare import value_of
from kumamigrate.prove.coverage import Findings
from kumamigrate.prove.mesh import MeshComparison
from kumamigrate.prove.oldin import Identity, clients, inbound_places, is_loose, shown, whole_places
from kumamigrate.prove.oldout import (
    CROSSED,
    DOWNSTREAM,
    SHARED,
    TREATED,
    external_access,
    outbound_places,
)
from kumamigrate.prove.oldroute import Table, first_difference
from kumamigrate.prove.oldsection import SECTIONS, section_places, sections_changed, unread_fields
from kumamigrate.prove.oldside import (
    REMOVED,
    Asked,
    OldSide,
    Outcome,
    Place,
    Places,
    Routes,
    asked_of,
    names,
)
from kumamigrate.prove.picture import Fact
from kumamigrate.prove.proof import Effect, Outbound, Value, Witness
from kumamigrate.prove.side import Side

OUTBOUND = (
    "MeshTimeout",
    "MeshRetry",
    "MeshCircuitBreaker",
    "MeshHealthCheck",
    "MeshAccessLog",
    "MeshLoadBalancingStrategy",
    "MeshHTTPRoute",
    "MeshTCPRoute",
)
INBOUND = ("MeshTrafficPermission", "MeshFaultInjection", "MeshRateLimit", "MeshTimeout")
WHOLE = ("MeshTrace", "MeshProxyPatch")
ROUTES = ("MeshHTTPRoute", "MeshTCPRoute")
ANY_SERVICE = "any-other-service"
ANY_VALUE = "any-value"
MOST_PROXIES = 400
MOST_PAIRS = 60
ASSUMABLE = (UNKNOWN, "http", "http2", "grpc", "tcp", "kafka")
_REFERENCE_SINCE = (2, 10)


@cache
def _successors() -> Mapping[str, Sequence[str]]:
    text = resources.files("kumamigrate.prove").joinpath("tables", "engines.json")
    found: Mapping[str, Sequence[str]] = json.loads(text.read_text(encoding="utf-8"))
    return found


def converted(state: State, mesh: str) -> bool:
    """Say whether a mesh has old policies that count on the release of the state."""
    if order(state.release) >= order(REMOVED):
        return False
    return any(r.mesh == mesh for r in state.of_type(*OLD_POLICIES))


@dataclass(slots=True)
class Answer:
    """What the comparison came to, proxy by proxy, and what it rests on."""

    witnesses: dict[str, list[Witness]] = field(default_factory=dict)
    unknown: dict[str, None] = field(default_factory=dict)
    beyond: dict[str, None] = field(default_factory=dict)
    assumptions: dict[str, None] = field(default_factory=dict)


class OldEngine:
    """What the old engine has a say in, of two sides of one mesh."""

    def __init__(self, pair: MeshComparison, changed: frozenset[str]) -> None:
        self.locate = pair.locate
        self.before, self.after = pair.before, pair.after
        self.changed = changed
        self.covered = self._covered()
        self.sections = sections_changed(self.before, self.after)

    @property
    def engaged(self) -> bool:
        """Whether anything is compared here at all."""
        return bool(self.covered or self.sections)

    def _covered(self) -> frozenset[str]:
        sides = [OldSide(side) for side in (self.before, self.after)]
        there = {kind for s in sides for kind in s.old.by_kind}
        if not there:
            return frozenset()
        changed = set(self.changed)
        found: set[str] = set()
        routes = "TrafficRoute" in there and bool(changed & {"TrafficRoute", *ROUTES})
        for kind in there:
            successors = _successors().get(kind, ())
            read = {"TrafficLog": "logging", "TrafficTrace": "tracing"}.get(kind, "")
            section = read and _section(self.before, read) != _section(self.after, read)
            if changed & {kind, *successors} or section:
                found.update(successors)
        if routes:
            found.update(OUTBOUND)
        return frozenset(found)

    def takes(self, witness: Witness) -> Witness | None:
        """Return a witness of the plain comparison as it counts here, None if it does not."""
        if witness.policy_type == "Mesh" and witness.direction == "mesh":
            return None if self._compared_here(witness.field) else witness
        here = witness.policy_type in self.covered or witness.policy_type in self._section_types
        if not here:
            return witness
        if witness.outbound is not Outbound.REAL:
            return None
        # What reached no real outbound before takes effect there exactly as written.
        if witness.policy_type not in self.before.types:
            return replace(witness, effect=Effect.ACTIVATION)
        return witness

    @property
    def _section_types(self) -> frozenset[str]:
        return frozenset(SECTIONS[name].policy_type for name in self.sections)

    def _compared_here(self, path: str) -> bool:
        roots = [SECTIONS[name].root for name in self.sections]
        roots += unread_fields(self.before, self.after)
        return any(path == root or path.startswith(f"{root}.") for root in roots)

    def seen(self, witnesses: Iterable[Witness]) -> tuple[Witness, ...]:
        """Return the witnesses of the plain comparison that count here."""
        taken = (self.takes(w) for w in witnesses)
        return tuple(w for w in taken if w is not None)

    def of(self, name: str) -> tuple[Witness, ...]:
        """Return what differs for a Dataplane of the states."""
        return tuple(self.answer.witnesses.get(name, ()))

    def join(self, found: Findings, *, made_up: bool) -> None:
        """Put what differs for made-up proxies among what the plain comparison found."""
        if not self.engaged:
            return
        for name, witnesses in list(found.proxies.items()):
            found.proxies[name] = list(self.seen(witnesses))
            if not found.proxies[name]:
                del found.proxies[name]
        own = tuple(f"{kind}: " for kind in self.covered)
        for doubt in [d for d in found.unknown if d.startswith(own)]:
            del found.unknown[doubt]  # too many ways for the plain comparison
        listed = {name for name, _, _ in self._listed()}
        for name, witnesses in self.answer.witnesses.items() if made_up else ():
            if name not in listed:
                found.add(name, witnesses)

    # -- answers -----------------------------------------------------------------------------

    @cached_property
    def answer(self) -> Answer:
        """Return what differs, and what is not known."""
        found = Answer()
        if not self.engaged:
            return found
        found.unknown.update(dict.fromkeys(self._doubts()))
        if found.unknown:
            return found
        self._assume(found)
        listed = self._listed()
        candidates = (UNKNOWN,) if self._known else ASSUMABLE
        runs = [self._run(listed, assumed) for assumed in candidates]
        _agree(found, runs)
        return found

    def _doubts(self) -> Iterator[str]:
        for side in (self.before, self.after):
            for resource in side.state.of_type(*OLD_POLICIES, *sorted(self.covered)):
                if resource.templated:
                    yield (
                        f"{resource.type} {resource.name} holds template expressions, whose values"
                        " are unknown; render the templates and run on the result"
                    )
            if any(side.state.of_type("MeshGateway")) and self.covered & {*OUTBOUND, *INBOUND}:
                yield (
                    "what a built-in gateway reads of old policies is not modelled; compare its"
                    " configuration by hand"
                )
            yield from self._external(side)
            yield from self._labelled(side)

    def _external(self, side: Side) -> Iterator[str]:
        """Yield doubts about ExternalServices: limits where requests leave, and zone egress."""
        old = OldSide(side)
        if old.external and old.egress and self.covered:
            yield "what a zone egress does with old policies for ExternalServices is not modelled"
        if "MeshRateLimit" in self.covered and old.routed:
            for policy in old.old.of("RateLimit"):
                hits = (
                    selector
                    for selector in selectors_of(policy.spec, "destinations")
                    if any(matches(selector, tags) for tags in old.external)
                )
                if _said(old.old, "RateLimit") != _said(self._other(side), "RateLimit") and any(hits):
                    yield (
                        f"RateLimit {policy.name} limits requests to ExternalServices where they"
                        " leave, which is not compared"
                    )

    def _other(self, side: Side) -> OldPolicies:
        return OldSide(self.after if side is self.before else self.before).old

    def _labelled(self, side: Side) -> Iterator[str]:
        for policy_type in sorted(self.covered & side.types):
            for policy in side.state.of_type(policy_type):
                top = top_of(policy, side.release)
                if top.kind not in ("Mesh", "MeshSubset", "MeshService", "MeshServiceSubset"):
                    yield (
                        f"{policy.type} {policy.name} chooses by {top.kind}, and what it gives"
                        " together with old policies is not compared; convert those first"
                    )

    def _assume(self, found: Answer) -> None:
        if "MeshTimeout" in self.covered and _newer(self.before, (2, 14)):
            text = (
                "from 2.14 on a control plane overrules half of what an old Timeout says;"
                " compared is what it meant up to 2.9"
            )
            found.assumptions[text] = None
        if self._known and self.covered & set(OUTBOUND):
            text = (
                "services of which the state has no Dataplane have no endpoints and carry TCP,"
                " as far as old policies treat HTTP differently"
            )
            found.assumptions[text] = None

    @cached_property
    def _known(self) -> bool:
        """Whether the state has Dataplanes, so that listed proxies can settle what is undecided."""
        return any(True for _ in self.before.state.of_type("Dataplane"))

    def _listed(self) -> list[tuple[str, Resource, Resource]]:
        now = {(d.namespace, d.name): d for d in self.after.state.of_type("Dataplane")}
        return [
            (d.name, d, now[d.namespace, d.name])
            for d in self.before.state.of_type("Dataplane")
            if (d.namespace, d.name) in now
        ]

    def _run(self, listed: Sequence[tuple[str, Resource, Resource]], assumed: str) -> Answer:
        run = _Run(self, OldSide(self.before, assumed), OldSide(self.after, assumed))
        for name, was, now in listed:
            run.listed(name, was, now)
        for policy_type in sorted(self.covered):
            run.made_up(policy_type)
        if self.sections:
            run.sections()
        return run.found


class _Run:
    """One comparison under one assumption about protocols."""

    def __init__(self, engine: OldEngine, was: OldSide, now: OldSide) -> None:
        self.engine, self.was, self.now = engine, was, now
        self.found = Answer()
        self.zone = was.side.state.environment.zone
        self.services = tuple(sorted(self._services()))
        self._clients: dict[str, list[Identity]] = {}
        self._seen: set[tuple[str, ...]] = set()
        self._crossed: set[tuple[str, ...]] = set()
        self._same: dict[str, tuple[Witness, ...]] = {}

    def _services(self) -> set[str]:
        found = {ANY_SERVICE, *self.was.known, *self.now.known}
        for side in (self.was, self.now):
            for kind in side.old.by_kind:
                for policy in side.old.of(kind):
                    for tags in selectors_of(policy.spec, "destinations"):
                        found.add(tags.get(SERVICE, ANY))
                    found |= _destinations(policy)
            for policy_type in self.engine.covered & side.side.types & set(OUTBOUND):
                for policy in side.side.state.of_type(policy_type):
                    kind_ = side.side.release.policy_types[policy_type]
                    for entry in to_entries(policy, kind_, side.side.release):
                        if entry.target is not None and entry.target.name:
                            found.add(entry.target.name)
        return found - {"", ANY}

    def clients(self, policy_type: str) -> list[Identity]:
        """Return the clients to ask for, as far as anybody tells them apart."""
        if policy_type not in self._clients:
            selectors: list[Tags] = []
            for side in (self.was, self.now):
                for kind in _kinds_of(policy_type):
                    for policy in side.old.of(kind):
                        selectors += selectors_of(policy.spec, "sources")
                for policy in side.side.state.of_type(policy_type):
                    selectors += _from_tags(policy)
            found = clients(selectors, several=policy_type == "MeshTrafficPermission")
            if found is None:
                self.found.unknown[_too_many(policy_type)] = None
                found = []
            self._clients[policy_type] = found
        return self._clients[policy_type]

    # -- proxies -----------------------------------------------------------------------------

    def listed(self, name: str, was: Resource, now: Resource) -> None:
        """Compare a Dataplane of the states; proxies that read the same are compared once."""
        key = repr((was.spec.get("networking"), now.spec.get("networking"), was.zone, now.zone))
        asked = [asked_of(d, self.zone, self.services) for d in (was, now)]
        if key not in self._same:
            self._same[key] = tuple(self._compare(asked[0], asked[1], self.engine.covered))
        for witness in self._same[key]:
            self._add(name, witness)

    def made_up(self, policy_type: str) -> None:
        """Compare a proxy for every set of tags that policies of a type tell apart."""
        sets = self._tag_sets(policy_type)
        if sets is None:
            self.found.unknown[_too_many(policy_type)] = None
            return
        kinds = frozenset({policy_type})
        for own, loose in sets:
            self._try([own], kinds, loose=loose)
        several = [own for own, loose in sets if not loose and own]
        pairs = [(a, b) for i, a in enumerate(several) for b in several[i + 1 :]]
        if policy_type in INBOUND and policy_type != "MeshTimeout":
            return
        if len(pairs) > MOST_PAIRS:
            self._beyond("a proxy with several inbounds that different policies choose")
            return
        for one, two in pairs:
            self._try([one, two], kinds, loose=True)

    def _try(self, sets: Sequence[Tags], kinds: frozenset[str], *, loose: bool) -> None:
        dataplane = _made_up(sets, self.zone, self.was.side.mesh)
        asked = asked_of(dataplane, self.zone, self.services)
        name = _named(sets)
        found = list(self._compare(asked, asked, kinds, made_up=name))
        if loose and self.engine._known:
            if any(w.effect is Effect.VALUE for w in found):
                self._beyond(name)
            return
        for witness in found:
            if self._unled(witness) and self.engine._known:
                self._beyond(f"{name} with traffic to {witness.destination}, as TrafficRoutes cross")
                continue
            key = witness.key[1:]
            if key not in self._seen:
                self._seen.add(key)
                self._add(name, witness)

    def _unled(self, witness: Witness) -> bool:
        """Whether TrafficRoutes cross so that only a proxy's own outbounds tell what it reads.

        They lead a connection nowhere, or past its protocol (notes C3), or several to one cluster
        (C2b); or they lead services that nobody named elsewhere (§2.6, 6).
        """
        was = str(witness.before.value)
        routes = witness.field == "routes"
        nowhere = routes and (was == "nothing" or was.startswith("treated as"))
        unnamed = routes and witness.destination.split(" ")[0] == ANY_SERVICE
        return nowhere or unnamed or witness.field == TREATED or witness.key in self._crossed

    def _beyond(self, what: str) -> None:
        self.found.beyond[f"compared for the Dataplanes of the state, not for {what}"] = None

    def _tag_sets(self, policy_type: str) -> list[tuple[dict[str, str], bool]] | None:
        """Return tags of proxies to try; True where a value stands for any that nobody names."""
        seeds: set[frozenset[tuple[str, str]]] = set()
        for tags in self._selectors(policy_type):
            seeds.add(frozenset(tags.items()))
        closed: set[frozenset[tuple[str, str]]] = {frozenset()}
        for seed in sorted(_written_out(seeds), key=sorted):
            joined = {own | seed for own in closed}
            closed |= {own for own in joined if len({k for k, _ in own}) == len(own)}
            if len(closed) > MOST_PROXIES:
                return None
        result = []
        for own in sorted(closed, key=lambda t: (len(t), sorted(t))):
            loose = any(v == ANY_VALUE and k not in (SERVICE, ZONE) for k, v in own)
            result.append((dict(own), loose))
        return result

    def _selectors(self, policy_type: str) -> Iterator[Tags]:
        outbound = policy_type in OUTBOUND
        kinds = list(_kinds_of(policy_type))
        if outbound:
            kinds.append("TrafficRoute")
        for side in (self.was, self.now):
            for kind in kinds:
                fields = _FIELDS.get(kind, ("sources",))
                for policy in side.old.of(kind):
                    for name in fields:
                        yield from selectors_of(policy.spec, name)
            for kind in (policy_type, *(ROUTES if outbound else ())):
                if kind in side.side.types:
                    for policy in side.side.state.of_type(kind):
                        yield _top_tags(policy, side.side)

    # -- comparing ---------------------------------------------------------------------------

    def _compare(
        self, was: Asked, now: Asked, kinds: frozenset[str], *, made_up: str = ""
    ) -> Iterator[Witness]:
        ways = [side.scenarios(asked) for side, asked in ((self.was, was), (self.now, now))]
        if kinds & set(OUTBOUND) and not self._only_real:
            if ways[0] is None or ways[1] is None:
                self.found.unknown["old TrafficRoutes tie in more ways than can be tried"] = None
                return
            for left, right in _couples(ways[0], ways[1]):
                yield from self._differing(
                    outbound_places(self.was, was, kinds, left),
                    outbound_places(self.now, now, kinds, right),
                    made_up,
                )
        places = [self._places(self.was, was, kinds), self._places(self.now, now, kinds)]
        yield from self._differing(places[0], places[1], made_up)

    def _differing(self, old: Places, new: Places, made_up: str) -> Iterator[Witness]:
        for place in dict.fromkeys((*old, *new)):
            if place not in old or place not in new:
                continue  # a cluster that comes or goes shows in the routes
            if _loose_client(place, self._clients) and self.engine._known:
                if any(w.effect is Effect.VALUE for w in self._differ(place, old[place], new[place], made_up)):
                    self._beyond(f"clients with {place[3]} and values of other tags that nobody names")
                continue
            yield from self._differ(place, old[place], new[place], made_up)

    def _places(self, side: OldSide, asked: Asked, kinds: frozenset[str]) -> Places:
        found: Places = {}
        if kinds & {*ROUTES, "MeshTrafficPermission"}:
            found |= external_access(side, asked)
        inbound = kinds & set(INBOUND)
        if inbound:
            asking = {k: self.clients(k) for k in inbound if k != "MeshTimeout"}
            found |= inbound_places(side, asked, inbound, asking)
        if kinds & set(WHOLE):
            found |= whole_places(side, asked, kinds)
        return found

    @cached_property
    def _only_real(self) -> bool:
        """Whether the mesh has no service-tag outbounds, which alone the old engine makes."""
        modes = {mesh_services_mode(s.side.state, s.side.mesh) for s in (self.was, self.now)}
        return modes == {"Exclusive"}

    def _differ(
        self, place: Place, old: Outcome, new: Outcome, made_up: str
    ) -> Iterator[Witness]:
        if old.certain and new.certain:
            if old.effects[0] != new.effects[0]:
                yield from self._witnesses(place, old, new)
            return
        if old.effects == new.effects and _alike(old.old, new.old):
            return  # whoever of them wins, wins on both sides
        tied = old if not old.certain else new
        if made_up and self.engine._known:
            self._beyond(f"{made_up}, for which {tied.why} decides between {names(tied.old)}")
            return
        advice = (
            "give an inventory with creation times (--inventory)"
            if tied.why != SHARED
            else "give an inventory with the Dataplanes"
        )
        self.found.unknown[f"{names(tied.old)}: {tied.why} decides between them; {advice}"] = None

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
        direction = {"cluster": "outbound"}.get(place[1], place[1])
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
        if name == DOWNSTREAM:
            return Effect.RESIDUE
        service = place[2].split("{")[0] if len(place) > 2 else ""
        if place[:2] == ("MeshTimeout", "cluster") and name == "idleTimeout":
            if self.was.protocol(service) == "grpc":
                return Effect.RESIDUE
        if name == "faults" and _spelled(values[0]) == _spelled(values[1]):
            return Effect.ACTIVATION  # with the old unit the control plane failed
        return Effect.VALUE

    def _value(self, outcome: Outcome, name: str, value: Any, side: int) -> Value:
        if outcome.found is not None:
            said = value_of(Fact({}, outcome.found), name, value, self.engine.locate[side])
            entry = outcome.found.entries[-1]
            if said.policy:
                return said
            at = self.engine.locate[side](entry.policy, (*entry.policy.spec_path, *entry.path))
            return Value(value=value, policy=entry.policy.name, at=at)
        if len(outcome.old) == 1:
            policy = outcome.old[0]
            at = self.engine.locate[side](policy, (*policy.spec_path, "conf"))
            return Value(value=value, policy=policy.name, at=at)
        return Value(value=value)

    def sections(self) -> None:
        """Compare what the Mesh said itself with the policies that say it now."""
        proxies = [(n, w, x) for n, w, x in self.engine._listed()]
        plain_ = _made_up([{}], self.zone, self.was.side.mesh)
        for name, was, now in [*proxies, ("any proxy", plain_, plain_)]:
            old = section_places(self.was, asked_of(was, self.zone, ()), self.engine.sections)
            new = section_places(self.now, asked_of(now, self.zone, ()), self.engine.sections)
            for place in old:
                for witness in self._differ(place, old[place], new[place], ""):
                    self._add(name, witness)

    def _add(self, name: str, witness: Witness) -> None:
        if witness.effect is Effect.RESIDUE:
            key = witness.key[1:]
            if witness.direction == "inbound":
                key = (witness.policy_type, witness.field, *key[-2:])
            if key in self._seen_residues:
                return
            self._seen_residues.add(key)
        self.found.witnesses.setdefault(name, []).append(replace(witness, proxy=name))

    @cached_property
    def _seen_residues(self) -> set[tuple[str, ...]]:
        return set()


_FIELDS = {
    "TrafficPermission": ("destinations",),
    "FaultInjection": ("destinations",),
    "RateLimit": ("destinations",),
    "TrafficTrace": ("selectors",),
    "ProxyTemplate": ("selectors",),
}


def _loose_client(place: Place, known: Mapping[str, Sequence[Identity]]) -> bool:
    if len(place) < 4:
        return False
    found = (c for c in known.get(place[0], ()) if shown(c) == place[3])
    return any(is_loose(client) for client in found)


def _kinds_of(policy_type: str) -> tuple[str, ...]:
    return tuple(kind for kind, new in _successors().items() if policy_type in new)


def _agree(found: Answer, runs: Sequence[Answer]) -> None:
    """Join runs under different assumptions: what only some of them find is unknown."""
    for run in runs:
        found.unknown |= run.unknown
        found.beyond |= run.beyond
    if len(runs) == 1:
        found.witnesses = runs[0].witnesses
        return
    keyed = [
        {(name, *w.key[1:]): (name, w) for name, ws in run.witnesses.items() for w in ws}
        for run in runs
    ]
    for key in dict.fromkeys(k for one in keyed for k in one):
        holding = [one[key] for one in keyed if key in one]
        name, witness = holding[0]
        if len(holding) == len(runs) or witness.effect is not Effect.VALUE:
            found.witnesses.setdefault(name, []).append(witness)
        else:
            found.unknown[
                f"{witness.policy_type} for {witness.destination or name}: {witness.field} depends"
                " on the protocol of the service, which the state does not say; give an inventory"
                " with the Dataplanes (--inventory)"
            ] = None


def _written_out(seeds: set[frozenset[tuple[str, str]]]) -> set[frozenset[tuple[str, str]]]:
    """Replace "present" by every value that is named for the key, and by one that is not."""
    values: dict[str, set[str]] = {}
    for seed in seeds:
        for key, value in seed:
            if value != ANY:
                values.setdefault(key, set()).add(value)
    result = set()
    for seed in seeds:
        sets: list[dict[str, str]] = [{}]
        for key, value in sorted(seed):
            options = [value] if value != ANY else [ANY_VALUE, *sorted(values.get(key, ()))]
            if value == ANY and key in (SERVICE, ZONE):
                continue  # every proxy has these two
            sets = [{**tags, key: option} for tags in sets for option in options]
        result |= {frozenset(tags.items()) for tags in sets}
    return result


def _top_tags(policy: Resource, side: Side) -> dict[str, str]:
    top = top_of(policy, side.release)
    tags = dict(top.tags or ())
    if top.kind in ("MeshService", "MeshServiceSubset"):
        tags[SERVICE] = top.name or ""
    return tags if top.kind != "Mesh" else {}


def _from_tags(policy: Resource) -> list[Tags]:
    items = policy.spec.get("from")
    found: list[Tags] = []
    for item in items if isinstance(items, list) else ():
        ref = item.get("targetRef") if isinstance(item, Mapping) else None
        if not isinstance(ref, Mapping):
            continue
        tags = {str(k): str(v) for k, v in (ref.get("tags") or {}).items()}
        if ref.get("kind") in ("MeshService", "MeshServiceSubset"):
            tags[SERVICE] = str(ref.get("name") or "")
        found.append(tags)
    return found


def _destinations(node: Any) -> set[str]:
    """Return the services that the conf of a TrafficRoute leads to."""
    found: set[str] = set()
    conf = node.spec.get("conf") if isinstance(node, Resource) else node
    if not isinstance(conf, Mapping):
        return found
    target = conf.get("destination")
    if isinstance(target, Mapping):
        found.add(str(target.get(SERVICE, ANY)))
    for name in ("split", "http"):
        items = conf.get(name)
        for item in items if isinstance(items, list) else ():
            found |= _destinations(item)
    return found


def _made_up(sets: Sequence[Tags], zone: str, mesh: str) -> Resource:
    inbounds = []
    for at, tags in enumerate(sets):
        base = {SERVICE: ANY_SERVICE, ZONE: zone or "any-zone"}
        inbounds.append({"port": 10_000 + at, "tags": {**base, **tags}})
    return Resource(
        type="Dataplane",
        mesh=mesh,
        name="any-proxy",
        labels={MESH: mesh, PROXY_TYPE: "sidecar", **({ZONE: zone} if zone else {})},
        spec={"networking": {"address": "192.0.2.1", "inbound": inbounds}},
        made_up=True,
    )


def _named(sets: Sequence[Tags]) -> str:
    parts = []
    for tags in sets:
        parts.append(
            ", ".join(f"{k}={'any other' if v == ANY_VALUE else v}" for k, v in sorted(tags.items()))
        )
    if parts == [""]:
        return "any proxy"
    if len(parts) == 1:
        return f"any proxy with {parts[0]}"
    return "any proxy with one inbound of " + " and one of ".join(parts)


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
    sets = [sorted(repr((p.identity, p.created, p.spec)) for p in policies) for policies in (one, two)]
    return sets[0] == sets[1]


def _spelled(faults: Any) -> str:
    """Return faults with the units of bandwidth spelled alike."""
    return repr(faults).replace("mbps", "Mbps").replace("gbps", "Gbps")


def _too_many(policy_type: str) -> str:
    return (
        f"{policy_type}: old policies choose proxies or clients in more ways than can be tried;"
        " simplify their selectors"
    )


def _said(old: OldPolicies, kind: str) -> list[Any]:
    return sorted(repr((p.name, p.spec)) for p in old.of(kind))


def _section(side: Side, name: str) -> Any:
    mesh = next((r for r in side.state.of_type("Mesh") if r.name == side.mesh), None)
    return mesh.spec.get(name) if mesh is not None else None


def _newer(side: Side, release: tuple[int, int]) -> bool:
    return order(side.release.name) >= release


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

