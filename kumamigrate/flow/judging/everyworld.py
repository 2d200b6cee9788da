"""Two scenes compared in every world that is open: a claim holds only where it holds in each.

Only worlds that a claim can feel are looked at, mesh by mesh (`worlds.can_feel`): most changes
touch nothing that an initial policy has a say in.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.flow.judging.beyond25 import is_beyond
from kumamigrate.model.initial import NONE, possible
from kumamigrate.model.kinds import OLD_POLICIES
from kumamigrate.model.resource import Identity
from kumamigrate.prover import MeshProof, Proof
from kumamigrate.prover.agree import agreed
from kumamigrate.prover.claimed import LIVE, RELEASE
from kumamigrate.prover.proof import gathered
from kumamigrate.prover.sidebyside import MANY, answers
from kumamigrate.scene.scene import JOBS, Scene
from kumamigrate.scene.worlds import Given, can_feel, told

UP_TO_25 = "2.5"

Prove = Callable[[Scene, Scene, tuple[str, ...], Collection[str] | None], Proof]
"""Proves some claims about two scenes, for some meshes or for all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Types:
    """The types of resources that concern a mesh: all, and those that differ."""

    present: frozenset[str]
    touched: frozenset[str]


@dataclass(frozen=True, slots=True)
class InOneWorld:
    """Some claims about two scenes in one world, for some meshes or for all (None)."""

    world: str
    scenes: tuple[Scene, Scene]
    claims: tuple[str, ...]
    meshes: Collection[str] | None

    def by_claim(self) -> Iterator[InOneWorld]:
        """Yield it claim by claim. What old policies say only claim *live* compares, so that all
        others rest on it where there are any."""
        before = self.scenes[0]
        state = before.state(before.source)[0]
        together = next(state.of_type(*OLD_POLICIES), None) is not None
        for claims in (self.claims,) if together else [(one,) for one in self.claims]:
            yield replace(self, claims=claims)


def open_worlds(before: Scene, after: Scene, *, today: bool = False) -> tuple[str, ...]:
    """Return the worlds that may be ours and that what changes between two scenes can feel.

    Nothing where it is settled, or makes no difference. `today` says that only what the release in
    use makes of it is asked for, whatever is to be reached.
    """
    felt: dict[str, None] = {}
    given = after.given()
    for mesh, types in _types(before, after, given).items():
        if not given[mesh].settled:
            found = (w for w in given[mesh].worlds if can_feel(w, types.touched, types.present))
            one_release = today or before.source == before.target
            beyond = one_release and types.touched and _is_beyond(before, after, mesh, types)
            felt |= dict.fromkeys(w for w in found if w != UP_TO_25 or not beyond)
    return (NONE, *felt) if felt else ()


def jobs_for(scene: Scene) -> int:
    """Return how many worlds of a scene are worth asking about at a time."""
    return int(scene.kept.get(JOBS, 1)) if len(scene.repository.resources) >= MANY else 1


def open_to(scenes: Iterable[Scene]) -> tuple[str, ...]:
    """Return the worlds but the least that some mesh of some scenes may live in."""
    every = (given for scene in scenes for given in scene.given().values())
    found = dict.fromkeys(world for one in every if not one.settled for world in one.worlds)
    return tuple(world for world in found if world != NONE)


def in_every_world(before: Scene, after: Scene, claims: tuple[str, ...], prove: Prove) -> Proof:
    """Return the proof of some claims that holds whichever initial policies each mesh has.

    With each mesh stands what is taken for granted of them, where they could matter.
    """
    given = after.given()
    types = _types(before, after, given)
    asked: dict[tuple[str, tuple[str, ...]], set[str]] = defaultdict(set)
    for mesh, own in types.items():
        for world in () if given[mesh].settled else given[mesh].worlds:
            felt = tuple(c for c in claims if _felt(c, world, own, before))
            one_release = before.source == before.target
            mine = world == UP_TO_25 and one_release and own.touched
            if mine and _is_beyond(before, after, mesh, own):
                felt = tuple(c for c in felt if c != LIVE)
            if felt:
                asked[world, felt].add(mesh)
    questions = [InOneWorld(NONE, (before, after), claims, None)]
    for (world, felt), meshes in asked.items():
        scenes = (before.in_world(world), after.in_world(world))
        questions.append(InOneWorld(world, scenes, felt, meshes))
    proof, *others = _asked(questions, prove, jobs_for(after))
    parts: dict[str, dict[str, MeshProof]] = defaultdict(dict)
    for question, there in zip(questions[1:], others, strict=True):
        for mesh, found in there.meshes.items():
            parts[mesh][question.world] = found
    every = {
        mesh: _assuming(_whichever(found, parts.get(mesh, {})), given.get(mesh), types, before)
        for mesh, found in proof.meshes.items()
    }
    return replace(proof, meshes=every)


