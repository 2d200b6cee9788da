"""What a run keeps, holds, says and would write, for tests that ask nothing of its last proof."""

from __future__ import annotations

from kumamigrate.flow.fixedpoint import settled_by_rules
from kumamigrate.flow.runoutcome import Outcome
from kumamigrate.flow.told import silent
from kumamigrate.flow.word import begun
from kumamigrate.scene.scene import Scene
from kumamigrate.world.estate import single
from kumamigrate.world.options import Options


def settled(scene: Scene, options: Options) -> Outcome:
    """Return what `migrate` comes to but for the proof of the sum, which changes nothing of it."""
    estate = single(scene)
    return settled_by_rules(estate, begun(options, estate.whole.repository), silent)
