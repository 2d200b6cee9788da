"""May one scene follow another? The claims of a rule, asked of the prover (product.md §5)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from functools import partial

from kumamigrate.admit.check import refusals_of
from kumamigrate.dataclass import replace
from kumamigrate.effective.difference import HARMLESS
from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.flow.everyworld import jobs_for, open_worlds
from kumamigrate.model.kinds import OLD_POLICIES
from kumamigrate.model.problem import Problem
from kumamigrate.model.release import release as release_of
from kumamigrate.model.resource import Identity, Resource
from kumamigrate.model.state import State, mesh_services_mode
from kumamigrate.prover import Effect, Proof, prove
from kumamigrate.prover.agree import apart
from kumamigrate.prover.doubts.doubt import concerns
from kumamigrate.prover.doubts.unreadreason import unread_reason
from kumamigrate.prover.owed import Begun
from kumamigrate.prover.sidebyside import EachOnce
from kumamigrate.prover.stages.local import local_proof
from kumamigrate.rewrite.rule import Rule
from kumamigrate.rewrite.siblings import is_beside
from kumamigrate.scene.held import Counts, HeldVerdict
from kumamigrate.scene.repository import Rejection
from kumamigrate.scene.trial import Judge, Scene
from kumamigrate.source.text import FieldPath
from kumamigrate.universe.side import Contents

_BY_ALL = {"MeshHTTPRoute", "MeshTCPRoute"}
"""Policy types that decide what others reach."""


def judge_of(
    rule: Rule,
    before: Scene,
    *,
    upgrade: bool = False,
    take_unknown: bool = False,
    allow: Set[Effect] = HARMLESS,
    hold: Set[Effect] = frozenset(),
) -> Judge:
    """Return the judge for the changes of one rule.

    *live*: nothing that a proxy reads today may change but in the ways of `allow`: values that
    had no effect before may take effect, and routes may be renamed; not what is on `hold`.
    *carry* and *release*: where the changes touch something, it must be carried over from the
    state the run began with, and nothing that was carried over may be lost; what fails already
    for other reasons does not count.
    Nothing may be written that a control plane refuses. Changes that go out together with the
    `upgrade` are held to *release* whatever the rule claims else. With `take_unknown`
    (`--accept`) an unknown verdict passes. What initial policies a mesh has may be open: then a
    change has to be good whichever it has (world.md §1).
    """

    failed: list[str] = []
    today = not upgrade and "release" not in rule.claims

    def judge(current: Scene, candidate: Scene) -> HeldVerdict:
        worlds = _in_worlds(before, current, candidate, today=today)

        def verdict_in(world: str) -> HeldVerdict:
            old, now, then = worlds[world]
            one = _judge_of(
                rule, old, upgrade=upgrade, trusting=take_unknown, allow=allow, hold=hold
            )
            return one(now, then)

        verdicts = EachOnce(verdict_in, jobs_for(candidate))

        def whole(tried: str, counts: Counts) -> HeldVerdict:
            least = next(iter(worlds))
            asked = [world for world in worlds if not tried or world in (least, tried)]
            if any(verdict.witnesses for verdict in verdicts.of_all(asked)):
                asked = [*worlds]
            # Beside a doubt no difference elsewhere is looked for: it is unknown all the same.
            found = dict.fromkeys(worlds, HeldVerdict())
            found |= dict(zip(asked, verdicts.of_all(asked), strict=True))
            mine = {w: _counting(verdict, counts) for w, verdict in found.items()}
            return _whichever(mine, take_unknown=take_unknown)

        # What holds in every world holds; for the contrary one is enough, the last that was.
        order = sorted(worlds, key=lambda w: w not in failed[-1:])
        for world, verdict in zip(order, verdicts.of_all(order), strict=False):
            if not verdict.good and len(worlds) > 1 and not take_unknown:
                failed.append(world)
                return replace(verdict, whole=partial(whole, world))
        return whole("", lambda _witness: True)

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
    return HeldVerdict(witnesses=witnesses, unknown=() if take_unknown else unknown)


def _judge_of(
    rule: Rule,
    before: Scene,
    *,
    upgrade: bool,
    trusting: bool,
    allow: Set[Effect],
    hold: Set[Effect],
) -> Judge:
    """Return the judge for the changes of one rule in one world.

    What could not be read bars any verdict about what it may matter to, so no difference is
    looked for there, but where unknown verdicts are taken all the same (`trusting`).
    """
    claims = ("release",) if upgrade and rule.claims else rule.claims

    def judge(current: Scene, candidate: Scene) -> HeldVerdict:
        refused = _newly_refused(current, candidate, upgrade=upgrade)
        if refused:
            return HeldVerdict(unknown=refused)
        if claims and _says_the_same(claims, current, candidate):
            return HeldVerdict()
        barred = tuple(_barred(current, candidate)) if claims and not trusting else ()
        if barred:
            return HeldVerdict(unknown=barred)
        verdicts = []
        activated: frozenset[tuple[str, ...]] = frozenset()
        if "live" in claims:
            proof = _prove(current, candidate, "live")
            live = proof.witnesses("live")
            activated = frozenset(w.slot for w in live if w.effect is Effect.ACTIVATION)
            bad = tuple(w for w in live if w.effect not in allow - hold)
            verdicts.append(HeldVerdict(witnesses=bad, unknown=proof.doubts("live")))
            # A proof for what is held anyway would only take its time.
            if verdicts[-1].good and "carry" not in claims and before.target != before.source:
                verdicts.append(_shifted(current, candidate))
        for claim in ("carry", "release"):
            if claim in claims:
                # What starts to work today claim *live* has said, where it is asked.
                passing = HARMLESS if claim == "carry" or "live" in claims else HARMLESS - hold
                verdicts.append(_not_worse(claim, before, current, candidate, passing, activated))
        if "live" not in claims and "release" in claims and _touches_waiting(current, candidate):
            # Claim *release* says nothing of what the target still misreads.
            proof = _prove(current, candidate, "live")
            bad = tuple(w for w in proof.witnesses("live") if w.effect not in HARMLESS - hold)
            verdicts.append(HeldVerdict(witnesses=bad, unknown=proof.doubts("live")))
        return _together(verdicts)

    return judge


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


def _not_worse(
    claim: str,
    before: Scene,
    current: Scene,
    candidate: Scene,
    passing: Set[Effect],
    activated: frozenset[tuple[str, ...]],
) -> HeldVerdict:
    """Return what got worse. For *release* a mesh that still has service-tag outbounds may be
    read in two ways: as it is, so that real services take over from tags with the upgrade, or
    as it will be once its mode is Exclusive, which comes before the upgrade."""
    found = _worsened(claim, before, current, candidate, passing, activated)
    if claim != "release" or found.good or not has_tag_outbounds(before):
        return found
    switched = _worsened(claim, before, current, candidate, passing, activated, exclusive=True)
    lost = tuple(w for w in found.witnesses if w.before.policy in _removed(current, candidate))
    # What no outbound of that mode reads is still there today: it may not just go.
    return switched if switched.good and not lost else found


def _shifted(current: Scene, candidate: Scene) -> HeldVerdict:
    """Return what real services would read otherwise, where there are none yet.

    On the way to a release that has nothing else it counts already, or a change that goes out
    now, unseen, would be the ground that later ones are compared with. Of old policies real
    services read nothing.
    """
    written = _written_types(current, candidate)
    policies = written <= release_of(candidate.source).policy_types.keys()
    if not policies or not has_tag_outbounds(current):
        return HeldVerdict()
    old, new = (as_exclusive(one.state(one.source)[0]) for one in (current, candidate))
    proof = prove(
        old,
        new,
        claims=("live",),
        contents=contents_of(current),
        locate_before=current.locate,
        locate_after=candidate.locate,
    )
    bad = (w for w in proof.witnesses("live") if w.effect not in HARMLESS)
    return HeldVerdict(witnesses=tuple(bad))


def _removed(current: Scene, candidate: Scene) -> set[str]:
    """Return the names of the policies that the changes take away."""
    kept = {resource.identity for resource in candidate.repository.resources}
    return {r.name for r in current.repository.resources if r.identity not in kept}


def _worsened(
    claim: str,
    before: Scene,
    current: Scene,
    candidate: Scene,
    passing: Set[Effect],
    activated: frozenset[tuple[str, ...]],
    *,
    exclusive: bool = False,
) -> HeldVerdict:
    """Return what is neither as the claim wants it nor as it was (prover.md §2).

    That is `after == goal or after == current`, slot by slot and proxy by proxy. Where values
    begin to work (`activated`) the goal is owed. A doubt that stood is no new one.
    """
    written = _written_types(current, candidate)
    # What others rest on may be behind a difference of any type.
    everything = not written <= release_of(candidate.source).policy_types.keys() - _BY_ALL
    types = None if everything else frozenset(written)
    goal, after = _states(claim, before, candidate, current, exclusive=exclusive)
    standing = Begun(*_states(claim, before, current, exclusive=exclusive), activated)
    asked = partial(_prove_states, claim=claim, scenes=(before, candidate), types=types)
    now = asked(goal, after, also=current, standing=standing)
    bad = tuple(
        w
        for w in now.witnesses(claim)
        if w.effect not in passing and (everything or w.policy_type in written)
    )
    doubts = now.doubts(claim)
    if doubts:
        stood = set(asked(standing.goal, standing.current, also=candidate).doubts(claim))
        doubts = tuple(doubt for doubt in doubts if doubt not in stood)
    return HeldVerdict(witnesses=bad, unknown=(*doubts, *_unread(current, candidate)))


def _written_types(current: Scene, candidate: Scene) -> set[str]:
    """Return the types of what the changes touch.

    What proxies read of another type was proven when it was written. It may show a difference
    only now, at a service that is made up because the changes name it.
    """
    old, new = (
        {(r.type, r.mesh, r.canonical_body) for r in scene.repository.resources}
        for scene in (current, candidate)
    )
    return {kind for kind, _, _ in old ^ new}


def _unread(current: Scene, candidate: Scene) -> Iterator[Doubt]:
    """Yield what could not be read in the meshes that the changes touch, and what templates fill
    in where they touch something: it bars every verdict, although it was there before."""
    unread = candidate.state(candidate.source)[0].unread
    resources = candidate.state(candidate.source)[0].resources
    if not unread and not any(r.templated for r in resources):
        return
    old, new = (
        {(r.mesh, r.canonical_body) for r in scene.state(scene.source)[0].resources}
        for scene in (current, candidate)
    )
    for resource in resources:
        if resource.templated and (resource.mesh, resource.canonical_body) not in old:
            yield Doubt(
                DoubtKind.TEMPLATE,
                f"a template fills in a part of {resource.type} {resource.name}"
                f" ({candidate.locate(resource, ())}); render it and run on the result",
            )
    touched = {mesh for mesh, _ in old ^ new}
    types = _written_types(current, candidate)
    known = release_of(candidate.source).policy_types.keys()
    for refusal in unread:
        mine = refusal.mesh in touched or not refusal.mesh
        if mine and concerns(refusal.kind, types, known):
            yield unread_reason(refusal)


def _barred(current: Scene, candidate: Scene) -> Iterator[Doubt]:
    """Yield what could not be read and bars, mesh by mesh, every verdict about the changes.

    Of repositories in which much stands twice this answers for most changes, at no cost.
    """
    unread = candidate.state(candidate.source)[0].unread
    if not unread:
        return
    old, new = (
        {(_mesh_of(r), r.type, r.canonical_body) for r in scene.state(scene.source)[0].resources}
        for scene in (current, candidate)
    )
    written: dict[str, set[str]] = defaultdict(set)
    for mesh, kind, _ in old ^ new:
        written[mesh].add(kind)
    known = release_of(candidate.source).policy_types.keys()
    for refusal in unread:
        if any(
            refusal.mesh in ("", mesh) and concerns(refusal.kind, types, known)
            for mesh, types in written.items()
        ):
            yield unread_reason(refusal)


def _mesh_of(resource: Resource) -> str:
    return resource.name if resource.type == "Mesh" else resource.mesh


def has_tag_outbounds(scene: Scene) -> bool:
    """Say whether some mesh has, or may have, outbounds by service tag."""
    state = scene.state(scene.source)[0]
    return any(mesh_services_mode(state, mesh) != "Exclusive" for mesh in state.meshes())


def _states(
    claim: str,
    before: Scene,
    after: Scene,
    current: Scene | None = None,
    *,
    exclusive: bool = False,
) -> tuple[State, State]:
    """Return what a claim compares: what it wants, as `before` says, and what `after` makes of it.

    What `current` has not left to another rule yet `after` may not leave.
    """
    release = before.target if claim == "release" else before.source
    old, (new, rejected) = before.state(before.source)[0], after.state(release)
    if claim == "release":
        # A policy that the target refuses or misreads is not settled: it counts on neither side.
        waiting = _waiting(after)
        if current is not None:
            earlier = _waiting(current)
            waiting = {k: r for k, r in waiting.items() if _comes_of(r, earlier, current)}
        refused = (one.resource for one in rejected if one.resource.type == "MeshHTTPRoute")
        new = replace(new, resources=(*new.resources, *refused))
        old, new = _without(old, waiting.keys()), _without(new, waiting.keys())
    return (as_exclusive(old) if exclusive else old), new


def _prove(before: Scene, after: Scene, claim: str) -> Proof:
    """Prove a claim about two scenes."""
    return _prove_states(*_states(claim, before, after), claim=claim, scenes=(before, after))


def _prove_states(
    goal: State,
    after: State,
    *,
    claim: str,
    scenes: tuple[Scene, Scene],
    also: Scene | None = None,
    types: Collection[str] | None = None,
    standing: Begun | None = None,
) -> Proof:
    """Prove a claim about states of two scenes.

    That a service tag and its service disagree on their protocol is no change's doing: it
    differs whatever is written, and the proof of the sum says so.
    """
    before = scenes[0]
    release = before.target if claim == "release" else before.source
    return prove(
        goal,
        after,
        claims=(claim,),
        one_protocol=claim != "live",
        also=() if also is None else (before.state(before.source)[0], also.state(release)[0]),
        types=types,
        standing=standing,
        contents=contents_of(before),
        locate_before=before.locate,
        locate_after=scenes[1].locate,
    )


def contents_of(scene: Scene) -> Contents:
    """Return what proofs of a run keep for each other."""
    found: Contents = scene.kept.setdefault("contents", Contents())
    return found


def _waiting(scene: Scene) -> dict[Identity, Resource]:
    """Return what the target refuses or misreads, which other rules have to mend first."""
    state, rejected = scene.state(scene.target)
    refused = (one.resource for one in rejected)
    misread = (r for r in state.resources if _is_misread(r, scene.target))
    on_trust = (r for r in state.resources if _is_taken_on_trust(r, state))
    return {one.identity: one for one in (*refused, *misread, *on_trust)}


def _comes_of(resource: Resource, earlier: Mapping[Identity, Resource], current: Scene) -> bool:
    """Say whether a resource is one of some of a scene, or new and split from one."""
    if resource.identity in earlier:
        return True
    if resource.identity in current.identities:
        return False
    return any(is_beside(resource, one) for one in earlier.values())


def _touches_waiting(current: Scene, candidate: Scene) -> bool:
    """Say whether the changes touch what the target refuses or misreads even then, or drop it."""
    old, new = (
        {(r.identity, r.canonical_body) for r in scene.repository.resources}
        for scene in (current, candidate)
    )
    dropped = {identity for identity, _ in old} - {identity for identity, _ in new}
    still = _waiting(candidate)
    return bool(dropped & _waiting(current).keys()) or any(one in still for one, _ in new - old)


def as_exclusive(state: State) -> State:
    """Return a state as if the mode of every mesh were Exclusive."""
    mode = {"meshServices": {"mode": "Exclusive"}}
    return replace(
        state,
        environment=replace(state.environment, mesh_services="Exclusive"),
        resources=tuple(
            replace(r, spec={**r.spec, **mode}) if r.type == "Mesh" else r for r in state.resources
        ),
    )


def _without(state: State, identities: Set[Identity]) -> State:
    """Return a state without some policies. Of a route the name stays, for what refers to it."""
    kept = []
    for resource in state.resources:
        if resource.identity not in identities:
            kept.append(resource)
        elif resource.type == "MeshHTTPRoute":
            kept.append(replace(resource, spec={}))
    return replace(state, resources=tuple(kept))


def _is_misread(resource: Resource, name: str) -> bool:
    """Say whether a release ignores what an older one reads of a policy: whom it is for."""
    target = release_of(name)
    kind = target.policy_types.get(resource.type)
    if kind is None:
        return False
    top = resource.spec.get("targetRef")
    ignored = set(top) - set(target.target_ref_type_fields) if isinstance(top, Mapping) else set()
    return bool(ignored) or bool(resource.spec.get("from") and "from" not in kind.sections)


def _is_taken_on_trust(resource: Resource, state: State) -> bool:
    """Say whether only a template could supply what the release wants of a resource."""
    if not resource.templated or resource.type in OLD_POLICIES:
        return False
    bare = replace(resource, templated=False)
    return bool(refusals_of(bare, release=state.release, environment=state.environment))


def _together(verdicts: Iterable[HeldVerdict]) -> HeldVerdict:
    listed = list(verdicts)
    witnesses = tuple(w for verdict in listed for w in verdict.witnesses)
    unknown = tuple(dict.fromkeys(u for verdict in listed for u in verdict.unknown))
    return HeldVerdict(witnesses=witnesses, unknown=unknown)


def _newly_refused(current: Scene, candidate: Scene, *, upgrade: bool) -> tuple[Doubt, ...]:
    """Say what a control plane would refuse after the changes and did not before."""
    releases = {candidate.target} if upgrade else {candidate.source, candidate.target}
    found: list[Doubt] = []
    for release in sorted(releases):
        rejected = current.state(release)[1]
        earlier = {one.resource.identity: one.resource for one in rejected}
        known = {fault for rejection in rejected for fault in _faults(rejection)}
        gone = _gone(rejected, candidate)
        for rejection in candidate.state(release)[1]:
            fresh = [p for p in rejection.problems if _fault(rejection, p) not in known]
            # What the target refuses before and after is no worse, nor is what takes the place of
            # something it refuses (an old policy); another rule mends the rest.
            if not fresh or (
                release != candidate.source
                and (
                    rejection.resource.mesh in gone
                    or _comes_of(rejection.resource, earlier, current)
                )
            ):
                continue
            name = f"{rejection.resource.type} {rejection.resource.name}"
            said = (f"{release} would refuse {name}: {p.message}" for p in fresh)
            found.extend(Doubt(DoubtKind.REFUSED, words) for words in said)
    return tuple(found)


def _gone(rejected: Iterable[Rejection], candidate: Scene) -> set[str]:
    """Return the meshes that lose a resource which was refused."""
    left = {resource.identity for resource in candidate.repository.resources}
    return {one.resource.mesh for one in rejected if one.resource.identity not in left}


def _faults(rejection: Rejection) -> set[tuple[Identity, FieldPath]]:
    return {_fault(rejection, problem) for problem in rejection.problems}


def _fault(rejection: Rejection, problem: Problem) -> tuple[Identity, FieldPath]:
    return (rejection.resource.identity, problem.path)
