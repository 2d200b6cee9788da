"""Field reports about route references and merging (kumahq/kuma issues by number)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reports.repo import DISABLED, EXCLUSIVE, documents, exit_of_looking, run

ROUTE = """type: MeshHTTPRoute
name: orders-api
mesh: default
spec:
  to:
    - targetRef: {kind: MeshService, name: orders}
      rules:
        - matches: [{path: {type: PathPrefix, value: /v1}}]
          default: {}
"""
ON_ROUTE = """type: MeshTimeout
name: on-route
mesh: default
spec:
  targetRef: {kind: MeshHTTPRoute, name: orders-api}
  to:
    - targetRef: {kind: Mesh}
      default: {http: {requestTimeout: 15s}}
"""
SERVICE_WIDE = """type: MeshTimeout
name: svc-wide
mesh: default
spec:
  targetRef: {kind: Mesh}
  to:
    - targetRef: {kind: MeshService, name: orders}
      default: {idleTimeout: 40s, http: {requestTimeout: 5s, streamIdleTimeout: 30s}}
"""


def test_13571_values_of_the_service_are_copied_to_the_route(tmp_path: Path) -> None:
    """#13571: a route entry no longer inherits what its service was given.

    Of the report's three values idleTimeout is not one that a route takes (product.md §5,
    recipe 1), so two stand in the entry.
    """
    done = run(
        tmp_path,
        {"m.yaml": EXCLUSIVE + "---\n" + ROUTE, "s.yaml": SERVICE_WIDE, "t.yaml": ON_ROUTE},
    )
    assert done.after["s.yaml"] == SERVICE_WIDE
    assert done.after["t.yaml"] == (
        "type: MeshTimeout\nname: on-route\nmesh: default\nspec:\n  to:\n"
        "    - targetRef: {kind: MeshHTTPRoute, name: orders-api}\n"
        "      default: {http: {requestTimeout: 15s, streamIdleTimeout: 30s}}\n"
    )
    assert "copied http.streamIdleTimeout 30s" in done.said
    assert "MeshTimeout svc-wide (s.yaml:8" in done.said


def test_11001_a_move_in_mode_disabled_leaves_the_old_half(tmp_path: Path) -> None:
    """#11001: moved alone, the policy would stop applying to the only outbounds there are.

    The report asks to block; product.md §4 writes the new half beside the old, which changes
    nothing.
    """
    done = run(tmp_path, {"m.yaml": DISABLED + "---\n" + ROUTE, "t.yaml": ON_ROUTE})
    new = (
        "type: MeshTimeout\nname: on-route-route\nmesh: default\nspec:\n  to:\n"
        "    - targetRef: {kind: MeshHTTPRoute, name: orders-api}\n"
        "      default: {http: {requestTimeout: 15s}}\n"
    )
    assert done.after["t.yaml"] == f"{ON_ROUTE}---\n{new}"
    assert done.outcome.proof is not None
    assert done.outcome.proof.verdict("live").value == "equivalent"
    assert done.effects() == set()


def test_11001_a_move_in_mode_exclusive_says_that_it_starts_to_apply(tmp_path: Path) -> None:
    """#11001: in mode Exclusive the old place reaches nothing, so the move switches it on."""
    slow = ON_ROUTE.replace("15s", "60s")  # 15s is Kuma's default
    done = run(tmp_path, {"m.yaml": EXCLUSIVE + "---\n" + ROUTE, "t.yaml": slow})
    assert (
        "targetRef: {kind: MeshHTTPRoute, name: orders-api}\n      default" in done.after["t.yaml"]
    )
    assert done.effects() == {"activation"}
    assert (
        "1 setting stands in Git and is ignored by this mesh today; it starts to work" in done.said
    )
    assert done.exit == 0


def test_a_policy_that_mixes_route_and_other_entries_is_warned_about(tmp_path: Path) -> None:
    """Report 4: beside a route entry the other entries give service-tag outbounds nothing."""
    mixed = """type: MeshTimeout
name: mixed
mesh: default
spec:
  to:
    - targetRef: {kind: Mesh}
      default: {idleTimeout: 40s}
    - targetRef: {kind: MeshHTTPRoute, name: orders-api}
      default: {http: {requestTimeout: 15s}}
"""
    done = run(tmp_path, {"m.yaml": DISABLED + "---\n" + ROUTE, "t.yaml": mixed})
    assert ("mixed-route-entry", "manual", "mixed") in done.found
    assert done.after["t.yaml"] == mixed
    assert "policy of their own" in done.said


def test_a_moved_entry_never_joins_another_policy(tmp_path: Path) -> None:
    """Report 4: a route entry appended to an existing policy would take the rest of it away."""
    done = run(
        tmp_path, {"m.yaml": DISABLED + "---\n" + ROUTE, "s.yaml": SERVICE_WIDE, "t.yaml": ON_ROUTE}
    )
    assert done.after["s.yaml"] == SERVICE_WIDE


def test_18019_a_retry_moves_like_a_timeout_and_takes_labels_for_3_0(tmp_path: Path) -> None:
    """#18019: MeshRetry on a route, which 3.0 takes by labels only."""
    route = ROUTE.replace("orders-api", "api")
    retry = (
        "type: MeshRetry\nname: retry-api\nmesh: default\nspec:\n"
        "  targetRef: {kind: MeshHTTPRoute, name: api}\n"
        "  to: [{targetRef: {kind: Mesh}, default: {http: {numRetries: 5}}}]\n"
    )
    done = run(tmp_path, {"m.yaml": EXCLUSIVE + "---\n" + route, "r.yaml": retry}, target="3.0")
    assert done.after["r.yaml"] == (
        "type: MeshRetry\nname: retry-api\nmesh: default\nspec:\n"
        "  to: [{targetRef: {kind: MeshHTTPRoute, labels: {kuma.io/display-name: api}},"
        " default: {http: {numRetries: 5}}}]\n"
    )


