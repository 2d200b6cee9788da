"""Places in the text that lies on the disk, for a run that writes nothing.

What is left when a run is over is found in the text it would leave. Who reads a dry run has the
old text before them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from kumamigrate.dataclass import replace
from kumamigrate.flow.runoutcome import Outcome
from kumamigrate.prover import Proof, Witness
from kumamigrate.rewrite.finding import Finding, Status
from kumamigrate.scene.held import Held
from kumamigrate.scene.samelines import old_lines, text_lines

Place = tuple[str, int, int]


def on_disk(outcome: Outcome) -> Outcome:
    """Return an outcome whose findings and witnesses name lines of the text before the run."""
    texts = outcome.texts

    @cache
    def lines_of(path: str) -> tuple[int, ...]:
        old, new = texts[path]
        return old_lines(text_lines(old or b""), text_lines(new or b""))

    def moved(place: Place) -> Place:
        path, line, column = place
        if path not in texts or not 0 < line <= len(lines_of(path)):
            return place
        return (path, lines_of(path)[line - 1], column)

    def located(finding: Finding) -> Finding:
        if finding.file or finding.resource is None:
            return finding
        where = finding.resource.where
        file, line, column = outcome.after.repository.place(where, finding.path)
        return replace(finding, file=file, line=line, column=column)

    def held(one: Held) -> Held:
        said = tuple(_finding(located(f), moved) for f in one.change.findings)
        return replace(one, change=replace(one.change, findings=said))

    return replace(
        outcome,
        findings=tuple(_finding(one, moved) for one in outcome.findings),
        held=tuple(held(one) for one in outcome.held),
        proof=None if outcome.proof is None else _proof(outcome.proof, moved),
    )


def _finding(finding: Finding, moved: Callable[[Place], Place]) -> Finding:
    if finding.status is Status.FIXED or not finding.file:
        return finding  # said of the text before the run
    file, line, column = moved((finding.file, finding.line, finding.column))
    return replace(finding, file=file, line=line, column=column)


def _proof(proof: Proof, moved: Callable[[Place], Place]) -> Proof:
    def witness(one: Witness) -> Witness:
        return replace(one, after=replace(one.after, at=_at(one.after.at, moved)))

    return replace(
        proof,
        meshes={
            name: replace(
                mesh,
                claims={
                    claim: replace(
                        result,
                        proxies=tuple(
                            replace(p, witnesses=tuple(map(witness, p.witnesses)))
                            for p in result.proxies
                        ),
                    )
                    for claim, result in mesh.claims.items()
                },
            )
            for name, mesh in proof.meshes.items()
        },
    )


def _at(text: str, moved: Callable[[Place], Place]) -> str:
    parts = text.rsplit(":", 2)
    if len(parts) != 3 or not (parts[1].isdigit() and parts[2].isdigit()):
        return text
    path, line, column = moved((parts[0], int(parts[1]), int(parts[2])))
    return f"{path}:{line}:{column}"
