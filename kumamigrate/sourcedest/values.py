"""Values that effects share: typed old confs, durations, mappings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kumamigrate.model.resource import Resource
from kumamigrate.sourcedest.goduration import Duration, parse_duration
from kumamigrate.sourcedest.oldconf import OldConf, read_conf

Json = Mapping[str, Any]
Effect = Mapping[str, Any]
"""Settings by name. Durations are `Duration`, sets frozen; comparable with `==`."""


def conf_of(policy: Resource | None) -> OldConf:
    return OldConf() if policy is None else read_conf(policy.type, policy.spec)


def as_duration(value: Any) -> Duration | None:
    if isinstance(value, str):
        return parse_duration(value)
    return value if isinstance(value, Duration) else None


def same_type(value: Any, like: Any) -> Any:
    if isinstance(like, Duration):
        return as_duration(value)
    return float(value) if isinstance(like, float) else value
