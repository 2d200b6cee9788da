"""What is missing makes a verdict unknown, with a word on what to do (product.md §5)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kumamigrate.cli import app
from kumamigrate.model.release import release
from kumamigrate.model.state import State
from kumamigrate.prover import Verdict
from kumamigrate.prover.doubts.doubt import concerns
from kumamigrate.prover.prover import prove
from kumamigrate.source.text import Reason, Refusal
from tests.prove.states import live, state
from tests.runner import CliRunner

TIMEOUT = """
---
type: MeshTimeout
mesh: default
name: {name}
spec:
  to:
  - targetRef: {{kind: Mesh}}
    default: {{connectionTimeout: {value}}}
"""
OTHER = """
---
type: MeshRetry
mesh: default
name: retry
spec:
  to:
  - targetRef: {kind: Mesh}
    default: {http: {numRetries: 3}}
"""


def timeouts(*values: str) -> str:
    return "".join(TIMEOUT.format(name=f"t{i}", value=v) for i, v in enumerate(values))


def test_unread_files_bar_equivalent() -> None:
    unread = Refusal(
        path="a.yaml",
        line=3,
        column=1,
        reason=Reason.UNPARSABLE,
        detail="not YAML",
        advice="correct it",
        hides=True,
    )
    clean = state(timeouts("1s"), mode="Disabled")
    hidden = replace(clean, unread=(unread,))
    proof = live(hidden, hidden)
    assert proof.verdict("live") is Verdict.UNKNOWN
    assert proof.unknown("live") == ("a.yaml:3:1 was not read (not YAML); correct it",)
    for sides in ((clean, hidden), (hidden, clean)):
        assert live(*sides).verdict("live") is Verdict.UNKNOWN
    elsewhere = replace(clean, unread=(replace(unread, mesh="other"),))
    assert live(elsewhere, elsewhere).verdict("live") is Verdict.EQUIVALENT


ON_ROUTE = """
---
type: MeshTimeout
mesh: default
name: on-route
spec:
  to:
  - targetRef: {kind: MeshHTTPRoute, name: nowhere}
    default: {http: {requestTimeout: 1s}}
"""
ON_ROUTE_OLD = """
---
type: MeshTimeout
mesh: default
name: on-route
spec:
  targetRef: {kind: MeshHTTPRoute, name: nowhere}
  to:
  - targetRef: {kind: Mesh}
    default: {http: {requestTimeout: 1s}}
"""


@pytest.mark.parametrize("dangling", [ON_ROUTE, ON_ROUTE_OLD])
def test_a_route_that_is_not_there_makes_its_type_unknown(dangling: str) -> None:
    before = state(dangling + OTHER, mode="Exclusive")
    after = state(dangling + OTHER + timeouts("5s"), mode="Exclusive")
    proof = live(before, after)
    assert proof.verdict("live") is Verdict.UNKNOWN
    (reason,) = proof.unknown("live")
    assert "nowhere" in reason
    assert "inventory" in reason
    elsewhere = state(dangling + OTHER.replace("retry", "again"), mode="Exclusive")
    assert live(before, elsewhere).verdict("live") is Verdict.EQUIVALENT


ROUTED = """
---
type: MeshHTTPRoute
mesh: default
name: other
spec:
  targetRef: {kind: Mesh}
  to:
  - targetRef: {kind: MeshService, name: api}
    rules:
    - matches: [{path: {type: PathPrefix, value: /v1}}]
      default: {filters: []}
"""


@pytest.mark.parametrize("dangling", [ON_ROUTE, ON_ROUTE_OLD])
def test_a_route_that_is_not_there_holds_no_change_of_others(dangling: str) -> None:
    """It is there or not on both sides, and so is what is said of it."""
    before = state(dangling + ROUTED, mode="Exclusive")
    selected = ROUTED.replace("{kind: Mesh}", "{kind: Dataplane}")
    after = state(dangling + selected, mode="Exclusive")
    assert live(before, after).verdict("live") is Verdict.EQUIVALENT
    moved = state(dangling + ROUTED.replace("/v1", "/v2"), mode="Exclusive")
    assert live(before, moved).verdict("live") is Verdict.DIFFERENT
    named = state(dangling + ROUTED.replace("other", "nowhere"), mode="Exclusive")
    assert live(before, named).verdict("live") is not Verdict.EQUIVALENT
    switched = state(dangling + selected, mode="Disabled")
    assert live(before, switched).verdict("live") is not Verdict.EQUIVALENT


def test_kinds_that_are_not_modelled_make_unknown() -> None:
    foreign = """
