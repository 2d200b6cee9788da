"""backendRefs that get no traffic: what 2.x and 3.0 make of them counts in every proof.

2.x leaves such a reference out, and with the last one the route; 3.0 answers its share with 500.
The values are worked out from that, and asked for through the command line.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kumamigrate.cli import app
from tests.runner import CliRunner

MESH = """type: Mesh
name: default
meshServices: {mode: Exclusive}
skipCreatingInitialPolicies: ["*"]
---
type: MeshService
name: orders
mesh: default
labels: {team: shop}
spec:
  selector: {dataplaneLabels: {matchLabels: {app: orders}}}
  ports:
    - {port: 80, name: main, targetPort: 80, appProtocol: http}
    - {port: 81, name: other, targetPort: 81, appProtocol: http}
    - {port: 90, name: raw, targetPort: 90, appProtocol: tcp}
"""
UNNAMED = MESH.replace("port: 80, name: main", "port: 80")
TO = "{kind: MeshService, labels: {team: shop}, sectionName: %s}"
REF = "{kind: MeshService, labels: {team: shop}, %s}"
GOOD, OTHER, GONE, RAW = "port: 80", "port: 81", "port: 8081", "port: 90"
NONE, ZERO = "weight: 1", "port: 80, weight: 0"


def route(*refs: str, kind: str = "MeshHTTPRoute", section: str = "main", extra: str = "") -> str:
    matches = "matches: [{path: {type: PathPrefix, value: /api}}], " if "HTTP" in kind else ""
    listed = ", ".join(REF % ref for ref in refs)
    return f"""---
type: {kind}
name: r
mesh: default
spec:
  to:
    - targetRef: {TO % section}
      rules: [{{{matches}default: {{backendRefs: [{listed}]{extra}}}}}]
"""


def proved(folder: Path, claim: str, before: str, after: str, *words: str) -> dict[str, Any]:
    for name, text in (("before", before), ("after", after)):
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    paths = [str(folder / "before.yaml"), str(folder / "after.yaml")]
    result = CliRunner().invoke(app, ["prove", *paths, *words, "--format", "json"])
    found: dict[str, Any] = json.loads(result.stdout)["claims"][claim]
    return found


def verdict(folder: Path, claim: str, before: str, after: str, *words: str) -> str:
    found: str = proved(folder, claim, MESH + before, MESH + after, *words)["verdict"]
    return found


def live(folder: Path, before: str, after: str, release: str = "2.14") -> str:
    return verdict(folder, "live", before, after, "--from", release, "--target", release)


@pytest.mark.parametrize("release", ["2.11", "2.14"])
@pytest.mark.parametrize("lost", [GONE, RAW, ZERO, NONE])
def test_2x_has_no_route_whose_backends_are_all_left_out(
    lost: str, release: str, tmp_path: Path
) -> None:
    assert live(tmp_path, route(lost), "", release) == "equivalent"
    assert live(tmp_path, route(lost), route(GOOD), release) == "different"


@pytest.mark.parametrize("lost", [GONE, RAW, ZERO, NONE])
def test_3_0_answers_with_500_where_no_backend_is_left(lost: str, tmp_path: Path) -> None:
    assert live(tmp_path, route(lost), "", "3.0") == "different"
    assert live(tmp_path, route(lost), route(GOOD), "3.0") == "different"
    other = GONE if lost != GONE else RAW
    assert live(tmp_path, route(lost), route(other), "3.0") == "equivalent"


@pytest.mark.parametrize("lost", [GONE, RAW, NONE])
def test_2x_gives_the_share_to_the_others_and_3_0_answers_it_with_500(
    lost: str, tmp_path: Path
) -> None:
    assert live(tmp_path, route(GOOD, lost), route(GOOD)) == "equivalent"
    assert live(tmp_path, route(GOOD, lost), route(GOOD), "3.0") == "different"


def test_a_weight_of_0_beside_others_is_nothing_on_any_release(tmp_path: Path) -> None:
    assert live(tmp_path, route(OTHER, ZERO), route(OTHER)) == "equivalent"
    assert live(tmp_path, route(OTHER, ZERO), route(OTHER), "3.0") == "equivalent"


def test_the_weight_of_an_only_backend_says_nothing(tmp_path: Path) -> None:
    heavy = f"{OTHER}, weight: 7"
    assert live(tmp_path, route(OTHER), route(heavy)) == "equivalent"
    assert live(tmp_path, route(OTHER, GOOD), route(heavy, GOOD)) == "different"


@pytest.mark.parametrize("lost", [GONE, RAW, ZERO, NONE])
def test_the_upgrade_is_different_where_a_backend_is_lost(lost: str, tmp_path: Path) -> None:
    words = ("--from", "2.14", "--target", "3.0")
    assert verdict(tmp_path, "release", route(lost), route(lost), *words) == "different"
    good = route(GOOD)
    assert verdict(tmp_path, "release", good, good, *words) == "equivalent"


def test_the_upgrade_is_different_for_a_share_but_not_for_one_of_weight_0(tmp_path: Path) -> None:
    words = ("--from", "2.14", "--target", "3.0")
    share, zero = route(OTHER, GONE), route(OTHER, ZERO)
    assert verdict(tmp_path, "release", share, share, *words) == "different"
    assert verdict(tmp_path, "release", zero, zero, *words) == "equivalent"


def test_a_redirect_asks_no_backend_on_3_0(tmp_path: Path) -> None:
    words = ", filters: [{type: RequestRedirect, requestRedirect: {hostname: example.com}}]"
    lost, kept = route(GONE, extra=words), route(GOOD, extra=words)
    assert live(tmp_path, lost, "") == "equivalent"
    assert live(tmp_path, lost, "", "3.0") == "different"
    assert verdict(tmp_path, "release", lost, lost, "--target", "3.0") == "different"
    assert verdict(tmp_path, "release", kept, kept, "--target", "3.0") == "equivalent"


def test_a_tcp_route_carries_http_but_no_port_that_is_not_there(tmp_path: Path) -> None:
    def tcp(*refs: str) -> str:
        return route(*refs, kind="MeshTCPRoute", section="raw")

    assert live(tmp_path, tcp(RAW, GONE), tcp(RAW)) == "equivalent"
    assert live(tmp_path, tcp(GOOD, GONE), tcp(GOOD)) == "equivalent"
    assert live(tmp_path, tcp(GOOD), tcp(RAW)) == "different"
    assert live(tmp_path, tcp(GONE), "") == "different"


def test_by_name_and_by_number_are_one_cluster(tmp_path: Path) -> None:
    assert live(tmp_path, route(OTHER), route("sectionName: other")) == "equivalent"


SECTIONS = """---
type: MeshTimeout
name: by-section
mesh: default
spec:
  to:
    - targetRef: {kind: MeshService, labels: {team: shop}, sectionName: main}
      default: {http: {requestTimeout: 7s}}
