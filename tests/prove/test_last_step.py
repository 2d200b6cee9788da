"""Only the step from 2.x to 3.0 ends what 3.0 no longer reads."""

from __future__ import annotations

import pytest

from kumamigrate.model.state import State
from kumamigrate.prover.claims.laststep import is_last_step
from kumamigrate.universe.contents import Contents
from kumamigrate.universe.side import Side


@pytest.mark.parametrize(
    ("old", "new", "last"),
    [("2.9", "2.14", False), ("2.14", "3.0", True), ("3.0", "3.0", False), ("3.0", "2.14", False)],
)
def test_from_2_to_3_it_is(old: str, new: str, *, last: bool) -> None:
    before, after = (Side(State(release=name), "default", Contents()) for name in (old, new))
    assert is_last_step(before, after) is last
