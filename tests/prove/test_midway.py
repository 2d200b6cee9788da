"""Over a state in between: old policies converted first, then the rest."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kumamigrate.effective.difference import Value, Witness
from kumamigrate.model.state import State
from kumamigrate.prover import prove
from kumamigrate.prover.halfstates import halfway
from kumamigrate.prover.midway import over_midway
from kumamigrate.prover.proof import ClaimResult, MeshProof, ProxyVerdict, Verdict
from tests.cases import FIXTURES
from tests.frontdoor import command
from tests.prove.states import state
from tests.test_story import told_of_folders

HERE = Path(__file__).parent
PROXY = """---
type: Dataplane
mesh: default
name: {name}-1
labels: {{app: {name}}}
networking:
  address: 10.0.0.1
  inbound:
    - port: 8080
      name: main
      tags: {{kuma.io/service: {name}, kuma.io/protocol: http}}
  outbound: {outbound}
"""
CALLED = "[{port: 11000, backendRef: {kind: MeshService, name: backend, port: 8080}}]"
TAGGED = "[{port: 11000, tags: {kuma.io/service: backend}}]"
ROUTE_ALL = """---
type: TrafficRoute
mesh: default
name: route-all
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: '*'}}]
conf: {destination: {kuma.io/service: '*'}}
"""
EXCLUSIVE = (
    "type: Mesh\nname: default\nmeshServices: {mode: Exclusive}\n"
    + """---
type: MeshService
mesh: default
name: backend
spec:
  selector: {dataplaneLabels: {matchLabels: {app: backend}}}
  ports: [{port: 8080, targetPort: 8080, appProtocol: http, name: main}]
"""
    + PROXY.format(name="backend", outbound="[]")
    + PROXY.format(name="web", outbound=CALLED)
    + ROUTE_ALL
    + """---
type: MeshTCPRoute
mesh: default
name: t1
spec:
  targetRef: {kind: Mesh}
  to:
    - targetRef: {kind: MeshService, name: backend}
      rules: [{default: {backendRefs: [{kind: MeshService, name: backend}]}}]
"""
)
LOGGED = (
    """type: Mesh
name: default
logging:
  backends: [{name: file, type: file, conf: {path: /tmp/access.log}}]
"""
    + PROXY.format(name="backend", outbound="[]")
    + PROXY.format(name="web", outbound=TAGGED)
    + ROUTE_ALL
    + """---
type: TrafficLog
mesh: default
name: old
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: backend}}]
conf: {backend: file}
"""
)
GATEWAY = """type: Mesh
name: default
tracing:
  defaultBackend: jaeger
  backends: [{name: jaeger, type: zipkin, conf: {url: 'http://jaeger:9411/api/v2/spans'}}]
---
type: MeshGateway
mesh: default
name: edge
selectors: [{match: {kuma.io/service: edge}}]
conf: {listeners: [{port: 80, protocol: HTTP, tags: {vhost: a}}]}
---
type: RateLimit
mesh: default
name: unrelated
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: backend}}]
conf: {http: {requests: 5, interval: 10s}}
---
type: TrafficTrace
mesh: default
name: all
selectors: [{match: {kuma.io/service: '*'}}]
conf: {backend: jaeger}
---
type: MeshRateLimit
mesh: default
name: new
spec:
  targetRef: {kind: MeshSubset, tags: {kuma.io/service: web}}
  from:
    - targetRef: {kind: Mesh}
      default: {local: {http: {requestRate: {num: 5, interval: 10s}}}}
"""
CANARY = (
    FIXTURES.joinpath("legacy-traffic-route", "canary-for-3.0", "before", "mesh.yaml").read_text()
    + """---
type: Timeout
mesh: default
name: pay
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: pay}}]
conf: {connectTimeout: 3s, http: {requestTimeout: 7s}}
"""
)
"""Shares by tags in the route, a client by tag, and what its service's Timeout says of each."""


@dataclass(frozen=True)
class Story:
    """What `prove` says of two folders that a run lies between, and what the run wrote."""

    proved: dict[str, Any]
    written: str


