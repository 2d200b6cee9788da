"""What constraints look at: the spec of a resource as a release reads it, and what it cannot read.

A policy and the newer kinds have a schema, the older ones are protobuf messages (`shapes.json`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kumamigrate.admit.constraint import ConstraintGround
from kumamigrate.admit.kind import dropped_fields
from kumamigrate.admit.shape import known_part, resource_shape, spec_shape
from kumamigrate.admit.structure import structure_of
from kumamigrate.dataclass import replace
from kumamigrate.model.policytype import Conf, PolicyType
from kumamigrate.model.problem import Problem
from kumamigrate.model.release import release as release_of
from kumamigrate.model.resource import Resource

SECTIONS = ("to", "from", "rules", "default")
Read = tuple[ConstraintGround, list[Problem]]


def ground_of(resource: Resource, release: str) -> ConstraintGround:
    """Return what constraints look at."""
    policy_type = release_of(release).policy_types.get(resource.type)
    if policy_type is None:
        return read_ground(resource, release)[0]
    return _policy_ground(resource, policy_type, spec_shape(resource.type, release))


def read_ground(resource: Resource, release: str) -> Read:
    """Return what constraints look at, and what the release cannot read of the resource."""
    policy_type = release_of(release).policy_types.get(resource.type)
    if policy_type is not None:
        known = spec_shape(resource.type, release)
        ground = _policy_ground(resource, policy_type, known)
        return ground, list(structure_of(ground.spec, known, ("spec",)))
    shape = resource_shape(resource.type, release)
    if shape is not None:
        return _read_fields(resource, shape)
    return _read_message(resource)


def not_dropped(found: list[Problem], resource: Resource, release: str) -> list[Problem]:
    """Return the problems that do not lie in a field which the release ignores."""
    if not found:
        return found
    dropped = tuple(dropped_fields(resource, release_name=release))
    return [one for one in found if not any(one.path[: len(path)] == path for path in dropped)]


def _policy_ground(resource: Resource, policy_type: PolicyType, shape: Conf) -> ConstraintGround:
    # A Universal policy whose fields stand outside `spec` has an empty one for Kuma.
    written = {} if resource.body and "spec" not in resource.body else resource.spec
    spec: Mapping[str, Any] = known_part(written, shape)
    top = spec.get("targetRef")
    return ConstraintGround(
        spec=spec,
        top=top if isinstance(top, dict) else {},
        sections=tuple(name for name in SECTIONS if name in policy_type.sections),
    )


def _read_fields(resource: Resource, shape: Conf) -> Read:
    written = resource.body.get("spec", resource.spec)
    root = resource.spec_path or ("spec",)
    if not isinstance(written, dict):
        wrong = Problem(path=root, message="must be a mapping", missing=written is None)
        return ConstraintGround(spec={}, top={}, root=root), [wrong]
    spec = known_part(written, shape)
    return ConstraintGround(spec=spec, top={}, root=root), list(structure_of(spec, shape, root))


def _read_message(resource: Resource) -> Read:
    from kumamigrate.admit.messages import message_shape, read_message

    root = resource.spec_path
    if message_shape(resource.type) is None:
        return ConstraintGround(spec=resource.spec, top={}, root=root), []
    spec, problems = read_message(resource.type, resource.spec)
    ground = ConstraintGround(spec=spec, top={}, root=root)
    return ground, [replace(one, path=(*root, *one.path)) for one in problems]
