"""What a build comes to: manifests, and from where in the sources each of them came."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from kumamigrate.dataclass import dataclass, field
from kumamigrate.deployment.rendering import Origins
from kumamigrate.deployment.tree import Tree
from kumamigrate.model.read import read_resources
from kumamigrate.model.resource import Resource
from kumamigrate.pattern import pattern
from kumamigrate.source.reading.load import read_file
from kumamigrate.source.text import Refusal

_TEMPLATE = pattern(r"\{\{.*?\}\}")


@dataclass(frozen=True, kw_only=True)
class Built:
    """What a build came to.

    `files` are manifests by path, `manifests` the sources that are manifests of their own,
    `sources` all that took part. `refusals` say why `files` are not, or not all, what a cluster
    gets; they are the sources then. With `shut` none of the sources may be edited: what that
    would do to the build cannot be tried. `how` says what built it.
    """

    files: Mapping[str, bytes] = field(default_factory=dict)
    manifests: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()
    origins: Origins = field(default_factory=dict)
    refusals: tuple[Refusal, ...] = ()
    shut: bool = False
    how: str = ""


def resources_in(path: str, tree: Tree) -> tuple[Resource, ...]:
    """Return the resources of a source, none where it is not there."""
    data = tree.read(path)
    return resources_of(path, data) if data is not None else ()


@lru_cache(maxsize=8192)
def resources_of(path: str, data: bytes) -> tuple[Resource, ...]:
    """Return the resources of a file. Every edit that is tried asks again for the same files."""
    return read_resources(read_file(path, data))


def twin(built: Resource, sources: Iterable[Resource]) -> Resource | None:
    """Return the resource of a file that one was built from.

    Its name may have grown in front and behind, and templates may have filled in parts of it.
    """
    alike = [one for one in sources if one.type == built.type and _grows(one.name, built.name)]
    return max(alike, key=lambda one: len(_TEMPLATE.sub("", one.name)), default=None)


def _grows(source: str, built: str) -> bool:
    at = 0
    for part in _TEMPLATE.split(source):
        at = built.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return True
