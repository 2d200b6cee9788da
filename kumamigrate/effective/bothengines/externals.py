"""ExternalServices without zone egress: who may use them, by old permissions (legacy.md §2.7)."""

from __future__ import annotations

from kumamigrate.effective.bothengines.askedproxy import AskedProxy, mentioned
from kumamigrate.effective.bothengines.oldview import OldSide
from kumamigrate.effective.fact import Fact, Facts, Key, one_of
from kumamigrate.model.resource import SERVICE
from kumamigrate.sourcedest.clients import admits_before, clients_before
from kumamigrate.sourcedest.order import options_of
from kumamigrate.sourcedest.winners import inbound_winner
from kumamigrate.universe.side import ROUTES

EXTERNAL = "ExternalService"


def external_access(side: OldSide, asked: AskedProxy, led_to: frozenset[str]) -> Facts:
    """Return which ExternalServices a proxy may use without zone egress (§2.7).

    Asked of those only to which its traffic is led, before or after: `led_to`, and never where
    there is an egress, of which nothing is known (`prover/doubts/besideold`).
    """
    found: dict[Key, Fact] = {}
    sets = [tags.items() for tags in asked.proxy.tag_sets]
    left = not any(side.reaches(asked.dataplane, kind) for kind in ROUTES)
    filtered = side.routed and left
    for tags in (tags for tags in side.external if tags.get(SERVICE) in led_to):
        place = (EXTERNAL, "outbound", mentioned(tags))
        if not filtered:
            found[place] = one_of([{"reached": True}])
            continue
        winner = inbound_winner(side.old.of("TrafficPermission"), tags, side.old.ties)
        options = options_of(winner)
        let_in = map(clients_before, options)
        effects = [{"reached": any(admits_before(one, own) for own in sets)} for one in let_in]
        found[place] = one_of(effects, options, None, "creation time")
    return found
