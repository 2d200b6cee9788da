"""Environments that cannot be: which hold nothing, or one of which holds what is another's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from kumamigrate.deployment.environment import matches
from kumamigrate.deployment.kustomization import kustomization_in
from kumamigrate.deployment.tree import Tree, joined
from kumamigrate.errors import UsageError
from kumamigrate.model.resource import Identity, Resource
from kumamigrate.scene.repository import Repository
from kumamigrate.world.estate import Site


def check_environments(sites: Sequence[Site], sources: Repository, tree: Tree) -> None:
    """Raise UsageError, naming files, where the settings describe what cannot be."""
    stated = [site for site in sites if not site.deployment.found]
    for site in stated:
        _check_holds(site)
        _check_built(site, tree)
    for at, site in enumerate(stated):
        for other in stated[at + 1 :]:
            _check_differ(site, other)
    for site in stated:
        _check_apart(site, [other for other in stated if other is not site], sources)


def _check_holds(site: Site) -> None:
    deployment = site.deployment
    for glob in deployment.include:
        if not any(matches(path, (glob,)) for path in site.rendering.sources):
            raise UsageError(
                f"{deployment.why}: environment {site.name} includes nothing at {glob}:"
                " no file of the repository matches; correct or remove it"
            )
    if not site.rendering.sources:
        raise UsageError(
            f"{deployment.why}: environment {site.name} includes nothing; correct its paths"
        )


def _check_built(site: Site, tree: Tree) -> None:
    deployment = site.deployment
    for folder in deployment.kustomize:
        if kustomization_in(joined("", folder), tree) is None:
            raise UsageError(
                f"{deployment.why}: environment {site.name}: {folder} holds no kustomization.yaml;"
                " correct the path"
            )


def _check_differ(site: Site, other: Site) -> None:
    same = site.rendering.sources == other.rendering.sources
    told = (site.deployment.facts, site.deployment.inventory, site.deployment.charts)
    if same and told == (
        other.deployment.facts,
        other.deployment.inventory,
        other.deployment.charts,
    ):
        raise UsageError(
            f"{site.deployment.why}: environments {site.name} and {other.name} overlap: they have"
            " the same sources and say the same; remove one"
        )


def _check_apart(site: Site, others: Iterable[Site], sources: Repository) -> None:
    """Refuse an environment that holds one resource twice, once as its own and once as that of
    another environment."""
    mine = sources.only(site.rendering.manifests, ())
    if site.rendering.built:
        return
    places: dict[Identity, list[Resource]] = defaultdict(list)
    for resource in mine.resources:
        if resource.where is not None and (resource.mesh or resource.type == "Mesh"):
            places[resource.identity].append(resource)
    for double in places.values():
        files = {r.where.path for r in double if r.where is not None}
        for other in others:
            theirs = files & other.rendering.manifests
            if len(files) > 1 and theirs and theirs != files:
                one, two = (f"{r.where.path}:{r.where.line}" for r in double[:2] if r.where)
                raise UsageError(
                    f"{site.deployment.why}: environments {site.name} and {other.name} overlap:"
                    f" {site.name} holds {double[0].type} {double[0].name} twice, at {one} and"
                    f" {two}; exclude from {site.name} what is {other.name}'s"
                )
