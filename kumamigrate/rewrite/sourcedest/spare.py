"""Old policies that can go although the rest of their kind must stay: nothing would change.

Where a tie or a decision keeps a kind from being converted, policies that never win, or that say
the same as what would win without them, are removed all the same. What stays is the old engine's
alone, so the question is only whether it comes to the same without them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.effective.readings import said_by
from kumamigrate.model.resource import SERVICE, Resource
from kumamigrate.rewrite.sourcedest.classes import Classes, class_of, classes_of
from kumamigrate.rewrite.sourcedest.conversion import Conversion, Dropped
from kumamigrate.rewrite.sourcedest.known import KnownWorld
from kumamigrate.rewrite.sourcedest.routetargets import OTHER_SERVICE
from kumamigrate.rewrite.sourcedest.trafficpermission import clients_of
from kumamigrate.sourcedest.order import Ties, latest
from kumamigrate.sourcedest.proxy import PASS_THROUGH
from kumamigrate.sourcedest.selector import ANY, Rank, Tags, best_rank, rank, selectors_of

Policies = Sequence[Resource]
Ranks = Mapping[int, Rank]
"""The policies that match at a place, by their position in file order, with their ranks there."""
Said = Callable[[Policies], Any]
"""What comes of the policies that no other outranks, in file order; of none as well."""
_PROTOCOLS = ("http", "grpc", "tcp")
"""One of each family that outbounds are treated as; http2 reads nothing that these do not."""
_ON_CONNECTIONS = (
    "Timeout", "Retry", "CircuitBreaker", "HealthCheck", "TrafficLog", "TrafficRoute",
)  # fmt: skip
_MOST = 2000
_NOTHING = "it changes nothing: others win, or say the same, wherever it matches"


def with_spare(done: Conversion, world: KnownWorld) -> Conversion:
    """Return a conversion that cannot be written with what can be removed from its kind."""
    return done if done.writable else replace(done, spare=spare_of(done.kind, world))


def spare_of(kind: str, world: KnownWorld) -> tuple[Dropped, ...]:
    """Return the old policies of a kind that change nothing beside the others of it."""
    policies = world.old.of(kind)
    if len(policies) < 2 or any(p.templated for p in policies):
        return ()
    decided = _decided(kind, world)
    return tuple(_spare(policies, *decided)) if decided is not None else ()


def _spare(policies: Policies, places: Iterable[Ranks], said: Said) -> Iterator[Dropped]:
    """Yield what can go one after the other; only places where a policy matches are asked."""
    here: dict[int, list[_Place]] = {}
    for ranks in places:
        place = _Place(policies, ranks, said)
        for at in ranks:
            here.setdefault(at, []).append(place)
    left = len(policies)
    for at, policy in enumerate(policies):
        own = here.get(at, ())
        if left > 1 and all(place.spares(at) for place in own):
            left -= 1
            for place in own:
                place.remove(at)
            yield Dropped(resource=policy, reason=_NOTHING)


class _Place:
    """What is left of the policies of a place, by rank, the highest last."""

    def __init__(self, policies: Policies, ranks: Ranks, said: Said) -> None:
        self._policies, self._ranks, self._said = policies, ranks, said
        groups: dict[Rank, dict[int, None]] = {}
        for at in sorted(ranks):
            groups.setdefault(ranks[at], {})[at] = None
        self._groups = {own: groups[own] for own in sorted(groups)}
        self._base = self._best(without=-1)

    def _best(self, *, without: int) -> Any:
        for group in reversed(self._groups.values()):
            found = [self._policies[at] for at in group if at != without]
            if found:
                return self._said(found)
        return self._said(())

    def spares(self, at: int) -> bool:
        """Say whether it comes to the same here without a policy."""
        top = next(reversed(self._groups.values()))
        if at not in top:
            return True
        if isinstance(self._base, _Tie) and len(self._base.names) == len(top):
            return False  # without one of them a tie of all has fewer names
        return bool(self._best(without=at) == self._base)

    def remove(self, at: int) -> None:
        """Take a policy away."""
        own = self._ranks[at]
        del self._groups[own][at]
        if not self._groups[own]:
            del self._groups[own]


@dataclass(frozen=True, slots=True)
class _Tie:
    """A tie that matters, by the names of those that take part in it."""

    names: tuple[str, ...]


def _decided(kind: str, world: KnownWorld) -> tuple[Iterable[Ranks], Said] | None:
    """Return where policies of a kind decide, as they rank there, and what comes of the best."""
    old = world.old
    policies = old.of(kind)
    fields = {"TrafficTrace": "selectors", "ProxyTemplate": "selectors"}
    fields |= dict.fromkeys(("TrafficPermission", "RateLimit"), "destinations")
    field = fields.get(kind, "sources")
    own = [t for p in policies for t in selectors_of(p.spec, field)]
    classes = classes_of(own, world)
    if classes.too_many:
        return None
    every = _apart(policies, _witnesses(classes, own), field)
    if kind in _ON_CONNECTIONS:
        names = [OTHER_SERVICE, PASS_THROUGH, *world.services]
        services = _apart(policies, [{SERVICE: name} for name in names], "destinations")
        both = ({at: a[at] + b[at] for at in a if at in b} for a in every for b in services)
        return both, _winner(lambda p: _said(kind, p, world), old.ties)
    if kind == "TrafficPermission":
        return every, _winner(lambda p: clients_of(p) if p else None, old.ties)
    if kind == "RateLimit":
        sources = [t for p in policies for t in selectors_of(p.spec, "sources")]
        clients = classes_of(sources, world)
        if clients.too_many:
            return None
        asking = _apart(policies, _witnesses(clients, sources), "sources")
        # The destination only has to match: what counts is the rank of the source (G1).
        return ({at: b[at] for at in a if at in b} for a in every for b in asking), _first_limit()
    if kind in ("TrafficTrace", "ProxyTemplate"):
        for_all = {at: rank({}) for at, p in enumerate(policies) if not selectors_of(p.spec, field)}
        return ({**for_all, **ranks} for ranks in every), _winner(
            lambda p: _whole(p, world), old.ties
        )
    return None


def _apart(policies: Policies, places: Iterable[Tags], field: str) -> list[Ranks]:
    """Return how the selectors of a field rank, once for places where all of them rank alike."""
    selectors = [selectors_of(p.spec, field) for p in policies]
    found: dict[Any, Ranks] = {}
    for tags in places:
        best = ((at, best_rank(own, (tags,))) for at, own in enumerate(selectors))
        ranks = {at: own for at, own in best if own is not None}
        found.setdefault(tuple(ranks.items()), ranks)
    return list(found.values())


def _remembered(effect: Callable[[Resource | None], Any]) -> Callable[[Resource | None], Any]:
    """Return a function that asks for the effect of each policy once."""
    known: dict[int, tuple[Resource | None, Any]] = {}

    def of(policy: Resource | None) -> Any:
        if id(policy) not in known:
            known[id(policy)] = (policy, effect(policy))
        return known[id(policy)][1]

    return of


def _witnesses(classes: Classes, selectors: Iterable[Tags]) -> list[dict[str, str]]:
    """Return the tags of a proxy for each class, and for what selectors only want to be present,
    with a value that nobody names."""
    found = [item.witness for item in classes.classes]
    plain = class_of({}).witness
    for tags in {tuple(sorted(tags.items())): tags for tags in selectors}.values():
        loose = {k: "\x00other" for k, v in tags.items() if v == ANY}
        if loose:
            found += [{**one, **loose, **_exact(tags)} for one in [plain, *found]]
        if len(found) > _MOST:
            break
    return found


def _exact(tags: Tags) -> dict[str, str]:
    return {key: value for key, value in tags.items() if value != ANY}


def _said(kind: str, policy: Resource | None, world: KnownWorld) -> Any:
    """Return what a policy of a kind comes to, whatever the protocol."""
    if kind == "TrafficRoute":
        return policy.spec.get("conf") if policy is not None else None
    protocols = _PROTOCOLS if kind in ("Timeout", "Retry") else ("",)
    return [said_by(kind, policy, protocol, world.mesh_resource) for protocol in protocols]


def _winner(effect: Callable[[Resource | None], Any], ties: Ties) -> Said:
    """Return what says the effect of a choice; of a tie that matters, who takes part in it."""
    known = _remembered(effect)

    def said(best: Policies) -> Any:
        if _agree(best, known):
            return known(best[0] if best else None)
        won = latest(best, ties)
        if won.tie is None:
            return known(won.policy)
        tied = won.tie.policies
        return known(tied[0]) if _agree(tied, known) else _Tie(won.tie.names)

    return said


def _first_limit() -> Said:
    """Return what says which limit is met first, whichever was created last."""
    known = _remembered(lambda p: said_by("RateLimit", p))

    def said(best: Policies) -> Any:
        if _agree(best, known):
            return known(best[0] if best else None)
        return _Tie(tuple(sorted(p.name for p in best)))

    return said


def _agree(policies: Policies, effect: Callable[[Resource | None], Any]) -> bool:
    return all(effect(p) == effect(policies[0]) for p in policies[1:])


def _whole(policy: Resource | None, world: KnownWorld) -> Any:
    if policy is None or policy.type == "TrafficTrace":
        return said_by("TrafficTrace", policy, mesh=world.mesh_resource)
    return policy.spec.get("conf")
