"""The bundled example: what the README's first command shows comes out as it should."""

from __future__ import annotations

from pathlib import Path

from kumamigrate.flow.pipeline import migrate
from kumamigrate.prover import Effect
from kumamigrate.report.exit import Exit
from kumamigrate.report.exitcode import exit_of_run
from kumamigrate.world.options import Options
from kumamigrate.world.survey import scene_of
from tests.cases import EXAMPLE, FIXTURES, contents


def test_the_example_moves_splits_and_proves() -> None:
    before, after = FIXTURES / EXAMPLE / "before", FIXTURES / EXAMPLE / "after"
    options = Options()
    outcome = migrate(scene_of([Path()], before, options), options)
    files = {path: new for path, (_, new) in outcome.texts.items()}
    assert {**contents(before), **files} == contents(after)
    assert outcome.proof is not None
    effects = {witness.effect for witness in outcome.proof.witnesses("live")}
    assert effects == {Effect.ACTIVATION, Effect.NAME}
    assert outcome.proof.proxies == "all"
    assert exit_of_run(outcome, written=True) is Exit.CLEAN
