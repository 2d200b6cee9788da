"""One claim about one mesh in every world of services: what it comes to, and what it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kumamigrate.dataclass import replace
from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.prover.assumptions.chosen_labels import nobody_chooses
from kumamigrate.prover.assumptions.led_services import all_listed
from kumamigrate.prover.assumptions.outsideproof import (
    export_assumptions,
    reader_assumptions,
    template_assumptions,
)
from kumamigrate.prover.assumptions.protocol_conflict import speaking_tcp
from kumamigrate.prover.assumptions.subset_service import not_shown, told
from kumamigrate.prover.claimed import LIVE, RELEASE
from kumamigrate.prover.claims.announced import upgrade_notes
from kumamigrate.prover.oneclaim import Claim
from kumamigrate.prover.proof import ClaimResult, MeshProof, ProxyVerdict, Verdict, doubted, worst
from kumamigrate.prover.proofscene import InWorld, ProofScene
from kumamigrate.prover.subject import subjects

LISTED = "listed"


def claim_proof(claim: str, scene: ProofScene, proxies: str) -> MeshProof:
    """Return the proof of a claim in a scene; `proxies` as `prove` is asked."""
    made_up = proxies != LISTED and not scene.complete
    compared = scene.compared if claim == LIVE else scene.carrying
    asked = [
        Claim(claim, one.pair, subjects(one.pair), one.services, standing=one.standing)
        for one in compared
    ]
    result = together([one.result(made_up=made_up) for one in asked])
    if made_up and scene.worlds.too_many:
        more = Doubt(DoubtKind.COMBINATIONS, scene.worlds.too_many)
        unknown = (*result.unknown, more)
        result = replace(result, verdict=worst((result.verdict, Verdict.UNKNOWN)), unknown=unknown)
    told_by = dict.fromkeys(one for w in scene.compared for one in not_shown(w.pair.after))
    guessed = tuple(Doubt(DoubtKind.MISSING, words) for words in told_by)
    if guessed:
        result = replace(
            result,
            verdict=worst((result.verdict, Verdict.UNKNOWN)),
            unknown=(*result.unknown, *guessed),
            proxies=tuple(doubted(proxy, guessed) for proxy in result.proxies),
        )
    beyond: tuple[str, ...] = ("only the Dataplanes that the states hold were compared",)
    couplings = [one for w in scene.compared for one in w.pair.couplings.all] if made_up else []
    if made_up:
        shares = (one for w in scene.compared for one in told(w.pair.after.shares))
        others = (one for c in asked for one in (*c.old.beyond, *c.beyond))
        beyond = tuple(dict.fromkeys((*map(str, couplings), *shares, *others)))
    sides = scene.compared[0].pair
    notes = upgrade_notes(sides.before, sides.after) if claim == RELEASE else ()
    return MeshProof(
        mesh=scene.mesh,
        claims={claim: result},
        all_proxies=not beyond,
        beyond=beyond,
        assumptions=(
            *scene.worlds.assumptions,
            *(one.fact for one in couplings),
            *asked[0].old.assumptions,
            *dict.fromkeys(one for c in asked if made_up for one in c.old.as_tcp),
            *template_assumptions(*scene.states),
            *export_assumptions(*scene.states),
            *reader_assumptions(scene.mesh, *scene.states),
            *nobody_chooses(sides.before, sides.after, sides.chosen),
            *(_as_tags_are_made(compared[0]) if made_up and claim != LIVE else ()),
            *notes,
        ),
        ties=tuple(str(d) for d in result.doubts if d.kind is DoubtKind.TIE),
    )


def _as_tags_are_made(one: InWorld) -> Iterator[str]:
    """Yield what is taken for granted of outbounds by tag, to which what is real is held."""
    yield from all_listed(one.pair.before)
    yield from dict.fromkeys(speaking_tcp(one.pair.before, one.services))


def together(parts: Sequence[ClaimResult]) -> ClaimResult:
    """Return what holds in every one of several worlds."""
    if len(parts) == 1:
        return parts[0]
    proxies: dict[str, ProxyVerdict] = {}
    for part in parts:
        for verdict in part.proxies:
            known = proxies.get(verdict.name)
            proxies[verdict.name] = verdict if known is None else _both(known, verdict)
    names = dict.fromkeys(mode for part in parts for mode in part.modes)
    return ClaimResult(
        verdict=worst(part.verdict for part in parts),
        proxies=tuple(proxies.values()),
        unknown=tuple(dict.fromkeys(u for part in parts for u in part.unknown)),
        modes={mode: worst(part.modes[mode] for part in parts) for mode in names},
    )


def _both(first: ProxyVerdict, second: ProxyVerdict) -> ProxyVerdict:
    return replace(
        first,
        verdict=worst((first.verdict, second.verdict)),
        witnesses=tuple({w.key: w for w in (*first.witnesses, *second.witnesses)}.values()),
        unknown=tuple(dict.fromkeys((*first.unknown, *second.unknown))),
    )
