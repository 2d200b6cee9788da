"""Repositories hold neither Dataplanes nor services: made-up ones stand for all (product.md §5)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kumamigrate.prover import Effect, Outbound, Verdict
from kumamigrate.prover.prover import prove
from tests.prove.states import live, proxies, shown, state, without

ROUTE = """
type: MeshHTTPRoute
mesh: default
name: api
spec:
  to:
  - targetRef: {kind: MeshService, name: backend}
    rules:
    - matches: [{path: {type: PathPrefix, value: /v1}}]
      default: {}
"""
OLD = """
---
type: MeshTimeout
mesh: default
name: slow-api
spec:
  targetRef: {kind: MeshHTTPRoute, name: api}
  to:
  - targetRef: {kind: Mesh}
    default: {http: {requestTimeout: 7s}}
"""
NEW = """
---
type: MeshTimeout
mesh: default
name: slow-api
spec:
  to:
  - targetRef: {kind: MeshHTTPRoute, name: api}
    default: {http: {requestTimeout: 7s}}
"""
SERVICE_WIDE = """
---
type: MeshTimeout
mesh: default
name: all
spec:
  to:
  - targetRef: {kind: MeshService, name: backend}
    default: {http: {streamIdleTimeout: 4s}}
"""
COPIED = NEW.replace("requestTimeout: 7s", "requestTimeout: 7s, streamIdleTimeout: 4s")


def test_moving_a_reference_loses_it_where_service_tags_are_read() -> None:
    """Law 2: in mode Disabled the plain move takes the timeout away."""
    before, after = (state(ROUTE + p, mode="Disabled") for p in (OLD, NEW))
    proof = live(before, after)
    assert proof.verdict("live") is Verdict.DIFFERENT
    witnesses = proof.witnesses("live")
    # No other timeout reaches the route: without it there is none at all (matcher-notes rule 4),
    # and of the stream idle timeout that any conf brings along Envoy's own is left.
    assert {shown(w)[2:] for w in witnesses} == {
        ("http.requestTimeout", "7s", "0s"),
        ("http.streamIdleTimeout", "30m0s", "5m0s"),
    }
    for witness in witnesses:
        assert witness.outbound is Outbound.SERVICE_TAG
        assert witness.proxy == "any proxy"
        assert witness.route == {"path": {"type": "PathPrefix", "value": "/v1"}}


def test_moving_a_reference_activates_it_where_real_resources_are_read() -> None:
    """Law 2: in mode Exclusive the value had no effect and takes effect as written."""
    before, after = (state(ROUTE + p, mode="Exclusive") for p in (OLD, NEW))
    proof = prove(before, after)
    (witness,) = proof.witnesses("live")
    assert shown(witness) == ("MeshTimeout", "backend", "http.requestTimeout", "15s", "7s")
    assert witness.effect is Effect.ACTIVATION
    assert witness.after.policy == "slow-api"
    assert proof.verdict("carry") is Verdict.EQUIVALENT
    assert proof.allowing("live", {Effect.ACTIVATION}) is Verdict.EQUIVALENT


def test_adding_the_new_form_beside_the_old_changes_nothing_in_mode_disabled() -> None:
    beside = OLD + NEW.replace("slow-api", "slow-api-real")
    before, after = state(ROUTE + OLD, mode="Disabled"), state(ROUTE + beside, mode="Disabled")
    proof = prove(before, after)
    assert proof.verdict("live") is Verdict.EQUIVALENT
    assert proof.proxies == "all"
    assert proof.verdict("carry") is Verdict.EQUIVALENT


def test_a_lost_inherited_value_is_not_carried() -> None:
    """Law 3: the service-level value must be copied into the route's entry."""
    before = state(ROUTE + OLD + SERVICE_WIDE, mode="Disabled")
    plain = state(ROUTE + NEW + SERVICE_WIDE, mode="Exclusive")
    copied = state(ROUTE + COPIED + SERVICE_WIDE, mode="Exclusive")
    lost = prove(before, plain, claims=("carry",))
    assert lost.verdict("carry") is Verdict.DIFFERENT
    assert {shown(w)[2:] for w in lost.witnesses("carry")} == {
        ("http.streamIdleTimeout", "4s", "30m0s")
    }
    assert prove(before, copied, claims=("carry",)).verdict("carry") is Verdict.EQUIVALENT


def test_a_value_that_is_live_already_is_no_activation() -> None:
    """The service's own stream idle timeout is lost where it was read: a change of value."""
    before = state(ROUTE + OLD + SERVICE_WIDE, mode="Exclusive")
    after = state(ROUTE + NEW + SERVICE_WIDE, mode="Exclusive")
    effects = {w.field: w.effect for w in live(before, after).witnesses("live")}
    assert effects == {
        "http.requestTimeout": Effect.ACTIVATION,
        "http.streamIdleTimeout": Effect.VALUE,
    }


