"""The readings of all policy types, and what old policies and new ones come to together.

A type or section that no reading has is unknown (prover.md §1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kumamigrate.effective.policies import (
    meshaccesslog,
    meshcircuitbreaker,
    meshfault,
    meshhealthcheck,
    meshloadbalancing,
    meshmetric,
    meshpassthrough,
    meshpermission,
    meshproxypatch,
    meshratelimit,
    meshretry,
    meshtimeout,
    meshtls,
    meshtrace,
)
from kumamigrate.effective.reading import At, Conf, SlotKind, TypeReading, Values
from kumamigrate.model.resource import Resource
from kumamigrate.targetref.entry import Found

_MODULES = (
    meshtimeout,
    meshretry,
    meshloadbalancing,
    meshaccesslog,
    meshcircuitbreaker,
    meshhealthcheck,
    meshtls,
    meshratelimit,
    meshfault,
    meshpermission,
    meshmetric,
    meshtrace,
    meshpassthrough,
    meshproxypatch,
)
READINGS: Mapping[str, TypeReading] = {m.READING.policy_type: m.READING for m in _MODULES}
_BY_OLD: Mapping[str, TypeReading] = {one.old: one for one in READINGS.values() if one.old}


def reading_of(policy_type: str) -> TypeReading | None:
    """Return how a policy type is read, of an old one how what takes its place is."""
    return READINGS.get(policy_type) or _BY_OLD.get(policy_type)


def read_at(*parts: SlotKind) -> tuple[str, ...]:
    """Return the policy types that some parts of a proxy read."""
    return tuple(
        name
        for name, one in READINGS.items()
        if any(part in leaf.parts for leaf in one.fields.values() for part in parts)
    )


def both(
    policy_type: str, options: Sequence[Resource | None], found: Found | None, at: At
) -> list[Values]:
    """Return what a place comes to with each of some old policies beside what new ones say."""
    reading = READINGS[policy_type]
    if reading.of_old is None or reading.beside is None:
        return [reading.of_conf(None if found is None else found.conf, at)]
    if found is None:
        return [reading.of_old(policy, at) for policy in options]
    return [reading.beside(policy, found.conf, at) for policy in options]


def said_by(
    kind: str, policy: Resource | None, protocol: str = "", mesh: Resource | None = None
) -> tuple[Values, ...]:
    """Return what an old policy comes to wherever it is read; None: what comes without any.

    `protocol` is that of the outbounds. Policies of which this is equal are interchangeable.
    """
    reading = _BY_OLD[kind]
    assert reading.of_old is not None
    said: Conf = mesh.spec if mesh is not None else {}
    places = (
        At(part=part, protocol=protocol, treated=protocol, mesh=said, always=False)
        for part in reading.old_parts
    )
    return tuple(reading.of_old(policy, at) for at in places)