def _asked(questions: Sequence[InOneWorld], prove: Prove, jobs: int) -> list[Proof]:
    """Return the answers to questions; where several are asked at a time, claim by claim, and
    first those that take longest."""
    apart = [
        (at, one)
        for at, question in enumerate(questions)
        for one in (question.by_claim() if jobs > 1 else (question,))
    ]
    apart.sort(key=lambda asked: -len(asked[1].claims))
    found = answers([partial(prove, *q.scenes, q.claims, q.meshes) for _, q in apart], jobs)
    parts: dict[int, list[Proof]] = defaultdict(list)
    for (at, _), proof in zip(apart, found, strict=True):
        parts[at].append(proof)
    return [_as_one(parts[at], question.claims) for at, question in enumerate(questions)]


def _as_one(parts: Sequence[Proof], claims: tuple[str, ...]) -> Proof:
    """Return proofs of single claims as one."""
    if len(parts) == 1:
        return parts[0]
    meshes = {}
    for mesh in parts[0].meshes:
        mine = [part.meshes[mesh] for part in parts]
        results = {name: result for one in mine for name, result in one.claims.items()}
        meshes[mesh] = gathered(mine, {claim: results[claim] for claim in claims})
    upgraded = next((p for p in parts if p.release_after != p.release_before), parts[0])
    return replace(upgraded, meshes=meshes)


def _whichever(least: MeshProof, others: dict[str, MeshProof]) -> MeshProof:
    """Return what holds in the world without initial policies and in the others, each claim by
    those worlds that it can feel."""
    if not others:
        return least
    claims = {}
    for name, result in least.claims.items():
        found = {
            world: replace(part, claims={name: part.claims[name]})
            for world, part in others.items()
            if name in part.claims
        }
        one = agreed({NONE: replace(least, claims={name: result}), **found})
        claims[name] = one.claims[name]
    return gathered((least, *others.values()), claims)


def _assuming(
    proof: MeshProof, given: Given | None, types: dict[str, Types], before: Scene
) -> MeshProof:
    if given is None:
        return proof
    felt = any(
        _felt(claim, world, types[given.mesh], before)
        for claim in proof.claims
        for world in possible(before.source)
    )
    environment = before.environment
    zone = environment.zone if environment.mode == "zone" else ""
    return replace(proof, assumptions=(told(given, zone), *proof.assumptions)) if felt else proof


def _felt(claim: str, world: str, types: Types, before: Scene) -> bool:
    """Say whether a claim may come out otherwise in a world.

    *live* compares equal things but for what changed; the others compare one reading with
    another, and 3.0 reads the policies that 2.x made in another way than 2.x does.
    """
    if claim == RELEASE and before.source != before.target:
        return world != NONE
    return can_feel(world, types.touched if claim == LIVE else types.present, types.present)


def _is_beyond(before: Scene, after: Scene, mesh: str, types: Types) -> bool:
    """Say whether the policies up to 2.5 have no say in what changes on the release in use."""
    old, new = (scene.state(scene.source)[0] for scene in (before, after))
    return is_beyond(old, new, mesh, types.touched)


def _types(before: Scene, after: Scene, meshes: Iterable[str]) -> dict[str, Types]:
    old, new = (_by_mesh(scene) for scene in (before, after))
    found = {}
    for mesh in meshes:
        was, now = (side[mesh] | side[""] for side in (old, new))
        found[mesh] = Types(
            present=frozenset(type_ for type_, *_ in was | now),
            touched=frozenset(type_ for type_, *_ in was ^ now),
        )
    return found


def _by_mesh(scene: Scene) -> dict[str, set[tuple[str, Identity, str]]]:
    """Return what the repository says of each mesh, and of none ("")."""
    found: dict[str, set[tuple[str, Identity, str]]] = defaultdict(set)
    for resource in scene.repository.resources:
        own = resource.name if resource.type == "Mesh" else resource.mesh
        found[own].add((resource.type, resource.identity, resource.canonical_body))
    return found