def test_an_unknown_mode_gets_a_verdict_for_each() -> None:
    proof = live(state(ROUTE + OLD), state(ROUTE + NEW))
    assert proof.verdict("live") is Verdict.DIFFERENT
    assert set(proof.modes("live")) == {"Disabled", "Everywhere", "ReachableBackends", "Exclusive"}
    beside = OLD + NEW.replace("slow-api", "slow-api-real")
    proof = live(state(ROUTE + OLD), state(ROUTE + beside))
    assert proof.modes("live") == {
        "Disabled": Verdict.EQUIVALENT,
        "Everywhere": Verdict.DIFFERENT,
        "ReachableBackends": Verdict.DIFFERENT,
        "Exclusive": Verdict.DIFFERENT,
    }


def test_renaming_a_route_is_a_name_and_no_value() -> None:
    before = state(ROUTE + NEW, mode="Exclusive")
    after = state((ROUTE + NEW).replace("name: api", "name: api-1"), mode="Exclusive")
    proof = live(before, after)
    (witness,) = proof.witnesses("live")
    assert (witness.field, witness.effect) == ("name", Effect.NAME)
    disabled = [state(ROUTE.replace("name: api", f"name: {n}"), mode="Disabled") for n in "ab"]
    assert live(disabled[0], disabled[1]).verdict("live") is Verdict.EQUIVALENT


def test_a_patch_on_names_makes_renaming_matter() -> None:
    patch = """
---
type: MeshProxyPatch
mesh: default
name: patch
spec:
  default:
    appendModifications:
    - virtualHost: {operation: Patch, value: "domains: ['*']"}
"""
    before = state(ROUTE + patch, mode="Exclusive")
    after = state((ROUTE + patch).replace("name: api", "name: api-1"), mode="Exclusive")
    assert {w.effect for w in live(before, after).witnesses("live")} == {Effect.VALUE}


TOP = """
type: MeshTimeout
mesh: default
name: {name}
spec:
  targetRef: {{kind: MeshSubset, tags: {{{tags}}}}}
  to:
  - targetRef: {{kind: Mesh}}
    default: {{connectionTimeout: {value}}}
"""


def policies(*given: tuple[str, str, str]) -> str:
    return "---\n".join(TOP.format(name=n, tags=t, value=v) for n, t, v in given)


def test_precedence_between_two_policies_shows_on_a_proxy_with_both() -> None:
    """Names decide; only a proxy that both reach can show it."""
    before = policies(("a", "team: red", "1s"), ("b", "version: v1", "2s"))
    after = policies(("z", "team: red", "1s"), ("b", "version: v1", "2s"))
    proof = live(state(before, mode="Disabled"), state(after, mode="Disabled"))
    assert proof.verdict("live") is Verdict.DIFFERENT
    assert {w.proxy for w in proof.witnesses("live")} == {"any proxy with team=red and version=v1"}


def test_two_values_of_one_tag_meet_on_a_proxy_with_two_inbounds() -> None:
    before = policies(("a", "version: v1", "1s"), ("b", "version: v2", "2s"))
    after = policies(("z", "version: v1", "1s"), ("b", "version: v2", "2s"))
    proof = live(state(before, mode="Disabled"), state(after, mode="Disabled"))
    assert {w.proxy for w in proof.witnesses("live")} == {
        "any proxy with version=v1 and version=v2"
    }


def test_labels_of_one_proxy_exclude_each_other() -> None:
    def text(first: str) -> str:
        found = policies((first, "app: x", "1s"), ("b", "app: y", "2s"))
        return found.replace("MeshSubset, tags", "Dataplane, labels")

    proof = live(state(text("a"), mode="Disabled"), state(text("z"), mode="Disabled"))
    assert proof.verdict("live") is Verdict.EQUIVALENT


def test_many_selectors_are_told_apart_or_the_verdict_is_unknown() -> None:
    """Thirty services with a policy each: pairs are enough for what is merged by order."""
    names = [(f"p{i:02}", f"team: t{i}", f"{i + 1}s") for i in range(30)]
    before = state(policies(*names), mode="Disabled")
    same = state(policies(*reversed(names)), mode="Disabled")
    assert live(before, same).verdict("live") is Verdict.EQUIVALENT
    moved = [("zz", *names[0][1:]), *names[1:]]
    assert live(before, state(policies(*moved), mode="Disabled")).verdict("live") is (
        Verdict.DIFFERENT
    )


@pytest.mark.parametrize("mode", ["Disabled", "Exclusive"])
def test_a_policy_for_one_service_is_shown_on_that_service(mode: str) -> None:
    before = state(SERVICE_WIDE, mode=mode)
    after = state(SERVICE_WIDE.replace("4s", "5s"), mode=mode)
    proof = live(before, after)
    assert {shown(w)[1] for w in proof.witnesses("live")} == {"backend"}
    assert any("MeshService" in a and "backend" in a for a in proof.assumptions)


