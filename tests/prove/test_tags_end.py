"""What service-tag outbounds read, real resources read: when the mode switches, and on 3.0.

Each side is asked with its own Dataplane: labels may change on the way, as may selectors.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kumamigrate.prover.prover import prove
from tests.cases import GOLDEN
from tests.frontdoor import command
from tests.prove.states import state

MESH = """
type: Dataplane
name: web-1
mesh: default
labels: {{env: {env}, kuma.io/workload: web}}
networking:
  address: 10.0.0.1
  inbound:
  - port: 80
    protocol: http
    tags: {{kuma.io/service: web, kuma.io/protocol: http, env: {env}}}
  outbound: [{{port: 81, {outbound}}}]
---
type: Dataplane
name: api-1
mesh: default
labels: {{kuma.io/workload: api}}
networking:
  address: 10.0.0.2
  inbound: [{{port: 80, protocol: http, tags: {{kuma.io/service: api, kuma.io/protocol: http}}}}]
---
type: MeshService
name: api
mesh: default
labels: {{kuma.io/display-name: api}}
spec:
  selector: {{dataplaneLabels: {{matchLabels: {{kuma.io/workload: api}}}}}}
  ports: [{{port: 80, targetPort: 80, appProtocol: http}}]
---
type: MeshTimeout
name: t
mesh: default
spec:
  targetRef: {{kind: Dataplane, labels: {{env: {chosen}}}}}
  to:
  - targetRef: {{kind: Mesh}}
    default: {{connectionTimeout: 1s}}
"""
TAGGED, REFERRED = (
    "tags: {kuma.io/service: api}",
    "backendRef: {kind: MeshService, name: api, port: 80}",
)
UNSET = (("http.requestTimeout", "0s", "15s"), ("http.streamIdleTimeout", "5m0s", "30m0s"))
"""What no MeshTimeout says of a service, by its tag and on 3.0 (release-3.0/11-no-timeout)."""
Side = tuple[str, str]
"""The label of the proxy, and the label that the policy selects."""


def _differs(claim: str, was: Side, now: Side) -> list[tuple[str, str, object, object]]:
    later = ("Exclusive", "3.0") if claim == "release" else ("Disabled", "2.14")
    led = REFERRED if claim == "release" else TAGGED  # 3.0 refuses tags
    before, after = (
        state(
            MESH.format(env=env, chosen=chosen, outbound=outbound),
            mode=mode,
            release=release,
            complete=True,
        )
        for (env, chosen), (mode, release), outbound in (
            (was, ("Disabled", "2.14"), TAGGED),
            (now, later, led),
        )
    )
    (mesh,) = prove(before, after, claims=(claim,)).meshes.values()
    return [
        (proxy.name, witness.field, witness.before.value, witness.after.value)
        for proxy in mesh.claims[claim].proxies
        for witness in proxy.witnesses
    ]


@pytest.mark.parametrize("claim", ["carry", "release"])
@pytest.mark.parametrize(
    ("was", "now", "differs"),
    [
        (("dev", "dev"), ("dev", "dev"), []),
        (("dev", "dev"), ("prod", "prod"), []),
        (("dev", "prod"), ("prod", "dev"), []),
        (("dev", "dev"), ("prod", "dev"), [("web-1", "connectionTimeout", "1s", "5s")]),
        (("dev", "prod"), ("prod", "prod"), [("web-1", "connectionTimeout", "5s", "1s")]),
    ],
)
def test_each_side_reads_with_the_labels_it_has(
    claim: str, was: Side, now: Side, differs: list[tuple[str, ...]]
) -> None:
    """Where the tag was reached by no MeshTimeout, 3.0 gives it a limit that it had not."""
    unset = claim == "release" and was[0] != was[1]
    limits = [("web-1", *one) for one in UNSET] if unset else []
    assert _differs(claim, was, now) == [*limits, *differs]


@pytest.mark.parametrize("mode", ["Disabled", "Everywhere", "Exclusive"])
def test_an_outbound_that_stays_by_tag_is_none_on_3_0(mode: str) -> None:
    """In mode Exclusive 2.x has it as well, as it stands in the Dataplane."""
    text = MESH.format(env="dev", chosen="dev", outbound=TAGGED)
    before, after = (
        state(text, mode=mode, release=release, complete=True) for release in ("2.14", "3.0")
    )
    (mesh,) = prove(before, after, claims=("release",)).meshes.values()
    (web,) = (one for one in mesh.claims["release"].proxies if one.name == "web-1")
    said = [(w.place, w.field, w.before.value, w.after.value) for w in web.witnesses]
    outbound = ("127.0.0.1:81", "networking.outbound", "kuma.io/service=api", None)
    assert (outbound in said, web.verdict.value) == (True, "different")


RENAMED = """
type: Dataplane
name: web-1
mesh: default
labels: {{kuma.io/workload: web}}
networking:
  address: 10.0.0.1
  inbound: [{{port: 80, protocol: http, tags: {{kuma.io/service: web, kuma.io/protocol: http}}}}]
  transparentProxying: {{redirectPortInbound: 15006, redirectPortOutbound: 15001}}
