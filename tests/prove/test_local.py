"""Local proofs: what says the same in other words is equivalent, and nothing else passes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kumamigrate.model.resource import Resource
from kumamigrate.model.state import Environment, State
from kumamigrate.prover import Verdict, prover
from kumamigrate.prover.stages.local import local_proof
from tests.frontdoor import command
from tests.prove.generate import meshes, resource
from tests.prove.test_no_lax_verdict import live, state

INBOUND = [{"targetRef": {"kind": "Mesh"}, "default": {"connectionTimeout": "3s"}}]
RULES = [{"default": {"connectionTimeout": "3s"}}]
TO = [{"targetRef": {"kind": "Mesh"}, "default": {"connectionTimeout": "7s"}}]


def both(name: str = "web", **top: Any) -> Resource:
    return resource("MeshTimeout", name, {**top, "to": TO, "from": INBOUND})


def halves(name: str = "web", new: str = "web-inbound", **top: Any) -> tuple[Resource, Resource]:
    return (
        resource("MeshTimeout", name, {**top, "to": TO}),
        resource("MeshTimeout", new, {**top, "rules": RULES}),
    )


def mesh_of(*resources: Resource, release: str = "2.14") -> State:
    return State(release=release, environment=Environment(zone="east"), resources=resources)


def test_from_is_rules_where_the_release_counts_it_as_rules() -> None:
    before = mesh_of(resource("MeshTimeout", "web", {"from": INBOUND}))
    after = mesh_of(resource("MeshTimeout", "web", {"rules": RULES}))
    found = local_proof(before, after)
    assert found is not None
    assert found.conditions == ()


def test_from_is_not_rules_where_it_does_not_count_as_rules() -> None:
    deny = [{"targetRef": {"kind": "Mesh"}, "default": {"action": "Deny"}}]
    before = mesh_of(resource("MeshTrafficPermission", "web", {"from": deny}))
    after = mesh_of(resource("MeshTrafficPermission", "web", {"rules": [{"default": {}}]}))
    assert local_proof(before, after) is None


@pytest.mark.parametrize("kind", ["MeshTrafficPermission", "MeshFaultInjection"])
def test_a_service_among_clients_is_a_tag_of_theirs(kind: str) -> None:
    def of(client: dict[str, Any]) -> State:
        conf = {"action": "Allow"} if kind == "MeshTrafficPermission" else {"http": [{}]}
        return mesh_of(resource(kind, "web", {"from": [{"targetRef": client, "default": conf}]}))

    named = of({"kind": "MeshService", "name": "shop"})
    assert local_proof(named, of({"kind": "MeshSubset", "tags": {"kuma.io/service": "shop"}}))
    assert not local_proof(named, of({"kind": "MeshSubset", "tags": {"kuma.io/service": "bar"}}))
    assert not local_proof(named, of({"kind": "MeshSubset", "tags": {"app": "shop"}}))


def test_an_omitted_reference_means_the_mesh_and_a_minute_is_sixty_seconds() -> None:
    conf = {"connectionTimeout": "60s"}
    to = [{"targetRef": {"kind": "Mesh"}, "default": conf}]
    same = [{"default": {"connectionTimeout": "1m"}, "targetRef": {"kind": "Mesh"}}]
    before = mesh_of(resource("MeshTimeout", "t", {"targetRef": {"kind": "Mesh"}, "to": to}))
    assert local_proof(before, mesh_of(resource("MeshTimeout", "t", {"to": same}))) is not None


def test_a_half_that_moves_asks_that_nothing_stands_between_the_names() -> None:
    found = local_proof(mesh_of(both()), mesh_of(*halves()))
    assert found is not None
    (condition,) = found.conditions
    assert (condition.low, condition.high, condition.section) == ("web", "web-inbound", "rules")


@pytest.mark.parametrize("name", ["web", "web-default", "web-inbound"])
def test_a_policy_between_the_names_leaves_it_to_another_proof(name: str) -> None:
    other = replace(resource("MeshTimeout", name, {"rules": RULES}), namespace="other")
    assert local_proof(mesh_of(both(), other), mesh_of(*halves(), other)) is None


@pytest.mark.parametrize(
    "other",
    [
        resource("MeshTimeout", "web-default", {"to": TO}),
        resource("MeshTimeout", "a", {"rules": RULES}),
        resource("MeshCircuitBreaker", "web-default", {"rules": [{"default": {}}]}),
        replace(resource("MeshTimeout", "web-default", {"rules": RULES}), mesh="other"),
    ],
    ids=["of the other direction", "of another name", "of another type", "of another mesh"],
)
def test_other_policies_are_not_asked_for(other: Resource) -> None:
    assert local_proof(mesh_of(both(), other), mesh_of(*halves(), other)) is not None


def test_dataplanes_by_name_have_no_order_among_three() -> None:
    by_labels = {"targetRef": {"kind": "Dataplane", "labels": {"app": "x"}}}
    by_name = resource(
        "MeshTimeout", "z", {"targetRef": {"kind": "Dataplane", "name": "dp"}, "rules": RULES}
    )
    plain = mesh_of(both(**by_labels)), mesh_of(*halves(**by_labels))
    assert local_proof(*plain) is not None
    assert local_proof(*(replace(s, resources=(*s.resources, by_name)) for s in plain)) is None


def changed_policies() -> dict[str, tuple[tuple[Resource, ...], tuple[Resource, ...]]]:
    def timeout(spec: dict[str, Any], name: str = "t", **labels: str) -> Resource:
        made = resource("MeshTimeout", name, spec)
        return replace(made, labels={**made.labels, **labels})

    plain = timeout({"to": TO})
    subset = {"targetRef": {"kind": "MeshSubset", "tags": {"a": "b"}}, "to": TO}
    route = resource(
        "MeshHTTPRoute",
        "r",
        {"to": [{"targetRef": {"kind": "MeshService", "name": "web"}, "rules": []}]},
    )
    tcp = replace(route, type="MeshTCPRoute")
    swapped = [{"targetRef": {"kind": "Mesh"}, "default": {"connectionTimeout": "8s"}}, *TO]
    return {
        "a value": ((plain,), (timeout({"to": swapped[:1]}),)),
        "the order of entries": ((timeout({"to": swapped}),), (timeout({"to": swapped[::-1]}),)),
        "whom it selects": ((plain,), (timeout(subset),)),
        "its rank": ((plain,), (timeout({"targetRef": {"kind": "Dataplane"}, "to": TO}),)),
        "its role": ((plain,), (timeout({"to": TO}, **{"kuma.io/policy-role": "consumer"}),)),
        "its zone": ((plain,), (timeout({"to": TO}, **{"kuma.io/zone": "west"}),)),
        "its namespace": ((plain,), (timeout({"to": TO}, **{"k8s.kuma.io/namespace": "n"}),)),
        "shadow": ((plain,), (timeout({"to": TO}, **{"kuma.io/effect": "shadow"}),)),
        "it goes": ((plain,), ()),
        "an empty one comes": ((plain,), (plain, timeout({}, "u"))),
        "a route's name": ((route,), (replace(route, name="s"),)),
        "a TCP route's name": ((tcp,), (replace(tcp, name="s"),)),
        "a dataplane": ((), (resource("Dataplane", "d", {"networking": {}}),)),
        "an old policy": ((), (resource("Timeout", "d", {}),)),
        "a template": (
            (replace(plain, templated=True),),
            (replace(timeout({"targetRef": {"kind": "Mesh"}, "to": TO}), templated=True),),
        ),
    }


@pytest.mark.parametrize("what", sorted(changed_policies()))
def test_what_is_not_the_same_is_no_local_matter(what: str) -> None:
    before, after = changed_policies()[what]
    assert local_proof(mesh_of(*before), mesh_of(*after)) is None
    assert local_proof(mesh_of(*after), mesh_of(*before)) is None


def test_names_of_two_that_change_places_are_no_local_matter() -> None:
    one, two = ({"connectionTimeout": f"{n}s"} for n in (1, 2))
    to = ([{"targetRef": {"kind": "Mesh"}, "default": conf}] for conf in (one, two))
    first, second = ({"to": entries} for entries in to)
    before = mesh_of(resource("MeshTimeout", "a", first), resource("MeshTimeout", "b", second))
    after = mesh_of(resource("MeshTimeout", "b", first), resource("MeshTimeout", "a", second))
    assert local_proof(before, after) is None


REWORDED = {
    "top": lambda spec: {"targetRef": {"kind": "Mesh"}, **spec},
    "bare": lambda spec: {k: v for k, v in spec.items() if k != "targetRef"},
    "from": lambda spec: {**spec, "from": INBOUND},
    "rules": lambda spec: {**spec, "rules": RULES},
    "as it is": lambda spec: spec,
}


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_what_is_proven_locally_every_other_proof_finds_too(data: st.DataObject) -> None:
    drawn = data.draw(meshes())
    release = data.draw(st.sampled_from(["2.9", "2.14"]))
    fixed = tuple(r for r in drawn.resources if r.type not in ("MeshTimeout", "MeshCircuitBreaker"))
    sides = []
    for _ in range(2):
        mine = []
        for policy in drawn.resources:
            if policy in fixed:
                continue
            words = data.draw(st.sampled_from(sorted(REWORDED)))
            spec = REWORDED[words](policy.spec)
            name = data.draw(st.sampled_from([policy.name, policy.name, f"{policy.name}-x"]))
            mine.append(replace(policy, name=name, spec=spec))
        sides.append(replace(drawn, release=release, resources=(*fixed, *mine)))
    if local_proof(*sides) is None:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prover, "local_proof", lambda *_: None)
        found = prover.prove(*sides, claims=("live",))
    assert found.verdict("live") is not Verdict.DIFFERENT


def test_what_cannot_be_read_bars_nothing_that_is_proven_locally(tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text("type: MeshTimeout\nmesh: default\nname: [\n")
    policy = tmp_path / "t.yaml"
    policy.write_text(
        "type: MeshTimeout\nmesh: default\nname: t\nspec:\n"
        "  from:\n  - targetRef: {kind: Mesh}\n    default: {connectionTimeout: 3s}\n"
    )
    command("run", tmp_path)
    assert "rules:" in policy.read_text()


def test_a_mesh_with_templates_says_what_it_takes_for_granted() -> None:
    same = state("type: MeshTimeout\nmesh: default\nname: t\nspec: {to: [{{ .Values.to }}]}\n")
    assert local_proof(same, same) is not None
    (mesh,) = live(same, same).meshes.values()
    assert any("templates fill in" in taken for taken in mesh.assumptions)
