"""What a report comes to mesh by mesh: the verdict, and how much of the mesh changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any

from kumamigrate.flow.runoutcome import Outcome
from kumamigrate.model.resource import Identity, Resource
from kumamigrate.prover import Effect, Proof
from kumamigrate.rewrite.finding import OPEN, Finding
from kumamigrate.world.estate import Estate

Changed = Mapping[tuple[str, str], tuple[set[Identity], set[str]]]
"""By environment and mesh: which resources differ, and in which files."""


def run_meshes(outcome: Outcome) -> list[dict[str, Any]]:
    """Return one row for each mesh of a run; without a verdict where nothing was to be proven."""
    changed = _changed(outcome.began, outcome.ended)
    return _rows(outcome.ended, changed, outcome.proof, outcome.claim, outcome.options.allow)


def check_meshes(outcome: Outcome) -> list[dict[str, Any]]:
    """Return how much of each mesh there is to look at; a mesh without any is left out."""
    found: dict[str, list[Finding]] = {}
    for finding in outcome.findings:
        resource = finding.resource
        if resource is not None and finding.status in OPEN:
            mesh = resource.name if resource.type == "Mesh" else resource.mesh
            found.setdefault(mesh, []).append(finding)
    return [
        {
            "mesh": mesh,
            "findings": len(findings),
            "changed": len({f.resource.identity for f in findings if f.resource is not None}),
            "files": len({f.file for f in findings if f.file}),
        }
        for mesh, findings in sorted(found.items())
    ]


def proof_meshes(
    before: Estate, after: Estate, proof: Proof, claim: str, allow: Set[Effect]
) -> list[dict[str, Any]]:
    """Return one row for each mesh of two states that were compared."""
    return _rows(after, _changed(before, after), proof, claim, allow)


def _rows(
    estate: Estate, changed: Changed, proof: Proof | None, claim: str, allow: Set[Effect]
) -> list[dict[str, Any]]:
    verdicts = {
        (mesh.environment, mesh.mesh): mesh.claims[claim].allowing(allow).value
        for mesh in (proof.meshes.values() if proof is not None else ())
        if claim in mesh.claims
    }
    names = dict.fromkeys((*_names(estate), *changed, *verdicts))
    rows = []
    for environment, mesh in names:
        resources, files = changed.get((environment, mesh), (set(), set()))
        row: dict[str, Any] = {"mesh": mesh, "environment": environment}
        row["verdict"] = verdicts.get((environment, mesh), "unknown" if resources else "unchanged")
        rows.append({**row, "changed": len(resources), "files": len(files)})
    return rows


def _names(estate: Estate) -> Iterator[tuple[str, str]]:
    for site in estate.sites:
        for mesh in site.applied.state(site.applied.source)[0].meshes():
            yield site.name, mesh


def _changed(before: Estate, after: Estate) -> Changed:
    old_sites = {site.name: site.written for site in before.sites}
    changed: dict[tuple[str, str], tuple[set[Identity], set[str]]] = {}
    for site in after.sites:
        old = old_sites.get(site.name)
        if old is None or old.repository is site.written.repository:
            continue
        for one in _differing(old.repository.resources, site.written.repository.resources):
            key = (site.name, one.name if one.type == "Mesh" else one.mesh)
            identities, files = changed.setdefault(key, (set(), set()))
            identities.add(one.identity)
            if one.where is not None:
                files.add(one.where.path)
    return changed


def _differing(before: Iterable[Resource], after: Iterable[Resource]) -> Iterator[Resource]:
    """Yield what was removed, changed or added."""
    old, new = ({r.identity: r for r in side} for side in (before, after))
    for identity in dict.fromkeys((*old, *new)):
        one = old.get(identity)
        other = new.get(identity)
        if one is None or other is None or one.body != other.body:
            known = one or other
            assert known is not None
            yield known