def test_services_chosen_by_labels_meet_those_chosen_by_name() -> None:
    by_label = """
---
type: MeshTimeout
mesh: default
name: {name}
spec:
  to:
  - targetRef: {{kind: MeshService, labels: {{team: blue}}}}
    default: {{http: {{streamIdleTimeout: 9s}}}}
"""
    before = state(SERVICE_WIDE + by_label.format(name="b"), mode="Exclusive")
    after = state(SERVICE_WIDE + by_label.format(name="a"), mode="Exclusive")
    proof = live(before, after)
    values = {shown(w)[1:] for w in proof.witnesses("live")}
    assert values == {("backend", "http.streamIdleTimeout", "4s", "9s")}


def test_consumer_policies_reach_their_own_namespace_only() -> None:
    text = """
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {{name: {name}, namespace: {space}, labels: {{kuma.io/mesh: default}}}}
spec:
  to:
  - targetRef: {{kind: Mesh}}
    default: {{connectionTimeout: {value}}}
"""
    shop, pay = (text.format(name=n, space=s, value="1s") for n, s in (("a", "shop"), ("b", "pay")))
    before = state(f"{shop}---\n{pay}", mode="Exclusive")
    renamed = state(f"{shop.replace('name: a', 'name: c')}---\n{pay}", mode="Exclusive")
    assert live(before, renamed).verdict("live") is Verdict.EQUIVALENT
    changed = state(f"{shop.replace('1s', '2s')}---\n{pay}", mode="Exclusive")
    found = live(before, changed).witnesses("live")
    assert {w.proxy for w in found} == {"any proxy with namespace shop"}


def test_inbounds_of_made_up_proxies_are_looked_at() -> None:
    text = """
type: MeshTimeout
mesh: default
name: in
spec:
  targetRef: {{kind: MeshSubset, tags: {{app: web}}}}
  from:
  - targetRef: {{kind: Mesh}}
    default: {{connectionTimeout: {value}}}
"""
    before, after = (state(text.format(value=v), mode="Disabled") for v in ("1s", "2s"))
    (witness,) = live(before, after).witnesses("live")
    assert witness.direction == "inbound"
    assert shown(witness)[2:] == ("connectionTimeout", "1s", "2s")
    rules = text.replace("from:\n  - targetRef: {{kind: Mesh}}\n    default", "rules:\n  - default")
    assert live(before, state(rules.format(value="1s"), mode="Disabled")).verdict("live") is (
        Verdict.EQUIVALENT
    )


def test_listed_dataplanes_stand_beside_made_up_ones() -> None:
    dataplane = """
---
type: Dataplane
mesh: default
name: web-1
networking:
  address: 10.0.0.1
  inbound:
  - port: 80
    tags: {kuma.io/service: web, kuma.io/protocol: http}
"""
    before = state(SERVICE_WIDE + dataplane, mode="Disabled")
    after = state(SERVICE_WIDE.replace("4s", "5s") + dataplane, mode="Disabled")
    assert set(proxies(live(before, after), "live")) == {"web-1", "any proxy"}
    listed = prove(before, after, claims=("live",), proxies="listed")
    assert set(proxies(listed, "live")) == {"web-1"}
    assert (listed.proxies, bool(listed.beyond)) == ("listed", True)


def test_a_complete_state_has_no_other_proxies() -> None:
    before, after = (replace(state(SERVICE_WIDE.replace("4s", v)), complete=True) for v in "56")
    assert before.complete
    assert without(before, "all").resources == ()
    assert after.resources


def _permissions(action: str) -> str:
    return "\n---\n".join(
        f"""
type: MeshTrafficPermission
name: p{n}
mesh: default
spec:
  targetRef: {{kind: MeshSubset, tags: {{key{n}: a}}}}
  from:
    - targetRef: {{kind: MeshSubset, tags: {{other{n}: a}}}}
      default: {{action: {action if n == 0 else "Deny"}}}"""
        for n in range(12)
    )


PLAIN = """
type: Dataplane
name: web
mesh: default
networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}]}
---"""


@pytest.mark.parametrize("listed", [True, False])
def test_too_many_ways_to_choose_leave_a_verdict_for_those_listed(listed: bool) -> None:
    known = PLAIN if listed else ""
    sides = [state(known + _permissions(action)) for action in ("Allow", "AllowWithShadowDeny")]
    proof = prove(*sides, claims=("live",))
    told = proof.beyond if listed else proof.unknown("live")
    assert any("in more ways than can be tried" in why for why in told)
    assert not (listed and proof.unknown("live"))
    assert proof.verdict("live") is Verdict.DIFFERENT  # the smallest sets are tried all the same


@pytest.mark.parametrize("listed", [True, False])
def test_what_was_not_tried_is_equal_for_those_listed_alone(listed: bool) -> None:
    known = PLAIN if listed else ""
    twice = _permissions("Allow").replace(
        "from:", "from:\n    - {targetRef: {kind: Mesh}, default: {action: Deny}}", 1
    )
    sides = [state(known + text) for text in (_permissions("Allow"), twice)]
    verdict = prove(*sides, claims=("live",)).verdict("live")
    assert verdict is (Verdict.EQUIVALENT if listed else Verdict.UNKNOWN)
