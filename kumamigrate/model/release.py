"""Kuma releases as data: how the matcher of each behaves and which policy types it knows."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from typing import Any

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.model.packed import packed
from kumamigrate.model.policytype import Confs, PolicyType, Rows, read
from kumamigrate.model.versions import at_least, newest_entry


class UnknownRelease(Exception):  # noqa: N818 - reads as what happened, like KeyError
    """A release name that stands for no table. `known` lists those that do."""

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        super().__init__(f"unknown release {name!r}; known are {', '.join(known)}")
        self.name = name
        self.known = known


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One release. `base` is the release whose tables it has; `assumed` says what is not certain.

    Behaviours are named in matcher.md: `policy_sort`, `resource_sort`, `inbound_sort` are the
    levels of (c) in order; `gates` those of (d); `reference_by`, `section_check`, `legacy_names`
    the table "Resolving a to-item" of (f); `inbound_rules` says which points are listed
    (matcher-notes §1.3); `shape` is the form of the printed answer. `external_by_port`: which
    policies are looked up for a MeshExternalService that is referred to with its port.
    """

    name: str
    base: str
    assumed: tuple[str, ...] = ()
    kind_order: Mapping[str, int]
    origin_order: Mapping[str, int]
    role_order: Mapping[str, int]
    kri_short_names: Mapping[str, str]
    target_ref_type_fields: tuple[str, ...]
    target_ref_fields: Mapping[str, Mapping[str, Any]]
    policy_types: Mapping[str, PolicyType]
    policy_sort: tuple[str, ...]
    resource_sort: tuple[str, ...]
    inbound_sort: tuple[str, ...]
    dataplane_rank: tuple[str, ...]
    gates: bool
    ignored_inbounds: str
    top_kinds: tuple[str, ...]
    proxy_types: bool
    gateway_name: str
    subset_rules: bool
    grouping: str
    route_to_mesh: str
    resource_rules: bool
    key: str
    reference_by: tuple[str, ...]
    section_check: str
    external_by_port: str
    legacy_names: str
    route_keys: bool
    inbound_rules: str
    zone_proxy_listeners: bool
    defaults: str
    route_name: str
    shape: str
    deprecations: Mapping[str, Any]


def known_releases() -> tuple[str, ...]:
    """Return the names `release` takes, oldest first."""
    names = {*_table("releases"), *_table("between")}
    return tuple(sorted(names, key=lambda n: tuple(int(p) for p in n.split("."))))


def newest_two(target: str) -> str:
    """Return the default of `--from`: the newest 2.x that is not newer than the target."""
    earlier = [name for name in known_releases() if not at_least(name, "3.0")]
    return newest_entry(earlier, target)


@cache
def policy_type_names() -> frozenset[str]:
    """Return the names of all policy types that some release knows."""
    return frozenset(kind for kind, known in _table("policies").items() if known["forms"])


@cache
def release(name: str) -> Release:
    """Return a release by name, `2.14` or `v2.14.3`. Raises `UnknownRelease`."""
    short = ".".join(name.removeprefix("v").split(".")[:2])
    if short not in known_releases():
        raise UnknownRelease(name, known_releases())
    between = _table("between").get(short)
    if between is None:
        return _exact(short)
    return _between(short, between)


def _table(name: str) -> dict[str, Any]:
    found: dict[str, Any] = packed("model/tables", f"{name}.json")
    return found


def _exact(name: str) -> Release:
    orders, behaviour = _table("releases")[name], _table("behaviour")[name]
    values: dict[str, Any] = {
        _snake(k): tuple(v) if isinstance(v, list) else v for k, v in behaviour.items()
    }
    return Release(
        name=name,
        base=name,
        kind_order=orders["kindOrder"],
        origin_order=orders["originOrder"],
        role_order=orders["roleOrder"] or {},
        kri_short_names=orders["kriShortNames"] or _table("releases")["2.14"]["kriShortNames"],
        target_ref_type_fields=tuple(orders["targetRefTypeFields"]),
        target_ref_fields=orders["targetRefFields"],
        policy_types=_policy_types(name),
        **values,
    )


def _policy_types(release_name: str) -> dict[str, PolicyType]:
    out = {}
    for kind, known in _table("policies").items():
        for form in known["forms"]:
            if release_name in form["in"]:
                confs = Confs(partial(_rows, kind), release_name)
                out[kind] = read(kind, form["is"], confs)
    return out


def _rows(kind: str) -> Rows:
    rows: Rows = _table("conf")[kind]
    return rows


def _between(name: str, change: Mapping[str, Any]) -> Release:
    base = _exact(change["base"])
    types = {k: v for k, v in base.policy_types.items() if k not in change.get("withoutTypes", ())}
    for kind in change.get("withoutRules", ()):
        types[kind] = types[kind].without_rules()
    for kind in change.get("withoutMatches", ()):
        types[kind] = replace(types[kind], match_fields=())
    for kind in change.get("withoutToRoute", ()):
        kept = tuple(k for k in types[kind].to_kinds if k != "MeshHTTPRoute")
        types[kind] = replace(types[kind], to_kinds=kept)
    for kind, fields in change.get("withoutConf", {}).items():
        confs = Confs(partial(_rows, kind), change["base"], without=frozenset(fields))
        types[kind] = replace(types[kind], confs=confs)
    by_port = change.get("externalByPort", base.external_by_port)
    assumed = tuple(change.get("assumed", ()))
    return replace(base, name=name, policy_types=types, assumed=assumed, external_by_port=by_port)


def _snake(name: str) -> str:
    return "".join("_" + c.lower() if c.isupper() else c for c in name)
