"""Findings: what a run says about a resource, and what became of it (product.md §5)."""

from __future__ import annotations

from enum import IntEnum, StrEnum

from kumamigrate.dataclass import dataclass
from kumamigrate.model.resource import Resource
from kumamigrate.source.text import FieldPath


class Status(StrEnum):
    """What became of a finding."""

    FIXED = "fixed"
    PENDING = "pending"
    HELD = "held"
    MANUAL = "manual"
    SUPPRESSED = "suppressed"


OPEN = (Status.PENDING, Status.MANUAL, Status.HELD)
"""What is still to be done."""


class Safety(StrEnum):
    """How far a rule may go on its own."""

    PROVEN = "proven"
    REVIEW = "review"
    MANUAL = "manual"


class Danger(IntEnum):
    """What happens if a finding is left as it is; the worst first, which is the order shown."""

    SILENT_LOSS = 0
    OTHER_MEANING = 1
    REFUSED = 2
    DEPRECATED = 3
    ADVICE = 4


FAIL_ON = (*(one.name.lower().replace("_", "-") for one in Danger), "none")
"""Words for the least danger that makes an exit code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing a rule has to say about one resource.

    `path` is the field inside the resource, from its own root. A rule creates findings as
    PENDING (a change comes with it) or MANUAL; the pipeline decides between FIXED and HELD.
    `notes` are further lines for the reader, each a sentence without a full stop.
    """

    rule: str
    resource: Resource | None
    path: FieldPath = ()
    message: str
    action: str = ""
    status: Status = Status.MANUAL
    safety: Safety = Safety.MANUAL
    danger: Danger = Danger.DEPRECATED
    notes: tuple[str, ...] = ()
    file: str = ""
    line: int = 0
    column: int = 0
