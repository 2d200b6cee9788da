"""An environment as the user or the layout describes it: sources that are applied together.

What a control plane adds to resources is `model.state.Environment`; here are the facts about it
that one environment states for itself (world.md §3).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from kumamigrate.dataclass import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A Helm chart and what it is rendered with. Paths are relative to the root, with `/`.

    `settings` are values set one by one, by name, `inline` further values as YAML. An empty
    `namespace` means that nobody says where it is installed. `untold` are templates that hold
    something which no values render that anybody tells of.
    """

    chart: str
    values: tuple[str, ...] = ()
    release: str = "release"
    namespace: str = ""
    settings: tuple[tuple[str, str], ...] = ()
    inline: str = ""
    untold: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What an environment says of its control plane; None where the run's own settings count."""

    zone: str | None = None
    control_plane_mode: str | None = None
    mesh_services: str | None = None
    system_namespace: str | None = None
    initial_policies: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """A set of sources that are applied to one control plane.

    `include` and `exclude` are globs (`**` spans folders) for plain manifests, `kustomize`
    folders with a kustomization, `charts` Helm charts; an environment may have all three.
    `found` says that the layout told of it, and not the settings; `why` how, for the report.
    """

    name: str
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    kustomize: tuple[str, ...] = ()
    charts: tuple[Chart, ...] = ()
    facts: Facts = field(default_factory=Facts)
    inventory: tuple[Path, ...] = ()
    found: bool = False
    why: str = ""

    def holds(self, path: str) -> bool:
        """Say whether a plain file belongs to the environment by its globs."""
        return matches(path, self.include) and not matches(path, self.exclude)


def matches(path: str, globs: Iterable[str]) -> bool:
    """Say whether a path, relative to the root, matches one of some globs.

    `*` and `?` stay within a folder, `**` spans folders; a folder stands for all it holds.
    """
    return any(_pattern(glob).fullmatch(path) for glob in globs)


@cache
def _pattern(glob: str) -> re.Pattern[str]:
    parts: list[str] = []
    at = 0
    glob = glob.removeprefix("./").rstrip("/")
    while at < len(glob):
        if glob.startswith("**/", at):
            parts.append("(?:[^/]+/)*")
            at += 3
        elif glob.startswith("**", at):
            parts.append(".*")
            at += 2
        else:
            parts.append({"*": "[^/]*", "?": "[^/]"}.get(glob[at], re.escape(glob[at])))
            at += 1
    inner = "(?:/.*)?" if glob not in ("", ".") else ".*"
    return re.compile(("" if glob == "." else "".join(parts)) + inner, re.DOTALL)
