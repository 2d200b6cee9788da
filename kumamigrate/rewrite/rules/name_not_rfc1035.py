"""Names that a release refuses, with everything that refers to them."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.admit.kind import name_problems
from kumamigrate.admit.places import is_template
from kumamigrate.model.kinds import KUBERNETES
from kumamigrate.model.resource import Form, Resource
from kumamigrate.rewrite.dataplanes import DNS_LABEL
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import Json, finding
from kumamigrate.rewrite.view import View

_MOST = 10


def plan(view: View) -> Iterator[Finding]:
    """Yield a finding for each resource with such a name, its notes naming the references."""
    dns = view.rule.table["dns"]
    for resource in view.manifests():
        name = resource.display_name
        known = resource.type in view.source.policy_types or resource.type in dns
        if resource.type in KUBERNETES or not name or is_template(name):
            continue
        if resource.type in dns and not DNS_LABEL.fullmatch(name):
            release, reason = "3.0", _reason(name)
            if any(name_problems(resource, release_name=view.target_name)):
                release = view.target_name
            else:
                reason += "; until then it is only warned of"
        elif "_" in name and (known or resource.form is Form.UNIVERSAL):
            release, reason = "2.10", "it holds an underscore"
        else:
            continue
        path = ("metadata", "name") if resource.form is Form.KUBERNETES else ("name",)
        notes = _references(view, resource)
        yield finding(view, resource, path, notes=notes, release=release, reason=reason)


def _reason(name: str) -> str:
    if len(name) > 63:
        return f"it is {len(name)} long, at most 63 are allowed"
    if not name[0].isalpha():
        return "it must begin with a letter"
    return "it may hold lower-case letters, digits and hyphens only"


def _references(view: View, named: Resource) -> list[str]:
    """Say which resources name this one, at most so many."""
    found = [
        f"{r.type} {r.name} at {r.where.path}:{r.where.line} names it"
        for r in view.state.resources
        if r.where is not None and r.where != named.where and _names(r, named)
    ]
    rest = len(found) - _MOST
    return [*found[:_MOST], *([f"and {rest} more"] if rest > 0 else [])]


def _names(resource: Resource, named: Resource) -> bool:
    if named.type == "Mesh":
        return resource.mesh == named.name
    if named.type == "Zone":
        return resource.zone == named.name
    return resource.mesh == named.mesh and _holds(resource.spec, named.name)


def _holds(value: Json, name: str) -> bool:
    if isinstance(value, dict):
        return any(_holds(inner, name) for inner in value.values())
    if isinstance(value, list):
        return any(_holds(inner, name) for inner in value)
    return bool(value == name)
