"""Real services that take the place of a share of a service by tags (kind MeshServiceSubset)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kumamigrate.effective.difference import Witness
from kumamigrate.model.kri import Kri, kri_of
from kumamigrate.model.kubernetes.workloads import implied_dataplanes
from kumamigrate.model.resource import SERVICE, Resource
from kumamigrate.targetref.backendref import ports_of
from kumamigrate.targetref.route import ServiceTag
from kumamigrate.targetref.share import is_share, match_labels, may_be_share
from kumamigrate.universe.askedservices import backend_refs
from kumamigrate.universe.backend import Cluster, called
from kumamigrate.universe.side import ROUTES, Side

Shares = Mapping[Kri, Cluster]
"""For a port of a MeshService the cluster by tags that it stands for."""


def shares_of(before: Side, after: Side) -> Shares:
    """Return the MeshServices of `after` that select what tags in routes of `before` select.

    None of them may be a service that `before` has: it got other traffic then. Nor is it the
    service of which the tags are a share, which comes where mode Disabled had none, even if all
    proxies known are of that share.
    """
    if after.release.subset_rules:
        return {}
    wanted = dict.fromkeys(_subsets(before))
    if not wanted:
        return {}
    listed = [r for r in after.state.of_type("Dataplane") if not r.made_up]
    known = (*listed, *implied_dataplanes(after.state, after.mesh))
    old = {kri_of(r) for r in before.state.of_type("MeshService")}
    found: dict[Kri, Cluster] = {}
    for service in after.state.of_type("MeshService"):
        ports = ports_of(service.spec)
        if service.made_up or kri_of(service) in old or len(ports) != 1:
            continue
        others = [one for one in wanted if not _is_the_whole(service, one)]
        mine = [one for one in others if _stands_for(service, ports[0], one, known, is_share)]
        if not mine:
            called_so = (one for one in others if _is_called_after(service, one))
            mine = [
                one for one in called_so if _stands_for(service, ports[0], one, known, may_be_share)
            ]
        if len(mine) == 1:
            section = str(ports[0].get("name") or ports[0].get("port", ""))
            found[kri_of(service, section)] = mine[0]
    return found


def _is_the_whole(service: Resource, one: Cluster) -> bool:
    """Say whether a MeshService has the name of the service that tags are a share of."""
    assert isinstance(one.destination, ServiceTag)
    return service.display_name == one.destination.service.split("_")[0]


def _is_called_after(service: Resource, one: Cluster) -> bool:
    """Say whether a MeshService has the name of another and more, as a share of it would."""
    assert isinstance(one.destination, ServiceTag)
    whole = one.destination.service.split("_")[0]
    return service.display_name.startswith(f"{whole}-")


def _stands_for(
    service: Resource,
    port: Mapping[str, Any],
    one: Cluster,
    known: tuple[Resource, ...],
    means: Callable[..., bool],
) -> bool:
    assert isinstance(one.destination, ServiceTag)
    tags = {SERVICE: one.destination.service, **dict(one.tags)}
    target = port.get("targetPort", port.get("port"))
    return means(match_labels(service), target, service.zone, tags, known)


def not_shown(after: Side) -> Iterator[str]:
    """Yield the shares of which no known proxy shows that labels mean what the tags mean."""
    listed = [r for r in after.state.of_type("Dataplane") if not r.made_up]
    known = (*listed, *implied_dataplanes(after.state, after.mesh))
    for kri, cluster in after.shares.items():
        service = after.real[kri.of_section("")]
        port = ports_of(service.spec)[0]
        assert isinstance(cluster.destination, ServiceTag)
        tags = {SERVICE: cluster.destination.service, **dict(cluster.tags)}
        target = port.get("targetPort", port.get("port"))
        if not is_share(match_labels(service), target, service.zone, tags, known):
            text = ", ".join(f"{k}: {v}" for k, v in cluster.tags)
            yield (
                f"no known proxy shows that MeshService {service.display_name} has the proxies of"
                f" {cluster.destination.service} with {text}"
            )


def _subsets(side: Side) -> Iterator[Cluster]:
    for route in side.state.of_type(*ROUTES):
        for ref in backend_refs(route.spec.get("to")):
            tags = ref.get("tags")
            if ref.get("kind") == "MeshServiceSubset" and isinstance(tags, Mapping) and tags:
                listed = tuple(sorted((str(k), str(v)) for k, v in tags.items()))
                yield Cluster(destination=ServiceTag(str(ref.get("name") or "")), tags=listed)


def comes_for_share(after: Side, witness: Witness) -> bool:
    """Say whether a witness is about a MeshService that comes in place of a share by tags."""
    if witness.policy_type != "MeshService" or witness.before.value is not None:
        return False
    names = {(r.namespace, r.name) for r in (after.real[k.of_section("")] for k in after.shares)}
    return witness.destination in {f"{name}.{space}" if space else name for space, name in names}


def told(shares: Shares) -> Iterator[str]:
    """Yield what is taken for granted about shares, a sentence each."""
    for kri, cluster in shares.items():
        tags = ", ".join(f"{k}: {v}" for k, v in cluster.tags)
        yield (
            f"taken for granted that MeshServiceSubset {called(cluster.destination)} with {tags}"
            f" and MeshService {kri.name} mean the same proxies, as they do among those known"
        )