@cache
def story(text: str, target: str = "3.0") -> Story:
    """Return the story of a run over a mesh; several tests look at each."""
    with tempfile.TemporaryDirectory() as folder:
        proved = told_of_folders(text, Path(folder), "--target", target)
        return Story(proved, (Path(folder) / "two" / "mesh.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("text", "target"),
    [(EXCLUSIVE, "3.0"), (LOGGED, "3.0"), (CANARY, "3.0"), (GATEWAY, "2.14")],
    ids=[
        "last TrafficRoute in mode Exclusive",
        "log by tag",
        "canary in mode Disabled",
        "old policy beside a gateway",
    ],
)
def test_two_folders_tell_the_story_of_the_run(text: str, target: str) -> None:
    """None of them is to be seen without a state in between: 2.14 reads the references of 3.0 as
    none, and what a gateway reads of old policies is known where no policy of the type changes."""
    claim = story(text, target).proved["claims"]["live" if target == "2.14" else "release"]
    assert claim["allowing"] == "equivalent"


def test_what_begins_to_work_on_the_way_is_told_of_the_whole() -> None:
    """A 2.14 connects within 5s whatever a Timeout says, a 3.0 within what the MeshTimeout says:
    asked of both."""
    claim = story(CANARY).proved["claims"]["release"]
    assert (claim["verdict"], claim["allowing"]) == ("different", "equivalent")
    told = claim["dataplanes"]["web-1"]["witnesses"]
    values = {(w["field"], w["before"]["value"], w["after"]["value"], w["effect"]) for w in told}
    assert values == {("connectionTimeout", "5s", "3s", "activation")}


@pytest.mark.parametrize("name", ["canary", "canary-of-one-share"])
def test_running_control_planes_make_the_same_but_for_what_is_told(name: str) -> None:
    """Old policies on a 2.14, what a run made of them on a 3.0: asked of both, twice."""
    folder = HERE.parent / "golden" / "over-midway" / name
    asked = ("--from", "2.14", "--target", "3.0", "--zone", "east", "--initial-policies", "none")
    states = (folder / "before.yaml", folder / "after.yaml")
    claim = command("prove", *states, *asked, "--format", "json").json["claims"]["release"]
    truth = json.loads((folder / "verdict.json").read_text())["dataplanes"]
    found = {name: one["verdict"] for name, one in claim["dataplanes"].items()}
    changed = [n for n, t in truth.items() if not (t["outbound"]["same"] and t["inbound"]["same"])]
    assert [n for n in changed if found[n] == "equivalent"] == []
    assert changed
    assert claim["allowing"] == "equivalent"


def test_all_proxies_of_one_share_make_no_share_of_the_service() -> None:
    """The service that comes of them is the whole of it, also where it has the same proxies."""
    one, other = (f"http, version: {name}}}}}]" for name in ("v1", "v2"))
    proxies = CANARY.replace(one, other)
    assert proxies != CANARY
    assert story(proxies).proved["claims"]["release"]["allowing"] == "equivalent"


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (LOGGED, "/tmp/access.log", "/tmp/other.log"),
        (EXCLUSIVE, "weight: 1", "weight: 0"),
        (CANARY, "weight: 90", "weight: 80"),
        (CANARY, "workload: pay\n        version: v2", "workload: pay\n        version: v1"),
        (CANARY, "requestTimeout: 7s", "requestTimeout: 8s"),
    ],
    ids=["another file", "no share", "another share", "other proxies", "another timeout"],
)
def test_a_wrong_half_is_one_of_the_whole(text: str, old: str, new: str, tmp_path: Path) -> None:
    one, two = tmp_path / "one.yaml", tmp_path / "two.yaml"
    begun = text.replace("name: backend}]}}]", "name: backend, weight: 1}]}}]")
    written = story(begun).written
    assert old in written
    one.write_text(begun)
    two.write_text(written.replace(old, new))
    proved = command("prove", one, two, "--target", "3.0", "--format", "json").json
    assert proved["claims"]["release"]["allowing"] != "equivalent"


def test_what_a_state_in_between_shows_as_well_is_no_difference_of_the_whole() -> None:
    before, after = _converted()
    real, false = (
        Witness(
            mesh="default",
            proxy="web-1",
            policy_type="MeshTimeout",
            direction="outbound",
            field=field,
            before=Value(value="1s"),
            after=Value(value="2s"),
        )
        for field in ("connectionTimeout", "idleTimeout")
    )

    def proof(names: Sequence[str], *witnesses: Witness) -> MeshProof:
        verdict = Verdict.DIFFERENT if witnesses else Verdict.EQUIVALENT
        proxy = ProxyVerdict(name="web-1", verdict=verdict, witnesses=witnesses)
        result = ClaimResult(verdict=verdict, proxies=(proxy,))
        return MeshProof(mesh="default", claims=dict.fromkeys(names, result))

    def ask(_: State, __: State, later: State | None, names: Sequence[str]) -> MeshProof:
        return proof(names, *((real,) if later is not None else ()))

    found = proof(["release"], real, false)
    came = over_midway(found, before, after, replace(after, release="3.0"), ask)
    assert came.claims["release"].witnesses == (real,)


