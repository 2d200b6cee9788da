"""Changes on trial: applied in memory, read back from the edited text, proven, kept or held.

The proof covers the edit engine too, because the state after a change comes from its text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.rewrite.change import Change
from kumamigrate.scene.blame import at_fault, sorted_out
from kumamigrate.scene.held import Held, HeldVerdict
from kumamigrate.scene.patching import patched
from kumamigrate.scene.scene import Scene
from kumamigrate.source.text import Refusal

Trial = TypeVar("Trial")
"""What changes are tried on: the scene of one environment, or all of them together."""


@dataclass(frozen=True, kw_only=True)
class Result(Generic[Trial]):
    """What became of some changes. `grounds` are what those that were kept are edits of."""

    scene: Trial
    kept: tuple[Change, ...] = ()
    held: tuple[Held, ...] = ()
    grounds: tuple[Trial, ...] = ()


Judge = Callable[[Scene, Scene], HeldVerdict]
Apply = Callable[[Trial, Iterable[Change]], Trial | tuple[Refusal, ...]]


def try_changes(
    base: Trial,
    changes: Sequence[Change],
    judge: Callable[[Trial, Trial], HeldVerdict],
    apply: Apply[Trial],
    other_form: Callable[[Change], Change | None] = lambda change: change.otherwise,
) -> Result[Trial]:
    """Keep as many changes as can be proven, larger sets first.

    All changes together are proven once. If that fails, those that wrote what differs are taken
    out and the rest is proven again, then they on top of it (`blame.py`): a rule costs a few
    proofs, not one for each change that fails. What fails is tried in its other form, if there is
    one; where none holds, the first is held. Kept changes are always applied together to the base,
    so that places in the text stay valid.
    """
    result = Result(scene=base)
    firsts: dict[object, Held] = {}
    waiting = [tuple(changes)] if changes else []
    while waiting:
        part = waiting.pop()
        candidate, verdict = _tried(base, result, part, judge, apply)
        if verdict.good:
            result = replace(result, scene=candidate, kept=(*result.kept, *part))
            continue
        failed, parts = sorted_out(part, verdict)
        waiting.extend(reversed(parts))
        others = []
        for one in failed:
            other = other_form(one.change)
            first = firsts.get(one.change.key, one)
            if other is not None:
                firsts[other.key] = first
                others.append(other)
            else:
                result = replace(result, held=(*result.held, first))
        if others:
            waiting.append(tuple(others))
    return result


def _tried(
    base: Trial,
    result: Result[Trial],
    part: Sequence[Change],
    judge: Callable[[Trial, Trial], HeldVerdict],
    apply: Apply[Trial],
) -> tuple[Trial, HeldVerdict]:
    """Return what some more changes make of what was kept, and what stands against it."""
    try:
        candidate = apply(base, (*result.kept, *part))
        if isinstance(candidate, tuple):
            return base, HeldVerdict(refusals=candidate)
        return candidate, judge(result.scene, candidate)
    except Exception as error:  # a fault of ours costs the changes it meets
        return base, at_fault(error)


def apply(scene: Scene, changes: Iterable[Change]) -> Scene | tuple[Refusal, ...]:
    """Return the scene with the changes written into its texts, or what forbids that."""
    texts = patched(scene.repository, changes)
    if isinstance(texts, tuple):
        return texts
    return replace(scene, repository=scene.repository.with_texts(texts), states={})
