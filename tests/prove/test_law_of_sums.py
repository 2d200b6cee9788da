"""Laws of verdicts put together: of steps that were kept, and of types that stand apart."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from kumamigrate.flow.pipeline import migrate, must_not_be_written
from kumamigrate.model.resource import Resource
from kumamigrate.model.state import State
from kumamigrate.prover.prover import prove
from kumamigrate.scene.loadfiles import repository_of
from kumamigrate.scene.scene import Scene
from kumamigrate.world.options import Options
from tests.frontdoor import drawn
from tests.prove import generate

EASY = settings(max_examples=drawn(60), deadline=None, suppress_health_check=list(HealthCheck))


def scene_of(state: State, target: str) -> Scene:
    """Return the scene of a repository that holds a state, one file for each resource."""
    files = {f"{r.type}-{r.name}.json": json.dumps(_manifest(r)).encode() for r in state.resources}
    return Scene(
        repository=repository_of(files, root=Path()),
        inventory=(),
        environment=state.environment,
        source="2.14",
        target=target,
    )


def _manifest(resource: Resource) -> dict[str, object]:
    if resource.type == "Mesh":
        return {"type": "Mesh", "name": resource.name, **resource.spec}
    named = {"type": resource.type, "mesh": resource.mesh, "name": resource.name}
    return {**named, "labels": dict(resource.labels), "spec": resource.spec}


@settings(EASY, max_examples=4)
@given(generate.meshes(), st.sampled_from(["2.14", "3.0"]))
def test_the_sum_of_accepted_steps_is_accepted(state: State, target: str) -> None:
    """Each kept change was held against what was kept before it; together they hold as well."""
    outcome = migrate(scene_of(state, target), Options())
    assume(outcome.kept)
    assert not must_not_be_written(outcome)


@EASY
@given(generate.pairs(), generate.policies(most=4))
def test_a_verdict_does_not_depend_on_policies_of_other_types(
    pair: tuple[State, State], more: tuple[Resource, ...]
) -> None:
    before, after = pair
    changed = {
        r.type
        for side, other in ((before, after), (after, before))
        for r in side.resources
        if r not in other.resources
    }
    others = [r for r in more if r.type not in changed]
    assume(changed and others)
    alone = prove(before, after, claims=("live",))
    beside = prove(*(_with(side, others) for side in pair), claims=("live",))
    assert alone.verdict("live") is beside.verdict("live")


def _with(state: State, others: list[Resource]) -> State:
    mine = {r.identity for r in others}
    kept = (r for r in state.resources if r.identity not in mine)
    return replace(state, resources=(*kept, *others))
