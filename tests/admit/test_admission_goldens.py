"""What a 2.14 control plane answered to resources changed in one thing (bench/admission.py).

Each file has resources of one kind, taken as they stand, and changes of them: the place, and what
stands there instead (nothing where there is no second item).
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kumamigrate.admit.check import refusals_of
from kumamigrate.admit.constraint import constraints_of
from kumamigrate.model.problem import Problem
from kumamigrate.model.read import read_resources
from kumamigrate.model.release import policy_type_names
from kumamigrate.model.state import Environment
from kumamigrate.source.reading.load import read_file

GOLDENS = Path(__file__).parents[1] / "golden" / "admission-2.14"
KINDS = sorted(path.stem for path in GOLDENS.glob("*.json"))
EAST = Environment(mode="zone", zone="east")
NULL = "null is no matter on Kubernetes"
NUMBER = "a number that stands for no word"
PATCH = "what an operation of a JSON patch needs"
LEFT_OPEN = {
    ("Dataplane", "labels.kuma.io/workload"): "its form is asked on Universal only",
    ("Dataplane", "networking.gateway.type"): NUMBER,
    ("Dataplane", "networking.inbound.0.state"): NUMBER,
    ("Dataplane", "networking.listeners.0.state"): NUMBER,
    ("Dataplane", "networking.listeners.0.type"): NUMBER,
    ("Dataplane", "networking.listeners.1.type"): NUMBER,
    ("Dataplane", "networking.transparentProxying.ipFamilyMode"): NUMBER,
    ("HostnameGenerator", "labels"): NULL,
    ("HostnameGenerator", "labels.team"): NULL,
    ("HostnameGenerator", "spec.template"): "rule hostname-template says it",
    ("Mesh", "meshServices.mode"): NUMBER,
    ("Mesh", "mtls.backends.0.mode"): NUMBER,
    ("Mesh", "mtls.backends.0.type"): "plugins of other distributions",
    ("Mesh", "mtls.skipValidation"): "whether a secret exists",
    ("MeshExternalService", "labels"): NULL,
    ("MeshExternalService", "labels.team"): NULL,
    ("MeshExternalService", "spec.tls.verification.clientKey.inline"): "empty, or a list of bytes",
    ("MeshGateway", "conf.listeners.2.tls.mode"): NUMBER,
    ("MeshGateway", "conf.listeners.3.tls.mode"): NUMBER,
    ("MeshMetric", "spec.default.backends.1.openTelemetry.endpoint"): "a port that is no number",
    ("MeshMultiZoneService", "labels"): NULL,
    ("MeshMultiZoneService", "labels.team"): NULL,
    ("MeshProxyPatch", "spec.default.appendModifications.1.cluster.jsonPatches.0.value"): PATCH,
    ("MeshProxyPatch", "spec.default.appendModifications.1.cluster.jsonPatches.1.from"): PATCH,
    ("MeshService", "labels"): NULL,
    ("MeshService", "labels.team"): NULL,
    ("MeshTrace", "spec.default.backends.0.datadog.url"): "a scheme in capital letters",
    ("VirtualOutbound", "conf.parameters.1"): "a template without its parameter",
    ("VirtualOutbound", "conf.parameters.2"): "a template without its parameter",
}
"""Places of which what we say is not what it said, and why."""


def changed(resource: dict[str, Any], change: list[Any]) -> dict[str, Any]:
    result = copy.deepcopy(resource)
    inner: Any = result
    for step in change[0][:-1]:
        inner = inner[step]
    if len(change) == 1:
        del inner[change[0][-1]]
    else:
        inner[change[0][-1]] = change[1]
    return result


def problems(resource: dict[str, Any], name: str = "2.14") -> tuple[Problem, ...]:
    file = read_file("resource.yaml", json.dumps(resource).encode())
    (found,) = read_resources(file)
    return refusals_of(found, release=name, environment=EAST)


@cache
def answers(kind: str) -> tuple[tuple[str, list[Any] | None, bool, tuple[Problem, ...]], ...]:
    """Return what we say of each golden of a kind: its name, the change, whether it was refused
    and the problems we have with it. Both tests ask for it."""
    found: list[tuple[str, list[Any] | None, bool, tuple[Problem, ...]]] = []
    for seed in json.loads((GOLDENS / f"{kind}.json").read_text("utf-8")):
        resource = seed["resource"]
        found.append((resource["name"], None, not seed["taken"], problems(resource)))
        for refused, changes in ((True, seed["refused"]), (False, seed["accepted"])):
            for change in changes:
                said = problems(changed(resource, change))
                found.append((resource["name"], change, refused, said))
    return tuple(found)


def wrong(kind: str) -> Iterator[str]:
    for name, change, refused, found in answers(kind):
        place = "" if change is None else ".".join(str(step) for step in change[0])
        if bool(found) is not refused and (kind, place) not in LEFT_OPEN:
            yield f"{name} {change}: {[str(one) for one in found]}"


@pytest.mark.parametrize("kind", KINDS)
def test_a_resource_is_refused_exactly_when_it_was(kind: str) -> None:
    assert list(wrong(kind)) == []


def test_every_constraint_of_other_kinds_is_broken_by_a_golden() -> None:
    policies = policy_type_names()
    wanted = {
        (kind, rule.say)
        for kind in KINDS
        if kind not in policies
        for rule in constraints_of(kind, "2.14")
    }
    said = {
        (kind, one.message)
        for kind in KINDS
        for _, _, refused, found in answers(kind)
        if refused
        for one in found
    }
    assert wanted - said == set()
