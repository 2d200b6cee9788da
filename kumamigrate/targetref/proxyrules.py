"""Everything one proxy resolves to for one policy type, and its printed form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kumamigrate.dataclass import dataclass, field
from kumamigrate.targetref.entry import Found, origin
from kumamigrate.targetref.inbound import InboundRule
from kumamigrate.targetref.outbound import ResourceRule
from kumamigrate.targetref.selection import Selection
from kumamigrate.targetref.subset import as_json
from kumamigrate.targetref.ties import Tie
from kumamigrate.targetref.torules import SubsetRule


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ToSide:
    """Both lists an outbound may read: the old rules and the resource rules.

    `printed` keeps the printed form, which many proxies share.
    """

    rules: tuple[SubsetRule, ...] = ()
    resource_rules: tuple[ResourceRule, ...] = ()
    printed: dict[str, Any] = field(default_factory=dict)

    def as_json(self, *, typed_keys: bool) -> dict[str, Any]:
        """Return the printed form; proxies share it, so it is not to be changed."""
        if not self.printed:
            resource_rules = _resource_rules(self.resource_rules, typed_keys=typed_keys)
            self.printed["resourceRules"] = resource_rules
            self.printed["rules"] = _subset_rules(self.rules)
        return self.printed


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProxyRules:
    """What a proxy resolves to. Mappings are keyed by the text of the point."""

    selection: Selection
    to: ToSide
    from_rules: Mapping[str, tuple[SubsetRule, ...]]
    inbound_rules: Mapping[str, tuple[InboundRule, ...]]
    single: Found | None
    by_listener: Mapping[str, ToSide]
    by_hostname: Mapping[str, ToSide]
    shape: str
    typed_keys: bool

    @property
    def ties(self) -> tuple[Tie, ...]:
        """Orders that Kuma leaves to chance."""
        return self.selection.ties

    @property
    def to_rules(self) -> tuple[SubsetRule, ...]:
        """The old rules of the to-side."""
        return self.to.rules

    @property
    def resource_rules(self) -> tuple[ResourceRule, ...]:
        """The real-resource rules of the to-side."""
        return self.to.resource_rules

    def as_json(self) -> dict[str, Any]:
        """Return the printed form of the release; parts of it are shared between proxies."""
        side = self._side(self.to)
        common: dict[str, Any] = {
            "policies": [p.name for p in self.selection.policies],
            "resourceRules": side["resourceRules"],
            "inboundRules": {k: [_inbound(r) for r in v] for k, v in self.inbound_rules.items()},
            "warnings": list(self.selection.warnings),
        }
        if self.shape == "3.0":
            return {**common, "proxyConf": _proxy_conf(self.single)}
        return {
            **common,
            "toRules": side["rules"],
            "singleItemRules": _single(self.single),
            "fromRules": {k: _subset_rules(v) for k, v in self.from_rules.items()},
            "gatewayByListener": {k: self._side(v) for k, v in self.by_listener.items()},
            "gatewayByHostname": {k: self._side(v) for k, v in self.by_hostname.items()},
        }

    def _side(self, side: ToSide) -> dict[str, Any]:
        return side.as_json(typed_keys=self.typed_keys)


def _resource_rules(rules: Sequence[ResourceRule], *, typed_keys: bool) -> list[dict[str, Any]]:
    return [
        {
            "kri": rule.kri.typed() if typed_keys else str(rule.kri),
            "sectionName": rule.kri.section,
            "conf": list(rule.confs),
            "origin": rule.origin,
        }
        for rule in rules
    ]


def _subset_rules(rules: Sequence[SubsetRule]) -> list[dict[str, Any]]:
    return [{"subset": as_json(r.subset), "conf": r.conf, "origin": r.origin} for r in rules]


def _inbound(rule: InboundRule) -> dict[str, Any]:
    return {"match": rule.match, "conf": rule.conf, "origin": rule.origin}


def _single(found: Found | None) -> list[dict[str, Any]]:
    if found is None:
        return []
    return [{"subset": [], "conf": found.conf, "origin": origin(found.entries)}]


def _proxy_conf(found: Found | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {"conf": found.conf, "origin": origin(found.entries)}
