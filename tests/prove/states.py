"""States for the prover's tests, read from YAML as a control plane would store them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kumamigrate.model.labels import Refused, compute_labels
from kumamigrate.model.read import read_resources
from kumamigrate.model.resource import Resource
from kumamigrate.model.state import Environment, State
from kumamigrate.prover import Proof, ProxyVerdict, Witness
from kumamigrate.prover.prover import prove
from kumamigrate.source.reading.load import read_file

HERE = Path(__file__).parent
COMMITTED = HERE.parent / "golden"
SHARED = HERE.parent.parent.parent / "shared" / "goldens"

DIRECTIONS = frozenset({"outbound", "inbound", "proxy", "gateway", "mesh"})
"""Where a setting may stand that differs (reports.schema.json)."""
MESH = """
type: Mesh
name: default
meshServices: {{mode: {mode}}}
"""


def state(
    text: str,
    *,
    release: str = "2.14",
    complete: bool = False,
    mode: str | None = None,
    without: frozenset[tuple[str, str]] = frozenset(),
    zone: str = "east",
) -> State:
    """Return the state of a YAML text; `mode` adds a Mesh. Refused resources fail the test."""
    if mode is not None:
        text = f"{MESH.format(mode=mode)}\n---\n{text}"
    file = read_file("state.yaml", text.encode())
    assert not file.refusals, file.refusals
    environment = Environment(mode="zone", zone=zone)
    resources = []
    for resource in read_resources(file):
        if (resource.type, resource.name) in without:
            continue
        labelled = compute_labels(resource, release=release, environment=environment)
        assert not isinstance(labelled, Refused), labelled
        resources.append(labelled)
    return State(
        release=release,
        environment=environment,
        resources=tuple(resources),
        complete=complete,
    )


@dataclass(frozen=True, kw_only=True)
class Case:
    """One golden: two states and what the control plane said of each Dataplane."""

    name: str
    before: State
    after: State
    truth: dict[str, bool]


def case(folder: Path, key: str) -> Case:
    """Read a golden; `key` is "same" or "carried"."""
    answer: dict[str, Any] = json.loads((folder / "verdict.json").read_text())
    invalid = answer.get("invalid", {})
    states = {}
    for side in ("before", "after"):
        refused = frozenset((i["type"], i["name"]) for i in invalid.get(side, ()))
        text = (folder / f"{side}.yaml").read_text()
        states[side] = state(text, complete=True, without=refused)
    return Case(
        name=folder.name,
        before=states["before"],
        after=states["after"],
        truth={name: bool(said[key]) for name, said in answer["dataplanes"].items()},
    )


def proxies(proof: Proof, claim: str) -> dict[str, ProxyVerdict]:
    """Return the verdicts of all proxies by name."""
    return {p.name: p for m in proof.meshes.values() for p in m.claims[claim].proxies}


def shown(witness: Witness) -> tuple[Any, ...]:
    """Return what a test compares of a witness."""
    return (
        witness.policy_type,
        witness.destination,
        witness.field,
        witness.before.value,
        witness.after.value,
    )


def live(before: State, after: State) -> Proof:
    """Prove claim live for every proxy that could exist."""
    proof = prove(before, after, claims=("live",))
    assert {witness.direction for witness in proof.witnesses("live")} <= DIRECTIONS
    return proof


def without(given: State, *names: str) -> State:
    """Return a state without the resources of some names."""
    from dataclasses import replace

    kept: tuple[Resource, ...] = tuple(r for r in given.resources if r.name not in names)
    return replace(given, resources=kept)
