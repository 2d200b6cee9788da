"""Tag selectors of the old engine: what they match and how they rank (legacy.md §2.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.model.resource import Resource, mapping, mappings

Tags = Mapping[str, str]

ANY = "*"
"""As a value: the tag is present, whatever its value. It never means "or absent"."""


@dataclass(frozen=True, slots=True, order=True)
class Rank:
    """How specific a selector is. All tags count before exact values do."""

    total: int
    exact: int

    def __add__(self, other: Rank) -> Rank:
        return Rank(self.total + other.total, self.exact + other.exact)


def matches(selector: Tags, tags: Tags) -> bool:
    """Say whether every tag of the selector is there with that value. `{}` matches all."""
    return all(key in tags and value in (ANY, tags[key]) for key, value in selector.items())


def rank(selector: Tags) -> Rank:
    """Return the rank of a selector."""
    return Rank(len(selector), sum(value != ANY for value in selector.values()))


def best_rank(selectors: Iterable[Tags], tag_sets: Iterable[Tags]) -> Rank | None:
    """Return the rank of the best selector that matches one of the tag sets, or None."""
    sets = tuple(tag_sets)
    ranks = (rank(s) for s in selectors if any(matches(s, tags) for tags in sets))
    return max(ranks, default=None)


def selectors_of(spec: Mapping[str, Any], field: str) -> tuple[dict[str, str], ...]:
    """Return the `match` maps below `sources`, `destinations` or `selectors`.

    Anything that is no list of maps gives nothing: such a policy is refused anyway (`admit`).
    """
    return tuple(tags_of(item.get("match")) for item in mappings(spec.get(field)))


def selectors_in(policy: Resource, field: str) -> tuple[dict[str, str], ...]:
    """Return the same of a policy, read once."""
    key = ("selectors", field)
    if key not in policy.kept:
        policy.kept[key] = selectors_of(policy.spec, field)
    found: tuple[dict[str, str], ...] = policy.kept[key]
    return found


def tags_of(value: Any) -> dict[str, str]:
    """Return a map of tags with text keys and values; anything else gives `{}`."""
    return {str(key): tag_text(inner) for key, inner in mapping(value).items()}


def tag_text(value: Any) -> str:
    """Return a tag value as text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)