---
type: MeshTimeout
name: by-service
mesh: default
spec:
  to:
    - targetRef: {kind: MeshService, labels: {team: shop}}
      default: {http: {requestTimeout: SECONDS}}
"""
EXPLICIT = """---
type: Dataplane
name: web-1
mesh: default
networking:
  address: 10.0.0.1
  inbound: [{port: 8080, tags: {kuma.io/service: web, kuma.io/protocol: http}}]
  outbound: [{port: 10000, backendRef: {kind: MeshService, name: orders, port: 80}}]
"""


def sections(seconds: str) -> str:
    return SECTIONS.replace("SECONDS", seconds)


@pytest.mark.parametrize("release", ["2.14", "3.0"])
@pytest.mark.parametrize("proxy", ["", EXPLICIT])
def test_a_port_called_by_its_number_never_meets_what_is_on_its_name(
    proxy: str, release: str, tmp_path: Path
) -> None:
    """Without the Dataplane some proxy could have such an outbound all the same."""
    before, after = (sections(s) + proxy for s in ("3s", "4s"))
    assert live(tmp_path, before, after, release) == "different"


@pytest.mark.parametrize(("mesh", "same"), [(MESH, False), (UNNAMED, True)])
def test_a_section_called_by_number_is_met_only_where_the_port_has_no_name(
    mesh: str, same: bool, tmp_path: Path
) -> None:
    before, after = (
        mesh + sections(seconds).replace("sectionName: main}", 'sectionName: "80"}') + EXPLICIT
        for seconds in ("3s", "4s")
    )
    found = proved(tmp_path, "live", before, after, "--target", "2.14")["dataplanes"]["web-1"]
    assert found["verdict"] == ("equivalent" if same else "different")


def test_inspect_says_what_an_outbound_by_number_does_not_read(tmp_path: Path) -> None:
    path = tmp_path / "mesh.yaml"
    for mesh, dead in ((MESH, True), (UNNAMED, False)):
        path.write_text(mesh + sections("3s") + EXPLICIT, encoding="utf-8")
        shown = CliRunner().invoke(app, ["inspect", str(path), "--release", "2.14"]).stdout
        assert ("no effect: its outbound calls the port by its number 80" in shown) is dead


def test_a_run_without_a_change_says_that_the_upgrade_is_different(tmp_path: Path) -> None:
    path = tmp_path / "mesh.yaml"
    path.write_text(MESH + route(ZERO), encoding="utf-8")
    words = ["run", str(path), "--target", "3.0", "--dry-run", "--format", "json"]
    result = CliRunner().invoke(app, words)
    report = json.loads(result.stdout)
    assert result.exit_code == 4
    assert ("backend-without-traffic", "manual") in {
        (found["rule"], found["status"]) for found in report["findings"]
    }
    claim = report["proof"]["claims"]["release"]
    shown = {w["after"]["value"] for p in claim["dataplanes"].values() for w in p["witnesses"]}
    assert shown == {"present, answers 500"}


@pytest.mark.parametrize(
    ("protocol", "carried"),
    [("http", True), ("http2", True), ("grpc", True), ("kafka", False), ("tcp", False)],
)
def test_an_http_route_carries_backends_of_http(
    protocol: str, carried: bool, tmp_path: Path
) -> None:
    """matcher.md: what an HTTP route cannot carry is left out on 2.x, and so is its route."""
    mesh = MESH.replace("appProtocol: tcp", f"appProtocol: {protocol}")
    found = proved(tmp_path, "live", mesh + route(RAW), mesh)
    assert found["verdict"] == ("different" if carried else "equivalent")
