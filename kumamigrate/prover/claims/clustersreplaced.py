"""Which cluster of a real-resource outbound takes the place of which cluster by tags."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kumamigrate.dataclass import replace
from kumamigrate.effective.compare import Difference
from kumamigrate.effective.fact import Fact, Key
from kumamigrate.effective.reading import Values
from kumamigrate.effective.routing import BACKENDS, FAILING, Routing, meant
from kumamigrate.effective.split import Backend
from kumamigrate.prover.claims.tagsreplaced import is_among
from kumamigrate.prover.slots.mesh import MeshComparison
from kumamigrate.targetref.route import Destination, RealResource, ServiceTag
from kumamigrate.universe.backend import Cluster, own_cluster
from kumamigrate.universe.traffic import successors


def clusters_replaced(
    pair: MeshComparison,
    left: Routing,
    right: Routing,
    old: Destination,
    new: Destination,
) -> tuple[dict[Key, Key], list[Difference]]:
    """Return which cluster takes the place of which, and the routes where none does."""
    renamed = {_place(pair, own_cluster(old)): own_cluster(new).place}
    wrong: list[Difference] = []
    for key, before, after in _route_pairs(left, right):
        was = left.splits[key].backends
        then = right.splits[key]
        now = tuple(replace(b, cluster=meant(pair.after, b.cluster)) for b in then.backends)
        fits = len(was) == len(now) and all(
            b.weight == a.weight and _replaces(pair, b.cluster, a.cluster, old, new)
            for b, a in zip(was, now, strict=False)
        )
        if fits and not then.failing:
            renamed.update(
                {_place(pair, b.cluster): a.cluster.place for b, a in zip(was, now, strict=True)}
            )
            continue
        said = (_sent(was, left.splits[key].failing), _sent(now, then.failing))
        facts = (Fact(said[0], None, before), Fact(said[1], None, after))
        wrong += [
            Difference(
                key=key,
                field=field,
                before=said[0].get(field),
                after=said[1].get(field),
                was=facts[0],
                now=facts[1],
            )
            for field in (BACKENDS, FAILING)
            if (then.failing if field == FAILING else not fits)
        ]
    return renamed, wrong


def _sent(backends: Sequence[Backend], failing: Any) -> Values:
    """Return where a route sends requests, and how many of them are answered with an error."""
    found: Values = {BACKENDS: [[one.cluster.key, one.weight] for one in backends]}
    return {**found, FAILING: failing} if failing else found


def _place(pair: MeshComparison, cluster: Cluster) -> Key:
    return meant(pair.before, cluster).place


def _route_pairs(left: Routing, right: Routing) -> Iterator[tuple[Key, Any, Any]]:
    after = dict(right.http or ())
    for key, route in left.http or ():
        if key in after:
            yield key, route, after[key]
    for at, (old, new) in enumerate(zip(left.tcp or (), right.tcp or (), strict=False)):
        yield ("tcp", str(at)), old, new


def _replaces(
    pair: MeshComparison, old: Cluster, new: Cluster, source: Destination, target: Destination
) -> bool:
    if old.tags or new.tags or new.stands_for is not None:
        return new.stands_for == old
    if old.destination == source:
        # The very destination of the outbound: any port of its successor will do.
        return new.key == own_cluster(target).key or is_among(new.destination, _of(pair, old))
    return old.key == new.key or is_among(new.destination, _of(pair, old))


def _of(pair: MeshComparison, cluster: Cluster) -> tuple[RealResource, ...]:
    if not isinstance(cluster.destination, ServiceTag):
        return ()
    return successors(pair.after, cluster.destination.service)
