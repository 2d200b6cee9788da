"""What a release refuses, warns about and ignores in one resource."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kumamigrate.admit.constraint import ConstraintGround, all_broken, constraints_of
from kumamigrate.admit.kind import dropped_fields, kind_problems, name_problems
from kumamigrate.admit.places import is_template
from kumamigrate.admit.reference import references_of
from kumamigrate.admit.shape import known_part, spec_shape, unknown_part
from kumamigrate.admit.structure import structure_of
from kumamigrate.model.labels import Refused, compute_labels, is_export, is_kumas, policy_role
from kumamigrate.model.problem import Problem
from kumamigrate.model.release import release as release_of
from kumamigrate.model.resource import ROLE, Form, Resource
from kumamigrate.model.state import Environment
from kumamigrate.source.text import FieldPath


def refusals_of(
    resource: Resource, *, release: str, environment: Environment
) -> tuple[Problem, ...]:
    """Return why the control plane of a release refuses a resource; empty when it takes it.

    Old source/destination policies are looked at by `legacy.admit` for releases that have them;
    here only their kind and name are. Fields the release does not know are ignored, as it ignores
    them (`unknown_fields_of`). Values filled in by templates pass, and in a resource with
    templates nothing is held to be missing.
    Source: matcher.md tables; legacy-notes §3.
    """
    name = release_of(release).name
    if not is_kumas(resource):
        return ()
    gone = tuple(kind_problems(resource, release_name=name))
    if gone:
        return gone
    found = [
        *name_problems(resource, release_name=name),
        *_refused_spec(resource, name, environment),
        *_refused_labels(resource, name, environment),
    ]
    return _tidy(found, resource)


def warnings_of(resource: Resource, *, release: str) -> tuple[Problem, ...]:
    """Return what a release still takes but calls deprecated, in this project's words.

    Source: matcher.md "Deprecation warnings".
    """
    name = release_of(release).name
    if not is_kumas(resource):
        return ()
    ground = ground_of(resource, name)
    rules = (c for c in constraints_of(resource.type, name) if c.warn)
    found = [
        *name_problems(resource, release_name=name, warn=True),
        *all_broken(rules, ground),
    ]
    return tuple(dict.fromkeys(found))


def unknown_fields_of(resource: Resource, release: str) -> tuple[FieldPath, ...]:
    """Return the fields of a resource that a release drops without a word, in text order."""
    known = release_of(release)
    if resource.type in known.policy_types:
        shape = spec_shape(resource.type, known.name)
        return tuple(unknown_part(resource.spec, shape, resource.spec_path))
    return tuple(dropped_fields(resource, release_name=known.name))


def _refused_spec(resource: Resource, release: str, environment: Environment) -> Iterator[Problem]:
    rules = (c for c in constraints_of(resource.type, release) if not c.warn)
    ground = ground_of(resource, release)
    policy_type = release_of(release).policy_types.get(resource.type)
    if policy_type is not None:
        if not isinstance(resource.body.get("spec", resource.spec), dict):
            absent = resource.body.get("spec") is None
            yield Problem(path=("spec",), message="must be a mapping", missing=absent)
            return
        structure = tuple(structure_of(ground.spec, spec_shape(resource.type, release), ("spec",)))
        role = role_of(resource, release=release, environment=environment)
        yield from references_of(ground.spec, policy_type, release=release, role=role)
        yield from structure
    yield from all_broken(rules, ground)


def ground_of(resource: Resource, release: str) -> ConstraintGround:
    """Return what constraints look at: the spec as the release reads it."""
    policy_type = release_of(release).policy_types.get(resource.type)
    if policy_type is None:
        return ConstraintGround(spec=resource.spec, top={}, root=resource.spec_path)
    # A Universal policy whose fields stand outside `spec` has an empty one for Kuma.
    written = {} if resource.body and "spec" not in resource.body else resource.spec
    spec: Mapping[str, Any] = known_part(written, spec_shape(resource.type, release))
    top = spec.get("targetRef")
    return ConstraintGround(
        spec=spec,
        top=top if isinstance(top, dict) else {},
        sections=tuple(s for s in ("to", "from", "rules", "default") if s in policy_type.sections),
    )


def role_of(resource: Resource, *, release: str, environment: Environment) -> str:
    """Return the role that admission goes by: the stored one, else the computed (A3)."""
    if is_template(resource.namespace):
        return ""
    if is_export(resource):
        return resource.labels.get(ROLE, "")
    stored = compute_labels(resource, release=release, environment=environment)
    if isinstance(stored, Refused):
        role = policy_role(resource, release=release, environment=environment)
        return role if isinstance(role, str) else "consumer"
    return stored.labels.get(ROLE, "")


def _refused_labels(
    resource: Resource, release: str, environment: Environment
) -> Iterator[Problem]:
    if is_export(resource) or is_template(resource.namespace):
        return
    stored = compute_labels(resource, release=release, environment=environment)
    if isinstance(stored, Refused):
        yield Problem(path=stored.path, message=stored.message)
    role = resource.labels.get(ROLE)
    policy = resource.type in release_of(release).policy_types
    if resource.form is Form.UNIVERSAL and policy and role not in (None, "", "system"):
        message = f"{role!r} is not possible on Universal: only `system` is"
        yield Problem(path=("labels", ROLE), message=message)


def _tidy(found: Iterable[Problem], resource: Resource) -> tuple[Problem, ...]:
    """Drop repetitions, problems inside a section that is refused whole, and template gaps."""
    kept: dict[FieldPath, Problem] = {}
    for problem in found:
        if not (resource.templated and problem.missing):
            kept.setdefault(problem.path, problem)
    sections = {("spec", name) for name in ("to", "from", "rules")}
    whole = {path for path in kept if path in sections}
    rest = (p for p in kept.values() if p.path[:2] not in whole or p.path in whole)
    return tuple(rest)
