"""A run or a check for programs: its JSON, and what to deploy when."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kumamigrate.flow.runoutcome import Outcome
from kumamigrate.prover import to_json
from kumamigrate.report.beside import beside_json
from kumamigrate.report.bymesh import check_meshes, run_meshes
from kumamigrate.report.exitcode import to_change
from kumamigrate.report.inventory import inventory_json
from kumamigrate.report.proofjson import coverage_json, refusal_json
from kumamigrate.report.worldtext import world_json
from kumamigrate.rewrite.change import Change, Rollout
from kumamigrate.rewrite.finding import OPEN, Danger, Finding
from kumamigrate.scene.held import Held

Order = tuple[str, tuple[str, ...]]
"""What is to be done when, and the files that it is about."""
_MODE = "mesh-services-mode"


def run_json(outcome: Outcome, *, written: bool) -> dict[str, Any]:
    """Return the form `kumamigrate.report/1` (product.md §5)."""
    data = _report(outcome, written=written)
    proof, allow = outcome.proof, outcome.options.allow
    data["proof"] = to_json(proof, allow=allow) if proof is not None else {"claims": {}}
    data["held"] = [held_json(held) for held in outcome.held]
    data["files"] = sorted(outcome.texts)
    data["whole"] = outcome.whole.value
    data["decides"] = outcome.claim
    data["steps"] = [
        f"{words}: {', '.join(files)}" if files else words for words, files in orders_of(outcome)
    ]
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
        **beside_json(outcome.began, outcome.texts or to_change(outcome)),
    }


def finding_json(finding: Finding) -> dict[str, Any]:
    """Return a finding for programs."""
    return {
        "rule": finding.rule,
        "status": finding.status.value,
        "safety": finding.safety.value,
        "danger": finding.danger.name.lower().replace("_", "-"),
        "resource": _named(finding),
        "file": finding.file,
        "line": finding.line,
        "column": finding.column,
        "message": finding.message,
        "action": finding.action,
        "notes": list(finding.notes),
    }


def _named(finding: Finding) -> dict[str, Any] | None:
    resource = finding.resource
    if resource is None:
        return None
    namespace = {"namespace": resource.namespace} if resource.namespace else {}
    return {"type": resource.type, "mesh": resource.mesh, "name": resource.name, **namespace}


def held_json(held: Held) -> dict[str, Any]:
    """Return a change that was held, and why, for programs."""
    from kumamigrate.prover.proof import witness_json

    return {
        "rule": held.change.rule,
        "mesh": held.change.mesh,
        "resources": [edit.where.path for edit in held.change.edits],
        "about": [{"resource": _named(f), "message": f.message} for f in held.change.findings],
        "witnesses": [witness_json(witness) for witness in held.witnesses[:10]],
        "unknown": list(held.unknown),
        **({"environment": held.environment} if held.environment else {}),
        **({"cause": held.cause.value} if held.cause is not None else {}),
        "refused": [refusal_json(refusal) for refusal in held.refusals],
    }


def orders_of(outcome: Outcome) -> list[Order]:
    """Return what must be deployed separately, in order; nothing where one commit is enough."""
    return list(dict.fromkeys(_orders(outcome)))


def _orders(outcome: Outcome) -> Iterator[Order]:
    by_rollout: dict[Rollout, list[Change]] = {}
    for change in outcome.kept:
        by_rollout.setdefault(change.rollout, []).append(change)
    to_switch = bool(by_rollout) and any(_to_switch(outcome))
    in_stages = to_switch or bool(set(by_rollout) - {Rollout.NOW})
    steps = list(Rollout)
    later = {
        step: {f for after in steps[at + 1 :] for f in _files(by_rollout.get(after, ()))}
        for at, step in enumerate(steps)
    }
    for rollout in Rollout:
        changes = by_rollout.get(rollout, ())
        if rollout is Rollout.WITH_UPGRADE and to_switch:
            yield from _switches(outcome)
        if changes and in_stages:
            early = {path for path in _files(changes) if path in later[rollout]}
            files = (f"{path} (in part)" if path in early else path for path in _files(changes))
            why = _why(changes) if rollout is Rollout.WITH_UPGRADE else ""
            yield _when(outcome, rollout, in_part=bool(early)) + why, tuple(files)
        for change in changes:
            yield from ((step, ()) for step in change.steps)
    yield from _orphans(outcome)
    if in_stages:
        yield from _field_no_longer_read(outcome)


def _files(changes: Iterable[Change]) -> list[str]:
    return sorted({edit.where.path for change in changes for edit in change.edits})


def _why(changes: Iterable[Change]) -> str:
    """Name the rule that says why changes wait for the upgrade; of several the first."""
    rules = list(dict.fromkeys(change.rule for change in changes))
    return f" (why: kumamigrate rule {rules[0]}{' and others' if len(rules) > 1 else ''})"


def _when(outcome: Outcome, rollout: Rollout, *, in_part: bool) -> str:
    """Say when a step is. What is of a file `in_part` only stands in it with what is for later."""
    source, target = outcome.before.source, outcome.before.target
    of_old = ", from the files as they were" if in_part else ""
    match rollout:
        case Rollout.NOW if any(_to_switch(outcome)):
            return (
                f"any time before the upgrade, on {source} (kumamigrate run writes these{of_old},"
                " and beside old policies what the next step needs)"
            )
        case Rollout.NOW:
            just = f"kumamigrate run writes just these{of_old}"
            return f"any time before the upgrade, on {source} ({just})"
        case Rollout.WITH_UPGRADE:
            return f"together with the upgrade to {target}, not before"
        case Rollout.AFTER_UPGRADE:
            return f"when every control plane runs {target}"


def _switches(outcome: Outcome) -> Iterator[Order]:
    """Yield the switch of mode: what comes with the upgrade is of a mesh that was not switched."""
    source = outcome.before.source
    for found in _to_switch(outcome):
        assert found.resource is not None
        yield (
            f"switch mesh {found.resource.name} to MeshService mode Exclusive, still on {source},"
            " and then run this again. Left out, the upgrade is the switch as well, of host names"
            f" and endpoints too: {found.file}:{found.line}",
            (),
        )


def _to_switch(outcome: Outcome) -> Iterator[Finding]:
    return (one for one in _of_mode(outcome) if one.danger is not Danger.ADVICE)


def _of_mode(outcome: Outcome) -> Iterator[Finding]:
    for one in outcome.findings:
        if one.rule == _MODE and one.resource is not None and one.status in OPEN:
            yield one


def _field_no_longer_read(outcome: Outcome) -> Iterator[Order]:
    files = tuple(sorted({one.file for one in _of_mode(outcome) if one.file}))
    if files:
        yield f"when every control plane runs {outcome.before.target}, remove meshServices", files


def _orphans(outcome: Outcome) -> Iterator[Order]:
    for gone in outcome.orphans:
        yield (
            f"delete {gone.type} {gone.name} of mesh {gone.mesh} from the control plane, after"
            " what takes its place is applied: Git never held it, so nothing prunes it",
            (),
        )