---
type: MeshSomethingNew
mesh: default
name: new
spec: {targetRef: {kind: Mesh}}
"""
    before = state(foreign + timeouts("1s"), mode="Disabled")
    after = state(foreign + timeouts("1s", "5s"), mode="Disabled")
    assert live(before, before).verdict("live") is Verdict.EQUIVALENT
    proof = live(before, after)
    assert proof.verdict("live") is not Verdict.EQUIVALENT
    assert any("MeshSomethingNew new" in reason for reason in proof.unknown("live"))
    alone = foreign.replace("MeshSomethingNew", "MeshOPA")
    before = state(alone + timeouts("5s"), mode="Disabled")
    after = state(alone + timeouts("5s").replace("t0", "t9"), mode="Disabled")
    assert live(before, after).verdict("live") is Verdict.EQUIVALENT


def test_templates_make_their_type_unknown() -> None:
    def with_template(given: State) -> State:
        marked = (replace(r, templated=True) if r.name == "t0" else r for r in given.resources)
        return replace(given, resources=tuple(marked))

    before = with_template(state(timeouts("1s") + OTHER, mode="Disabled"))
    after = with_template(state(timeouts("1s", "1s") + OTHER, mode="Disabled"))
    proof = live(before, after)
    assert proof.verdict("live") is Verdict.UNKNOWN
    assert "template" in proof.unknown("live")[0]
    other = with_template(state(timeouts("1s") + OTHER.replace("retry", "again"), mode="Disabled"))
    assert live(before, other).verdict("live") is Verdict.EQUIVALENT


TIED = """
---
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata:
  name: {object}
  namespace: kuma-system
  labels: {{kuma.io/mesh: default, kuma.io/display-name: same}}
spec:
  to:
  - targetRef: {{kind: Mesh}}
    default: {{connectionTimeout: {value}}}
"""


@pytest.mark.parametrize("values", [("1s", "2s"), ("2s", "1s")])
def test_ties_left_to_chance_are_unknown_and_named(values: tuple[str, str]) -> None:
    """matcher.md trap 14: one display name, equal in all else; whatever a guess would say."""
    before = state(TIED.format(object="a", value="1s"), mode="Disabled")
    after = state(
        "".join(TIED.format(object=o, value=v) for o, v in zip("ab", values, strict=True)),
        mode="Disabled",
    )
    proof = live(before, after)
    assert proof.verdict("live") is Verdict.UNKNOWN
    (tie,) = proof.ties
    assert "a.kuma-system" in tie
    assert "b.kuma-system" in tie
    assert any("Kuma sorts them as equal" in reason for reason in proof.unknown("live"))
    assert live(after, after).verdict("live") is Verdict.EQUIVALENT


def test_a_tie_that_nobody_touches_is_no_doubt() -> None:
    tied = TIED.format(object="a", value="1s") + TIED.format(object="b", value="2s")
    weaker = TIED.format(object="c", value="5s").replace("display-name: same", "display-name: zz")
    before, after = state(tied, mode="Disabled"), state(tied + weaker, mode="Disabled")
    assert live(before, after).verdict("live") is Verdict.EQUIVALENT


def _named(name: str, value: str = "5s") -> str:
    text = TIED.format(object=name, value=value)
    return text.replace("display-name: same", f"display-name: {name}")


@pytest.mark.parametrize(("others", "kept"), [(9, True), (10, False)])
def test_more_than_twelve_policies_are_sorted_so_that_ties_may_turn(
    others: int, kept: bool
) -> None:
    """Up to twelve Go's sort is stable: two that tie, one that changes and the others."""
    tied = TIED.format(object="a", value="1s") + TIED.format(object="b", value="2s")
    rest = "".join(_named(f"t{number:02}") for number in range(others))
    before, after = (
        state(tied + rest + _named("zz", value), mode="Disabled") for value in ("5s", "6s")
    )
    proof = live(before, after)
    assert bool(proof.ties) is not kept
    assert proof.verdict("live") is (Verdict.EQUIVALENT if kept else Verdict.UNKNOWN)


def test_many_policies_of_which_none_tie_are_no_doubt() -> None:
    rest = "".join(_named(f"t{number:02}") for number in range(14))
    before, after = (state(rest + _named(name, "9s"), mode="Disabled") for name in ("zz", "zy"))
    proof = live(before, after)
    assert (proof.verdict("live"), proof.ties) == (Verdict.EQUIVALENT, ())
    assert live(before, state(rest + _named("aa", "9s"), mode="Disabled")).ties == ()


def test_live_needs_one_release() -> None:
    before = state(timeouts("1s"), mode="Exclusive")
    after = state(timeouts("1s"), mode="Exclusive", release="3.0")
    proof = live(before, after)
    assert proof.verdict("live") is Verdict.UNKNOWN
    assert "claim release" in proof.unknown("live")[0]
    assert prove(before, after, claims=("release",)).verdict("release") is Verdict.EQUIVALENT


