"""What stands in a slot of a proxy's configuration, and who put it there (prover.md §1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kumamigrate.dataclass import dataclass, field, replace
from kumamigrate.effective.reading import Values
from kumamigrate.model.resource import Resource
from kumamigrate.targetref.entry import Found
from kumamigrate.targetref.route import EffectiveRoute

Key = tuple[str, ...]
"""("route", match, n), ("listener",), ("cluster", key, name) or ("inbound",)."""

LISTENER: Key = ("listener",)
SHARED = "the order of outbounds"
"""Why a cluster is undecided that several outbounds lead to."""
PAST_PROTOCOL = "the protocol of the targets"
NOT_PROBED = "a protocol that no MeshHealthCheck probes"
CROSSED = (SHARED, PAST_PROTOCOL, NOT_PROBED)
"""Why a place is what it is where only a proxy's own outbounds tell, decided or not."""


@dataclass(frozen=True, slots=True)
class Fact:
    """Values at one slot, and the look-up they were read from.

    `others` are values that may stand there as well, where something undecided decides: `why`
    says what. `old` are the old policies of which one may have won; `unheard` is what they say
    and the release overrules.
    """

    settings: Values
    found: Found | None = None
    route: EffectiveRoute | None = None
    others: tuple[Values, ...] = ()
    old: tuple[Resource, ...] = ()
    why: str = ""
    unheard: Values = field(default_factory=dict, compare=False)

    @property
    def options(self) -> tuple[Values, ...]:
        """All that may stand there."""
        return (self.settings, *self.others)


NOTHING = Fact({})
Facts = Mapping[Key, Fact]


def one_of(
    options: Sequence[Values],
    old: Sequence[Resource | None] = (),
    found: Found | None = None,
    why: str = "",
) -> Fact:
    """Return the fact that some values may stand somewhere, each once."""
    first, *others = options
    distinct = [first]
    for one in others:
        if one not in distinct:
            distinct.append(one)
    policies = {policy.identity: policy for policy in old if policy is not None}
    return Fact(
        first,
        found,
        others=tuple(distinct[1:]),
        old=tuple(policies.values()),
        why=why,
    )


def joined(many: Sequence[Facts]) -> Facts:
    """Return what stands where one of several ways comes true, and nobody knows which."""
    if len(many) == 1:
        return many[0]
    found: dict[Key, Fact] = {}
    for key in dict.fromkeys(k for facts in many for k in facts):
        here = [facts[key] for facts in many if key in facts]
        options = [one for fact in here for one in fact.options]
        if len(here) < len(many):
            options.append({})
        merged = one_of(options, [p for fact in here for p in fact.old], here[0].found)
        reasons = [fact.why for fact in here if fact.why and (merged.others or fact.why in CROSSED)]
        why = next(iter(reasons), "TrafficRoutes tie" if merged.others else "")
        found[key] = replace(merged, why=why, unheard=agreed([fact.unheard for fact in here]))
    return found


def agreed(many: Sequence[Values]) -> Values:
    """Return what all of several say alike."""
    first, *others = many
    return {k: v for k, v in first.items() if all(k in one and one[k] == v for one in others)}
