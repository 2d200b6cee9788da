"""The entries of one policy: what it says, in normal form (matcher.md (e), (g))."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kumamigrate.model.conf import JsonConf, normal
from kumamigrate.model.policytype import PolicyType
from kumamigrate.model.release import Release
from kumamigrate.model.resource import Form, Resource, mapping
from kumamigrate.model.targetref import TargetRef, read_target_ref
from kumamigrate.source.text import FieldPath
from kumamigrate.targetref.entry import Entry

ToReader = Callable[[Resource, PolicyType], tuple[Entry, ...]]
"""Gives the to-entries of a policy, the same objects each time."""


def top_of(policy: Resource, release: Release) -> TargetRef:
    """Return spec.targetRef; omitted = the whole mesh."""
    known = policy.kept.get(("top", release.name))
    if known is not None and known[0] is release:
        top: TargetRef = known[1]
        return top
    top = read_target_ref(policy.spec.get("targetRef"), release.target_ref_type_fields)
    policy.kept["top", release.name] = (release, top)
    return top


def to_entries(policy: Resource, kind: PolicyType, release: Release) -> tuple[Entry, ...]:
    """Return the entries of `to`, in order."""
    return _kept(_section, policy, kind, release, "to")


def from_entries(policy: Resource, kind: PolicyType, release: Release) -> tuple[Entry, ...]:
    """Return the entries of `from`, in order; none where the release has no such section."""
    return _kept(_section, policy, kind, release, "from")


def rule_entries(policy: Resource, kind: PolicyType, release: Release) -> tuple[Entry, ...]:
    """Return the inbound entries: one for each match of each `rules` item.

    A policy without `rules`, of a kind where `from` counts as rules, gives its `from` items
    without a match.
    """
    return _kept(_rules, policy, kind, release, "rules")


def _kept(
    read: Callable[[Resource, PolicyType, Release, str], tuple[Entry, ...]],
    policy: Resource,
    kind: PolicyType,
    release: Release,
    section: str,
) -> tuple[Entry, ...]:
    """Return what is read of a section, which every proof asks for again."""
    known = policy.kept.get((section, release.name))
    if known is not None and known[0] is release and known[1] is kind:
        entries: tuple[Entry, ...] = known[2]
        return entries
    entries = read(policy, kind, release, section)
    policy.kept[section, release.name] = (release, kind, entries)
    return entries


def _rules(
    policy: Resource, kind: PolicyType, release: Release, _section: str
) -> tuple[Entry, ...]:
    if "rules" not in kind.sections:
        return ()
    top = top_of(policy, release)
    out = []
    for index, item in enumerate(_items(policy, "rules")):
        conf = _conf(policy, kind, release, "rules", item.get("default"))
        matches: list[Any] = []
        if kind.match_fields and isinstance(item.get("matches"), list):
            matches = item["matches"]
        for match in matches or [None]:
            out.append(
                Entry(
                    policy=policy,
                    section="rules",
                    index=index,
                    top=top,
                    target=None,
                    conf=conf,
                    path=("rules", index, "default"),
                    match=_match(match),
                )
            )
    if not out and kind.from_as_rules:
        return from_entries(policy, kind, release)
    return tuple(out)


def single_entry(policy: Resource, kind: PolicyType, release: Release) -> Entry:
    """Return the one entry of a single-item policy."""
    return Entry(
        policy=policy,
        section="default",
        index=0,
        top=top_of(policy, release),
        target=None,
        conf=_conf(policy, kind, release, "default", policy.spec.get("default")),
        path=("default",),
    )


def has_to_route(policy: Resource) -> bool:
    """Whether some `to` item is on a MeshHTTPRoute: the policy is then outside the old rules."""
    return any(_kind(item) == "MeshHTTPRoute" for item in _items(policy, "to"))


def _section(
    policy: Resource, kind: PolicyType, release: Release, section: str
) -> tuple[Entry, ...]:
    if section not in kind.sections:
        return ()
    top = top_of(policy, release)
    out = []
    for index, item in enumerate(_items(policy, section)):
        given, path = _default(kind, item, section, index)
        out.append(
            Entry(
                policy=policy,
                section=section,
                index=index,
                top=top,
                target=read_target_ref(item.get("targetRef"), release.target_ref_type_fields),
                conf=_conf(policy, kind, release, section, given),
                path=path,
            )
        )
    return tuple(out)


def _default(
    kind: PolicyType, item: Mapping[str, Any], section: str, index: int
) -> tuple[Any, FieldPath]:
    """Return where the conf of an item stands: routes have no `default` beside `targetRef`."""
    names = kind.conf(section)
    if "rules" in names:
        return item, (section, index)
    if "default" in names:
        rules = item.get("rules")
        if isinstance(rules, list) and rules:
            return rules[0], (section, index, "rules", 0)
        target = item.get("targetRef")
        itself = {**target, "weight": 1} if isinstance(target, Mapping) else {}
        return {"default": {"backendRefs": [itself]}}, (section, index, "targetRef")
    return item.get("default"), (section, index, "default")


def _conf(
    policy: Resource, kind: PolicyType, release: Release, section: str, given: Any
) -> JsonConf:
    filled = release.defaults == "always" or policy.form is Form.KUBERNETES
    return normal(given, kind.conf(section), defaults=filled)


def _items(policy: Resource, section: str) -> list[Mapping[str, Any]]:
    found = policy.spec.get(section)
    if not isinstance(found, list):
        return []
    return [mapping(item) for item in found]


def _match(given: Any) -> dict[str, Any] | None:
    if not isinstance(given, Mapping):
        return None
    return {
        name: {k: str(v) for k, v in given[name].items() if k in ("type", "value")}
        for name in ("spiffeID", "sni")
        if isinstance(given.get(name), Mapping)
    }


def _kind(item: Mapping[str, Any]) -> str:
    target = item.get("targetRef")
    return str(target.get("kind")) if isinstance(target, Mapping) else "Mesh"
