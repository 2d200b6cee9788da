"""What the control plane of an environment gets, made from the sources in memory.

Plain manifests are applied as they are; kustomizations and charts are built (world.md §3).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kumamigrate.deployment.environment import Deployment
from kumamigrate.source.text import Refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendering:
    """What an environment comes to.

    `files` are the manifests as the control plane gets them, by path: plain sources under
    their own, what was built under that of its kustomization or chart. `manifests` are the
    sources that are manifests of their own (plain ones, and what kustomizations list as
    resources): rules look at these, and edit them. `sources` are all files that took part:
    when one of them is edited, the environment is asked. `refusals` bar the environment, or
    what they name; `how` says in a few words what made it.
    """

    files: Mapping[str, bytes] = field(default_factory=dict)
    manifests: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()
    refusals: tuple[Refusal, ...] = ()
    how: str = ""

    @property
    def built(self) -> bool:
        """Say whether anything was built: else the manifests are what is applied."""
        return set(self.files) != self.manifests


def render(
    deployment: Deployment,
    files: Mapping[str, bytes],
    root: Path,  # noqa: ARG001  # nothing is built yet
) -> Rendering:
    """Return what the control plane of an environment gets of some sources.

    `files` are all files of the repository by path, edited or not; the disk is not asked for
    them. `root` is where they lie.
    """
    own = {path: data for path, data in files.items() if deployment.holds(path)}
    return Rendering(
        files=own, manifests=frozenset(own), sources=frozenset(own), how="plain manifests"
    )
