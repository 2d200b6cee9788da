"""Dead settings (`check --dead`): policies and parts of them that no proxy would miss.

Said only where the prover is certain, in every world that is open and for every proxy that could
exist; or, with an inventory that is whole, for those that it holds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kumamigrate.dataclass import dataclass, field
from kumamigrate.flow.dead.deadcause import Because, cause_of, why_unread
from kumamigrate.flow.dead.deadparts import PolicyPart, parts_of, untouched
from kumamigrate.flow.noticed import MeshWorld, Noticed, in_all, removing, replacing, worlds_of
from kumamigrate.model.kinds import OLD_POLICIES
from kumamigrate.model.release import release
from kumamigrate.model.resource import Resource, Where
from kumamigrate.rewrite.finding import Danger, Finding
from kumamigrate.rewrite.restraint import restrains
from kumamigrate.source.text import FieldPath, path_text
from kumamigrate.world.estate import Estate, Site

UNREACHED, OVERRULED, REPEATED = "unreached-policy", "overruled-setting", "repeated-setting"
UNDECIDED = "undecided-setting"
_ACTION = "it can be taken out: no proxy would notice"
_GUARD = "it denies or limits: leave it if it is a second line of defence, else take it out"
_ONE = "; take out one at a time and look again, since two may repeat each other"

Key = tuple[Where, FieldPath]


@dataclass(frozen=True, kw_only=True)
class Dead:
    """A policy, or a part of it, that nobody would miss, and why."""

    policy: Resource
    path: FieldPath
    cause: Because
    rests: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Looked:
    """What was found out in one environment: what is dead by place, and what cannot be told."""

    dead: Mapping[Key, Dead] = field(default_factory=dict)
    seen: frozenset[Where] = frozenset()
    undecided: Mapping[Where, tuple[Resource, str]] = field(default_factory=dict)


def dead_settings(estate: Estate) -> Iterator[Finding]:
    """Yield what is dead in every environment that it is a part of, and what cannot be told."""
    looked = [_look(site) for site in estate.sites]
    found: dict[Key, list[Dead]] = defaultdict(list)
    for one in looked:
        for key, dead in one.dead.items():
            found[key].append(dead)
    for (where, path), every in found.items():
        if all(_is_dead(one, where, path) for one in looked if where in one.seen):
            yield _finding(every)
    yield from _undecided(looked)


def _is_dead(looked: Looked, where: Where, path: FieldPath) -> bool:
    return (where, ()) in looked.dead or (where, path) in looked.dead


def _look(site: Site) -> Looked:
    scene = site.applied
    known = {*release(scene.source).policy_types, *OLD_POLICIES}
    dead: dict[Key, Dead] = {}
    seen: set[Where] = set()
    undecided: dict[Where, tuple[Resource, str]] = {}
    worlds: dict[tuple[str, str], tuple[MeshWorld, ...]] = {}
    for written in scene.repository.resources:
        where = written.where
        if where is None or written.type not in known:
            continue
        seen.add(where)
        asked = (written.mesh, written.type)
        if asked not in worlds:
            every = worlds_of(scene, written.mesh)
            worlds[asked] = tuple(one.about(written.type, known) for one in every)
        policy = _stored(worlds[asked][0], written)
        if policy is None or policy.templated or policy.branches:
            continue  # refused, or not known as a whole
        noticed = in_all(worlds[asked], removing(policy))
        last = noticed[-1]
        if not last.witnesses and last.unknown and not _for_listed(last, policy, worlds[asked]):
            # Who refers to it would miss it: that is no doubt, and nothing is dead.
            if not any(f"{policy.type} {policy.name}" in why for why in last.unknown):
                undecided[where] = (policy, last.unknown[0])
            continue
        for one in _of_policy(worlds[asked], policy, noticed, site):
            dead[where, one.path] = one
    return Looked(dead=dead, seen=frozenset(seen), undecided=undecided)


def _for_listed(noticed: Noticed, policy: Resource, worlds: Sequence[MeshWorld]) -> bool:
    """Say whether no proxy reads a policy of those that an inventory holds, which are all."""
    return noticed.listed and policy.mesh in worlds[0].state.exported


def _stored(world: MeshWorld, written: Resource) -> Resource | None:
    found = world.state.of_type(written.type)
    return next((r for r in found if r.identity == written.identity), None)


def _of_policy(
    worlds: Sequence[MeshWorld], policy: Resource, noticed: Sequence[Noticed], site: Site
) -> Iterator[Dead]:
    """Yield what is dead of a policy: all of it, or parts."""
    if noticed[-1].nothing:
        yield _dead(worlds, policy, PolicyPart(path=(), rest=policy, only=policy), noticed)
    elif _for_listed(noticed[-1], policy, worlds):
        number = sum(1 for r in worlds[0].state.of_type("Dataplane") if r.mesh == policy.mesh)
        proxies = "the one proxy known does not read it" if number == 1 else ""
        said = proxies or f"none of the {number} proxies known reads it"
        cause = Because(rule=UNREACHED, said=f"{said}; it is for proxies to come")
        yield Dead(policy=policy, path=(), cause=cause, rests=noticed[-1].rests)
    elif policy.type not in OLD_POLICIES and not site.rendering.built:
        world = worlds[0]
        for part in untouched(parts_of(policy, world.state), noticed[-1].witnesses, world.scene):
            found = in_all(worlds, replacing(policy, part.rest))
            if len(found) == len(worlds) and all(one.nothing for one in found):
                yield _dead(worlds, policy, part, found)


def _dead(
    worlds: Sequence[MeshWorld], policy: Resource, part: PolicyPart, noticed: Iterable[Noticed]
) -> Dead:
    world = worlds[0]
    cause = cause_of(world, policy, part.only, OVERRULED, REPEATED)
    if cause is None:
        why = why_unread(world.state, policy)
        said = f"no proxy that could exist reads it{f': {why}' if why else ''}"
        cause = Because(rule=UNREACHED, said=said)
    rests = dict.fromkeys(r for one in noticed for r in one.rests)
    return Dead(policy=policy, path=part.path, cause=cause, rests=tuple(rests))


def _finding(every: Sequence[Dead]) -> Finding:
    first = every[0]
    policy = first.policy
    field_ = path_text((*policy.spec_path, *first.path)) if first.path else ""
    sayings = "; ".join(dict.fromkeys(one.cause.said for one in every))
    action = _GUARD if restrains(policy) else _ACTION
    rests = dict.fromkeys(r for one in every for r in one.rests)
    return Finding(
        rule=first.cause.rule,
        resource=policy,
        path=(*policy.spec_path, *first.path) if first.path else (),
        message=f"{field_ or f'{policy.type} {policy.name}'}: {sayings}",
        action=action + (_ONE if first.cause.rule == REPEATED else ""),
        danger=Danger.ADVICE,
        notes=tuple(f"rests on: {fact}" for fact in rests),
    )


def _undecided(looked: Iterable[Looked]) -> Iterator[Finding]:
    """Yield once for each reason that it cannot be told of some policies."""
    reasons: dict[str, dict[Where, Resource]] = defaultdict(dict)
    for one in looked:
        for where, (policy, why) in one.undecided.items():
            reasons[why][where] = policy
    for why, policies in reasons.items():
        first = next(iter(policies.values()))
        number = "1 policy has" if len(policies) == 1 else f"{len(policies)} policies have"
        yield Finding(
            rule=UNDECIDED,
            resource=first,
            message=f"whether {number} an effect cannot be told: {why}",
            action="settle that to be told",
            danger=Danger.ADVICE,
        )
