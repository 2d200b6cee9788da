"""The policies of one type that reach one proxy, and at which points."""

from __future__ import annotations

from kumamigrate.dataclass import dataclass
from kumamigrate.model.resource import Resource
from kumamigrate.targetref.ties import Tie

Policies = tuple[Resource, ...]
Key = tuple[str, int]
"""A policy type and the number its matcher gave to a set of policies."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Point:
    """An `address:port` that some policy selects. `policies` in merge order.

    `hostname` is set for the vhosts of built-in gateways; their `policies` are in the order of
    the store, which Git does not hold (matcher-notes §1.1).
    """

    address: str
    port: int
    policies: Policies
    hostname: str = ""

    @property
    def key(self) -> str:
        """`address:port`, with `:hostname` for a vhost."""
        return f"{self.address}:{self.port}" + (f":{self.hostname}" if self.hostname else "")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Selection:
    """What `policies` of `policy_type` reach `proxy`, in merge order, lowest first.

    Selections of equal `key` give equal to-side and single-item answers.
    """

    proxy: Resource
    policy_type: str
    policies: Policies
    points: tuple[Point, ...]
    hostnames: tuple[Point, ...]
    warnings: tuple[str, ...]
    ties: tuple[Tie, ...]
    key: Key
