"""What a built-in gateway reads, for people: its rule lists are named after what they are for.

A proof compares them as Kuma resolves them, list by list; names and shapes of those are in the
JSON, and say nothing to somebody who wrote a route.
"""

from __future__ import annotations

from typing import Any

from kumamigrate.effective.difference import Witness
from kumamigrate.report.screen.counted import count

DIRECTION = "gateway"
_LISTS = {
    "gatewayByListener": "listener",
    "gatewayByHostname": "hostname",
    "toRules": "services by their tag",
    "resourceRules": "services",
    "fromRules": "inbound",
    "inboundRules": "inbound",
    "singleItemRules": "the proxy",
    "proxyConf": "the proxy",
}


def place_words(place: str) -> str:
    """Return where a list is read: `gatewayByListener 192.0.2.1:80` is `listener 192.0.2.1:80`."""
    name, _, at = place.partition(" ")
    return f"{_LISTS.get(name, name)} {at}".strip()


def comes_or_goes(witness: Witness) -> bool:
    """Say whether a whole list of a gateway comes or goes: how long it is says enough then."""
    values = (witness.before.value, witness.after.value)
    return witness.direction == DIRECTION and None in values


def list_words(value: Any) -> str:
    """Return how many rules a list has, or both lists of a listener."""
    lists = value.values() if isinstance(value, dict) else (value,)
    entries = sum(len(one) for one in lists if isinstance(one, list))
    return count(entries, "rule") if value is not None else "none"