---
type: Dataplane
name: api-1
mesh: default
labels: {{kuma.io/workload: api}}
networking:
  address: 10.0.0.2
  inbound: [{{port: 80, protocol: http, tags: {{kuma.io/service: old, kuma.io/protocol: http}}}}]
---
type: MeshService
name: api
mesh: default
labels: {{kuma.io/display-name: api, kuma.io/service: {service}}}
spec:
  selector: {{dataplaneLabels: {{matchLabels: {{kuma.io/workload: api}}}}}}
  ports: [{{name: main, port: 80, targetPort: 80, appProtocol: http}}]
---
type: MeshTimeout
name: t
mesh: default
spec:
  targetRef: {{kind: Mesh}}
  to:
  - targetRef: {{kind: MeshService, {ref}}}
    default: {{connectionTimeout: {value}}}
"""


@pytest.mark.parametrize(
    ("mode", "value", "service", "differs"),
    [
        # Where there was the tag alone, the service may read what that read …
        ("", "1s", "old", []),
        ("", "2s", "old", [("connectionTimeout", "1s", "2s")]),
        # … and where there were real outbounds too, they keep what they read themselves.
        ("Everywhere", "1s", "old", [("connectionTimeout", "5s", "1s")]),
        ("Disabled", "1s", "old", [("connectionTimeout", "5s", "1s")]),
        # A service that takes the place of another tag never read this one.
        ("Disabled", "1s", "else", [("connectionTimeout", "5s", "1s"), *UNSET]),
    ],
)
def test_a_service_reads_what_its_tag_read(
    mode: str, value: str, service: str, differs: object
) -> None:
    """In mode Disabled a service by hand has an outbound: features-2.14/a3-…-mode-disabled."""
    old = RENAMED.format(ref="name: old", value="1s", service=service)
    if not mode:  # nobody wrote the service
        old = "---".join(part for part in old.split("---") if "type: MeshService\n" not in part)
    before = state(old, mode=mode or "Disabled", complete=True)
    by_label = "labels: {kuma.io/display-name: api}"
    text = RENAMED.format(ref=by_label, value=value, service=service)
    after = state(text, mode="Exclusive", release="3.0", complete=True)
    (mesh,) = prove(before, after, claims=("release",)).meshes.values()
    found = {
        (w.field, w.before.value, w.after.value)
        for proxy in mesh.claims["release"].proxies
        for w in proxy.witnesses
        if w.policy_type == "MeshTimeout"
    }
    assert sorted(found) == differs


OWN_OUTBOUND = """type: Mesh
name: default
skipCreatingInitialPolicies: ['*']
---
type: MeshService
mesh: default
name: be
labels: {kuma.io/origin: zone, kuma.io/zone: default, kuma.io/service: backend}
spec:
  selector: {dataplaneLabels: {matchLabels: {app: backend}}}
  ports: [{port: 80, targetPort: 8080, appProtocol: http, name: main}]