def test_a_service_that_nothing_replaces_is_not_carried_silently() -> None:
    dataplane = """
---
type: Dataplane
mesh: default
name: web-1
networking:
  address: 10.0.0.1
  inbound:
  - port: 80
    protocol: http
    tags: {kuma.io/service: web, kuma.io/protocol: http}
  transparentProxying: {redirectPortInbound: 15006, redirectPortOutbound: 15001}
"""
    given = state(timeouts("1s") + dataplane, mode="Disabled", complete=True)
    proof = prove(given, given, claims=("carry",))
    assert proof.verdict("carry") is Verdict.UNKNOWN
    assert "service web" in proof.unknown("carry")[0]
    later = state(timeouts("1s") + dataplane, mode="Disabled", complete=True, release="3.0")
    assert prove(given, later, claims=("release",)).verdict("release") is Verdict.UNKNOWN


def test_the_mesh_object_counts() -> None:
    before = state("type: Mesh\nname: default\nmtls: {enabledBackend: ca}\n")
    after = state("type: Mesh\nname: default\nmtls: {enabledBackend: other}\n")
    (witness,) = live(before, after).witnesses("live")
    assert (witness.policy_type, witness.field) == ("Mesh", "mtls.enabledBackend")


def test_a_gateway_that_is_not_there_makes_unknown() -> None:
    text = """
type: MeshTimeout
mesh: default
name: edge
spec:
  targetRef: {{kind: MeshGateway, name: edge}}
  to:
  - targetRef: {{kind: Mesh}}
    default: {{connectionTimeout: {value}}}
"""
    before, after = (state(text.format(value=v), mode="Disabled") for v in ("1s", "2s"))
    assert live(before, after).verdict("live") is Verdict.UNKNOWN
    gateway = """
---
type: MeshGateway
mesh: default
name: edge
selectors: [{match: {kuma.io/service: edge}}]
conf: {listeners: [{port: 80, protocol: HTTP}]}
"""
    before, after = (state(text.format(value=v) + gateway, mode="Disabled") for v in ("1s", "2s"))
    proof = live(before, after)
    assert proof.verdict("live") is Verdict.DIFFERENT
    assert {w.direction for w in proof.witnesses("live")} == {"gateway"}
    assert live(before, before).verdict("live") is Verdict.EQUIVALENT


@pytest.mark.parametrize(
    ("kind", "beside_routes"),
    [
        ("MeshMetric", True),
        ("MeshTLS", True),
        ("MeshTrace", True),
        ("MeshTrafficPermission", True),
        ("MeshTimeout", False),
        ("MeshAccessLog", False),
    ],
)
def test_what_cannot_be_read_matters_to_what_speaks_of_the_same_traffic(
    kind: str, beside_routes: bool
) -> None:
    """An unread route leaves those alone to which it does not matter which way requests take."""
    known = frozenset(release("2.14").policy_types)

    def matters(unread: str, changed: str) -> bool:
        refusal = Refusal(
            path="a.yaml", line=1, column=1, reason=Reason.UNPARSABLE, detail="", kind=unread
        )
        return concerns(refusal, {changed}, known, external=False)

    assert matters(kind, kind)
    assert not matters(kind, "MeshRetry")
    for route in ("MeshHTTPRoute", "MeshTCPRoute"):
        assert matters(route, kind) is not beside_routes
        assert matters(kind, route) is not beside_routes
    assert matters(kind, "Dataplane")
    assert matters("Mesh", kind)


OF_EAST = """type: Mesh
name: default
meshServices: {{mode: Exclusive}}
---
type: MeshTimeout
mesh: default
name: t
labels: {{kuma.io/zone: east}}
spec:
  to: [{{targetRef: {{kind: Mesh}}, default: {{idleTimeout: 9s{}}}}}]
"""


@pytest.mark.parametrize(
    ("words", "verdict", "why"),
    [
        ([], "unknown", "after.yaml:5:1: MeshTimeout t says it is of zone east"),
        (["--zone", "east"], "equivalent", ""),
        (["--zone", "west"], "unknown", "`east` is not the zone of this control plane, `west`"),
        (["--control-plane-mode", "global"], "equivalent", ""),
    ],
)
def test_what_says_its_zone_is_there_or_not_by_the_zone_that_reads_it(
    tmp_path: Path, words: list[str], verdict: str, why: str
) -> None:
    """The value that is written now is the one that goes without saying: nothing else differs."""
    for name, more in (("before", ""), ("after", ", connectionTimeout: 5s")):
        (tmp_path / f"{name}.yaml").write_text(OF_EAST.format(more), encoding="utf-8")
    paths = [str(tmp_path / f"{name}.yaml") for name in ("before", "after")]
    given = ["prove", *paths, "--target", "2.14", "--initial-policies", "none", *words]
    result = CliRunner().invoke(app, [*given, "--format", "json"])
    found = json.loads(result.stdout)["claims"]["live"]
    assert found["verdict"] == verdict
    assert why in "\n".join(found.get("unknown", ()))
