"""All that the build of a kustomization would read, or why it cannot be built. Nothing is built."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kumamigrate.dataclass import dataclass, field, replace
from kumamigrate.deployment.kustomization import (
    Kustomization,
    KustomizationRole,
    Use,
    kustomization_in,
)
from kumamigrate.deployment.tree import KUSTOMIZATIONS, Tree, joined
from kumamigrate.pattern import pattern
from kumamigrate.source.text import Reason, Refusal

_REMOTE = pattern(r"^(?:[a-z][a-z0-9+.-]*::?//|git@|[^/]+@[^/]+:|github\.com[/:])|\?ref=|//")
_WORD = pattern(r"(?<![\w./-])[\w./-]+\.\w+")
_NESTED = ("helmCharts", "helmChartInflationGenerator")


@dataclass(frozen=True, kw_only=True)
class Closure:
    """All that a build of one folder reads, or why it cannot be built.

    `files` are paths as kustomizations name them. `parts` are the kustomizations, the one of
    the folder first. `roles` tells as what each file is used.
    """

    parts: tuple[Kustomization, ...] = ()
    files: frozenset[str] = frozenset()
    roles: Mapping[str, frozenset[KustomizationRole]] = field(default_factory=dict)
    refusals: tuple[Refusal, ...] = ()
    circular: bool = False

    @property
    def lists_only(self) -> bool:
        """Say whether all of its kustomizations only list resources."""
        return all(part.lists_only for part in self.parts)


def closure_of(folder: str, tree: Tree) -> Closure:
    """Return all that a build of a folder reads: kustomizations below each other, and files."""
    return _closed(folder, tree, (), {})


def _closed(folder: str, tree: Tree, above: tuple[str, ...], known: dict[str, Closure]) -> Closure:
    if folder in known:
        return known[folder]
    own = kustomization_in(folder, tree)
    if own is None:
        return Closure()
    refusals = [*_faults(own, tree)]
    parts, files, circular = [own], {own.path}, False
    roles: dict[str, set[KustomizationRole]] = {}
    for use in own.uses:
        inner = _used(own, use, tree, (*above, folder), known)
        refusals.extend(inner.refusals)
        circular = circular or inner.circular
        known_paths = {part.path for part in parts}
        parts.extend(part for part in inner.parts if part.path not in known_paths)
        files |= inner.files
        for path, as_what in inner.roles.items():
            roles.setdefault(path, set()).update(as_what)
    known[folder] = Closure(
        parts=tuple(parts),
        files=frozenset(files),
        roles={path: frozenset(as_what) for path, as_what in roles.items()},
        refusals=tuple(dict.fromkeys(refusals)),
        circular=circular,
    )
    return known[folder]


def _used(
    own: Kustomization,
    use: Use,
    tree: Tree,
    above: tuple[str, ...],
    known: dict[str, Closure],
) -> Closure:
    """Return what one named file or folder brings along."""
    data = tree.read(use.path)
    if data is not None:
        more = _mentioned(own.folder, data, tree) if use.role is KustomizationRole.SETTING else {}
        roles = {**more, use.path: frozenset({use.role})}
        return Closure(files=frozenset(roles), roles=roles)
    if use.path == ".." or use.path.startswith(("../", "/")):
        return _barred(
            own,
            use,
            f"{use.written} leads outside the repository",
            "run from a folder that holds it, or bring it inside",
        )
    if tree.is_folder(use.path):
        return _folder(own, use, tree, above, known)
    if _REMOTE.search(use.written):
        return _barred(
            own,
            use,
            f"{use.written} is fetched from elsewhere; nothing is fetched",
            "vendor it into the repository to be told everything",
        )
    return _barred(
        own, use, f"{use.written} does not exist", "correct the path or remove the entry"
    )


def _mentioned(folder: str, data: bytes, tree: Tree) -> dict[str, frozenset[KustomizationRole]]:
    """Return the files that the settings of a transformer or generator name."""
    words = set(_WORD.findall(data.decode("utf-8", "replace")))
    paths = {joined(folder, word) for word in words}
    return {
        path: frozenset({KustomizationRole.PATCH}) for path in paths if tree.read(path) is not None
    }


def _folder(
    own: Kustomization,
    use: Use,
    tree: Tree,
    above: tuple[str, ...],
    known: dict[str, Closure],
) -> Closure:
    real = tree.real(use.path)
    place = use.path if real is None else real
    if use.path in above or place in above:
        circle = " → ".join((*above[above.index(place) :], place))
        barred = _barred(own, use, f"kustomizations in a circle: {circle}", "remove one entry")
        return replace(barred, circular=True)
    inner = _closed(place, tree, above, known)
    if not inner.parts:
        return _barred(
            own, use, f"{use.written} holds no kustomization.yaml", "add one, or list the files"
        )
    return inner if place == use.path else replace(inner, files=inner.files | {use.path})


def _barred(own: Kustomization, use: Use, detail: str, advice: str) -> Closure:
    return Closure(refusals=(own.refusal(use.at, detail, advice),))


def _faults(own: Kustomization, tree: Tree) -> Iterator[Refusal]:
    """Yield what keeps a kustomization itself from being built here."""
    for refusal in own.file.refusals:
        # An inline patch is no manifest that stands at the wrong place.
        if refusal.reason is not Reason.NOT_AT_ROOT:
            yield replace(refusal, hides=True)
    twins = [n for n in KUSTOMIZATIONS if tree.read(joined(own.folder, n)) is not None]
    if len(twins) > 1:
        yield own.refusal((), f"{' and '.join(twins)} stand in one folder", "remove one")
    for key in _NESTED:
        if own.body.get(key):
            yield own.refusal(
                (key,),
                f"{key} makes kustomize run helm, which is not done here",
                "render the chart into the repository, or name it as an environment of its own",
            )
