"""A run or a check for people and programs: what changed and why it is safe, what was held back
and the one line that says why, what is left to decide, what to do next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from kumamigrate.errors import REPORT_IT
from kumamigrate.flow.claims import LIVE, RELEASE
from kumamigrate.flow.pipeline import Outcome
from kumamigrate.flow.verdict import Whole
from kumamigrate.model.release import known_releases
from kumamigrate.model.resource import Resource
from kumamigrate.prove import Effect, Proof, Verdict, Witness, to_json
from kumamigrate.report.beside import beside_json, beside_lines
from kumamigrate.report.bymesh import check_meshes, run_meshes
from kumamigrate.report.counting import counts, fails_unwritten
from kumamigrate.report.exit import Exit, worst
from kumamigrate.report.inventory import inventory_json, inventory_lines
from kumamigrate.report.lefttext import left_lines
from kumamigrate.report.prooftext import (
    coverage_json,
    found_lines,
    refusal_json,
    resting_lines,
    scope_words,
)
from kumamigrate.report.styled import Line, line
from kumamigrate.report.unread import not_read, numbers_of, unread_lines, with_numbers
from kumamigrate.report.witnesses import difference_lines, doubts, harmless_lines, number_of
from kumamigrate.report.worldtext import world_json, world_lines
from kumamigrate.rewrite.change import Rollout
from kumamigrate.rewrite.faulty import is_fault
from kumamigrate.rewrite.finding import Danger, Finding, Status
from kumamigrate.scene.trial import Held, Scene

MOST = 40
_DANGERS = {
    Danger.SILENT_LOSS: "Lost in silence",
    Danger.OTHER_MEANING: "Read differently",
    Danger.REFUSED: "Refused",
    Danger.DEPRECATED: "Deprecated",
    Danger.ADVICE: "Advice",
}
MOST_REASONS = 10
_OPEN = (Status.PENDING, Status.MANUAL, Status.HELD)


_WHOLE = {
    Whole.PROVEN: Exit.CLEAN,
    Whole.AFTER_SWITCH: Exit.DIFFERENT,
    Whole.UNKNOWN: Exit.INCONCLUSIVE,
    Whole.DIFFERENT: Exit.DIFFERENT,
}


def exit_of_run(outcome: Outcome, *, written: bool) -> Exit:
    """Return the exit code of a run: the worst of what was held, unread or left."""
    codes = [_exit_of_reading(outcome), _exit_of_faults(outcome), _WHOLE[outcome.whole]]
    for held in outcome.held:
        if held.cause is None:
            codes.append(Exit.DIFFERENT if held.witnesses else Exit.INCONCLUSIVE)
    if _fails(outcome) or (not written and outcome.texts and fails_unwritten(outcome)):
        codes.append(Exit.FINDINGS)
    return worst(codes)


def exit_of_check(outcome: Outcome) -> Exit:
    """Return the exit code of a check: findings, and content that could not be read."""
    found = _fails(outcome)
    codes = [_exit_of_reading(outcome), _exit_of_faults(outcome)]
    return worst([*codes, Exit.FINDINGS if found else Exit.CLEAN])


def _fails(outcome: Outcome) -> bool:
    return any(counts(finding, outcome.options.fail_on) for finding in outcome.findings)


def _counts(finding: Finding) -> bool:
    return counts(finding)


def _exit_of_faults(outcome: Outcome) -> Exit:
    faults = [*(one.fault for one in outcome.rejections), *map(is_fault, outcome.findings)]
    return Exit.INCONCLUSIVE if any(faults) else Exit.CLEAN


def _fault_lines(outcome: Outcome) -> list[Line]:
    """Return what this tool failed on where it asked whether a release takes a resource."""
    faults = [one for one in outcome.rejections if one.fault]
    lines: list[Line] = [(), line(("Failed on", "bad"))] if faults else []
    for one in faults[:MOST]:
        where, resource = one.resource.where, one.resource
        place = f"{where.path}:{where.line}" if where is not None else "(inventory)"
        said = f"   {resource.type} {resource.name}   {one.problems[0].message}; {REPORT_IT}"
        lines.append(line("  ", (place, "place"), said))
    return lines + _more(faults)


def _exit_of_reading(outcome: Outcome) -> Exit:
    return Exit.INCONCLUSIVE if not_read(outcome.before.repository) else Exit.CLEAN


def run_json(outcome: Outcome, *, written: bool) -> dict[str, Any]:
    """Return the form `kumamigrate.report/1` (product.md §5)."""
    data = _report(outcome, written=written)
    proof, allow = outcome.proof, outcome.options.allow
    data["proof"] = to_json(proof, allow=allow) if proof is not None else {"claims": {}}
    data["held"] = [held_json(held) for held in outcome.held]
    data["files"] = sorted(outcome.texts)
    data["whole"] = outcome.whole.value
    data["decides"] = outcome.claim
    data["steps"] = list(_steps(outcome))
    data["meshes"] = run_meshes(outcome)
    return data


def check_json(outcome: Outcome) -> dict[str, Any]:
    """Return the form `kumamigrate.report/1` without a proof."""
    meshes = check_meshes(outcome)
    return {**_report(outcome, written=False), "proof": {"claims": {}}, "meshes": meshes}


def _report(outcome: Outcome, *, written: bool) -> dict[str, Any]:
    return {
        "schema": "kumamigrate.report/1",
        "target": outcome.before.target,
        "from": outcome.before.source,
        "written": written and bool(outcome.texts),
        "findings": [finding_json(finding) for finding in outcome.findings],
        "world": world_json(outcome.began),
        "coverage": coverage_json(outcome.before.repository),
        "inventory": inventory_json(outcome.before),
        **beside_json(outcome.began, outcome.texts or _to_change(outcome)),
    }


def finding_json(finding: Finding) -> dict[str, Any]:
    """Return a finding for programs."""
    resource = finding.resource
    named = None
    if resource is not None:
        named = {"type": resource.type, "mesh": resource.mesh, "name": resource.name}
        if resource.namespace:
            named = {**named, "namespace": resource.namespace}
    return {
        "rule": finding.rule,
        "status": finding.status.value,
        "safety": finding.safety.value,
        "danger": finding.danger.name.lower().replace("_", "-"),
        "resource": named,
        "file": finding.file,
        "line": finding.line,
        "column": finding.column,
        "message": finding.message,
        "action": finding.action,
        "notes": list(finding.notes),
    }


def held_json(held: Held) -> dict[str, Any]:
    """Return a change that was held, and why, for programs."""
    from kumamigrate.prove.proof import witness_json

    return {
        "rule": held.change.rule,
        "mesh": held.change.mesh,
        "resources": [edit.where.path for edit in held.change.edits],
        "witnesses": [witness_json(witness) for witness in held.witnesses[:10]],
        "unknown": list(held.unknown),
        **({"environment": held.environment} if held.environment else {}),
        **({"cause": held.cause.value} if held.cause is not None else {}),
        "refused": [refusal_json(refusal) for refusal in held.refusals],
    }


def run_lines(outcome: Outcome, *, written: bool) -> list[Line]:
    """Return the whole text of a run."""
    by_status = {s: [f for f in outcome.findings if f.status is s] for s in Status}
    fixed = by_status[Status.FIXED]
    lines = [*world_lines(outcome.began), _headline(outcome, written=written)]
    lines += inventory_lines(outcome.before)
    lines += unread_lines(outcome.before.repository)
    if fixed:
        lines.append(())
    for finding in fixed[:MOST]:
        lines += _finding_lines(finding, action=False)
    lines += _more(fixed)
    if outcome.proof is not None:
        lines += _proved_lines(outcome)
    lines += _held_lines(outcome)
    lines += _open_lines([*by_status[Status.MANUAL], *by_status[Status.PENDING]])
    lines += _fault_lines(outcome)
    lines += beside_lines(outcome.began, outcome.texts)
    lines += _next_lines(outcome, written=written)
    return lines


def check_lines(outcome: Outcome) -> list[Line]:
    """Return the whole text of a check: findings by danger, the worst first."""
    open_findings = [f for f in outcome.findings if f.status in _OPEN]
    target = outcome.before.target
    if not open_findings:
        lines = [line(("Nothing to do", "good"), f" for Kuma {target}{_scope(outcome)}")]
        lines += inventory_lines(outcome.before)
        lines += unread_lines(outcome.before.repository)
    else:
        files = len({finding.file for finding in open_findings})
        lines = [
            line(
                (_count(len(open_findings), "finding"), "strong"),
                f" for Kuma {target}, in {_count(files, 'file')}{_scope(outcome)}",
            )
        ]
        lines += inventory_lines(outcome.before)
        lines += unread_lines(outcome.before.repository)
        lines += _open_lines(open_findings)
        fixable = sum(finding.status is Status.PENDING for finding in open_findings)
        if fixable:
            lines += [
                (),
                line(f"{fixable} of them can be tried and proved: {_command(outcome)} --dry-run"),
            ]
    lines += [*_fault_lines(outcome), *beside_lines(outcome.began, _to_change(outcome))]
    return [*world_lines(outcome.began), *lines]


def _to_change(outcome: Outcome) -> set[str]:
    """Return the files that a run would change, as far as a check knows."""
    return {f.file for f in outcome.findings if f.status is Status.PENDING and f.file}


def _headline(outcome: Outcome, *, written: bool) -> Line:
    repository, target = outcome.before.repository, outcome.before.target
    if outcome.texts:
        files = f"{len(outcome.texts)} of {_count(repository.examined, 'file')}"
        done = _done(outcome, written=written)
        return line((done, "strong"), f" for Kuma {target}, in {files}")
    waiting = sum(_counts(finding) for finding in outcome.findings)
    if waiting:
        asks = f"{_count(waiting, 'finding')} to look at"
        return line(("Nothing was written", "warn"), f"; {asks} for Kuma {target}{_scope(outcome)}")
    return line(("Nothing to change", "good"), f" for Kuma {target}{_scope(outcome)}")


def _done(outcome: Outcome, *, written: bool) -> str:
    """Say how many resources changed, came and went."""
    before, after = (
        {(path, r.identity): r.body for path in outcome.texts for r in _of_file(scene, path)}
        for scene in (outcome.before, outcome.after)
    )
    new = {(path, r.identity) for path in outcome.adopted for r in _of_file(outcome.before, path)}
    before = {key: body for key, body in before.items() if key not in new}
    changed = sum(1 for key, body in before.items() if key in after and after[key] != body)
    parts = [
        (changed, "changed", "change"),
        (len(after.keys() - before.keys()), "added", "add"),
        (len(before.keys() - after.keys()), "removed", "remove"),
    ]
    words: list[str] = []
    for number, past, verb in parts:
        if number:
            noun = "" if words else " resource" if number == 1 else " resources"
            words.append(f"{past if written else verb} {number}{noun}")
    if not words:
        words = [f"{'changed' if written else 'change'} text only"]
    said = ", ".join(words)
    return said[:1].upper() + said[1:] if written else f"Would {said}"


def _of_file(scene: Scene, path: str) -> Iterable[Resource]:
    return (r for r in scene.repository.resources if r.where is not None and r.where.path == path)


def _scope(outcome: Outcome) -> str:
    repository = outcome.before.repository
    holding, examined = len(repository.files), repository.examined
    files = _count(examined, "file")
    within = files if holding == examined else f"{holding} of {files}"
    return f" ({_count(len(repository.resources), 'resource')} in {within})"


def _finding_lines(finding: Finding, *, action: bool) -> list[Line]:
    resource = finding.resource
    # What Kuma makes with a mesh was never read from anywhere.
    nowhere = "(inventory)" if resource is None or resource.where else "(initial policy)"
    place = f"{finding.file}:{finding.line}" if finding.file else nowhere
    name = f"{resource.type} {resource.name}" if resource is not None else ""
    lines = [line("  ", (place, "place"), f"   {name}   ", (finding.rule, "dim"))]
    if action or finding.status is not Status.FIXED:
        lines.append(line(f"      {finding.message}"))
    lines += [line(f"      {note}") for note in finding.notes]
    if action and finding.action:
        lines.append(line(f"      → {finding.action}"))
    return lines


def _proved_lines(outcome: Outcome) -> list[Line]:
    proof, claim, allow = outcome.proof, outcome.claim, outcome.options.allow
    assert proof is not None
    lines: list[Line] = [(), *_verdict_lines(outcome)]
    lines += found_lines(proof, claim, allow)
    lines += _mode_lines(proof, claim)
    if claim == RELEASE:
        # What goes out before the upgrade takes effect before it.
        today = harmless_lines(_today(outcome), indent="    ", allow=allow)
        lines += (
            [line(f"  before the upgrade, on {outcome.before.source}"), *today] if today else []
        )
    return lines + resting_lines(proof)


def _today(outcome: Outcome) -> tuple[Witness, ...]:
    """Return what takes effect today, where the claim about the upgrade does not list it."""
    assert outcome.proof is not None
    told = {witness.slot for witness in outcome.proof.witnesses(RELEASE)}
    return tuple(w for w in outcome.proof.witnesses(LIVE) if w.slot not in told)


def _verdict_lines(outcome: Outcome) -> list[Line]:
    """Say what the run comes to as a whole, in one line and why not more."""
    proof, claim, target = outcome.proof, outcome.claim, outcome.before.target
    source = outcome.before.source
    assert proof is not None
    witnesses = proof.witnesses(claim)
    proxies = (
        p for m in proof.meshes.values() if claim in m.claims for p in m.claims[claim].proxies
    )
    scope = scope_words(proxies, every=proof.proxies == "all")
    where = "" if claim == LIVE else f" with the upgrade to {target}"
    same = f"nothing that reaches a proxy changes{where}"
    match outcome.whole:
        case Whole.PROVEN:
            excepted = ", except" if witnesses else ""
            return [line(("Proved", "good"), f"{scope}: {same}{excepted}")]
        case Whole.AFTER_SWITCH:
            first = f"Nothing changes if MeshService mode Exclusive comes first, on {source}"
            said = _why_different(outcome)
            return [line(("Not proved", "bad"), said), line(("  " + first, "good"))]
        case Whole.UNKNOWN:
            numbers = numbers_of(outcome.before.repository)
            unknown = doubts(with_numbers(proof.unknown(claim), numbers))
            lines = [
                line(
                    ("Not proved", "warn"),
                    f": cannot tell whether anything that reaches a proxy changes{where}",
                )
            ]
            lines += [line(f"      cannot tell: {why}") for why in unknown[:MOST_REASONS]]
            return lines + _more(unknown, MOST_REASONS)
        case Whole.DIFFERENT:
            return [line(("Not proved", "bad"), _why_different(outcome))]


def _why_different(outcome: Outcome) -> str:
    found = _differences(outcome)
    if outcome.claim == LIVE:
        return f": what proxies read today changes, {found}"
    safe = "each edit is safe by itself, but " if outcome.texts else ""
    return f": {safe}the upgrade to {outcome.before.target} is not safe yet, {found} left"


def _differences(outcome: Outcome) -> str:
    assert outcome.proof is not None
    counted = set(Effect) - outcome.options.allow
    return _count(number_of(outcome.proof.witnesses(outcome.claim), *counted), "difference")


def _mode_lines(proof: Proof, claim: str) -> list[Line]:
    """Say in which of the modes that a mesh may have nothing differs at all."""
    modes = proof.modes(claim)
    same = [mode for mode, verdict in modes.items() if verdict is Verdict.EQUIVALENT]
    if not same or len(same) == len(modes):
        return []
    others = ", ".join(mode for mode in modes if mode not in same)
    idle = f"in MeshService mode {', '.join(same)} none of this; in {others} as said"
    return [line(f"  {idle}; the Mesh, an inventory or --mesh-services tells which it is")]


def _held_lines(outcome: Outcome) -> list[Line]:
    left = left_lines(_with_places(outcome))
    every = [one for one in outcome.held if one.cause is None]
    if not every:
        return left
    number = _count(len(every), "change")
    why = f", not written: {_why_held(every)}"
    lines: list[Line] = [*left, (), line((f"Held {number}", "warn"), why)]
    numbers = numbers_of(outcome.before.repository)
    for held in every[:MOST]:
        if held.environment:
            lines.append(line(f"  in environment {held.environment}"))
        for finding in held.change.findings[:3]:
            lines += _finding_lines(_located(finding, outcome), action=True)
        lines += difference_lines(held.witnesses, indent="        ")
        allow = outcome.options.allow
        lines += harmless_lines(held.witnesses, indent="        ", allow=allow)
        reasons = doubts(with_numbers(held.unknown, numbers))
        lines += [line(f"        cannot tell: {reason}") for reason in reasons[:5]]
        lines += _more(reasons, 5)
        for refusal in held.refusals[:5]:
            place = f"{refusal.path}:{refusal.line}:{refusal.column}"
            lines.append(line(f"        {place}  {refusal.detail}; {refusal.advice}"))
        rule = held.change.rule
        if held.unknown and not held.witnesses:
            word = f"{_command(outcome)} --accept {rule}"
            lines.append(line(f"      → Settle that, or take it on your word: {word}"))
        elif held.witnesses:
            more = f"kumamigrate rule {rule} says what must stay as it is"
            lines.append(line(f"      → If you want that, write it by hand; {more}"))
    return lines + _more(every)


def _with_places(outcome: Outcome) -> list[Held]:
    """Return what was held, its findings with the places they stand at."""
    return [
        replace(
            one,
            change=replace(
                one.change, findings=tuple(_located(f, outcome) for f in one.change.findings)
            ),
        )
        for one in outcome.held
    ]


def _why_held(held: Sequence[Held]) -> str:
    altering = sum(1 for one in held if one.witnesses)
    unknown = sum(1 for one in held if one.unknown and not one.witnesses)
    parts = [
        (altering, "would alter what proxies get"),
        (unknown, "cannot be proved to be without effect"),
        (len(held) - altering - unknown, "cannot be edited without loss"),
    ]
    said = [(number, words) for number, words in parts if number]
    if len(said) == 1:
        return said[0][1] if len(held) > 1 else f"it {said[0][1]}"
    return ", ".join(f"{number} {words}" for number, words in said)


def _located(finding: Finding, outcome: Outcome) -> Finding:
    if finding.file or finding.resource is None:
        return finding
    file, at, column = outcome.after.repository.place(finding.resource.where, finding.path)
    return replace(finding, file=file, line=at, column=column)


def _open_lines(findings: Sequence[Finding]) -> list[Line]:
    lines: list[Line] = []
    for danger in Danger:
        chosen = [finding for finding in findings if finding.danger is danger]
        if chosen:
            lines += [(), line((f"{_DANGERS[danger]}: {len(chosen)}", "strong"))]
            for finding in chosen[:MOST]:
                lines += _finding_lines(finding, action=True)
            lines += _more(chosen)
    return lines


def _more(items: Sequence[object], most: int = MOST) -> list[Line]:
    if len(items) <= most:
        return []
    return [line(f"  … and {len(items) - most} more; --format json has them all")]


def _steps(outcome: Outcome) -> Iterable[str]:
    """Yield what must be deployed separately, in order; nothing where one commit is enough."""
    source, target = outcome.before.source, outcome.before.target
    by_rollout: dict[Rollout, set[str]] = {}
    for change in outcome.kept:
        by_rollout.setdefault(change.rollout, set()).update(e.where.path for e in change.edits)
    if set(by_rollout) - {Rollout.NOW}:
        words = {
            Rollout.NOW: f"any time before the upgrade, on {source}"
            " (kumamigrate run writes just these)",
            Rollout.WITH_UPGRADE: f"together with the upgrade to {target}, not before",
            Rollout.AFTER_UPGRADE: f"when every control plane runs {target}",
        }
        for rollout in Rollout:
            if rollout in by_rollout:
                yield f"{words[rollout]}: {', '.join(sorted(by_rollout[rollout]))}"
    for change in outcome.kept:
        yield from change.steps
    for gone in outcome.orphans:
        yield (
            f"delete {gone.type} {gone.name} of mesh {gone.mesh} from the control plane, after"
            " what takes its place is applied: Git never held it, so nothing prunes it"
        )


def _next_lines(outcome: Outcome, *, written: bool) -> list[Line]:
    lines: list[Line] = []
    steps = list(dict.fromkeys(_steps(outcome)))
    if steps:
        lines += [(), line(("Deploy in this order", "strong"))]
        lines += [line(f"  {number}. {step}") for number, step in enumerate(steps, start=1)]
    if outcome.texts:
        word = "Review with git diff." if written else f"To write this: {_command(outcome)}"
        lines += [(), line(word)]
    newest = known_releases()[-1]
    target = outcome.before.target
    told = [_exit_of_reading(outcome), _exit_of_faults(outcome), _WHOLE[outcome.whole]]
    settled = worst(told) is Exit.CLEAN and not outcome.held
    if settled and target != newest and not any(_counts(f) for f in outcome.findings):
        more = " more" if outcome.texts and not written else ""
        later = f"what {newest} needs: kumamigrate check --target {newest}"
        lines += [] if lines else [()]
        lines.append(line(f"Nothing{more} is left to do for {target}; {later}"))
    return lines


def _command(outcome: Outcome) -> str:
    options = outcome.options
    words = ["kumamigrate run"]
    words += [f"--target {options.target}"] if options.target != "2.14" else []
    words += [f"--accept {one}" for one in (*options.accept, *options.accept_at)]
    words += [f"--hold {','.join(sorted(options.hold))}"] if options.hold else []
    return " ".join(words)


def _count(number: int, one: str) -> str:
    return f"{number} {one if number == 1 else one + 's'}"
