"""For those who apply by hand: which resources to delete, with which words, in which order.

Git tells what is there; nobody's `kubectl apply` deletes what is not there any more. What takes
the place of something is applied before that goes.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.flow.runoutcome import Outcome
from kumamigrate.model.kinds import KUBERNETES
from kumamigrate.model.labels import is_kumas
from kumamigrate.model.resource import Form, Identity, Resource
from kumamigrate.report.styled import Line, line
from kumamigrate.rewrite.change import Rollout

KUBECTL, KUMACTL = "kubectl", "kumactl"
_FORMS = {KUBECTL: Form.KUBERNETES, KUMACTL: Form.UNIVERSAL}
_NAMES = {
    "CircuitBreaker": "circuit-breaker",
    "ExternalService": "external-service",
    "FaultInjection": "fault-injection",
    "RateLimit": "rate-limit",
    "TrafficLog": "traffic-log",
    "TrafficPermission": "traffic-permission",
    "TrafficRoute": "traffic-route",
    "TrafficTrace": "traffic-trace",
    "VirtualOutbound": "virtual-outbound",
}
"""What kumactl calls a type; the others have their name in small letters."""
_LATE = ("TrafficRoute", "MeshTCPRoute", "MeshHTTPRoute", "MeshService", "ExternalService", "Mesh")
"""What others refer to, or rest on: it goes after them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletion:
    """One resource that is gone from the files, and still on the control plane."""

    environment: str
    rollout: Rollout
    type: str
    mesh: str
    namespace: str
    name: str
    form: Form

    def command(self, tool: str) -> str:
        """Return what deletes it."""
        if tool == KUBECTL:
            words = ["kubectl", "delete", f"{self.type.lower()}.kuma.io", self.name]
            words += ["--namespace", self.namespace] if self.namespace else []
        else:
            kind = _NAMES.get(self.type, self.type.lower())
            words = ["kumactl", "delete", kind, self.name]
            words += ["--mesh", self.mesh] if self.mesh else []
        return shlex.join(words)


def deletions(outcome: Outcome) -> tuple[Deletion, ...]:
    """Return what is to be deleted, in an order in which nothing is missed in between."""
    rollouts = _rollouts(outcome)
    found = [
        Deletion(
            environment=old.name,
            rollout=rollouts.get(resource.identity, Rollout.NOW),
            type=resource.type,
            mesh=resource.mesh,
            namespace=resource.namespace if resource.form is Form.KUBERNETES else "",
            name=resource.name,
            form=resource.form,
        )
        for old, new in zip(outcome.began.sites, outcome.ended.sites, strict=True)
        for resource in _gone(old.applied.repository.resources, new.applied.repository.resources)
    ]
    order = list(Rollout)
    return tuple(sorted(found, key=lambda d: (d.environment, order.index(d.rollout), _late(d))))


def deletions_json(outcome: Outcome, tool: str) -> list[dict[str, Any]]:
    """Return the deletions for programs."""
    return [
        {
            "type": one.type,
            "mesh": one.mesh,
            **({"namespace": one.namespace} if one.namespace else {}),
            "name": one.name,
            "rollout": one.rollout.value,
            **({"environment": one.environment} if one.environment else {}),
            "command": one.command(tool),
        }
        for one in deletions(outcome)
        if one.form is _FORMS[tool]
    ]


def deletion_lines(outcome: Outcome, tool: str) -> list[Line]:
    """Return what to do by hand: first apply what is new, then delete what it replaces."""
    every = deletions(outcome)
    mine = [one for one in every if one.form is _FORMS[tool]]
    lines: list[Line] = [(), line((f"By hand, with {tool}", "strong"))]
    if not mine:
        lines.append(line("  nothing is to be deleted"))
    else:
        lines.append(line("  # first apply what is new or changed, then delete what it replaces"))
    place = ("", Rollout.NOW)
    for one in mine:
        if place != (one.environment, one.rollout):
            place = (one.environment, one.rollout)
            lines.append(line(f"  # {_when(one, outcome)}"))
        mesh = f"   # mesh {one.mesh}" if one.mesh and tool == KUBECTL else ""
        lines.append(line(f"  {one.command(tool)}", (mesh, "dim")))
    others = len(every) - len(mine)
    if others:
        other = KUMACTL if tool == KUBECTL else KUBECTL
        lines.append(line(f"  # {others} more of the other form: --deletions {other}"))
    return lines


def _when(one: Deletion, outcome: Outcome) -> str:
    target = outcome.before.target
    words = {
        Rollout.NOW: "now",
        Rollout.WITH_UPGRADE: f"with the upgrade to {target}, not before",
        Rollout.AFTER_UPGRADE: f"when every control plane runs {target}",
    }
    where = f"environment {one.environment}, " if one.environment else ""
    return f"{where}{words[one.rollout]}"


def _gone(before: Iterable[Resource], after: Iterable[Resource]) -> Iterator[Resource]:
    left = {resource.identity for resource in after}
    told: set[Identity] = set()
    for resource in before:
        mine = is_kumas(resource) and resource.type not in KUBERNETES
        if mine and resource.identity not in left | told:
            told.add(resource.identity)
            yield resource


def _rollouts(outcome: Outcome) -> dict[Identity, Rollout]:
    """Return when what a change speaks of may go."""
    return {
        finding.resource.identity: change.rollout
        for change in outcome.kept
        for finding in change.findings
        if finding.resource is not None
    }


def _late(one: Deletion) -> tuple[int, str, str, str, str]:
    rank = _LATE.index(one.type) + 1 if one.type in _LATE else 0
    return (rank, one.type, one.mesh, one.namespace, one.name)
