"""`--deletions`: what to delete by hand, what takes its place applied first."""

from __future__ import annotations

from typing import Any

from kumamigrate.choose.handwork import Deletion
from kumamigrate.model.resource import Form
from kumamigrate.rewrite.change import Rollout
from tests.choose.conftest import MakeShop
from tests.choose.shop import MESH, Shop

MTLS = MESH + "mtls: {enabledBackend: ca, backends: [{name: ca, type: builtin}]}\n"
OLD = """\
type: %s
name: %s
mesh: default
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: '*'}}]
conf: %s
"""
ROUTE = OLD % ("TrafficRoute", "route-all", "{destination: {kuma.io/service: '*'}}")
BREAKER = OLD % ("CircuitBreaker", "two words", "{thresholds: {maxConnections: 5}}")
KUBERNETES = """\
apiVersion: kuma.io/v1alpha1
kind: TrafficTrace
mesh: default
metadata: {name: trace-all}
spec: {selectors: [{match: {kuma.io/service: '*'}}], conf: {backend: none}}
"""


def commands(shop: Shop, tool: str, *words: str) -> list[str]:
    done = shop.run("run", "--dry-run", "--deletions", tool, *words, "--format", "json")
    return [one["command"] for one in done.json["deletions"]]


def test_nothing_that_is_still_there_is_deleted(shop: Shop) -> None:
    assert commands(shop, "kumactl") == []
    done = shop.run("run", "--dry-run", "--deletions", "kumactl")
    assert "nothing is to be deleted" in done.out


def test_what_takes_the_place_is_applied_first_and_routes_go_last(make_shop: MakeShop) -> None:
    breaker = BREAKER.replace("two words", "breaker-all")
    shop = make_shop({"mesh.yaml": MTLS, "a.yaml": f"{ROUTE}---\n{breaker}"})
    assert commands(shop, "kumactl") == [
        "kumactl delete circuit-breaker breaker-all --mesh default",
        "kumactl delete traffic-route route-all --mesh default",
    ]
    text = shop.run("run", "--deletions", "kumactl").out
    assert text.index("first apply what is new") < text.index("kumactl delete circuit-breaker")


def test_kubectl_is_told_the_group_and_what_kumactl_would_not_see(make_shop: MakeShop) -> None:
    """An old policy belongs to no namespace; nothing reads this one, so it has no successor."""
    trace = "apiVersion: kuma.io/v1alpha1\nkind: Mesh\nmetadata: {name: default}\nspec: {}\n"
    shop = make_shop({"mesh.yaml": trace, "a.yaml": KUBERNETES})
    assert commands(shop, "kubectl") == ["kubectl delete traffictrace.kuma.io trace-all"]
    assert commands(shop, "kumactl") == []
    done = shop.run("run", "--dry-run", "--deletions", "kumactl")
    assert "1 more of the other form: --deletions kubectl" in done.out


def test_a_namespace_and_odd_names_are_said_as_the_shell_reads_them() -> None:
    said: Any = {"environment": "", "rollout": Rollout.NOW, "type": "MeshTimeout", "mesh": "m 1"}
    one = Deletion(**said, namespace="team-a", name="it's", form=Form.KUBERNETES)
    assert one.command("kubectl") == (
        "kubectl delete meshtimeout.kuma.io 'it'\"'\"'s' --namespace team-a"
    )
    assert one.command("kumactl") == "kumactl delete meshtimeout 'it'\"'\"'s' --mesh 'm 1'"