---
type: Dataplane
mesh: default
name: web-1
labels: {kuma.io/origin: zone, kuma.io/zone: default}
networking:
  address: 10.0.0.1
  inbound: [{port: 8080, protocol: http, tags: {kuma.io/service: web, kuma.io/protocol: http}}]
  outbound: [{port: 11000, backendRef: {kind: MeshService, name: be, port: 80}}]
---
type: MeshTimeout
mesh: default
name: t
labels: {kuma.io/origin: zone, kuma.io/zone: default}
spec: {to: [{targetRef: REF, default: {http: {requestTimeout: 5s}}}]}
"""


def test_what_the_tag_read_is_nothing_that_an_outbound_of_its_own_read(tmp_path: Path) -> None:
    """The outbound by tag read 5s; the one that web names itself is of the real service, in any
    mode (features 95), and had Envoy's 15s. That it reads 5s after the upgrade was idle nowhere."""
    files = []
    for name, ref in (
        ("before", "{kind: MeshService, name: backend}"),
        ("after", "{kind: MeshService, labels: {kuma.io/display-name: be}}"),
    ):
        files.append(tmp_path / f"{name}.yaml")
        files[-1].write_text(OWN_OUTBOUND.replace("REF", ref))
    proved = command("prove", *files, "--target", "3.0", "--format", "json").json
    (witness,) = proved["claims"]["release"]["dataplanes"]["web-1"]["witnesses"]
    assert (witness["field"], witness["effect"]) == ("http.requestTimeout", "value")
    assert (witness["before"]["value"], witness["after"]["value"]) == ("15s", "5s")


STAY = """
---
type: TrafficRoute
name: route-all
mesh: default
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: '*'}}]
conf: {destination: {kuma.io/service: '*'}}
---
type: HealthCheck
name: probes
mesh: default
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: '*'}}]
conf: {interval: 5s, timeout: 2s, unhealthyThreshold: 3, healthyThreshold: 1}
"""
BY_NAME = "  - targetRef: {kind: MeshService, name: api}"
BY_LABELS = "  - targetRef: {kind: MeshService, labels: {kuma.io/display-name: api}}"


@pytest.mark.parametrize("later", ["1s", "2s"])
def test_old_policies_that_stay_end_and_nothing_else_is_asked_of_them(later: str) -> None:
    """A reference that real services hear first on 3.0 is held to what its tag reads before."""
    text = MESH.format(env="dev", chosen="dev", outbound=TAGGED)
    before = text.replace("  - targetRef: {kind: Mesh}", BY_NAME) + STAY
    after = text.replace("  - targetRef: {kind: Mesh}", BY_LABELS).replace("1s", later) + STAY
    sides = (
        state(body, mode="Disabled", release=release, complete=True)
        for body, release in ((before, "2.14"), (after, "2.14"), (after, "3.0"))
    )
    was, now, upgraded = sides
    proof = prove(was, now, claims=("release",), upgraded=upgraded, halfway=True)
    found = [
        (w.field, w.before.value, w.after.value)
        for w in proof.witnesses("release")
        if w.field in ("connectionTimeout", "interval")
    ]
    moved = [("connectionTimeout", "1s", "2s")] if later == "2s" else []
    assert set(found) == {*moved, ("interval", "5s", None)}


def test_a_route_that_keeps_the_tag_differs_in_where_it_goes() -> None:
    """Its backend is the service by tag again, whose place nothing takes; the route is there."""
    pair = GOLDEN / "live" / "03-0068"
    data = command(
        "prove", pair / "before.yaml", pair / "after.yaml", "--format", "json", given=None
    ).json
    proxies = data["claims"]["carry"]["dataplanes"].values()
    of_routes = [w for p in proxies for w in p["witnesses"] if w["policyType"] == "MeshHTTPRoute"]
    assert {w["field"] for w in of_routes} == {"backendRefs"}
    assert all(w["before"]["value"] for w in of_routes)
