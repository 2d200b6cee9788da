"""Permissions of a mesh by tags, turned into rules that let the same known clients in.

All of a mesh are turned together: on 2.x one policy with rules switches every `from` of the same
inbound off.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.model.identity import old_id
from kumamigrate.model.resource import Resource, mapping, sequence
from kumamigrate.rewrite.declarative.steps import with_spec
from kumamigrate.rewrite.manifest import Json, cut
from kumamigrate.rewrite.references.spiffe import (
    Clients,
    Match,
    everybody,
    matches_for,
    namespace_of,
)
from kumamigrate.source.text import FieldPath, at_path
from kumamigrate.source.value import Moved

KEYS = {"allow": "allow", "deny": "deny", "allowwithshadowdeny": "allowWithShadowDeny"}
"""What an action of `from` is called in rules."""

NOBODY = Match("Exact", "spiffe://nobody")
"""Whom a policy lets in that only denies beside others that allow: a deny in rules would beat
every allow, and without rules it says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The rules of one policy. `missing` says what of it is not known; then there are none.

    `homes` are namespaces of which all are meant, those to come as well; `listed` says whether
    any client is named that is known today, so that others like it are not.
    """

    policy: Resource
    lists: Mapping[str, Sequence[Match]]
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    homes: tuple[str, ...] = ()
    listed: bool = False

    @property
    def body(self) -> Json:
        """The manifest with the rules in the place of `from`."""
        conf = {key: [one.written for one in found] for key, found in self.lists.items()}
        rules = Moved((*self.policy.spec_path, "from"), [{"default": conf}])
        spec = {
            "rules" if key == "from" else key: rules if key == "from" else value
            for key, value in self.policy.spec.items()
        }
        return with_spec(self.policy, spec)

    @property
    def words(self) -> str:
        """The rules as a note shows them."""
        lists = ", ".join(
            f"{key}: [{', '.join(one.words for one in found)}]" for key, found in self.lists.items()
        )
        return f"rules: [{{default: {{{lists}}}}}]"


def entries_of(policy: Resource) -> list[Mapping[str, Any]]:
    """Return the `from` entries of a policy."""
    return [entry for entry in policy.spec.get("from") or () if isinstance(entry, Mapping)]


def action_of(entry: Mapping[str, Any]) -> str:
    """Return the action of a `from` entry, in small letters and without underscores."""
    action = str(mapping(entry.get("default")).get("action", ""))
    return action.replace("_", "").lower()


def only_denies(policy: Resource) -> bool:
    """Say whether a policy lets nobody in."""
    return all(action_of(entry) == "deny" for entry in entries_of(policy))


def rules_of(policy: Resource, clients: Clients, domains: Iterable[str]) -> Rules:
    """Return the rules that say of the known clients what the `from` of a policy says.

    `domains` are the trust domains that clients have or will have.
    """
    found: dict[str, dict[Match, None]] = {}
    missing: list[str] = []
    homes: dict[str, None] = {}
    listed = False
    for entry in entries_of(policy):
        target = mapping(entry.get("targetRef"))
        key = KEYS.get(action_of(entry), "allow")
        whole = target.get("kind") == "Mesh" and not target.get("tags")
        if whole and key == "deny":
            continue  # what no rule allows is denied
        ids = everybody(policy.mesh, domains) if whole else matches_for(target, clients)
        if isinstance(ids, str):
            missing.append(ids)
        else:
            found.setdefault(key, {}).update(dict.fromkeys(ids))
            home = None if any(one.type == "Exact" for one in ids) else namespace_of(target)
            homes |= {home: None} if home is not None else {}
            listed = listed or not (whole or home)
    lists = {key: tuple(ids) for key, ids in found.items()} or {"allow": (NOBODY,)}
    notes = (_of_nobody(policy),) if not found else ()
    return Rules(
        policy=policy,
        lists=lists,
        missing=tuple(dict.fromkeys(missing)),
        notes=notes,
        homes=tuple(homes),
        listed=listed,
    )


def of_clients_to_come(found: Iterable[Rules]) -> Iterator[str]:
    """Yield which clients rules let in that nobody knows yet, and which they do not."""
    rules = tuple(found)
    homes = sorted({home for one in rules for home in one.homes})
    if any(one.listed for one in rules):
        but = ", unless their whole namespace is" if homes else ""
        yield (
            f"clients that are not known here (other zones, other repositories) are not in the"
            f" rules{but}; an --inventory of every zone adds them"
        )
    if homes:
        yield (
            f"who comes to namespace {', '.join(homes)} in this zone is let in by the id of a"
            " MeshIdentity, once it has one; by Mesh.mtls those of the services listed alone"
        )


def _of_nobody(policy: Resource) -> str:
    return (
        f"{policy.name} only denies: it lets in spiffe://nobody, whom no certificate names, because"
        " a deny in rules would beat what the others allow"
    )


def without_old_ids(policy: Resource) -> Json | None:
    """Return a policy without the ids that certificates by `Mesh.mtls` show, None where it has
    none, or would let nobody in without them."""
    gone = [path for path, match in _matches(policy) if _is_old(match, policy.mesh)]
    if not gone:
        return None
    body: Json = policy.body
    for path in reversed(gone):
        body = cut(body, path)
    left = at_path(body, (*policy.spec_path, "rules"))
    return body if left else None


def _matches(policy: Resource) -> Iterator[tuple[FieldPath, Any]]:
    for at, rule in enumerate(sequence(policy.spec.get("rules"))):
        for key in KEYS.values():
            for index, match in enumerate(sequence(at_path(rule, ("default", key)))):
                yield (*policy.spec_path, "rules", at, "default", key, index), match


def _is_old(match: Any, mesh: str) -> bool:
    value = str(mapping(mapping(match).get("spiffeID")).get("value", ""))
    return value.startswith(old_id(mesh, "")) and "sni" not in mapping(match)
