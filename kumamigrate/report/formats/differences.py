"""The differences of a report, each once: equal ones of several proxies are one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.model.shown import value_words
from kumamigrate.prover.claimed import LIVE
from kumamigrate.report.screen.difftext import IN_ENVOY_ALONE, proxy_words, route_words

Report = Mapping[str, Any]
EFFECTS = ("value", "residue", "activation", "name")
"""The kinds of differences, those that count first."""
HEADINGS: Mapping[str, tuple[str, str]] = {
    "value": ("value changes", "values change"),
    "residue": (
        "setting that only the old engine made will be gone, and no new policy can make it",
        "settings that only the old engine made will be gone, and no new policy can make them",
    ),
    "activation": (
        "setting stands in the files and is ignored today; it starts to work",
        "settings stand in the files and are ignored today; they start to work",
    ),
    "name": IN_ENVOY_ALONE,
}
MOST_NAMES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSide:
    """A value before or after, in words, and who says so where."""

    value: str
    policy: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownDifference:
    """One difference as a reader wants it: who, to where, which setting, from what to what."""

    effect: str
    proxies: tuple[str, ...]
    direction: str
    destination: str
    route: str
    policy_type: str
    field: str
    before: ShownSide
    after: ShownSide

    @property
    def who(self) -> str:
        """Return the proxies in a few words."""
        more = len(self.proxies) - MOST_NAMES
        listed = ", ".join(self.proxies[:MOST_NAMES])
        return f"{listed} and {more} more" if more > 0 else listed

    @property
    def traffic(self) -> str:
        """Return proxies, destination and route in one line."""
        way = f" → {self.destination}" if self.destination else ""
        return f"{self.who}{way}{' ' if self.route else ''}{self.route}"

    @property
    def at(self) -> str:
        """Return the line to look at: where the new value stands, else where the old one did."""
        return self.after.at or self.before.at


def proof_of(report: Report) -> Report:
    """Return the proof: a part of a run's report, the whole of what `prove` says."""
    return report if report["schema"].startswith("kumamigrate.proof/") else report["proof"]


def decides(report: Report) -> str:
    """Return the claim that decides."""
    return str(report.get("decides") or LIVE)


def differences(report: Report, claim: str = "") -> list[ShownDifference]:
    """Return the differences of a claim, by default the one that decides, in EFFECTS' order."""
    dataplanes = proof_of(report)["claims"].get(claim or decides(report), {}).get("dataplanes", {})
    grouped: dict[str, list[tuple[str, Report]]] = {}
    for name, proxy in dataplanes.items():
        for witness in proxy["witnesses"]:
            grouped.setdefault(_key(witness), []).append((name, witness))
    found = [_difference(group) for group in grouped.values()]
    return sorted(found, key=lambda one: EFFECTS.index(one.effect))


def unprinted(report: Report) -> int:
    """Return how many witnesses of the claim that decides the report itself leaves out."""
    dataplanes = proof_of(report)["claims"].get(decides(report), {}).get("dataplanes", {})
    return sum(proxy.get("moreWitnesses", 0) for proxy in dataplanes.values())


def _key(witness: Report) -> str:
    sides = [witness[side]["value"] for side in ("before", "after")]
    place = [witness.get(key) for key in ("policyType", "direction", "destination", "route")]
    return json.dumps([witness["effect"], *place, witness["field"], *sides], default=str)


def _difference(group: list[tuple[str, Report]]) -> ShownDifference:
    witness = group[0][1]
    route = witness.get("route")
    return ShownDifference(
        effect=witness["effect"],
        proxies=tuple(dict.fromkeys(proxy_words(name) for name, _ in group)),
        direction=witness["direction"],
        destination=witness.get("destination", ""),
        route="" if route is None else route_words(route),
        policy_type=witness["policyType"],
        field=witness["field"],
        before=_side(witness["before"]),
        after=_side(witness["after"]),
    )


def _side(side: Report) -> ShownSide:
    value = side["value"]
    if isinstance(value, str) and value.startswith("kri_") and value.count("_") == 6:
        *_, namespace, name, _section = value.split("_")
        value = f"{namespace}/{name}" if namespace else name
    return ShownSide(value=value_words(value), policy=side.get("policy", ""), at=side.get("at", ""))
