"""What `check` says, `run` does: the direct road to 3.0 and the one over 2.14 end in one place.

What old policies become for 2.14 and 3.0 would refuse is not written on the direct road: the report
sends the reader to 2.14 first, and who goes there only then has lost nothing.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from functools import cache
from pathlib import Path

import pytest

from kumamigrate.flow import sumproof
from tests.cases import Case, cases, contents
from tests.frontdoor import command, some
from tests.test_story import settings_of

APART = {
    "from-mesh-service/not-for-3.0": "an intermediate form, which waits for identities as well",
    "from-mesh-service/rewrites": "an intermediate form, which waits for identities as well",
    "legacy-health-check/for-3.0": "2.14 has a form for the probe and 3.0 has none",
    "legacy-health-check/http-only": "2.14 has a form for the probe and 3.0 has none",
    "legacy-health-check/kafka": "2.14 has a form for the probe and 3.0 has none",
    "legacy-health-check/override": "2.14 has a form for the probe and 3.0 has none",
    "legacy-health-check/send-receive": "2.14 has a form for the probe and 3.0 has none",
    "legacy-health-check/unknown": "2.14 has a form for the probe and 3.0 has none",
    "legacy-timeout/tie-settled-by-inventory": "after the first run the inventory is out of date",
    "mixed-route-entry/rewrites": "3.0 does not ask for the split",
    "multi-entry-route/export-goes-by-display-name": "one policy on two routes, or two",
    "multi-entry-route/old-references-are-copied": "one policy on two routes, or two",
    "multi-entry-route/tcp-route": "3.0 would refuse the new half, whose backend has to wait",
    "route-in-target-ref/keeps-rank-above-subset": "3.0 has no kind that keeps the rank",
    "route-in-target-ref/one-policy-per-group-by-tags": "3.0 has no kind that keeps the rank",
    "reference-by-name/rank-that-moved-first": "only on the way to 3.0 is the rank of it asked for",
}
"""Where the roads part still, and why."""
ROADS = [c for c in cases() if f"{c.rule}/{c.name}" not in APART]


@pytest.fixture
def without_the_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the last proof of a run: it changes nothing of the files."""
    monkeypatch.setattr(sumproof, "as_a_whole", lambda outcome: outcome)


def copy(before: Path, folder: Path) -> Path:
    shutil.copytree(before, folder)
    return folder


@pytest.mark.usefixtures("without_the_sum")
@pytest.mark.parametrize("case", some(ROADS), ids=lambda case: f"{case.rule}/{case.name}")
def test_both_roads_end_in_the_same_files(case: Case, tmp_path: Path) -> None:
    settings = settings_of(case)[2:]
    over, direct = (copy(case.before, tmp_path / name) for name in ("over", "direct"))
    command("run", over, "--target", "2.14", *settings)
    for folder in (over, direct):
        command("run", folder, "--target", "3.0", *settings)
    if case.rule.startswith("legacy-"):
        command("run", direct, "--target", "2.14", *settings)
        command("run", direct, "--target", "3.0", *settings)
    assert contents(over) == contents(direct)


def test_every_exception_is_a_case() -> None:
    assert set(APART) <= {f"{case.rule}/{case.name}" for case in cases()}


MESH = """apiVersion: kuma.io/v1alpha1
kind: Mesh
metadata: {name: default}
spec: {meshServices: {mode: %s}, skipCreatingInitialPolicies: ["*"]}
---
"""
ON_ROUTE = """apiVersion: kuma.io/v1alpha1
kind: MeshHTTPRoute
metadata: {name: r, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec:
  to:
    - targetRef: {kind: MeshService, name: orders, namespace: orders}
      rules:
        - matches: [{path: {type: PathPrefix, value: /o}}]
          default: {}
---
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: t, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec:
  targetRef: {kind: MeshHTTPRoute, name: r}
  to:
    - targetRef: {kind: Mesh}
      default: {http: {requestTimeout: 40s}}
"""
NARROWER = """---
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: web, namespace: %s, labels: {kuma.io/mesh: default}}
spec:
  targetRef: {kind: %s, %s: {app: web}}
  to:
    - targetRef: {kind: Mesh}
      default: {http: {requestTimeout: 10s}}
"""
RIVALS = {
    "nobody narrower": "",
    "of a namespace": NARROWER % ("frontend", "Dataplane", "labels"),
    "of the system": NARROWER % ("kuma-system", "Dataplane", "labels"),
    "by tags": NARROWER % ("kuma-system", "MeshSubset", "tags"),
}


PARTED = {
    ("Disabled", "of a namespace"),
    ("Everywhere", "nobody narrower"),
    ("Everywhere", "of the system"),
    ("Everywhere", "by tags"),
}
"""Modes that still have both outbounds: there the half beside may stay instead of the old one."""
MESHES = [
    pytest.param(
        MESH % mode + ON_ROUTE + RIVALS[rival],
        id=f"{mode}, {rival}",
        marks=[pytest.mark.xfail(reason="the half beside stays")] * ((mode, rival) in PARTED),
    )
    for mode in ("Disabled", "Everywhere", "Exclusive")
    for rival in RIVALS
]


@cache
def on_2_14(text: str) -> str:
    """Return what a run to 2.14 makes of a file; two tests look at each."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "k.yaml"
        file.write_text(text)
        command("run", file, "--target", "2.14")
        return file.read_text()


@pytest.mark.usefixtures("without_the_sum")
@pytest.mark.parametrize("text", MESHES)
def test_a_route_at_the_top_is_no_dead_end(text: str, tmp_path: Path) -> None:
    """At the top it outranked everybody. What keeps the rank on 2.14 has to be read by 3.0."""
    over, direct = (tmp_path / name for name in ("over.yaml", "direct.yaml"))
    over.write_text(on_2_14(text))
    direct.write_text(text)
    for file in (over, direct):
        command("run", file, "--target", "3.0")
    assert over.read_text() == direct.read_text()


@pytest.mark.usefixtures("without_the_sum")
@pytest.mark.parametrize("mode", ["Disabled", "Everywhere", "Exclusive"])
@pytest.mark.parametrize("rival", RIVALS)
def test_no_mesh_subset_is_new(mode: str, rival: str) -> None:
    """3.0 refuses it, so a run that writes one leaves work for which there may be no form."""
    written = on_2_14(MESH % mode + ON_ROUTE + RIVALS[rival])
    assert written.count("MeshSubset") <= RIVALS[rival].count("MeshSubset")


def test_the_half_beside_goes_back_into_the_policy_that_the_user_wrote(tmp_path: Path) -> None:
    """On 2.14 in mode Disabled the new form stands beside the old; with 3.0 there is one again."""
    files = tmp_path / "files"
    files.mkdir()
    service = """---
apiVersion: kuma.io/v1alpha1
kind: MeshService
metadata: {name: orders, namespace: orders, labels: {kuma.io/mesh: default}}
spec:
  selector: {dataplaneLabels: {matchLabels: {app: orders}}}
  ports: [{port: 80, targetPort: 8080, name: main, appProtocol: http}]
"""
    (files / "k.yaml").write_text(MESH % "Disabled" + ON_ROUTE + service)
    command("run", files)
    assert "name: t-route" in (files / "k.yaml").read_text()
    said = command("run", files, "--target", "3.0", "--format", "json").json
    text = (files / "k.yaml").read_text()
    assert "name: t-route" not in text, json.dumps(said["held"], indent=1)
    assert "{kind: MeshHTTPRoute, labels: {kuma.io/display-name: r, k8s.kuma.io/namespace" in text
    assert "metadata: {name: t," in text
