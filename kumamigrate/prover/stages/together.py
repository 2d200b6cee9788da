"""Made-up proxies where both engines are asked: every set of what tells their policies apart.

Old policies choose proxies by the tags of one inbound, and one of them decides for a connection,
depending on the routes as well. So all that the policies of a type ask is tried together on one
inbound, and any two of those sets on two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.effective.bothengines.whoanswers import BESIDE, BY_CLIENT, OUTBOUND, kinds_of
from kumamigrate.effective.compare import too_many_ways
from kumamigrate.effective.difference import Effect
from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.model.resource import SERVICE, Resource
from kumamigrate.prover.oldengine import OldEngine
from kumamigrate.prover.owed import Owed
from kumamigrate.prover.proof import only_listed
from kumamigrate.prover.slots.mesh import MeshComparison
from kumamigrate.prover.slots.twosides import SlotsCompared
from kumamigrate.prover.stages.proxyfindings import Findings
from kumamigrate.prover.stages.searchslot import spoken_besides
from kumamigrate.prover.stages.sequence import ALL_SECTIONS, EVERY, Suspects, either
from kumamigrate.sourcedest.selector import ANY, selectors_of
from kumamigrate.universe.combinations import Combinations, Pairings, TooManySetsError, limited
from kumamigrate.universe.madeup import (
    ZONE_TAG,
    Atom,
    Requirement,
    Setting,
    by_atom,
    in_order,
    settings_of,
)
from kumamigrate.universe.madeupproxy import describe, proxy_with
from kumamigrate.universe.namespaces import Namespaces
from kumamigrate.universe.reach import Reach
from kumamigrate.universe.side import ROUTES, Side

MOST_TOGETHER = 10
"""No proxy that more tells apart is tried."""
MOST_PAIRS = 60

_FIELDS = {
    "TrafficPermission": "destinations",
    "FaultInjection": "destinations",
    "RateLimit": "destinations",
    "TrafficTrace": "selectors",
    "ProxyTemplate": "selectors",
}
"""Where old policies say what proxies they are for, if not in `sources`."""


class Tried(NamedTuple):
    """Whether a suspect chooses a proxy, and whether there is more to it here than elsewhere."""

    suspect: bool
    fresh: bool


Sets = dict[Atom, Tried]
"""What one inbound and the labels of a proxy have."""


@dataclass(frozen=True, kw_only=True)
class Together:
    """Tries what both engines give of a type; `found` is where it notes that.

    What stood already is no difference (`standing`).
    """

    pair: MeshComparison
    old: OldEngine
    found: Findings
    names: bool
    standing: Owed | None = None

    def search(self) -> None:
        """Try all types that both engines are asked for."""
        pairings = Pairings(self.pair.couplings.asked)
        besides = spoken_besides(self.pair, self._reaches)
        for policy_type in self.old.made_up:
            suspects = self._suspects(policy_type)
            if not suspects or not self.old.may_differ(policy_type):
                continue
            every = tuple(dict.fromkeys(self._asked(policy_type)))
            asked = by_atom(every)
            namespaces = Namespaces(every, besides, pairings, one_inbound=True)
            for setting in self._settings(every):
                try:
                    sets = self._sets(asked, suspects, setting, pairings, namespaces)
                except TooManySetsError:
                    self.old.elsewhere[too_many_ways(policy_type)] = None
                    break
                self._try(policy_type, sets, setting)

    @property
    def _reaches(self) -> tuple[Reach, ...]:
        return (*self.pair.reaches, *((self.standing.reach,) if self.standing else ()))

    # -- what tells proxies apart ------------------------------------------------------------

    def _kinds(self, policy_type: str) -> set[str]:
        routes = ROUTES if policy_type in OUTBOUND else ()
        return {policy_type, *routes, *BESIDE.get(policy_type, ())}

    def _suspects(self, policy_type: str) -> Suspects:
        """Return the policies that can make a difference in what both engines give of a type."""
        sequences = self.pair.sequences
        if policy_type in BY_CLIENT and any(sequences.suspects("MeshTLS", s) for s in ALL_SECTIONS):
            return EVERY  # what clients without a sidecar meet may be another
        kinds = sorted(self._kinds(policy_type))
        return either(*(sequences.suspects(kind, s) for kind in kinds for s in ALL_SECTIONS))

    def _asked(self, policy_type: str) -> Iterator[Requirement]:
        for reach in self._reaches:
            yield from (k.requirement for t in self._kinds(policy_type) for k in reach.of(t))
            yield from (Requirement(atom=one) for one in _by_old(reach.side, policy_type))

    def _settings(self, asked: Iterable[Requirement]) -> list[Setting]:
        """Return the surroundings of proxies of the own zone, which alone old policies reach."""
        zone = self.pair.before.state.environment.zone
        return [one for one in settings_of(asked, zone) if not zone or one.zone == zone]

    def _sets(
        self,
        asked: Mapping[Atom | None, Sequence[Requirement]],
        suspects: Suspects,
        setting: Setting,
        pairings: Pairings,
        namespaces: Namespaces,
    ) -> Sets:
        nearby = namespaces.near(setting)
        mine = {r.atom for a in nearby.atoms for r in asked.get(a, ()) if setting.admits(r)}
        atoms = sorted((atom for atom in mine if atom is not None), key=in_order)
        combinations = Combinations(atoms, setting, pairings, one_inbound=True)
        here = [k.requirement.atom for k in suspects.known if setting.admits(k.requirement)]
        every = suspects.every or None in here
        holding = combinations.holding(atom for atom in here if atom is not None)
        is_worth = nearby.worth(combinations)
        found: Sets = {}
        for members in limited(combinations.every(MOST_TOGETHER)):
            whole = _as_one(combinations.chosen(members))
            known = found.get(whole, Tried(suspect=every, fresh=False))
            found[whole] = Tried(
                suspect=known.suspect or bool(members & holding),
                fresh=known.fresh or is_worth(members),
            )
        return dict(sorted(found.items(), key=lambda one: len((*one[0].tags, *one[0].labels))))

    # -- trying ------------------------------------------------------------------------------

    def _try(self, policy_type: str, sets: Sets, setting: Setting) -> None:
        suspected = [one for one, tried in sets.items() if tried.suspect]
        for one in suspected:
            if sets[one].fresh:
                self._ask(policy_type, (one,), setting)
        if policy_type in BY_CLIENT:
            return
        mine, others = (
            [one for one in found if (one.tags or one.section) and not _is_loose(one)]
            for found in (suspected, sets)
        )
        pairs: dict[frozenset[Atom], tuple[Atom, Atom]] = {}
        for two in product(mine, others):
            if two[0] != two[1] and any(sets[one].fresh for one in two):
                pairs[frozenset(two)] = two
            if len(pairs) > MOST_PAIRS:  # counted no further
                self._beyond("a proxy with several inbounds that different policies choose")
                return
        for two in pairs.values():
            self._ask(policy_type, two, setting)

    def _ask(self, policy_type: str, chosen: Sequence[Atom], setting: Setting) -> None:
        """Compare one made-up proxy. What the listed ones settle is left to them.

        That is what no form of the new kind can say of an old policy: none is at stake where those
        are as they were, and then a difference is one, as without them.
        """
        proxy = proxy_with(chosen, setting, self.pair.before.mesh, one_inbound=False)
        if proxy is None or self.pair.couplings.broken_by(proxy):
            return
        name = describe([one for one in chosen if one != Atom()], setting)
        compared = self._compared(proxy, policy_type)
        if not self.pair.known or self.old.stands(policy_type):
            self.old.elsewhere.update(dict.fromkeys(compared.doubts))
            self.found.add(name, self.old.once((*compared.witnesses, *compared.led)))
            return
        for doubt in compared.doubts:
            if doubt.kind is DoubtKind.MISSING:
                self._beyond(f"{name}: {doubt}")
            else:
                self.old.elsewhere[doubt] = None
        if any(map(_is_loose, chosen)) or len(chosen) > 1:
            if any(w.effect is Effect.VALUE for w in (*compared.witnesses, *compared.led)):
                self._beyond(name)
            return
        for to in dict.fromkeys(w.destination for w in compared.led):
            self._beyond(f"{name} with traffic to {to}, which depends on its outbounds")
        self.found.add(name, self.old.once(compared.witnesses))

    def _compared(self, proxy: Resource, policy_type: str) -> SlotsCompared:
        found = self.old.of_type(proxy, policy_type, names=self.names)
        if self.standing is None or not (found.witnesses or found.led):
            return found
        stood = self.standing.old.of_type(proxy, policy_type, names=self.names)
        every = (*stood.witnesses, *stood.led)
        return replace(
            found,
            witnesses=self.standing.left(found.witnesses, every),
            led=self.standing.left(found.led, every),
        )

    def _beyond(self, what: str) -> None:
        self.found.beyond[Doubt(DoubtKind.COMBINATIONS, only_listed(what))] = None


def _by_old(side: Side, policy_type: str) -> Iterator[Atom | None]:
    """Yield what old policies ask of a proxy. That it has a tag every proxy has is nothing."""
    kinds = dict.fromkeys(kinds_of(policy_type))
    kinds |= {"TrafficRoute": None} if policy_type in OUTBOUND else {}
    for kind in kinds:
        for policy in side.old.of(kind):
            for tags in selectors_of(policy.spec, _FIELDS.get(kind, "sources")):
                said = [t for t in tags.items() if t[0] not in (SERVICE, ZONE_TAG) or t[1] != ANY]
                yield Atom(tags=tuple(sorted(said))) if said else None


def _as_one(atoms: Iterable[Atom]) -> Atom:
    """Return atoms as one, all tags on one inbound."""
    tags: dict[str, str] = {}
    labels: dict[str, str] = {}
    named, section = Atom(), ""
    for atom in atoms:
        labels |= dict(atom.labels)
        tags |= {k: v for k, v in atom.tags if v != ANY or k not in tags}
        named = named if named.name else atom
        section = section or atom.section
    return Atom(
        tags=tuple(sorted(tags.items())),
        labels=tuple(sorted(labels.items())),
        name=named.name,
        identity=named.identity,
        section=section,
    )


def _is_loose(atom: Atom) -> bool:
    """Whether a value stands for any that nobody names."""
    return any(value == ANY for _, value in atom.tags)
