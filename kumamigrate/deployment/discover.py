"""Environments that a layout tells of by itself (world.md §3).

Folders whose kustomization nobody else includes are roots; sibling folders that hold the same
identities are environments (siblingfolders.py), each with what stands above and beside them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod

from kumamigrate.dataclass import dataclass, field
from kumamigrate.deployment.environment import Deployment
from kumamigrate.deployment.filegraph import FolderLayout, layout_of
from kumamigrate.deployment.siblingfolders import BUILD, AppliedTogether, Folder, sibling_groups
from kumamigrate.deployment.tree import Tree
from kumamigrate.model.resource import Identity

MOST_ENVIRONMENTS = 64
"""Layouts that come to more are not guessed at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundEnvironments:
    """What a layout comes to: its environments, and files with Kuma's resources in none of them."""

    deployments: tuple[Deployment, ...]
    strays: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Variant:
    """One way to choose among siblings: what it is called, and which folders it leaves out."""

    name: tuple[str, ...] = ()
    without: frozenset[Folder] = field(default_factory=frozenset)


class _TooManyError(Exception):
    """Siblings that can be combined in more ways than are worth a guess."""


def discover(standing: Mapping[str, Collection[Identity]], tree: Tree) -> FoundEnvironments:
    """Return the environments of a repository.

    `standing` are the identities of Kuma's resources by file, `tree` all files.
    """
    layout = layout_of(tree)
    listed = layout.listed() | layout.owned
    strays = frozenset(p for p in standing if p not in listed and _below(p, layout.closures))
    plain = {p: standing[p] for p in standing if p not in listed and p not in strays}
    units = [*_build_units(layout, standing), *_plain_units(plain)]
    variants = _variants(units)
    return FoundEnvironments(
        deployments=tuple(
            _deployment(variant, layout, strays, single=len(variants) == 1) for variant in variants
        ),
        strays=tuple(sorted(strays)),
    )


def _below(path: str, folders: Collection[str]) -> bool:
    return any(not folder or path.startswith(f"{folder}/") for folder in folders)


def _build_units(
    layout: FolderLayout, standing: Mapping[str, Collection[Identity]]
) -> Iterator[AppliedTogether]:
    """Yield what is built: kustomizations that nobody includes, and charts."""
    for folder in layout.roots:
        identities = _identities_in(layout.closures[folder].files, standing)
        if identities:
            yield AppliedTogether(
                path=(*_parts(folder), BUILD), identities=identities, build=folder
            )
    for folder in layout.charts:
        inside = [path for path in standing if _below(path, [folder])]
        identities = _identities_in(inside, standing)
        if identities:
            yield AppliedTogether(path=_parts(folder), identities=identities)


def _identities_in(
    paths: Iterable[str], standing: Mapping[str, Collection[Identity]]
) -> frozenset[Identity]:
    return frozenset(identity for path in paths for identity in standing.get(path, ()))


def _plain_units(standing: Mapping[str, Collection[Identity]]) -> list[AppliedTogether]:
    by_folder: dict[Folder, list[str]] = defaultdict(list)
    for path in standing:
        by_folder[_parts(path.rpartition("/")[0])].append(path)
    return [
        AppliedTogether(
            path=folder,
            identities=_identities_in(paths, standing),
            meshes=frozenset(
                _parts(path) for path in paths if any(i[0] == "Mesh" for i in standing[path])
            ),
        )
        for folder, paths in sorted(by_folder.items())
    ]


def _parts(folder: str) -> Folder:
    return tuple(folder.split("/")) if folder else ()


def _variants(units: Sequence[AppliedTogether]) -> list[_Variant]:
    """Return every environment that the siblings among some units make."""
    groups = sibling_groups(units)
    tops = [top for top in groups if not _inside_of_any(top, groups)]
    try:
        chosen = _aligned([_options(top, groups) for top in tops])
    except _TooManyError:
        return [_Variant()]
    return chosen if len(chosen) <= MOST_ENVIRONMENTS else [_Variant()]


def _inside_of_any(folder: Folder, groups: Mapping[Folder, Collection[str]]) -> bool:
    """Say whether a folder lies within a sibling of a group."""
    return any(
        len(folder) > len(top) and folder[: len(top)] == top and folder[len(top)] in names
        for top, names in groups.items()
    )


def _options(top: Folder, groups: Mapping[Folder, Sequence[str]]) -> list[_Variant]:
    """Return the choices among the siblings of one group, with those inside the chosen one."""
    found = []
    for name in groups[top]:
        here = (*top, name)
        inner = {f: n for f, n in groups.items() if f[: len(here)] == here}
        tops = [one for one in inner if not _inside_of_any(one, inner)]
        others = frozenset((*top, other) for other in groups[top] if other != name)
        found += [
            _Variant(
                name=(name if name != BUILD or not top else top[-1], *variant.name),
                without=others | variant.without,
            )
            for variant in _aligned([_options(one, inner) for one in tops])
        ]
    return found


def _aligned(choices: Sequence[Sequence[_Variant]]) -> list[_Variant]:
    """Return the choices of several groups together.

    Groups whose names agree go by name (`mesh/dev` with `teams/web/dev`); a group that lacks a
    name has nothing for that environment. Where names do not agree, every combination may be.
    """
    if not choices:
        return [_Variant()]
    names = [{variant.name for variant in options} for options in choices]
    most = max(names, key=len)
    if not all(one <= most for one in names):
        if prod(map(len, choices)) > MOST_ENVIRONMENTS:
            raise _TooManyError
        return [_joined(parts) for parts in product(*choices)]
    order = next(options for options, one in zip(choices, names, strict=True) if one is most)
    return [
        _Variant(
            name=variant.name,
            without=frozenset().union(*(_without(options, variant.name) for options in choices)),
        )
        for variant in order
    ]


def _without(options: Sequence[_Variant], name: tuple[str, ...]) -> frozenset[Folder]:
    for option in options:
        if option.name == name:
            return option.without
    # Each option leaves all others out: together they leave out all.
    return frozenset().union(*(option.without for option in options))


def _joined(parts: Iterable[_Variant]) -> _Variant:
    listed = list(parts)
    return _Variant(
        name=tuple(word for part in listed for word in part.name),
        without=frozenset().union(*(part.without for part in listed)),
    )


def _deployment(
    variant: _Variant, layout: FolderLayout, strays: Collection[str], *, single: bool
) -> Deployment:
    """Return an environment: all of the repository but what other environments keep for
    themselves, and what nobody applies."""
    without = [
        "/".join(one) + "/**"
        if one[-1] != BUILD
        else layout.closures["/".join(one[:-1])].parts[0].path
        for one in sorted(variant.without)
    ]
    return Deployment(
        name="" if single else "/".join(variant.name),
        include=("**",),
        exclude=(*without, *sorted(strays)),
        found=True,
    )
