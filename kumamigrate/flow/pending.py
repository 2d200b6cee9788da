"""Which changes of a rule are to be tried: what it says, without what is decided already."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial

from kumamigrate.dataclass import dataclass
from kumamigrate.flow.asked import is_silenced, is_taken, said_by
from kumamigrate.flow.circles import Circles, form_left, held_for_circles
from kumamigrate.flow.declined import held_by_choice
from kumamigrate.flow.told import Progress
from kumamigrate.flow.word import asks, may_take
from kumamigrate.rewrite.change import Change, Rollout
from kumamigrate.rewrite.finding import Safety
from kumamigrate.rewrite.rule import Rule
from kumamigrate.scene.held import Held
from kumamigrate.world.estate import Estate
from kumamigrate.world.options import Options


@dataclass(frozen=True, kw_only=True)
class Settling:
    """What stays the same while rules are asked again and again.

    `began` is what rules call before, `base` what their changes are held against; `rollouts` are
    those whose turn it is, and what is known to go in `circles` is left alone.
    """

    began: Estate
    base: Estate
    options: Options
    rollouts: Collection[Rollout]
    circles: Circles
    progress: Progress


@dataclass(frozen=True, kw_only=True)
class Pending:
    """Changes to be tried; those `taken` on the user's word by their keys, and those that are
    `stuck` before anything is proven."""

    changes: tuple[Change, ...] = ()
    taken: frozenset[object] = frozenset()
    stuck: tuple[Held, ...] = ()

    def part(self, *, upgrade: bool, trusted: bool) -> tuple[Change, ...]:
        """Return the changes that go out with the upgrade or now, on the user's word or not."""
        return tuple(
            change
            for change in self.changes
            if (change.rollout is not Rollout.NOW) is upgrade
            and (change.key in self.taken) is trusted
        )


def pending_of(
    rule: Rule, estate: Estate, held: Mapping[object, Held], settling: Settling
) -> Pending:
    """Return what a rule wants to change in an estate, but for what was `held` already."""
    options = settling.options
    if rule.safety is Safety.REVIEW and not may_take(options, rule.id):
        return Pending()
    said = said_by(rule, settling.began, estate, options)
    every = [c for c in said if isinstance(c, Change) and c.key not in held]
    if not every:
        return Pending()
    repository = estate.whole.repository
    is_asked = partial(asks, rule, repository=repository)
    changes = [
        form_left(c, settling.circles, lambda f: f.key not in held and not is_asked(f))
        for c in every
    ]
    changes = [c for c in changes if c.rollout in settling.rollouts]
    changes = [c for c in changes if not is_silenced(c, estate.whole, options)]
    taken = frozenset(c.key for c in changes if is_taken(c, estate, options))
    changes = [c for c in changes if c.key in taken or not is_asked(c)]
    stuck = (*held_for_circles(changes, settling.circles), *held_by_choice(changes, options.skip))
    changes = [c for c in changes if all(c is not one.change for one in stuck)]
    return Pending(changes=tuple(changes), taken=taken, stuck=stuck)
