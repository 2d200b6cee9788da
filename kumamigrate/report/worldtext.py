"""The world that a report speaks of: files, environments, meshes, proxies (world.md §4)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kumamigrate.model.kinds import WORKLOADS
from kumamigrate.model.state import mesh_services_mode
from kumamigrate.report.screen.counted import count
from kumamigrate.report.screen.userpaths import seen
from kumamigrate.report.styled import Line, line
from kumamigrate.scene.worlds import known_as
from kumamigrate.world.estate import Estate, Site
from kumamigrate.world.scope import Extent, Scope

MOST = 8
MOST_MESHES = 3
_ENDS = {
    Extent.GIT: "the whole Git repository was read",
    Extent.SETTINGS: "all below the settings was read",
    Extent.PATHS: "there is neither Git nor settings, so nothing but what was named is read; what"
    " else is applied to the mesh is not known",
    Extent.NAMED: "the files named are read by themselves; what else is applied to the mesh is not"
    " looked at",
}


def world_lines(estate: Estate, *, all_of_them: bool = False) -> list[Line]:
    """Return the first line of a report, and one line for each of several environments.

    Nothing is said of an estate that nobody read: a scene made in memory.
    """
    if estate.scope is None:
        return []
    repository = estate.whole.repository
    parts = [
        f"Kuma {estate.whole.source}"
        + (f" → {estate.whole.target}" if estate.whole.target != estate.whole.source else ""),
        count(repository.examined, "file") + _environments(estate),
        *([_meshes(estate.sites[0])] if len(estate.sites) == 1 else ()),
        _given(estate.sites),
        _proxies(estate),
    ]
    lines = [line((" · ".join(part for part in parts if part), "dim"))]
    lines += [line((f"  {where}", "dim")) for where in _where(estate.scope)]
    return lines + environment_lines(estate, all_of_them=all_of_them)


def environment_lines(estate: Estate, *, all_of_them: bool = False) -> list[Line]:
    """Return one line for each of several environments."""
    if len(estate.sites) == 1:
        return []
    most = len(estate.sites) if all_of_them else MOST
    lines = [_site_line(site) for site in estate.sites[:most]]
    if len(estate.sites) > most:
        more = f"  … and {len(estate.sites) - most} more; kumamigrate environments lists them"
        lines.append(line((more, "dim")))
    return lines


def given_lines(estate: Estate) -> list[Line]:
    """Return what is known of the initial policies of the meshes, where there are any."""
    said = _given(estate.sites)
    return [line((said, "dim"))] if said else []


def world_json(estate: Estate) -> dict[str, Any]:
    """Return the same for programs."""
    scope = estate.scope
    return {
        "files": estate.whole.repository.examined,
        "read": scope.world.value if scope is not None else Extent.PATHS.value,
        "environments": [_site_json(site) for site in estate.sites],
    }


def _site_json(site: Site) -> dict[str, Any]:
    return {
        "name": site.name,
        "found": site.deployment.found,
        "how": site.rendering.how,
        "files": len(site.rendering.manifests),
        "meshes": {mesh: mode or "unknown" for mesh, mode in _modes(site)},
        "initialPolicies": {m: known_as(one) for m, one in sorted(site.applied.given().items())},
        "zone": site.applied.environment.zone,
        "inventory": len(site.applied.inventory),
    }


def _where(scope: Scope) -> Iterable[str]:
    if scope.within:
        yield (
            f"of the Git repository only {seen(scope.root)} was read, where the settings are;"
            " what else is applied to the mesh is not known"
        )
    if scope.partial:
        names = ", ".join(path.as_posix() for path in scope.given[:MOST_MESHES])
        more = ", …" if len(scope.given) > MOST_MESHES else ""
        yield f"{_ENDS[scope.world]}, from {seen(scope.root)}; only {names}{more} may be written"
    elif scope.world in (Extent.PATHS, Extent.NAMED):
        yield _ENDS[scope.world]


def _environments(estate: Estate) -> str:
    if len(estate.sites) == 1:
        return ""
    found = all(site.deployment.found for site in estate.sites)
    return f" in {len(estate.sites)} environments" + (" (found by their folders)" if found else "")


def _site_line(site: Site) -> Line:
    parts = [
        count(len(site.rendering.manifests), "manifest file"),
        site.rendering.how if site.rendering.built else "",
        _meshes(site),
    ]
    said = " · ".join(part for part in parts if part)
    return line("  ", (site.name, "strong"), (f"  {said}", "dim"))


def _meshes(site: Site) -> str:
    known = [f"mesh {n}, MeshService mode {m or 'unknown'}" for n, m in _modes(site)]
    more = ["…"] if len(known) > MOST_MESHES else []
    return " · ".join([*known[:MOST_MESHES], *more])


def _modes(site: Site) -> list[tuple[str, str | None]]:
    state = site.applied.state(site.applied.source)[0]
    return [(mesh, mesh_services_mode(state, mesh)) for mesh in state.meshes()]


def _given(sites: Iterable[Site]) -> str:
    """Return what is known of the initial policies, meshes of which the same is known together."""
    by_words: dict[str, dict[str, None]] = {}
    for site in sites:
        for mesh, given in sorted(site.applied.given().items()):
            by_words.setdefault(known_as(given), {})[mesh] = None
    if len(by_words) < 2:
        return "".join(f"initial policies: {words}" for words in by_words)
    said = [f"{words} ({', '.join([*meshes][:MOST_MESHES])})" for words, meshes in by_words.items()]
    return f"initial policies: {'; '.join(said)}"


def _proxies(estate: Estate) -> str:
    resources = {
        r.identity: r
        for site in estate.sites
        for r in (*site.applied.repository.resources, *site.applied.inventory)
    }
    proxies = sum(1 for r in resources.values() if r.type == "Dataplane")
    workloads = sum(1 for r in resources.values() if r.type in WORKLOADS)
    counted = ((proxies, "Dataplane"), (workloads, "workload"))
    return ", ".join(count(number, word) for number, word in counted if number)
