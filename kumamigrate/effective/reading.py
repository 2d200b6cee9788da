"""How a conf is read: at which places of a proxy each leaf counts, and what it comes to there.

Values stand by Kuma's field path, with what Envoy does where nothing is said filled in. So a
default that is written down equals one that is not, and what an old policy says has the same form
as what its successor says (prover.md §1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from functools import cache
from typing import Any

from kumamigrate.dataclass import dataclass, field
from kumamigrate.model import duration
from kumamigrate.model.protocols import UNKNOWN_PROTOCOL
from kumamigrate.model.resource import Resource
from kumamigrate.sourcedest.goduration import Duration

Conf = Mapping[str, Any]
Values = dict[str, Any]
Rules = Sequence[tuple[Conf | None, Conf]]
"""Match and conf of the rules of an inbound, in order."""
Subsets = Sequence[tuple[Any, Conf]]
"""Tags and conf of the `from` rules of an inbound, in order."""


class SlotKind(StrEnum):
    """The parts of a proxy that read confs."""

    ROUTE = "route"
    LISTENER = "listener"
    CLUSTER = "cluster"
    INBOUND = "inbound"
    PROXY = "proxy"


@dataclass(frozen=True, slots=True, kw_only=True)
class At:
    """What of a place decides how confs are read there.

    `protocol` is that of the service, UNKNOWN_PROTOCOL where nothing tells; `treated` the one that
    the old engine gives the outbound, `made` whether that makes it. `tag`: the outbound is one of
    a service tag, and `by_protocol` that its listener goes by the protocol of the service, whatever
    it is itself. `tcp`: its listener is, or may be, one of TCP. `http`: some listener of the
    proxy is, or may be, one of HTTP, `calls`: that of some outbound, `partly`: one is left out.
    `reached`: some policy of the type reaches the proxy; `always`: the release fills in defaults
    where none does. `identified`: the proxy has its certificate from a MeshIdentity, which ends
    `from` (None: it may have); `certified` the same on any release. `others` are the services
    of HTTP inbounds that the proxy is not known by. `mesh` is what the Mesh says.
    """

    part: SlotKind
    protocol: str = UNKNOWN_PROTOCOL
    treated: str = UNKNOWN_PROTOCOL
    made: bool = True
    tag: bool = False
    by_protocol: bool = False
    tcp: bool = True
    http: bool = True
    calls: bool = True
    partly: bool = False
    transparent: bool = True
    reached: bool = True
    always: bool = True
    identified: bool | None = False
    certified: bool | None = False
    others: tuple[str, ...] = ()
    release: str = "2.14"
    mesh_name: str = ""
    mesh: Mapping[str, Any] = field(default_factory=dict)

    def may_speak(self, *protocols: str) -> bool:
        """Whether the service speaks one of some protocols, as far as anybody knows."""
        return self.protocol in (*protocols, UNKNOWN_PROTOCOL)


@dataclass(frozen=True, slots=True)
class Leaf:
    """Where a leaf of a conf, or all below a path, is read; `default` where it is left out."""

    parts: frozenset[SlotKind]
    default: Any = None


Fields = Mapping[str, Leaf]
"""How each leaf of a type's schema is read. A path stands for all that is below it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeReading:
    """How one policy type reaches Envoy.

    `of_conf` reads a merged conf (None: there is none), `of_rules` the rules of an inbound and the
    merge of those without a match, `of_from` its `from` where no rules are. `old` is the kind that
    the type takes the place of: `of_old` reads a policy of it, at `old_parts`, and `beside` says
    what comes of one and a conf that reach the same place (legacy.md §3). `of_mesh` are the fields
    of the Mesh that are read along.
    """

    policy_type: str
    fields: Fields
    of_conf: Callable[[Conf | None, At], Values]
    of_rules: Callable[[Rules, Conf | None, At], Values] | None = None
    of_from: Callable[[Subsets, At], Values] | None = None
    old: str = ""
    old_parts: tuple[SlotKind, ...] = ()
    of_old: Callable[[Resource | None, At], Values] | None = None
    beside: Callable[[Resource | None, Conf, At], Values] | None = None
    of_mesh: tuple[str, ...] = ()

    def has(self, path: str) -> bool:
        """Whether a leaf of the schema is read, by itself or with what is above it."""
        return any(path == known or path.startswith(f"{known}.") for known in self.fields)


def leaf(*parts: SlotKind, default: Any = None) -> Leaf:
    """Return how a leaf is read."""
    return Leaf(frozenset(parts), default)


def read(fields: Fields, part: SlotKind, conf: Conf | None, below: str = "") -> Values:
    """Return what a place reads of a conf, of the leaves below a path alone."""
    found: Values = {}
    for path, one in fields.items():
        if part in one.parts and path.startswith(below):
            value = said(conf, path)
            value = one.default if value is None else value
            if value is not None:
                found[path] = value
    return found


def said(conf: Conf | None, path: str) -> Any:
    """Return the value at a dotted path, None where there is none."""
    node: Any = conf
    for name in _names(path):
        if not isinstance(node, (dict, Mapping)):
            return None
        node = node.get(name)
    return node


@cache
def _names(path: str) -> tuple[str, ...]:
    return tuple(path.split("."))


def matched(rules: Rules) -> Values:
    """Return the rules of an inbound that are for some clients only, in order."""
    found = [rule(match, conf) for match, conf in rules if match]
    return {"rules": found} if found else {}


def rule(match: Conf | None, conf: Conf) -> Values:
    """Return one rule of an inbound."""
    return {"match": match, "conf": conf} if match else {"conf": conf}


def flat(value: Any, prefix: str = "") -> Values:
    """Return the leaves of a conf by dotted path; lists and empty objects are leaves."""
    if not isinstance(value, Mapping) or not value:
        return {} if value is None or (not prefix and not value) else {prefix: value}
    out: Values = {}
    for key, inner in value.items():
        out.update(flat(inner, f"{prefix}.{key}" if prefix else key))
    return out


def as_read(value: Any) -> Any:
    """Return a value of an old conf in the form that new ones have."""
    if isinstance(value, Duration):
        return duration.render(value.ns)
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, float):
        return number(value)
    return value


def number(value: Any) -> Any:
    """Return a number however it is written: `50`, `"50"` and `50.0` are one; else as it is."""
    try:
        found = float(value)
    except (TypeError, ValueError):
        return value
    return int(found) if found.is_integer() else found