def test_there_is_no_state_in_between_where_nothing_old_goes() -> None:
    before, after = state(LOGGED), state(LOGGED + PROXY.format(name="db", outbound="[]"))
    assert [*halfway(before, after, after)] == []


def test_a_switch_of_the_mode_is_no_conversion() -> None:
    before = state(LOGGED)
    switched = LOGGED.replace("logging:", "meshServices: {mode: Exclusive}\nlogging:")
    after = state(switched, without=frozenset({("TrafficLog", "old")}))
    found = [*halfway(before, after, after)]
    assert found
    for between in found:
        (mesh,) = between.of_type("Mesh")
        assert "meshServices" not in mesh.spec
        assert not [*between.of_type("TrafficLog")]


def test_only_what_is_asked_for_goes_over_it() -> None:
    """A proof of one step of a run compares its two states, and nothing else."""
    before, after = state(LOGGED), state(LOGGED.replace("access.log", "other.log"))
    plain = prove(before, after, claims=("live",))
    assert prove(before, after, claims=("live",), halfway=True) == plain


def _converted() -> tuple[State, State]:
    """A mesh before and after its last old policy was converted, and one more proxy came."""
    log = """---
type: MeshAccessLog
mesh: default
name: old
spec:
  targetRef: {kind: Mesh}
  to:
    - targetRef: {kind: Mesh}
      default: {backends: [{type: File, file: {path: /tmp/access.log}}]}
"""
    log += PROXY.format(name="db", outbound="[]")
    return state(LOGGED), state(LOGGED + log, without=frozenset({("TrafficLog", "old")}))


def _proof(**claims: Verdict) -> MeshProof:
    results = {name: ClaimResult(verdict=verdict) for name, verdict in claims.items()}
    return MeshProof(mesh="default", claims=results)


SAME, OPEN, OTHER = Verdict.EQUIVALENT, Verdict.UNKNOWN, Verdict.DIFFERENT


@pytest.mark.parametrize(
    ("found", "first", "second", "asked", "said"),
    [
        pytest.param(_proof(release=SAME), SAME, OTHER, [], SAME, id="known"),
        pytest.param(_proof(live=OTHER), SAME, SAME, [], OTHER, id="differs today"),
        pytest.param(_proof(release=OPEN), OPEN, SAME, ["live"], OPEN, id="open half"),
        pytest.param(_proof(release=OPEN), OTHER, SAME, ["live"], OPEN, id="wrong half"),
        pytest.param(
            _proof(carry=SAME, release=OPEN), SAME, SAME, ["live", "release"], SAME, id="open"
        ),
        pytest.param(_proof(release=OPEN), SAME, OPEN, ["live", "release"], OPEN, id="both open"),
        pytest.param(_proof(release=OPEN), SAME, OTHER, ["live", "release"], OPEN, id="worse"),
        pytest.param(_proof(release=OTHER), SAME, SAME, ["live", "release"], SAME, id="later"),
        pytest.param(_proof(release=OTHER), SAME, OPEN, ["live", "release"], OPEN, id="less bad"),
        pytest.param(_proof(live=OPEN), SAME, SAME, ["live", "live"], SAME, id="open today"),
        pytest.param(_proof(live=OPEN), SAME, OTHER, ["live", "live"], OPEN, id="worse today"),
    ],
)
def test_no_more_is_asked_than_can_help(
    found: MeshProof, first: Verdict, second: Verdict, asked: list[str], said: Verdict
) -> None:
    """A proof takes its time; the second half is asked where the first is harmless, and counts
    where it says more."""
    seen: list[str] = []
    before, after = _converted()
    upgraded = None if "live" in found.claims else replace(after, release="3.0")
    ends: list[tuple[State, State]] = []

    def ask(one: State, two: State, later: State | None, names: Sequence[str]) -> MeshProof:
        seen.extend(names)
        ends.append((one, two))
        assert later is (None if len(seen) == 1 else upgraded)
        return _proof(**dict.fromkeys(names, second if len(seen) == 2 else first))

    came = over_midway(found, before, after, upgraded, ask)
    assert came.claims.keys() == found.claims.keys()
    assert [one for one, _ in ends] == [before, *(two for _, two in ends)][: len(ends)]
    assert not ends or len(ends) == 1 or ends[-1][1] is after
    assert seen == asked
    assert {result.verdict for result in came.claims.values()} == {said}
    assert (came is found) is (said is [*found.claims.values()][-1].verdict)
