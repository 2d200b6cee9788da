"""May one scene follow another? The claims of rules, asked of the prover (product.md §5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import partial

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.effective.difference import HARMLESS
from kumamigrate.flow.judging.byzone import viewers_of
from kumamigrate.flow.judging.claimstates import proof_of
from kumamigrate.flow.judging.everyworld import jobs_for, open_worlds
from kumamigrate.flow.judging.newlyrefused import newly_refused
from kumamigrate.flow.judging.notworse import not_worse, shifted
from kumamigrate.flow.judging.notyetthere import touches_unsettled
from kumamigrate.flow.judging.onename import newly_overwritten
from kumamigrate.flow.judging.touched import barred
from kumamigrate.model.state import State
from kumamigrate.prover import Effect, Proof, Witness
from kumamigrate.prover.agree import apart
from kumamigrate.prover.sidebyside import EachOnce
from kumamigrate.prover.stages.local import local_proof
from kumamigrate.scene.held import Counts, HeldVerdict
from kumamigrate.scene.scene import Scene
from kumamigrate.scene.trial import Judge


def judge_of(
    claims: Sequence[str],
    before: Scene,
    *,
    upgrade: bool = False,
    take_unknown: bool = False,
    allow: Set[Effect] = HARMLESS,
    hold: Set[Effect] = frozenset(),
) -> Judge:
    """Return the judge for changes that are held to some claims.

    *live*: nothing that a proxy reads today may change but in the ways of `allow`: values that
    had no effect before may take effect, and routes may be renamed; not what is on `hold`.
    *carry* and *release*: where the changes touch something, it must be carried over from the
    state the run began with, and nothing that was carried over may be lost; what fails already
    for other reasons does not count.
    Nothing may be written that a control plane refuses. Changes that go out together with the
    `upgrade` are held to *release* whatever they claim else. With `take_unknown`
    (`--accept`) an unknown verdict passes. What initial policies a mesh has may be open: then a
    change has to be good whichever it has (world.md §1).
    """

    failed: list[str] = []
    today = not upgrade and "release" not in claims

    def judge(current: Scene, candidate: Scene) -> HeldVerdict:
        overwritten = newly_overwritten(current, candidate)
        if overwritten:  # no word makes two objects of one
            return HeldVerdict(unknown=overwritten)
        verdict = HeldVerdict()
        for viewer in viewers_of(current, candidate):
            seen = (scene.seen_by(viewer) for scene in (before, current, candidate))
            verdict = judge_seen(*seen)
            if not verdict.good:
                break
        return verdict

    def judge_seen(before: Scene, current: Scene, candidate: Scene) -> HeldVerdict:
        worlds = _in_worlds(before, current, candidate, today=today)

        def verdict_in(world: str) -> HeldVerdict:
            old, now, then = worlds[world]
            one = _judge_of(
                claims, old, upgrade=upgrade, trusting=take_unknown, allow=allow, hold=hold
            )
            return one(now, then)

        verdicts = EachOnce(verdict_in, jobs_for(candidate))

        def found(tried: str) -> dict[str, HeldVerdict]:
            least = next(iter(worlds))
            asked = [world for world in worlds if not tried or world in (least, tried)]
            if any(verdict.witnesses for verdict in verdicts.of_all(asked)):
                asked = [*worlds]
            elif next(barred(current, candidate), None) is not None:
                asked = [*worlds]  # the same bars every proof, so that no more are made
            # Beside a doubt no difference elsewhere is looked for: it is unknown all the same.
            every = dict.fromkeys(worlds, HeldVerdict())
            return every | dict(zip(asked, verdicts.of_all(asked), strict=True))

        # What holds in every world holds; for the contrary one is enough, the last that was.
        order = sorted(worlds, key=lambda w: w not in failed[-1:])
        for world, verdict in zip(order, verdicts.of_all(order), strict=False):
            if not verdict.good and len(worlds) > 1 and not take_unknown:
                failed.append(world)
                return replace(verdict, whole=EveryWorld(partial(found, world)))
        return _whichever(found(""), take_unknown=take_unknown)

    return judge


def _in_worlds(
    before: Scene, current: Scene, candidate: Scene, *, today: bool
) -> dict[str, tuple[Scene, ...]]:
    """Return the three scenes in every world that what changes between two of them can feel."""
    scenes = (before, current, candidate)
    worlds = open_worlds(current, candidate, today=today)
    return {world: tuple(scene.in_world(world) for scene in scenes) for world in worlds} or {
        "": scenes
    }


@dataclass(frozen=True, slots=True)
class EveryWorld:
    """What stands against a change in every world: asked for when somebody has to be told."""

    find: Callable[[], Mapping[str, HeldVerdict]]

    def __call__(self, counts: Counts) -> HeldVerdict:
        """Return it, of those differences that count."""
        found = self.find()
        return _whichever({w: _counting(v, counts) for w, v in found.items()}, take_unknown=False)


def _counting(verdict: HeldVerdict, counts: Counts) -> HeldVerdict:
    return replace(verdict, witnesses=tuple(filter(counts, verdict.witnesses)))


def _whichever(verdicts: Mapping[str, HeldVerdict], *, take_unknown: bool) -> HeldVerdict:
    """Return what holds in every world: where some show a difference and some do not, nobody
    knows whether there is one."""
    found = list(verdicts.values())
    if len(found) == 1 or all(verdict.witnesses for verdict in found):
        unknown, witnesses = found[0].unknown, found[0].witnesses
    else:
        witnesses = ()
        unknown = apart(
            {world: verdict.witnesses for world, verdict in verdicts.items()},
            {world: verdict.unknown for world, verdict in verdicts.items()},
        )
    left = () if take_unknown else unknown
    return HeldVerdict(witnesses=witnesses, unknown=left, today=bool(witnesses) and found[0].today)


def _judge_of(
    claimed: Sequence[str],
    before: Scene,
    *,
    upgrade: bool,
    trusting: bool,
    allow: Set[Effect],
    hold: Set[Effect],
) -> Judge:
    """Return the judge for some claims in one world.

    What could not be read bars any verdict about what it may matter to, so no difference is
    looked for there, but where unknown verdicts are taken all the same (`trusting`).
    """
    claims = ("release",) if upgrade and claimed else claimed

    def judge(current: Scene, candidate: Scene) -> HeldVerdict:
        refused = newly_refused(current, candidate, upgrade=upgrade)
        if refused:
            return HeldVerdict(unknown=refused)
        if claims and _says_the_same(claims, current, candidate):
            return HeldVerdict()
        bars = tuple(barred(current, candidate)) if claims and not trusting else ()
        if bars:
            return HeldVerdict(unknown=bars)
        verdicts = []
        activated: frozenset[tuple[str, ...]] = frozenset()
        if "live" in claims:
            proof = proof_of(current, candidate, "live")
            live = proof.witnesses("live")
            activated = frozenset(w.slot for w in live if w.effect is Effect.ACTIVATION)
            bad = tuple(w for w in live if w.effect not in allow - hold)
            verdicts.append(_of_today(proof, bad))
            # A proof for what is held anyway would only take its time.
            if verdicts[-1].good and "carry" not in claims and before.target != before.source:
                verdicts.append(shifted(current, candidate))
        for claim in ("carry", "release"):
            if claim in claims:
                # What starts to work today claim *live* has said, where it is asked.
                passing = HARMLESS if claim == "carry" or "live" in claims else HARMLESS - hold
                verdicts.append(not_worse(claim, before, current, candidate, passing, activated))
        if "live" not in claims and "release" in claims and touches_unsettled(current, candidate):
            # Claim *release* says nothing of what the target still misreads.
            proof = proof_of(current, candidate, "live")
            bad = tuple(w for w in proof.witnesses("live") if w.effect not in HARMLESS - hold)
            verdicts.append(_of_today(proof, bad))
        return together(verdicts)

    return judge


def _of_today(proof: Proof, bad: tuple[Witness, ...]) -> HeldVerdict:
    return HeldVerdict(witnesses=bad, unknown=proof.doubts("live"), today=bool(bad))


def _says_the_same(claims: Iterable[str], current: Scene, candidate: Scene) -> bool:
    """Say whether no proxy can tell two scenes apart, in whichever release the claims read.

    Then nothing that cannot be read bars it either: it is as it was.
    """
    releases = {current.source, *((current.target,) if "release" in claims else ())}
    return all(
        local_proof(current.state(one)[0].mesh(mesh), candidate.state(one)[0].mesh(mesh))
        is not None
        for one in sorted(releases)
        for mesh in _meshes(current.state(one)[0], candidate.state(one)[0])
    )


def _meshes(current: State, candidate: State) -> tuple[str, ...]:
    """Return the meshes of two states; what belongs to none counts where there is none, too."""
    return tuple(dict.fromkeys((*current.meshes(), *candidate.meshes()))) or ("default",)


def together(verdicts: Iterable[HeldVerdict]) -> HeldVerdict:
    listed = list(verdicts)
    witnesses = tuple(w for verdict in listed for w in verdict.witnesses)
    unknown = tuple(dict.fromkeys(u for verdict in listed for u in verdict.unknown))
    today = any(verdict.today for verdict in listed)
    return HeldVerdict(witnesses=witnesses, unknown=unknown, today=today)
