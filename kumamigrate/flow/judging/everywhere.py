"""One answer for several environments: whether a change holds, what is proven."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from functools import cache
from typing import Any

from kumamigrate.dataclass import replace
from kumamigrate.flow.judging.acceptance import EveryWorld, judge_of
from kumamigrate.prover import Effect, Proof
from kumamigrate.scene.held import HeldVerdict
from kumamigrate.scene.trial import Judge
from kumamigrate.world.estate import Estate


class KeptVerdict:
    """A verdict that is kept, with all that stands against a change once somebody asked for it.

    What finds that out holds on to all that was looked at, so it is not kept: where nobody has
    asked yet it is judged again.
    """

    def __init__(self, verdict: HeldVerdict, *, whole: bool) -> None:
        self._verdict = verdict
        self._is_part = whole
        self._found: Mapping[str, HeldVerdict] | None = None

    def told(self, again: Callable[[], HeldVerdict]) -> HeldVerdict:
        """Return the verdict. `again` judges the same once more."""

        def find() -> Mapping[str, HeldVerdict]:
            if self._found is None:
                whole = again().whole
                assert isinstance(whole, EveryWorld)
                self._found = whole.find()
            return self._found

        return replace(self._verdict, whole=EveryWorld(find)) if self._is_part else self._verdict


def judge_everywhere(
    claims: tuple[str, ...],
    base: Estate,
    *,
    upgrade: bool,
    take_unknown: bool,
    allow: Set[Effect],
    hold: Set[Effect] = frozenset(),
) -> Callable[[Estate, Estate], HeldVerdict]:
    """Return the judge for changes that are held to some claims: in every environment or not.

    A run that begins anew, since some change is held for the whole, asks most of what it asked
    before: of the same texts the answer is the same.
    """
    kept = base.whole.kept
    first: Estate = kept.setdefault("began", base)
    known: dict[object, KeptVerdict] = kept.setdefault("judged", {})
    way = (claims, upgrade, take_unknown, frozenset(allow), frozenset(hold))

    @cache
    def judge_at(at: int) -> Judge:
        applied = base.sites[at].applied
        return judge_of(
            claims, applied, upgrade=upgrade, take_unknown=take_unknown, allow=allow, hold=hold
        )

    def verdict_at(at: int, estates: tuple[Estate, ...], texts: object) -> HeldVerdict:
        old, new = (one.sites[at].applied for one in estates)
        key = (way, new.source, new.target, new.environment, at, texts)
        if key in known:
            return known[key].told(lambda: judge_at(at)(old, new))
        verdict = judge_at(at)(old, new)
        known[key] = KeptVerdict(
            replace(verdict, whole=None), whole=isinstance(verdict.whole, EveryWorld)
        )
        return known[key].told(lambda: verdict)

    def judge(current: Estate, candidate: Estate) -> HeldVerdict:
        unknown = HeldVerdict()
        texts = tuple(_edits_since(first, one) for one in (base, current, candidate))
        for at, (old, new) in enumerate(zip(current.sites, candidate.sites, strict=True)):
            if new.applied is old.applied:
                continue
            verdict = verdict_at(at, (current, candidate), texts)
            verdict = replace(verdict, environment=new.name)
            if verdict.witnesses:
                return verdict
            if unknown.good and not verdict.good:
                unknown = verdict
        return unknown

    return judge


def _edits_since(first: Estate, now: Estate) -> frozenset[tuple[str, Any]]:
    """Return what the files of an estate hold where that is not what the first one's hold."""
    old, new = first.whole.repository.files, now.whole.repository.files
    texts = ((path, file.text) for path, file in _others(old, new) if file is not None)
    gone = ((path, None) for path in old.keys() - new.keys())
    return frozenset((*texts, *gone, *_others(first.tree.files, now.tree.files)))


def _others(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    return ((path, one) for path, one in new.items() if one is not old.get(path))


def merged(proofs: Iterable[tuple[str, Proof]]) -> Proof:
    """Return the proofs of several environments as one: its meshes are those of each."""
    listed = list(proofs)
    first = listed[0][1]
    if len(listed) == 1 and not listed[0][0]:
        return first
    return replace(
        first,
        meshes={
            f"{mesh} in {name}": replace(one, environment=name)
            for name, proof in listed
            for mesh, one in proof.meshes.items()
        },
        unread=tuple(dict.fromkeys(r for _, proof in listed for r in proof.unread)),
    )
