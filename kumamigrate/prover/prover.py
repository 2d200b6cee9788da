"""The verdict about two states: which states each claim is about, mesh by mesh (product.md §5)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.effective.difference import Locate
from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.errors import REPORT_IT, fault
from kumamigrate.model.resource import Resource
from kumamigrate.model.state import State, mesh_services_mode
from kumamigrate.prover.assumptions.outsideproof import reader_assumptions, template_assumptions
from kumamigrate.prover.claimed import CARRY, LIVE, RELEASE
from kumamigrate.prover.claimproof import claim_proof
from kumamigrate.prover.compose import upon
from kumamigrate.prover.midway import over_midway
from kumamigrate.prover.nonpolicy import dataplanes
from kumamigrate.prover.oldengine import converted, same_old, without_a_say
from kumamigrate.prover.owed import Begun
from kumamigrate.prover.proof import ClaimResult, MeshProof, Proof, ProxyVerdict, Verdict, gathered
from kumamigrate.prover.proofscene import ProofScene
from kumamigrate.prover.stages.local import LocalProof, local_proof
from kumamigrate.prover.stages.proxyfindings import ANY_PROXY
from kumamigrate.source.text import FieldPath
from kumamigrate.universe.contents import Contents
from kumamigrate.universe.traffic import MODES

WITNESSES = "witnesses"
DEFAULT_MESH = "default"


def nowhere(_resource: Resource, _path: FieldPath) -> str:
    """Return no place: for states that have no text."""
    return ""


def prove(
    before: State,
    after: State,
    *,
    claims: Sequence[str] = (LIVE, CARRY),
    proxies: str = WITNESSES,
    upgraded: State | None = None,
    one_protocol: bool = False,
    also: Sequence[State] = (),
    same_unread: bool = False,
    only: Collection[str] | None = None,
    types: Collection[str] | None = None,
    standing: Begun | None = None,
    halfway: bool = False,
    contents: Contents | None = None,
    locate_before: Locate = nowhere,
    locate_after: Locate = nowhere,
) -> Proof:
    """Return the proof of some claims for all meshes of two states, or for `only` some.

    `upgraded` is the state after as the target release stores it; claim *release* compares
    `before` with it (with `after` where it is absent). `proxies` is "witnesses": the verdict
    holds for every proxy that could exist, or "listed": for the Dataplanes of the states. With
    `one_protocol` a service tag and the MeshService in its place are read as if of one protocol
    (protocol_conflict.py), so that no difference comes from their own disagreement. `also` are
    states that are not compared, but the services that they refer to are looked at. With
    `same_unread` what could not be read is known to be the same text on both sides, so that it
    bars nothing that is proven locally (local.py). With `types` only differences of some policy
    types are looked for: for whoever knows that the others do not matter. `standing` are the states
    of another proof, up to the one that a change begins with: what differs there in the same way,
    at the same place of the same proxy, is no difference here (owed.py); doubts are not compared.
    With `halfway` the way over a state in which only old policies have been converted is looked at,
    too (midway.py): what holds on both halves holds. `contents` keeps what was read for the next
    proof that is given the same.
    """
    # What belongs to no mesh, or could not be read, counts where nothing names a mesh, too.
    meshes = sorted({*before.meshes(), *after.meshes()}) or [DEFAULT_MESH]
    question = _Question(
        before=before,
        after=after,
        upgraded=upgraded,
        claims=claims,
        proxies=proxies,
        contents=Contents() if contents is None else contents,
        locate=(locate_before, locate_after),
        one_protocol=one_protocol,
        also=also,
        types=types,
        standing=standing,
        local=same_unread or not (before.unread or after.unread),
        halfway=halfway,
    )
    return Proof(
        release_before=before.release,
        release_after=(upgraded or after).release,
        meshes={m: question.of(m) for m in meshes if only is None or m in only},
        unread=tuple(dict.fromkeys((*before.unread, *after.unread))),
    )


@dataclass(frozen=True, kw_only=True)
class _Question:
    """What is asked about each mesh of two states. `local`: cheap proofs may be tried first."""

    before: State
    after: State
    upgraded: State | None
    claims: Sequence[str]
    proxies: str
    contents: Contents
    locate: tuple[Locate, Locate]
    one_protocol: bool
    also: Sequence[State]
    types: Collection[str] | None
    standing: Begun | None
    local: bool
    halfway: bool

    def of(self, mesh: str) -> MeshProof:
        """Return the proof for a mesh, over states in between where that is asked for."""
        found = self.about(mesh)
        if not self.halfway:
            return found
        sides = self.before.mesh(mesh), self.after.mesh(mesh)

        def ask(
            before: State, after: State, upgraded: State | None, claims: Sequence[str]
        ) -> MeshProof:
            asked = replace(self, before=before, after=after, upgraded=upgraded, claims=claims)
            return asked.about(mesh)

        return over_midway(found, *sides, self.upgraded, ask)

    def about(self, mesh: str) -> MeshProof:
        """Return the proof for a mesh. Where comparing it is too much for this tool, it is
        unknown."""
        try:
            return self._about(mesh)
        except Exception as error:
            why = Doubt(DoubtKind.FAULT, f"{fault(error)}; {REPORT_IT}")
            result = ClaimResult(verdict=Verdict.UNKNOWN, proxies=(), unknown=(why,))
            return MeshProof(
                mesh=mesh, claims=dict.fromkeys(self.claims, result), all_proxies=False
            )

    def _about(self, mesh: str) -> MeshProof:
        results: dict[str, MeshProof] = {}
        scenes: dict[tuple[int, int], ProofScene] = {}
        sides = self.before.mesh(mesh), self.after.mesh(mesh)
        found = local_proof(*sides) if LIVE in self.claims and self.local else None
        if found is not None:
            results[LIVE] = _proven_locally(found, mesh, *sides)
        for claim in self.claims:
            if claim in results:
                continue
            asked = self._asked(claim, mesh)
            key = (id(asked[0]), id(asked[1]))
            if key not in scenes:
                others = tuple(state.mesh(mesh) for state in self.also)
                scenes[key] = self._scene(
                    mesh, *asked, one_protocol=self.one_protocol, also=others, types=self.types
                )
            results[claim] = claim_proof(claim, scenes[key], self.proxies)
            if asked[0] is not self.before:
                if LIVE not in results:
                    lived = self._scene(mesh, self.before, self.after, self.standing)
                    results[LIVE] = claim_proof(LIVE, lived, self.proxies)
                settled = upon(claim, results[claim].claims[claim], results[LIVE].claims[LIVE])
                results[claim] = replace(results[claim], claims={claim: settled})
        claims = {claim: results[claim].claims[claim] for claim in self.claims}
        return gathered(results.values(), claims)

    def _asked(self, claim: str, mesh: str) -> tuple[State, State, Begun | None]:
        """Return the states that a claim is about, and what stood."""
        later = self.upgraded if claim == RELEASE and self.upgraded is not None else self.after
        rests = claim != LIVE and (claim == CARRY or self.upgraded is not None)
        if not rests:
            return self.before, later, self.standing
        stood = self.standing
        if stood is not None:
            stood = replace(stood, goal=_begun(claim, stood.goal, stood.current, mesh))
        return _begun(claim, self.before, self.after, mesh), later, stood

    def _scene(
        self, mesh: str, earlier: State, later: State, stood: Begun | None, **more: Any
    ) -> ProofScene:
        standing = None if stood is None else stood.of_mesh(mesh)
        states = earlier.mesh(mesh), later.mesh(mesh)
        return ProofScene(mesh, *states, self.contents, self.locate, standing=standing, **more)


def _begun(claim: str, before: State, after: State, mesh: str) -> State:
    """Return the state that a claim about real resources begins with.

    What old policies say only claim *live* compares; from there on the rest follows. With an
    upgrade those that stay end: nothing but that is asked of them, whatever changes beside them.
    """
    states = (before, after)
    rests = without_a_say(states, mesh) if claim == CARRY else same_old(states, mesh)
    return before if rests or not converted(before, mesh) else after


def _proven_locally(found: LocalProof, mesh: str, before: State, after: State) -> MeshProof:
    """Return claim *live* for a mesh in which nothing says anything else than before."""
    listed = (name for _, name in dict.fromkeys((*dataplanes(before), *dataplanes(after))))
    modes = (mesh_services_mode(state, mesh) for state in (before, after))
    result = ClaimResult(
        verdict=Verdict.EQUIVALENT,
        proxies=(
            *(ProxyVerdict(name=name, verdict=Verdict.EQUIVALENT) for name in listed),
            ProxyVerdict(name=ANY_PROXY, verdict=Verdict.EQUIVALENT, made_up=True),
        ),
        modes=dict.fromkeys(MODES, Verdict.EQUIVALENT) if None in modes else {},
    )
    taken = (
        *map(str, found.conditions),
        *template_assumptions(before, after),
        *reader_assumptions(mesh, before, after),
    )
    return MeshProof(mesh=mesh, claims={LIVE: result}, assumptions=taken)
