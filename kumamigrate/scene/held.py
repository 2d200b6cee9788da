"""What stands against a change, and the change that was held for it."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from kumamigrate.dataclass import dataclass, field
from kumamigrate.effective.doubted import Doubt
from kumamigrate.prover import Witness
from kumamigrate.rewrite.change import Change
from kumamigrate.source.text import Refusal


class Cause(StrEnum):
    """Why a change was left that could be written; REFUSED: the target would refuse what it ends
    as; WARNED: it would write more of a form that the target warns about; KNOWN: why nobody asks
    any more."""

    ACTIVATION = "activation"
    NAME = "name"
    RESIDUE = "residue"
    SKIPPED = "skipped"
    REFUSED = "refused"
    WARNED = "warned"
    KNOWN = "baseline"


@dataclass(frozen=True, kw_only=True)
class Held:
    """A change that was not kept, and why: witnesses, unknowns or places not to be edited.

    `environment` is the one in which it does not hold, where there are several. With a `cause`
    it is left for other reasons than what a proof says of it. `today` says that the witnesses are
    of the release in use, not only of what comes.
    """

    change: Change
    witnesses: tuple[Witness, ...] = ()
    unknown: tuple[str, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    environment: str = ""
    cause: Cause | None = None
    today: bool = False


Counts = Callable[[Witness], bool]
"""Says whether a difference counts."""


@dataclass(frozen=True, slots=True)
class HeldVerdict:
    """Why a scene may not follow another; all empty means that it may.

    A verdict that something stands against may be found before all reasons are: `whole` tells
    them, of those differences that count. `refusals` are places that cannot be edited at all.
    `today`: the first witnesses are of claim *live*.
    """

    witnesses: tuple[Witness, ...] = ()
    unknown: tuple[Doubt, ...] = ()
    environment: str = ""
    whole: Callable[[Counts], HeldVerdict] | None = field(default=None, compare=False, repr=False)
    refusals: tuple[Refusal, ...] = ()
    today: bool = False

    @property
    def good(self) -> bool:
        """Say whether nothing stands against it."""
        return not (self.witnesses or self.unknown or self.refusals)
