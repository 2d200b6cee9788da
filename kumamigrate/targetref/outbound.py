"""ResourceRules: what outbounds to real resources read (matcher.md (c) 2b, (f))."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kumamigrate.dataclass import dataclass, field
from kumamigrate.model.conf import JsonConf
from kumamigrate.model.kri import Kri, mesh_kri
from kumamigrate.model.policytype import Conf
from kumamigrate.model.release import Release
from kumamigrate.targetref.entry import Entry, Found, origin_with_index
from kumamigrate.targetref.merge import merge_entries
from kumamigrate.targetref.resolve import WHOLE_ONLY
from kumamigrate.targetref.sort import Ranked, compare, keys_of, sort_stable


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ResourceRule:
    """The confs of one real resource or section; several only with hostnames."""

    kri: Kri
    confs: tuple[JsonConf, ...]
    entries: tuple[Entry, ...]

    @property
    def conf(self) -> JsonConf:
        """The conf that proxies read: the first."""
        return self.confs[0]

    @property
    def origin(self) -> list[dict[str, object]]:
        """The contributing policies and items."""
        return origin_with_index(self.entries)


@dataclass(frozen=True, slots=True, eq=False)
class Resolved:
    """To-items in merge order with what they mean; `by_key` the positions of each target.

    `found` keeps what look-ups merged.
    """

    entries: tuple[Entry, ...]
    by_key: Mapping[Kri, tuple[int, ...]]
    found: dict[Kri, Found] = field(default_factory=dict)

    def sorted_keys(self) -> tuple[Kri, ...]:
        """Return every identifier some item refers to, by its text."""
        return tuple(sorted(self.by_key, key=lambda k: (str(k), k.typed())))

    def relevant(self, key: Kri) -> tuple[Entry, ...]:
        """Return the items merged under a key: mesh-wide, whole resource, same section."""
        mesh = mesh_kri(key.name if key.type == "Mesh" else key.mesh)
        wanted = [mesh, key] if key.type == "Mesh" else [mesh, key.of_section(""), key]
        positions = {at for k in wanted for at in self.by_key.get(k, ())}
        return tuple(self.entries[at] for at in sorted(positions))


Ranks = Mapping[int, int]
"""By `id` of an entry where it stands among all of its type: equal for equal ones."""


def ranks_of(entries: Sequence[Entry], release: Release) -> Ranks | None:
    """Return the ranks of all entries of a type, None where each list has to be sorted."""
    keys = keys_of(release, release.resource_sort, [*map(_ranked, entries)])
    if keys is None:
        return None
    numbers = {key: number for number, key in enumerate(sorted(set(keys)))}
    return {id(one): numbers[key] for one, key in zip(entries, keys, strict=True)}


def resolve_items(
    entries: Sequence[Entry],
    release: Release,
    ranks: Ranks | None,
    meant: Callable[[Entry], tuple[Kri, ...]],
) -> Resolved:
    """Return the to-items of policies, sorted and resolved.

    Policies with top-level MeshHTTPRoute take no part (product.md §1 law 2).
    """
    entries = [e for e in entries if e.top.kind != "MeshHTTPRoute"]
    known = ranks is not None and all(id(entry) in ranks for entry in entries)
    ranked = _by_rank(entries, ranks) if ranks and known else _sorted(entries, release)
    by_key: dict[Kri, list[int]] = {}
    for at, entry in enumerate(ranked):
        for key in meant(entry):
            by_key.setdefault(key, []).append(at)
    return Resolved(tuple(ranked), {k: tuple(v) for k, v in by_key.items()})


def _by_rank(entries: Sequence[Entry], ranks: Ranks) -> list[Entry]:
    return sorted(entries, key=lambda entry: ranks[id(entry)])


def _sorted(entries: Sequence[Entry], release: Release) -> list[Entry]:
    items = [(_ranked(entry), entry) for entry in entries]
    ranked = sort_stable(
        items,
        lambda a, b: compare(release, release.resource_sort, a[0], b[0]),
        lambda: keys_of(release, release.resource_sort, [one for one, _ in items]),
    )
    return [entry for _, entry in ranked]


def _ranked(entry: Entry) -> Ranked:
    return Ranked(entry.policy, entry.top, entry.target)


def resource_rules(resolved: Resolved, fields: Conf) -> tuple[ResourceRule, ...]:
    """Return all rules, sorted by key; only what some item refers to has one."""
    out = []
    for key in resolved.sorted_keys():
        entries = resolved.relevant(key)
        out.append(ResourceRule(kri=key, confs=merge_entries(entries, fields), entries=entries))
    return tuple(out)


def look_up(
    resolved: Resolved, fields: Conf, kri: Kri, route: Kri | None, *, direct_route: bool
) -> Found | None:
    """Return what an outbound reads: first hit of route → section → resource → mesh."""
    if route is not None:
        bound = route.of_section("")
        if bound in resolved.by_key:
            return _merged(resolved, fields, bound, "route")
    if direct_route:
        return None
    if kri.section and kri.type not in WHOLE_ONLY and kri in resolved.by_key:
        return _merged(resolved, fields, kri, "section")
    for level, key in (("resource", kri.of_section("")), ("mesh", mesh_kri(kri.mesh))):
        if key in resolved.by_key:
            return _merged(resolved, fields, key, level)
    return None


def _merged(resolved: Resolved, fields: Conf, key: Kri, level: str) -> Found:
    known = resolved.found.get(key)
    if known is None:
        entries = resolved.relevant(key)
        known = Found(confs=merge_entries(entries, fields), entries=entries, level=level)
        resolved.found[key] = known
    return known
