"""One answer for the zones of a global control plane, whose proxies are configured by their own.

What a zone has of services and proxies is labelled in another way than what the global control
plane stores (`model.zoneview`). Each zone tells of its own proxies, and all of them of those that
could exist.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from kumamigrate.dataclass import replace
from kumamigrate.model.state import Viewer
from kumamigrate.model.zoneview import viewers
from kumamigrate.prover.proof import (
    ClaimResult,
    MeshProof,
    Proof,
    ProxyVerdict,
    Verdict,
    gathered,
    worst,
)
from kumamigrate.scene.scene import Scene

Ask = Callable[[Scene, Scene], Proof]


def viewers_of(*scenes: Scene) -> tuple[Viewer | None, ...]:
    """Return the zones by whose view scenes may differ, None alone where it is one for all."""
    releases = {scene.source for scene in scenes} | {scene.target for scene in scenes}
    if all(scene.environment.mode != "global" for scene in scenes):
        return (None,)
    return viewers(scene.state(release)[0] for scene in scenes for release in sorted(releases))


def in_every_zone(before: Scene, after: Scene, ask: Ask) -> Proof:
    """Return what holds of two scenes whichever zone a proxy is of."""
    found: list[Proof] = []
    for viewer in viewers_of(before, after):
        old, new = before.seen_by(viewer), after.seen_by(viewer)
        proof = ask(old, new)
        found.append(proof if viewer is None else _of_zone(proof, viewer.zone, (old, new)))
    first = found[0]
    if len(found) == 1:
        return first
    meshes = {mesh: _as_one([one.meshes[mesh] for one in found]) for mesh in first.meshes}
    return replace(first, meshes=meshes)


def _of_zone(proof: Proof, zone: str, scenes: Sequence[Scene]) -> Proof:
    """Return a proof without the Dataplanes of other zones, by the names they are stored under."""
    stored: dict[tuple[str, str], tuple[str, str]] = {}
    for scene in scenes:
        for one in scene.state(scene.source)[0].of_type("Dataplane"):
            stored[one.mesh, one.name] = (one.zone, _stored_name(one.body) or one.name)
    meshes = {}
    for name, mesh in proof.meshes.items():
        claims = {
            claim: _result(result, tuple(_theirs(result, name, zone, stored)))
            for claim, result in mesh.claims.items()
        }
        meshes[name] = replace(mesh, claims=claims)
    return replace(proof, meshes=meshes)


def _theirs(
    result: ClaimResult, mesh: str, zone: str, stored: Mapping[tuple[str, str], tuple[str, str]]
) -> Iterator[ProxyVerdict]:
    for proxy in result.proxies:
        home, name = stored.get((mesh, proxy.name), ("", proxy.name))
        if proxy.made_up or home in ("", zone):
            yield replace(proxy, name=name)


def _stored_name(body: Mapping[str, object]) -> str:
    meta = body.get("metadata")
    name = meta.get("name") if isinstance(meta, Mapping) else body.get("name")
    return name if isinstance(name, str) else ""


def _result(result: ClaimResult, proxies: tuple[ProxyVerdict, ...]) -> ClaimResult:
    every = [proxy.verdict for proxy in proxies]
    unknown = [Verdict.UNKNOWN] if result.unknown else []
    return replace(result, verdict=worst((*every, *unknown)), proxies=proxies)


def _as_one(parts: Sequence[MeshProof]) -> MeshProof:
    names = dict.fromkeys(name for part in parts for name in part.claims)
    return gathered(parts, {name: _claim([p.claims[name] for p in parts]) for name in names})


def _claim(parts: Sequence[ClaimResult]) -> ClaimResult:
    proxies: dict[str, ProxyVerdict] = {}
    for proxy in (proxy for part in parts for proxy in part.proxies):
        known = proxies.setdefault(proxy.name, proxy)
        if worst((known.verdict, proxy.verdict)) is not known.verdict:
            proxies[proxy.name] = proxy
    names = dict.fromkeys(mode for part in parts for mode in part.modes)
    modes = {name: worst(p.modes[name] for p in parts if name in p.modes) for name in names}
    return ClaimResult(
        verdict=worst(part.verdict for part in parts),
        proxies=tuple(proxies.values()),
        unknown=tuple(dict.fromkeys(doubt for part in parts for doubt in part.unknown)),
        modes=modes,
    )
