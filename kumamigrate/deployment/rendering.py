"""What an environment comes to, as a value: what was rendered, from which sources."""

from __future__ import annotations

from collections.abc import Mapping

from kumamigrate.dataclass import dataclass, field
from kumamigrate.model.resource import Where
from kumamigrate.source.text import Refusal

Origins = Mapping[tuple[str, int], Where]
"""By path and document of a built manifest: where its resource stands in the sources."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendering:
    """What an environment comes to.

    `files` are the manifests as the control plane gets them, by path: plain sources under
    their own, what was built under that of its kustomization or chart. `manifests` are the
    sources that are manifests of their own (plain ones, what kustomizations list as resources,
    templates of charts): rules look at these, and edit them. `sources` are all files that took
    part: when one of them is edited, the environment is asked. `origins` leads from a document
    of what was built to the place in the sources. `refusals` bar the environment, or what they
    name; `shut` leads from sources that may not be edited to the reasons why; `how` says in a
    few words what made it.
    """

    files: Mapping[str, bytes] = field(default_factory=dict)
    manifests: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()
    origins: Origins = field(default_factory=dict)
    refusals: tuple[Refusal, ...] = ()
    shut: Mapping[str, tuple[Refusal, ...]] = field(default_factory=dict)
    how: str = ""

    @property
    def built(self) -> bool:
        """Say whether anything was built: else the manifests are what is applied."""
        return set(self.files) != self.manifests
