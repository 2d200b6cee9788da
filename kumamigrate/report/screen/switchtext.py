"""What a switch of MeshService mode would change, said before somebody switches."""

from __future__ import annotations

from kumamigrate.effective.difference import Witness
from kumamigrate.flow.verdict import Whole
from kumamigrate.model.state import mesh_services_mode
from kumamigrate.prover import Verdict
from kumamigrate.prover.claimed import CARRY, LIVE
from kumamigrate.report.screen.counted import count
from kumamigrate.report.screen.difftext import difference_lines, number_of
from kumamigrate.report.screen.onscreen import OnScreen
from kumamigrate.report.styled import Line, line

MOST = 3


def switch_lines(screen: OnScreen) -> list[Line]:
    """Say of each mesh over service tags what it reads otherwise in mode Exclusive.

    Of an upgrade the claim that decides has the switch in it.
    """
    outcome = screen.outcome
    if outcome.claim != LIVE or outcome.proof is None:
        return []
    sites = {site.name: site.applied for site in outcome.ended.sites}
    lines: list[Line] = []
    for mesh in outcome.proof.meshes.values():
        result = mesh.claims.get(CARRY)
        scene = sites.get(mesh.environment, outcome.after)
        mode = mesh_services_mode(scene.state(scene.source)[0], mesh.mesh)
        if result is None or mode in (None, "Exclusive"):
            continue
        where = f"{mesh.mesh} in {mesh.environment}" if mesh.environment else mesh.mesh
        counted = [w for w in result.witnesses if w.effect not in outcome.options.allow]
        verdict = result.allowing(outcome.options.allow)
        lines += _of_mesh(screen, where, mesh.environment, verdict, counted)
    return lines


def _of_mesh(
    screen: OnScreen, mesh: str, environment: str, verdict: Verdict, found: list[Witness]
) -> list[Line]:
    switch = f"mesh {mesh} switches to MeshService mode Exclusive"
    match verdict:
        case Verdict.EQUIVALENT if screen.outcome.whole is not Whole.PROVEN:
            return []
        case Verdict.EQUIVALENT:
            return [line(f"The same holds when {switch}.")]
        case Verdict.UNKNOWN:
            return [line(f"Whether it holds when {switch} cannot be told (claim carry).")]
        case Verdict.DIFFERENT:
            sides = screen.sides(environment)
            number = count(number_of(found, sides), "value")
            verb = "is another one" if number.startswith("1 ") else "are other ones"
            head = line((f"When {switch}, {number} {verb}", "warn"), " (claim carry):")
            listed = difference_lines(found, sides, indent="  ")
            if screen.verbose or len(listed) <= MOST:
                return [head, *listed]
            more = count(number_of(found, sides) - MOST, "more", "more")
            return [head, *listed[:MOST], line(f"  … and {more}: --verbose")]
