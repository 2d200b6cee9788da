"""What was not read is named by its place, with what to do where there is something to do."""

from __future__ import annotations

import pytest

from kumamigrate.effective.doubted import READ, unread_reason
from kumamigrate.source.text import Reason, Refusal


@pytest.mark.parametrize("reason", list(Reason))
def test_a_refusal_as_a_reason(reason: Reason) -> None:
    whole = Refusal(path="a.yaml", line=0, column=0, reason=reason, detail="odd")
    there = Refusal(path="a.yaml", line=2, column=3, reason=reason, detail="odd", advice="mend it")
    words = unread_reason(whole).words, unread_reason(there).words
    if reason in READ:
        assert words == ("a.yaml: odd", "a.yaml:2:3: odd; mend it")
    else:
        assert words == (
            "a.yaml was not read (odd)",
            "a.yaml:2:3 was not read (odd); mend it",
        )
