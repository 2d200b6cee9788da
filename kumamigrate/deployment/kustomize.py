"""Builds a kustomization: by kustomize itself where it is installed, natively where it only lists.

What is built is a copy of the sources in memory, so an edit is tried before it is written.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from functools import lru_cache

from kumamigrate.dataclass import replace
from kumamigrate.deployment.build import Built, resources_in, twin
from kumamigrate.deployment.closure import Closure, closure_of
from kumamigrate.deployment.kustomization import Kustomization, KustomizationRole
from kumamigrate.deployment.program import Printed, copied, installed, run
from kumamigrate.deployment.tree import Tree, joined
from kumamigrate.model.read import read_resources
from kumamigrate.model.resource import Where, mapping
from kumamigrate.source.node import MapNode, Style
from kumamigrate.source.reading.load import read_file
from kumamigrate.source.text import Refusal

ORIGIN = "config.kubernetes.io/origin"
"""The annotation in which kustomize says from which file a resource came."""
_TELL = b"\nbuildMetadata: [originAnnotations]\n"
_NOT_BUILT = Printed()


def build(folder: str, tree: Tree, known: Closure | None = None) -> Built:
    """Return what `kustomize build` of a folder gives, or why it cannot be known.

    `known` is what is known to be read by it.
    """
    closure = closure_of(folder, tree) if known is None else known
    listed = sorted(_manifests(closure))
    sources = frozenset(real for p in closure.files if (real := tree.real(p)) is not None)
    plain = Built(
        files={path: data for path in listed if (data := tree.read(path)) is not None},
        manifests=frozenset(listed),
        sources=sources,
        refusals=closure.refusals,
        shut=bool(closure.refusals),
        how=f"kustomization {folder or '.'}, read without kustomize",
    )
    if closure.refusals or not closure.parts:
        return plain
    command = _command(tree)
    if command is None:
        return plain if closure.lists_only else _without_program(plain, closure)
    return _run(command, closure, plain, tree)


def _run(command: tuple[str, ...], closure: Closure, plain: Built, tree: Tree) -> Built:
    tree.ran.add(command)
    root = closure.parts[0]
    place = tree.real(root.folder) or root.folder
    contents, links = _copies(closure, tree)
    told = {**contents, root.path: contents[root.path] + _TELL}
    printed = _NOT_BUILT
    if _takes_more(root):
        printed = _printed(command, place, frozenset(told.items()), links)
    if printed.error or printed == _NOT_BUILT:
        printed = _printed(command, place, frozenset(contents.items()), links)
    shown = " ".join((posixpath.basename(command[0]), *command[1:], place or "."))
    if printed.error:
        advice = f"correct it until `{shown}` succeeds"
        refusal = root.refusal((), f"its build fails: {printed.error}", advice)
        return replace(plain, refusals=(refusal,), shut=True, how=shown)
    return replace(
        plain,
        files={root.path: printed.text},
        origins=dict(_origins(root.path, place, printed.text, tree)),
        how=shown,
    )


@lru_cache(maxsize=512)
def _printed(
    command: tuple[str, ...],
    place: str,
    contents: frozenset[tuple[str, bytes]],
    links: frozenset[tuple[str, str]],
) -> Printed:
    """Return what a build prints: the same sources give the same, so they are built once."""
    with copied(dict(contents), dict(links)) as top:
        return run([*command, f"./{place}"], top)


def _command(tree: Tree) -> tuple[str, ...] | None:
    if (kustomize := installed("kustomize", tree)) is not None:
        return (kustomize, "build")
    kubectl = installed("kubectl", tree)
    return None if kubectl is None else (kubectl, "kustomize")


def _without_program(plain: Built, closure: Closure) -> Built:
    refusals = tuple(_does_more(part) for part in closure.parts if not part.lists_only)
    return replace(plain, refusals=refusals, shut=True)


def _does_more(part: Kustomization) -> Refusal:
    keys = part.does
    return part.refusal(
        (keys[0],),
        f"what {', '.join(keys)} makes of the resources is not known without kustomize",
        "install kustomize or kubectl, so that it can be built and compared",
    )


def _manifests(closure: Closure) -> Iterator[str]:
    for path, roles in closure.roles.items():
        if roles <= {KustomizationRole.RESOURCE, KustomizationRole.COMPONENT}:
            yield path


def _takes_more(root: Kustomization) -> bool:
    """Say whether a line can be put behind a kustomization to make the build tell origins."""
    node = root.file.documents[0].root if root.file.documents else None
    block = isinstance(node, MapNode) and node.style is Style.BLOCK
    ended = root.file.text.rstrip().endswith("...")
    return (
        block and not ended and len(root.file.documents) == 1 and "buildMetadata" not in root.body
    )


def _copies(closure: Closure, tree: Tree) -> tuple[dict[str, bytes], frozenset[tuple[str, str]]]:
    """Return the files of a build under the paths where they really lie, and the links to them."""
    contents: dict[str, bytes] = {}
    links: set[tuple[str, str]] = set()
    for path in closure.files:
        real = tree.real(path)
        if real is None:
            continue
        if real != path:
            links.add((path, real))
        data = tree.read(real)
        if data is not None:
            contents[real] = data
    return contents, frozenset(links)


def _origins(
    path: str, place: str, text: bytes, tree: Tree
) -> Iterator[tuple[tuple[str, int], Where]]:
    """Yield for each document of a build where the resource stands in the sources."""
    for resource in read_resources(read_file(path, text)):
        says = mapping(resource.body.get("metadata"))
        told = str(mapping(says.get("annotations")).get(ORIGIN, ""))
        if resource.where is None or not told.startswith("path: "):
            continue
        source = joined(place, told.removeprefix("path: ").splitlines()[0])
        found = twin(resource, resources_in(source, tree))
        if found is not None and found.where is not None:
            yield (path, resource.where.document), found.where
