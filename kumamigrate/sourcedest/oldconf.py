"""The conf of an old policy, read as the control plane reads it: typed, or refused with a reason.

The fields of each kind are data (`shapes.json`), read as protobuf's JSON is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kumamigrate.dataclass import dataclass, field
from kumamigrate.model.packed import packed
from kumamigrate.model.problem import Problem
from kumamigrate.model.resource import Resource, mapping
from kumamigrate.source.text import FieldPath
from kumamigrate.sourcedest.protojson import ProtobufReading


@dataclass(frozen=True, slots=True, kw_only=True)
class OldConf:
    """A conf with typed values: durations are `Duration`, bytes `bytes`, enums text.

    `defined` is False where there is no conf at all. `unknown` are fields Kuma does not know.
    """

    value: Mapping[str, Any] = field(default_factory=dict)
    defined: bool = False
    problems: tuple[Problem, ...] = ()
    unknown: tuple[FieldPath, ...] = ()

    def get(self, *path: str) -> Any:
        """Return the value at a path of keys, or None."""
        node: Any = self.value
        for key in path:
            node = mapping(node).get(key)
        return node


def table(name: str) -> Mapping[str, Any]:
    """Return one of the JSON tables of this package."""
    loaded: Mapping[str, Any] = packed("sourcedest", name)
    return loaded


def read_conf(kind: str, spec: Mapping[str, Any]) -> OldConf:
    """Return the conf of an old policy. Never raises: what cannot be read is a Problem."""
    shape = table("shapes.json").get(kind, {})
    return read_shape(shape, spec.get("conf"), ("conf",))


def conf_of(policy: Resource | None) -> OldConf:
    """Return the conf of an old policy, read once; an empty one without a policy."""
    if policy is None:
        return OldConf()
    if "conf" not in policy.kept:
        policy.kept["conf"] = read_conf(policy.type, policy.spec)
    found: OldConf = policy.kept["conf"]
    return found


def differing(policies: Iterable[Resource]) -> bool:
    """Say whether policies would set different things."""
    confs = [conf_of(policy).value for policy in policies]
    return any(conf != confs[0] for conf in confs[1:])


def read_shape(shape: Any, value: Any, path: FieldPath = ()) -> OldConf:
    """Read a value by a shape of `shapes.json`."""
    reading = ProtobufReading()
    read = None if value is None else reading.node(shape, value, path)
    return OldConf(
        value=mapping(read),
        defined=read is not None,
        problems=tuple(reading.problems),
        unknown=tuple(reading.unknown),
    )