def test_10148_producer_and_other_items_in_one_policy_are_refused(tmp_path: Path) -> None:
    """#10148: outside the system namespace one policy may not mix producer and other entries."""
    text = """apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: two-places, namespace: shop, labels: {kuma.io/mesh: default}}
spec:
  to:
    - {targetRef: {kind: MeshService, name: orders}, default: {idleTimeout: 1m}}
    - {targetRef: {kind: MeshService, name: billing, namespace: money}, default: {idleTimeout: 2m}}
"""
    done = run(tmp_path, text)
    assert done.found == [("refused-by-release", "manual", "two-places")]
    assert "split" in done.said
    assert done.after["a.yaml"] == text


@pytest.mark.parametrize("target", ["2.14", "3.0"])
def test_8924_policies_on_routes_of_a_gateway_stay(target: str, tmp_path: Path) -> None:
    """#8924, #13519: spec.to[] does not reach routes that are attached to a MeshGateway."""
    edge = """type: MeshHTTPRoute
name: edge
mesh: default
spec:
  targetRef: {kind: MeshGateway, name: edge-gw}
  to:
    - targetRef: {kind: Mesh}
      rules:
        - matches: [{path: {type: PathPrefix, value: /}}]
          default: {backendRefs: [{kind: MeshService, name: web_shop_svc_80}]}
"""
    timeout = ON_ROUTE.replace("orders-api", "edge").replace("on-route", "edge-timeout")
    done = run(tmp_path, {"e.yaml": edge, "t.yaml": timeout}, target=target)
    assert done.outcome.texts == {}
    (finding,) = done.of("route-in-target-ref")
    assert finding.status.value == "manual"
    assert "attached to a MeshGateway" in finding.message
    assert "3.0 removes" in finding.action
    assert done.exit == {"2.14": 1, "3.0": 3}[target]  # what the upgrade makes of it is not known


@pytest.mark.parametrize("unified", ["true", "false"])
def test_14352_names_that_envoy_sees_do_not_enter_the_proof(unified: str, tmp_path: Path) -> None:
    """#14352: routes are compared by what they match, so unified naming changes no verdict."""
    values = f"controlPlane: {{}}\ndataPlane: {{features: {{unifiedResourceNaming: {unified}}}}}\n"
    files = {"m.yaml": DISABLED + "---\n" + ROUTE, "t.yaml": ON_ROUTE, "values.yaml": values}
    done = run(tmp_path, files)
    assert done.outcome.proof is not None
    assert done.outcome.proof.verdict("live").value == "equivalent"
    assert done.outcome.proof.verdict("carry").value == "equivalent"


def test_10204_a_route_that_is_nowhere_is_reported_and_kept(tmp_path: Path) -> None:
    """Report 11: the old place errs on a missing route, the new one says nothing."""
    orphan = ON_ROUTE.replace("orders-api", "gone").replace("on-route", "orphan")
    done = run(tmp_path, {"m.yaml": EXCLUSIVE, "t.yaml": orphan})
    assert done.after["t.yaml"] == orphan
    assert done.found == [("route-in-target-ref", "manual", "orphan")]
    assert (
        "MeshHTTPRoute gone, which is neither in the repository nor in the inventory" in done.said
    )
    assert "--inventory" in done.said


def test_10204_a_route_of_another_repository_comes_with_the_inventory(tmp_path: Path) -> None:
    """Report 11: the route may live in another repository."""
    files = {"m.yaml": EXCLUSIVE, "t.yaml": ON_ROUTE}
    done = run(tmp_path, files, inventory=ROUTE)
    assert "- targetRef: {kind: MeshHTTPRoute, name: orders-api}" in done.after["t.yaml"]


def test_5827_a_route_to_everything_has_no_place_in_3_0(tmp_path: Path) -> None:
    """#5827: kind Mesh in spec.to[] is for gateways only, and there is no automatic way out."""
    catch_all = """type: MeshHTTPRoute
name: all
mesh: default
spec:
  targetRef: {kind: Mesh}
  to:
    - targetRef: {kind: Mesh}
      rules:
        - matches: [{path: {type: PathPrefix, value: /}}]
          default: {filters: [{type: RequestHeaderModifier, requestHeaderModifier: {add: [{name: \
x-env, value: dev}]}}]}
"""
    done = run(tmp_path, catch_all, target="3.0", only_check=True)
    assert done.found == [("refused-by-release", "manual", "all")]
    assert "spec.to[0].targetRef.kind" in done.of("refused-by-release")[0].message
    assert exit_of_looking(done) == 1


def test_a_service_below_a_top_level_route_is_reported_not_dropped(tmp_path: Path) -> None:
    """Report 14: the manifest is refused already; dropping its service would change its meaning."""
    text = ON_ROUTE.replace("{kind: Mesh}", "{kind: MeshService, name: orders}")
    done = run(tmp_path, documents(EXCLUSIVE, ROUTE, text))
    assert ("refused-by-release", "manual", "on-route") in done.found
    assert done.outcome.texts == {}
