"""The text of a proof: the verdict, mesh by mesh what differs, what it rests on, what is open."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

from kumamigrate.dataclass import dataclass, field
from kumamigrate.effective.difference import HARMLESS, Effect, Witness
from kumamigrate.model.kinds import OLD_POLICIES
from kumamigrate.prover import MeshProof, Proof, Verdict
from kumamigrate.prover.claimed import COMPARED, LIVE, RELEASE
from kumamigrate.prover.proof import ProxyVerdict
from kumamigrate.report.screen.causes import doubts, sentences
from kumamigrate.report.screen.counted import count
from kumamigrate.report.screen.difftext import NO_TEXTS, Sides, difference_lines, number_of
from kumamigrate.report.screen.harmlesstext import harmless_of
from kumamigrate.report.screen.restblock import IF_TCP, about_protocol, facts_of, rest_lines
from kumamigrate.report.screen.standing import Texts
from kumamigrate.report.styled import Line, line
from kumamigrate.report.unread import numbers_of, unread_lines, with_numbers
from kumamigrate.scene.repository import Repository

_STYLE = {Verdict.EQUIVALENT: "good", Verdict.DIFFERENT: "bad", Verdict.UNKNOWN: "warn"}
_WORDS = {
    Verdict.EQUIVALENT: "Equivalent",
    Verdict.UNKNOWN: "Cannot tell",
    Verdict.DIFFERENT: "Different",
}
MOST_REASONS = 6


@dataclass(frozen=True, kw_only=True)
class Compared:
    """Two states as a proof saw them: its claims, of which one decides, and both texts."""

    proof: Proof
    repositories: Sequence[Repository]
    claim: str = LIVE
    allow: Set[Effect] = HARMLESS
    texts: tuple[Texts, Texts] = (NO_TEXTS, NO_TEXTS)
    verbose: bool = False
    known: Sequence[Line] = field(default_factory=tuple)

    def sides(self, environment: str) -> Sides:
        """Return the texts in which values of an environment stand."""
        before, after = self.texts
        return Sides(before=before, after=after, environment=environment, verbose=self.verbose)


def proof_lines(compared: Compared) -> list[Line]:
    """Return the verdict that decides, then every claim mesh by mesh, that one first; then what
    it rests on, and last what cannot be told. A difference stands with the first claim it is of."""
    proof, claim = compared.proof, compared.claim
    repository = compared.repositories[-1]
    lines = [_verdict_line(compared), _world_line(compared), *compared.known]
    told: set[tuple[str, ...]] = set()
    names = sorted(proof.claims, key=lambda name: name != claim)
    for name in names:
        lines += [
            (),
            line((COMPARED[name][0].upper() + COMPARED[name][1:], "strong"), f" ({name})"),
        ]
        for mesh in proof.meshes.values():
            if name in mesh.claims:
                lines += _mesh_lines(mesh, name, compared, told)
    more = unread_lines(repository, verbose=compared.verbose, indent="  ")
    old = any(r.type in OLD_POLICIES for one in compared.repositories for r in one.resources)
    facts = facts_of(proof, old_policies=old, verbose=compared.verbose)
    lines += rest_lines(facts, more, verbose=compared.verbose)
    return lines + _open_lines(compared, names)


def _world_line(compared: Compared) -> Line:
    proof = compared.proof
    counted = count(len(compared.repositories[-1].resources), "resource")
    before, after = proof.release_before, proof.release_after
    kuma = f"Kuma {before}" if before == after else f"Kuma {before} → {after}"
    return line((f"{_meshes(proof)}, {counted}.   {kuma}", "dim"))


def _verdict_line(compared: Compared) -> Line:
    """Say the result first: the verdict, what it is about, and how much is different."""
    proof, claim = compared.proof, compared.claim
    verdict = proof.allowing(claim, compared.allow)
    witnesses = proof.witnesses(claim)
    passing = [w for w in witnesses if w.effect in compared.allow]
    counted, further = (_number(part, compared) for part in (_counting(claim, compared), passing))
    about = COMPARED[claim]
    match verdict:
        case Verdict.EQUIVALENT if witnesses:
            kinds = ", ".join(sorted({witness.effect.value for witness in witnesses}))
            may_pass = count(further, "difference")
            said = f" but for {may_pass} that may pass ({kinds}; --allow none refuses): {about}"
        case Verdict.DIFFERENT:
            said = f": {about}, {count(counted, 'difference')}"
            said += f" and {further} that may pass" if further else ""
        case _:
            said = f": {about}"
    return line((_WORDS[verdict], _STYLE[verdict]), said, _not_before_the_upgrade(compared))


def _not_before_the_upgrade(compared: Compared) -> str:
    """Say of a good upgrade that what it compares must not be rolled out before it."""
    proof, allow = compared.proof, compared.allow
    good = proof.allowing(compared.claim, allow) is Verdict.EQUIVALENT
    if compared.claim != RELEASE or not good or LIVE not in proof.claims:
        return ""
    if proof.allowing(LIVE, allow) is not Verdict.DIFFERENT:
        return ""
    counted = count(_number(_counting(LIVE, compared), compared), "difference")
    return f"; not before it: on {proof.release_before} it makes {counted}"


def _counting(claim: str, compared: Compared) -> list[Witness]:
    """Return the differences of a claim that may not pass."""
    return [w for w in compared.proof.witnesses(claim) if w.effect not in compared.allow]


def _number(witnesses: Sequence[Witness], compared: Compared) -> int:
    """Return how many differences these are told as."""
    return number_of(witnesses, compared.sides(""))


def _mesh_lines(
    mesh: MeshProof, claim: str, compared: Compared, told: set[tuple[str, ...]]
) -> list[Line]:
    result = mesh.claims[claim]
    verdict = result.allowing(compared.allow)
    limits = [why for why in mesh.beyond if not about_protocol(why)]
    tcp = len(limits) < len(mesh.beyond)
    every = mesh.all_proxies or (tcp and not limits)
    scope = scope_words(result.proxies, every=every) + (IF_TCP if tcp else "")
    tail = scope if verdict is Verdict.EQUIVALENT else ""
    where = f" in {mesh.environment}" if mesh.environment else ""
    lines = [line(f"  {mesh.mesh}{where}  ", (verdict.value, _STYLE[verdict]), tail)]
    fresh = [w for w in result.witnesses if (mesh.environment, *w.key) not in told]
    told.update((mesh.environment, *w.key) for w in fresh)
    lines += _differences(fresh, mesh.environment, compared)
    again = number_of(result.witnesses) - number_of(fresh)
    if again > 0:
        lines.append(line((f"      {count(again, 'difference')} as above", "dim")))
    for mode, found in result.modes.items():
        lines.append(line(f"      mode {mode}: ", (found.value, _STYLE[found])))
    return lines


def _differences(witnesses: Sequence[Witness], environment: str, compared: Compared) -> list[Line]:
    sides = compared.sides(environment)
    values = [w for w in witnesses if w.effect is Effect.VALUE]
    lines = difference_lines(values, sides, indent="      ")
    return lines + harmless_of(witnesses, sides, compared.allow, indent="      ")


def _open_lines(compared: Compared, names: Sequence[str]) -> list[Line]:
    """Return what cannot be told, each reason once, with the claim that it is about."""
    proof = compared.proof
    numbers = numbers_of(compared.repositories[-1])
    told: set[str] = set()
    lines: list[Line] = []
    for name in names:
        reasons = [why for why in proof.unknown(name) if why not in told]
        told.update(reasons)
        called = doubts(with_numbers(reasons, numbers))
        said = called if compared.verbose else sentences(called)
        most = len(said) if compared.verbose else MOST_REASONS
        lines += [line("  ", ("cannot tell: ", "warn"), why) for why in said[:most]]
        if len(said) > most:
            lines.append(line((f"  … and {len(said) - most} more: --verbose", "dim")))
    return [(), line(("LEFT", "strong")), *lines] if lines else []


def scope_words(proxies: Iterable[ProxyVerdict], *, every: bool) -> str:
    """Say which proxies a verdict is about. Where none is listed, only its limits can be named."""
    if every:
        return " for every possible proxy"
    if any(not proxy.made_up for proxy in proxies):
        return " for the listed proxies"
    return " for every proxy that what it rests on allows for"


def _meshes(proof: Proof) -> str:
    """Count the meshes, and the environments that hold them where there are several."""
    meshes = count(len({m.mesh for m in proof.meshes.values()}), "mesh", "meshes")
    environments = {m.environment for m in proof.meshes.values()}
    if len(environments) < 2:
        return meshes
    return f"{meshes} in {count(len(environments), 'environment')}"
