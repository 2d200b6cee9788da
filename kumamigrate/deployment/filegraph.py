"""How the files of a repository hang together: kustomizations, charts, and what is neither.

A file that a kustomization uses as a patch or setting, and all of a chart, is no manifest of
its own, wherever it lies.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from functools import cached_property

from kumamigrate.dataclass import dataclass, field
from kumamigrate.deployment.closure import Closure, closure_of
from kumamigrate.deployment.helm import charts_within
from kumamigrate.deployment.kustomization import Kustomization, KustomizationRole, kustomization_of
from kumamigrate.deployment.tree import KUSTOMIZATIONS, Tree


@dataclass(frozen=True, kw_only=True)
class FolderLayout:
    """Kustomizations and charts of a repository, by folder.

    `closures` holds every kustomization with all it reads; `roots` are those that no other one
    includes, `charts` those that no other one depends on. `owned` are files that are no
    manifests of their own.
    """

    closures: Mapping[str, Closure] = field(default_factory=dict)
    roots: tuple[str, ...] = ()
    charts: tuple[str, ...] = ()
    owned: frozenset[str] = frozenset()

    @cached_property
    def beside(self) -> dict[str, tuple[Kustomization, frozenset[str]]]:
        """Return each kustomization with the files that are built together with it, by path."""
        parts: dict[str, Kustomization] = {}
        files: dict[str, set[str]] = {}
        for closure in self.closures.values():
            for part in closure.parts:
                parts.setdefault(part.path, part)
                files.setdefault(part.path, set()).update(closure.files)
        return {path: (part, frozenset(files[path])) for path, part in parts.items()}

    def listed(self) -> frozenset[str]:
        """Return the files that some kustomization reads."""
        return frozenset(p for closure in self.closures.values() for p in closure.files)


def layout_of(tree: Tree) -> FolderLayout:
    """Return the kustomizations and charts among the files in memory: once for a tree."""
    if "layout" not in tree.known:
        tree.known["layout"] = _layout(tree)
    found: FolderLayout = tree.known["layout"]
    return found


def _layout(tree: Tree) -> FolderLayout:
    folders = sorted({posixpath.dirname(p) for p in tree.files if _is_kustomization(p, tree)})
    closures = {folder: closure_of(folder, tree) for folder in folders}
    included = {part.folder for closure in closures.values() for part in closure.parts[1:]}
    # Of a circle nobody is a root; each of it says that it is one.
    circles = {folder for folder, closure in closures.items() if closure.circular}
    charts, of_charts = charts_within(tree)
    return FolderLayout(
        closures=closures,
        roots=tuple(
            folder
            for folder in folders
            if (folder not in included or folder in circles)
            and closures[folder].parts[0].body.get("kind") != "Component"
        ),
        charts=charts,
        owned=frozenset((*_other_than_manifests(closures), *of_charts)),
    )


def _is_kustomization(path: str, tree: Tree) -> bool:
    if posixpath.basename(path) not in KUSTOMIZATIONS:
        return False
    data = tree.files[path]
    return data is not None and kustomization_of(path, data) is not None


def _other_than_manifests(closures: Mapping[str, Closure]) -> frozenset[str]:
    """Return the kustomizations themselves, and what they use otherwise than as a resource."""
    found: set[str] = set()
    for closure in closures.values():
        found.update(part.path for part in closure.parts)
        for path, roles in closure.roles.items():
            if not roles <= {KustomizationRole.RESOURCE, KustomizationRole.COMPONENT}:
                found.add(path)
    return frozenset(found)
