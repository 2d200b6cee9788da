"""The stages of a move to MeshIdentity: which one a mesh is at, and what the next one writes.

1. permissions: rules that hold what certificates show today and the ids to come,
2. trust: a MeshIdentity that says which ids are to come, and one whose CA is trusted,
3. identities: every proxy gets its certificate from the latter,
4. the end: the old ids go, and `mtls` of the Mesh.

Each is safe where the one before it is rolled out, so a run writes one of them. Whether the one
before is rolled out is told by an inventory, else by what Git has committed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kumamigrate.dataclass import dataclass, field, replace
from kumamigrate.model.identity import IDENTITY, identities_of, is_ready, selects_all, trust_domain
from kumamigrate.model.resource import Resource, mapping
from kumamigrate.rewrite.identities.manifests import (
    as_planned,
    domain_of,
    enabled_backend,
    provider_of,
    published,
    trusted,
)
from kumamigrate.rewrite.identities.permissions import (
    of_clients_to_come,
    rules_of,
    without_old_ids,
)
from kumamigrate.rewrite.manifest import Json, cut, items, put
from kumamigrate.rewrite.references.spiffe import clients_of
from kumamigrate.rewrite.view import View

PERMISSION = "MeshTrafficPermission"
TITLES = (
    "permissions hold both ids of each client",
    "identities are published and trusted, and nobody has one",
    "every proxy gets its identity",
    "the old ids and mtls of the Mesh go",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What one stage writes: the new manifests of some resources, none to remove one.

    `number` counts from 1. `missing` says what keeps it from being written, `notes` what to know
    of it, by the resource it is about, `clients` what to know of clients to come.
    """

    number: int
    edits: tuple[tuple[Resource, tuple[Json, ...]], ...] = ()
    missing: tuple[str, ...] = ()
    notes: tuple[tuple[Resource, str], ...] = field(default=())
    clients: tuple[str, ...] = ()
    rests_on: tuple[Resource, ...] = ()


def next_stage(view: View, mesh: Resource) -> Stage:
    """Return the stage that comes next for a mesh with mTLS."""
    state = view.state
    permissions = [p for p in state.of_type(PERMISSION) if p.mesh == mesh.name]
    identities = identities_of(state, mesh.name)
    by_tags = [p for p in permissions if items(p.spec, ("from",))]
    provider = provider_of(enabled_backend(mesh))
    if by_tags:
        stage = _permissions(view, mesh, by_tags)
        cannot_end = (provider,) if isinstance(provider, str) and not identities else ()
        return replace(stage, missing=(*stage.missing, *cannot_end))
    if not identities:
        return _trust(view, mesh, permissions, provider)
    given = [one for one in identities if one.spec.get("provider")]
    if len(given) == 1 and mapping(given[0].spec.get("selector")).get("dataplane") is None:
        return _identities(given[0], identities, permissions)
    everybody = any(map(selects_all, given))
    if everybody and all(is_ready(one, view.mode(mesh.name)) for one in identities):
        return _the_end(view, mesh, permissions, identities)
    return Stage(number=3, missing=(_BY_HAND,))


_BY_HAND = (
    "the MeshIdentities of the mesh are rolled out by hand: widen the selector of the one with a"
    " provider until it selects every proxy, and see that no other wins over it without one"
)


def _permissions(view: View, mesh: Resource, by_tags: Sequence[Resource]) -> Stage:
    planned = as_planned(mesh, view.environment)
    clients = clients_of(view.state, mesh.name, view.source, planned)
    domains = domains_of(view, mesh.name) or [domain_of(mesh.name, view.environment)]
    found = [rules_of(policy, clients, domains) for policy in by_tags]
    missing = [f"{one.policy.name}: {why}" for one in found for why in one.missing]
    absent = (p.name for p in by_tags if not view.owns(p))
    missing += [f"{name} is not in these files, and has from" for name in absent]
    return Stage(
        number=1,
        edits=tuple((one.policy, (one.body,)) for one in found),
        missing=tuple(dict.fromkeys(missing)),
        notes=tuple((one.policy, note) for one in found for note in one.notes),
        clients=tuple(of_clients_to_come(found)),
    )


def of_zone(view: View, mesh: Resource) -> str:
    """Say which zone is in the trust domain where nobody named one, nothing where somebody did."""
    environment = view.environment
    domain = domain_of(mesh.name, environment)
    guessed = environment.mode == "zone" and not environment.zone_known
    if not guessed or domain not in (domains_of(view, mesh.name) or [domain]):
        return ""
    return f"; trust domain {domain}, of a zone that nobody named (--zone, the same in each stage)"


def domains_of(view: View, mesh: str) -> list[str]:
    """Return the trust domains of the MeshIdentities of a mesh."""
    mine = identities_of(view.state, mesh)
    found = (trust_domain(one, view.environment.zone) for one in mine)
    return [domain for domain in found if domain is not None]


def _trust(
    view: View, mesh: Resource, permissions: Sequence[Resource], provider: Json | str
) -> Stage:
    if isinstance(provider, str):
        return Stage(number=2, missing=(provider,))
    manifests = (
        mesh.body,
        trusted(mesh, view.environment, provider),
        published(mesh, view.environment),
    )
    return Stage(number=2, edits=((mesh, manifests),), rests_on=tuple(permissions))


def _identities(
    given: Resource, identities: Sequence[Resource], permissions: Sequence[Resource]
) -> Stage:
    """Return the stage that gives every proxy its identity; what only published ids goes."""
    wide = put(given.body, (*given.spec_path, "selector"), {"dataplane": {"matchLabels": {}}})
    others = [(one, ()) for one in identities if one is not given and selects_all(one)]
    return Stage(
        number=3,
        edits=((given, (wide,)), *others),
        rests_on=(*permissions, *identities),
    )


def _the_end(
    view: View, mesh: Resource, permissions: Sequence[Resource], identities: Sequence[Resource]
) -> Stage:
    bare = cut(mesh.body, (*mesh.spec_path, "mtls"))
    edits = [(mesh, (bare,))]
    for policy in permissions:
        body = without_old_ids(policy) if view.owns(policy) else None
        edits += [(policy, (body,))] if body is not None else []
    return Stage(number=4, edits=tuple(edits), rests_on=tuple(identities))


def is_of_this_run(view: View, stage: Stage) -> bool:
    """Say whether this run writes the stage before."""
    before = {one.identity: one.body for one in view.before.resources if one.type in _MOVED}
    return any(before.get(one.identity) != one.body for one in stage.rests_on if view.owns(one))


def not_rolled_out(view: View, stage: Stage) -> Iterator[str]:
    """Yield why a stage has to wait for the one before it to be rolled out."""
    if is_of_this_run(view, stage):
        yield (
            f"stage {stage.number - 1} is what this run is about: write and commit it, roll it out"
            " to every control plane and proxy, and run again"
        )
        return
    for one in stage.rests_on:
        if not view.owns(one):
            continue
        known = view.deployed(one)
        if known is None:
            yield (
                f"whether stage {stage.number - 1} is rolled out is not known: commit it to Git, or"
                " give an --inventory taken since"
            )
            return
        if not known:
            yield (
                f"stage {stage.number - 1} is written: commit it, roll it out to every control"
                " plane and proxy, and run again"
            )
            return


_MOVED = (PERMISSION, IDENTITY)
