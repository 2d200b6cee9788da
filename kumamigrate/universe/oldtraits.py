"""What a policy asks of a proxy that is made up beside old policies: tags of one inbound, labels.

Old policies choose by tags alone; the others choose by labels as well, and through the routes that
they stand on. A label is told from a tag by its key.
"""

from __future__ import annotations

from collections.abc import Mapping

from kumamigrate.model.resource import NAMESPACE, Resource
from kumamigrate.sourcedest.selector import Tags
from kumamigrate.targetref.items import top_of
from kumamigrate.targetref.select import selector_of
from kumamigrate.universe.madeup import Atom, requirement_of
from kumamigrate.universe.side import Side

LABEL = "label "
"""Stands before the key of a label."""


def traits_of(policy: Resource, side: Side, *, on_routes: bool) -> Tags | None:
    """Return what a policy asks of a proxy, None where no made-up proxy has it.

    That is so for names of proxies and of inbounds, for built-in gateways, and for policies on
    routes unless `on_routes`: what those give to a request of the old engine is not known.
    """
    top = top_of(policy, side.release)
    if top.kind == "MeshHTTPRoute" and not on_routes:
        return None
    routes = {
        (route.mesh, route.display_name): route
        for route in (side.state.of_type("MeshHTTPRoute") if top.kind == "MeshHTTPRoute" else ())
    }
    asked = requirement_of(selector_of(policy, top, routes, side.release))
    if asked.gateway_only:
        return None
    atom = asked.atom
    if atom is not None and (atom.name or atom.section):
        return None
    traits = dict(atom_traits(atom)) if atom is not None else {}
    return {**traits, **{f"{LABEL}{NAMESPACE}": space for space in sorted(asked.namespaces)}}


def atom_traits(atom: Atom) -> frozenset[tuple[str, str]]:
    """Return the tags and labels of an atom as traits."""
    return frozenset((*atom.tags, *((f"{LABEL}{key}", value) for key, value in atom.labels)))


def split(traits: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the tags and the labels among some traits."""
    tags = {key: value for key, value in traits.items() if not key.startswith(LABEL)}
    labels = {k.removeprefix(LABEL): v for k, v in traits.items() if k.startswith(LABEL)}
    return tags, labels
