"""A MeshService for a share of a service, as a value, and what policies say about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.model.resource import Resource, mapping

BY_SERVICE = ("MeshTimeout", "MeshCircuitBreaker", "MeshHealthCheck", "MeshLoadBalancingStrategy")
"""Types whose settings a share reads as its service does."""
BACKEND = "subset-backend"


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A MeshService for a share of another. `manifest` is None where it is there already.

    `guessed`: no known proxy shows its labels; the user says so.
    """

    base: Resource
    name: str
    port: int
    tag: str
    labels: Mapping[str, str]
    manifest: Mapping[str, Any] | None
    listed: bool
    guessed: bool = False


def entry_for(
    policy: Resource, at: int, then: int, was: Resource, share: Share
) -> dict[str, Any] | None:
    """Return the `to` entry about a share that goes with one about its service, if it is one.

    `was` is the policy as it was when the run began, `then` the place of the entry in it. What a
    share reads is looked up by service tag on 2.x: entries that name it, of a policy without
    entries for routes (product.md §1 law 2).
    """
    entries, old = policy.spec["to"], was.spec.get("to")
    if not isinstance(old, list) or then >= len(old) or not _is_read_by_tag(old, then, share):
        return None
    entry = entries[at]
    if not isinstance(entry, Mapping) or entry.get("default") != old[then].get("default"):
        return None
    new = {"kind": "MeshService", "labels": dict(share.labels)}
    return {k: new if k == "targetRef" else v for k, v in entry.items()}


def _is_read_by_tag(entries: list[Any], at: int, share: Share) -> bool:
    refs = [mapping(e).get("targetRef") for e in entries]
    kinds = [ref.get("kind") for ref in refs if isinstance(ref, Mapping)]
    mine = refs[at]
    return (
        "MeshHTTPRoute" not in kinds
        and isinstance(mine, Mapping)
        and mine.get("kind") == "MeshService"
        and mine.get("name") == share.tag
    )


def is_told(policy: Resource, share: Share) -> bool:
    """Say whether a policy has an entry for a share."""
    return any(is_about(entry, share) for entry in policy.spec.get("to") or ())


def is_about(entry: Any, share: Share) -> bool:
    """Say whether a `to` entry is about a share."""
    return mapping(mapping(entry).get("targetRef")).get("labels") == dict(share.labels)
