"""What inbounds read: InboundRules (2.10 and later) and from rules (2.x)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.model.conf import JsonConf
from kumamigrate.model.policytype import PolicyType
from kumamigrate.model.release import Release
from kumamigrate.model.resource import Resource
from kumamigrate.targetref.entry import Entry
from kumamigrate.targetref.items import from_entries, rule_entries, top_of
from kumamigrate.targetref.sort import Ranked, compare, keys_of, match_rank, sort_stable
from kumamigrate.targetref.torules import SubsetRule, build_rules, from_items


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class InboundRule:
    """One inbound conf, for the clients that `match` names; None = every client."""

    match: dict[str, Any] | None
    conf: JsonConf
    entries: tuple[Entry, ...]

    @property
    def origin(self) -> dict[str, Any]:
        """The policy and item the rule is."""
        return {"name": self.entries[0].policy.name, "ruleIndex": self.entries[0].index}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class InboundPoint:
    """All that one inbound or listener reads. `rules` are applied as matcher.md's table
    "Inbound rule consumption" says; `from_rules` is the old list, compared whole."""

    rules: tuple[InboundRule, ...]
    from_rules: tuple[SubsetRule, ...]


def inbound_rules(
    policies: Sequence[Resource], kind: PolicyType, release: Release
) -> tuple[InboundRule, ...]:
    """Return the inbound rules of the policies on one point, strongest match first."""
    ranked = [Ranked(policy, top_of(policy, release)) for policy in policies]
    ordered = sort_stable(
        ranked,
        partial(compare, release, release.inbound_sort),
        lambda: keys_of(release, release.inbound_sort, ranked),
    )
    entries = [e for one in ordered for e in rule_entries(one.policy, kind, release)]
    entries.sort(key=lambda e: match_rank(e.match))
    return tuple(InboundRule(match=e.match, conf=e.conf, entries=(e,)) for e in entries)


def from_rules(
    policies: Sequence[Resource], kind: PolicyType, release: Release
) -> tuple[SubsetRule, ...]:
    """Return the from-list of the policies on one point, in the order Kuma walks it."""
    entries = [e for policy in policies for e in from_entries(policy, kind, release)]
    return build_rules(
        from_items(entries), kind.conf("from"), negations=True, grouping=release.grouping
    )
