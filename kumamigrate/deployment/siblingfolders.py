"""Which sibling folders are environments of their own (world.md §3).

A folder is a sibling of another only on some evidence that both are not applied to one control
plane: a Mesh in the same file of both, many common identities, or names as environments have.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from itertools import combinations

from kumamigrate.dataclass import dataclass
from kumamigrate.model.resource import Identity
from kumamigrate.pattern import pattern

Folder = tuple[str, ...]
BUILD = "kustomization"
_CONTAINERS = pattern(
    r"(clusters?|env(ironment)?s?|overlays?|stages?|zones?|regions?|sites|deploy(ment)?s?)"
)
_NAMES = pattern(
    r"(.*[-_.])?(dev|develop(ment)?|test(ing)?|qa|int(egration)?|uat|stag(e|ing)|prod(uction)?"
    r"|pre-?prod|live|sandbox|demo|us|eu|ap|sa|ca|af|me|east|west|north|south|central"
    r"|cluster|zone|region|env)([-_.]?\d+|[-_.]\w+|[-_.]\w+[-_.]?\d+|[-_.]?[a-z])?"
)
_SHARED = pattern(r"(base|common|shared|global|all|defaults?|components?|lib|templates?|mesh)")


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedTogether:
    """What is applied together in any case: the plain files of a folder, or one build.

    `meshes` are the files in which Meshes stand.
    """

    path: Folder
    identities: frozenset[Identity]
    build: str | None = None
    meshes: frozenset[Folder] = frozenset()


def sibling_groups(units: Sequence[AppliedTogether]) -> dict[Folder, list[str]]:
    """Return by folder the children that are environments of their own, sorted."""
    places: dict[Identity, list[AppliedTogether]] = defaultdict(list)
    for unit in units:
        for identity in unit.identities:
            places[identity].append(unit)
    common: dict[Folder, dict[tuple[str, str], set[Identity]]] = defaultdict(
        lambda: defaultdict(set)
    )
    for identity, holders in places.items():
        for top, name, other in _splits([unit.path for unit in holders]):
            common[top][name, other].add(identity)
    groups: dict[Folder, list[str]] = {}
    for top, pairs in sorted(common.items()):
        names = {
            n for pair, shared in pairs.items() if _apart(top, pair, shared, units) for n in pair
        }
        if names:
            groups[top] = sorted(names | _more(top, names, units))
    return groups


def _splits(paths: Sequence[Folder]) -> set[tuple[Folder, str, str]]:
    """Return where the ways to some folders part: the folder above, and two names below it."""
    found = set()
    by_folder: dict[Folder, set[str]] = defaultdict(set)
    for path in paths:
        for depth in range(len(path)):
            by_folder[path[:depth]].add(path[depth])
    for top, names in by_folder.items():
        found |= {(top, *pair) for pair in combinations(sorted(names), 2)}
    return found


def _apart(
    top: Folder,
    pair: tuple[str, str],
    shared: Collection[Identity],
    units: Sequence[AppliedTogether],
) -> bool:
    """Say whether two siblings that share identities are applied to two control planes."""
    if _is_container(top) or len(set.intersection(*(_meshes((*top, n), units) for n in pair))):
        return True
    if all(_NAMES.fullmatch(name) for name in pair) or BUILD in pair:
        return True
    if all(_builds((*top, name), units) for name in pair):
        return True
    held = [_identities((*top, name), units) for name in pair]
    return len(shared) > 1 and 2 * len(shared) >= min(map(len, held))


def _meshes(folder: Folder, units: Sequence[AppliedTogether]) -> set[Folder]:
    """Return the files below a folder that hold Meshes, relative to it."""
    inside = (unit for unit in units if unit.path[: len(folder)] == folder)
    return {path[len(folder) :] for unit in inside for path in unit.meshes}


def _builds(folder: Folder, units: Sequence[AppliedTogether]) -> bool:
    return any(u.build is not None and u.path[: len(folder)] == folder for u in units)


def _is_container(top: Folder) -> bool:
    return bool(top) and _CONTAINERS.fullmatch(top[-1]) is not None


def _more(top: Folder, names: Collection[str], units: Sequence[AppliedTogether]) -> set[str]:
    """Return siblings that share nothing and stand where environments stand: they are some too."""
    if not _is_container(top):
        return set()
    there = {
        u.path[len(top)] for u in units if u.path[: len(top)] == top and len(u.path) > len(top)
    }
    return {name for name in there - set(names) if not _SHARED.fullmatch(name) and name != BUILD}


def _identities(folder: Folder, units: Sequence[AppliedTogether]) -> set[Identity]:
    inside = (unit for unit in units if unit.path[: len(folder)] == folder)
    return {identity for unit in inside for identity in unit.identities}
