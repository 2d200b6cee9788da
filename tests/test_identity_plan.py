"""The move to MeshIdentity, as somebody makes it: a stage a run, each committed by itself.

The states were put into a running 2.14.3, one after the other, and none was refused; what its
clients accepted and its servers trusted at each is in golden/identity-plan.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kumamigrate.cli import app
from kumamigrate.model.identity import IDENTITY, spiffe_id
from kumamigrate.model.read import read_resources
from kumamigrate.source.reading.load import read_file
from tests.cases import GOLDEN
from tests.runner import CliRunner

PLAN = GOLDEN / "identity-plan"
STATES = [(PLAN / f"{n}.yaml").read_text() for n in range(5)]
ANSWERS: dict[str, Any] = json.loads((PLAN / "answers.json").read_text())
DOMAIN = "default.east.mesh.local"
"""What a MeshIdentity that names no trust domain has for the mesh and zone of these states."""
NEXT = ["run", "--accept", "mesh-mtls", "--zone", "east"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.yaml").write_text(STATES[0], encoding="utf-8")
    return tmp_path


def _git(folder: Path, *words: str) -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    own = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(folder), *own, *words], check=True, capture_output=True)


def _run(*words: str) -> tuple[str, int]:
    result = CliRunner().invoke(app, list(words))
    return result.output, result.exit_code


def test_each_run_writes_one_stage_and_waits_for_it_to_be_committed(folder: Path) -> None:
    _git(folder, "init")
    for number in range(1, 5):
        _git(folder, "add", "-A")
        _git(folder, "commit", "-m", f"stage {number - 1}")
        said, code = _run(*NEXT)
        assert (folder / "m.yaml").read_text() == STATES[number], said
        assert f"stage {number} of 4, next" in said
        assert ("was not tried on an Envoy" in said) == (number == 1)  # it holds both names
        assert code == 3  # each known client is let in; that others may come is not known
        again, _ = _run(*NEXT)
        assert (folder / "m.yaml").read_text() == STATES[number]
        if number < 4:
            assert f"stage {number} is written: commit it" in again
            assert "run again with --accept mesh-mtls" in said
        proof, code = _run("prove", "--against", "HEAD", "--zone", "east", "--format", "json")
        live = json.loads(proof)["claims"]["live"]
        assert (live["verdict"], code) == ("unknown", 3)
        assert [d for d in live["dataplanes"].values() if d["witnesses"]] == []
    _git(folder, "commit", "-am", "the end")
    said, code = _run(*NEXT)
    assert ("mesh-mtls" in said, code) == (False, 0)


def _of_kubernetes(text: str) -> str:
    """Return a state with its Mesh as Kubernetes has it."""
    mesh, rest = text.split("---\n", 1)
    spec = "".join(f"  {line}\n" for line in mesh.splitlines()[2:])
    head = "apiVersion: kuma.io/v1alpha1\nkind: Mesh\nmetadata: {name: default}\nspec:\n"
    return f"{head}{spec}---\n{rest}"


def test_a_mesh_on_kubernetes_goes_through_the_same_stages(folder: Path) -> None:
    (folder / "m.yaml").write_text(_of_kubernetes(STATES[0]), encoding="utf-8")
    _git(folder, "init")
    for number in range(1, 5):
        _git(folder, "add", "-A")
        _git(folder, "commit", "-m", f"stage {number - 1}")
        said, _ = _run(*NEXT)
        assert f"stage {number} of 4, next" in said
        mesh, *others = (folder / "m.yaml").read_text().split("---\n")
        assert mesh == _of_kubernetes(STATES[number]).split("---\n")[0]
        assert sum("kind: MeshIdentity" in one for one in others) == (0, 2, 1, 1)[number - 1]


OF_PODS = """apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {kuma.io/sidecar-injection: enabled}}
---
apiVersion: kuma.io/v1alpha1
kind: Mesh
metadata: {name: default}
spec:
  meshServices: {mode: Exclusive}
  mtls: {enabledBackend: ca, backends: [{name: ca, type: builtin}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  template:
    metadata: {labels: {app: web}}
    spec: {serviceAccountName: front, containers: [{name: web, ports: [{containerPort: 8080}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}
---
apiVersion: kuma.io/v1alpha1
kind: MeshTrafficPermission
metadata: {name: web, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec:
  from:
  - targetRef: {kind: MeshSubset, tags: {kuma.io/service: web_shop_svc_80}}
    default: {action: Allow}
"""


def test_workloads_of_the_repository_are_known_by_their_service_accounts(folder: Path) -> None:
    """MeshIdentity names namespace and account, `Mesh.mtls` the service: both are let in first."""
    (folder / "m.yaml").write_text(OF_PODS, encoding="utf-8")
    _run(*NEXT)
    read = read_resources(read_file("m.yaml", (folder / "m.yaml").read_bytes()))
    (permission,) = (r for r in read if r.type == "MeshTrafficPermission")
    assert permission.spec["rules"][0]["default"]["allow"] == [
        {"spiffeID": {"type": "Exact", "value": f"spiffe://{DOMAIN}/ns/shop/sa/front"}},
        {"spiffeID": {"type": "Prefix", "value": "spiffe://default/web_shop_svc_80"}},
    ]


OF_NAMESPACE = """  # whoever lives in shop
  - targetRef: {kind: MeshSubset, tags: {k8s.kuma.io/namespace: shop}}
    default: {action: Allow}
"""
OF_ALL = {"spiffeID": {"type": "Prefix", "value": "spiffe://default.default.mesh.local/ns/shop/sa"}}
"""By the path of a MeshIdentity on Kubernetes, `/ns/<namespace>/sa/<service account>`; without the
slash, which 2.14 refuses at the end."""
OF_SERVICE = {"spiffeID": {"type": "Prefix", "value": "spiffe://default/web_shop_svc_80"}}


def _permission(folder: Path) -> tuple[str, Any]:
    text = (folder / "m.yaml").read_text()
    read = read_resources(read_file("m.yaml", text.encode()))
    (permission,) = (r for r in read if r.type == "MeshTrafficPermission")
    return text, permission.spec["rules"][0]["default"]["allow"]


def test_a_namespace_that_is_let_in_is_let_in_as_a_whole(folder: Path) -> None:
    """Its clients to come as well; by `Mesh.mtls`, whose names begin with services, those known."""
    (folder / "m.yaml").write_text(OF_PODS.partition("  - targetRef")[0] + OF_NAMESPACE)
    _git(folder, "init")
    for number in range(1, 5):
        _git(folder, "add", "-A")
        _git(folder, "commit", "-m", f"stage {number - 1}")
        said, _ = _run("run", "--accept", "mesh-mtls", "--verbose")
        text, allowed = _permission(folder)
        assert allowed == ([OF_ALL, OF_SERVICE] if number < 4 else [OF_ALL]), said
        assert "# whoever lives in shop" in text
        assert "trust domain default.default.mesh.local, of a zone that nobody named" in said
        told = "who comes to namespace shop in this zone is let in by the id of a MeshIdentity"
        assert (told in said, "are not in the rules" in said) == (number == 1, False)
        proof, _ = _run("prove", "--against", "HEAD", "--format", "json")
        live = json.loads(proof)["claims"]["live"]
        assert [d for d in live["dataplanes"].values() if d["witnesses"]] == []


@pytest.mark.parametrize(
    ("tags", "path", "last"),
    [
        ("k8s.kuma.io/namespace: shop", "/ns/{{ .Namespace }}/sa/{{ .ServiceAccount }}", OF_ALL),
        ("k8s.kuma.io/namespace: shop", "/ns/{{.Namespace}}/sa/{{.ServiceAccount}}", OF_ALL),
        ("k8s.kuma.io/namespace: shop", "/of/{{ .ServiceAccount }}", "/of/front"),
        ("k8s.kuma.io/namespace: shop, kuma.io/zone: default", None, "/ns/shop/sa/front"),
    ],
)
def test_only_a_namespace_alone_whose_ids_begin_alike_is_a_prefix(
    tags: str, path: str | None, last: Any, folder: Path
) -> None:
    spec = "{selector: {dataplane: {matchLabels: {}}}, spiffeID: {trustDomain: "
    spec += "default.default.mesh.local" + (f', path: "{path}"' if path else "") + "}}"
    identity = f"---\ntype: MeshIdentity\nmesh: default\nname: i\nspec: {spec}\n"
    text = OF_PODS.partition("  - targetRef")[0] + OF_NAMESPACE
    text = text.replace("k8s.kuma.io/namespace: shop", tags) + identity
    (folder / "m.yaml").write_text(text)
    said, _ = _run("run", "--accept", "mesh-mtls", "--verbose")
    _, allowed = _permission(folder)
    if isinstance(last, str):
        domain = "spiffe://default.default.mesh.local"
        last = {"spiffeID": {"type": "Exact", "value": f"{domain}{last}"}}
    assert allowed == [last, OF_SERVICE]
    assert ("clients that are not known here" in said) == (last["spiffeID"]["type"] == "Exact")


def test_what_has_to_be_done_first_is_no_reason_to_run_again_before(folder: Path) -> None:
    texts = OF_PODS.replace("Exclusive", "Disabled")
    (folder / "m.yaml").write_text(texts, encoding="utf-8")
    said, _ = _run(*NEXT)
    assert "switch meshServices.mode to Exclusive first" in said
    assert "→ Do what stands above first, on 2.x. Then `kumamigrate run --accept mesh-mtls`" in said
    assert "writes the next one" not in said


@pytest.mark.parametrize("skipped", [(0, 3), (0, 2), (1, 4)], ids=str)
def test_stages_left_out_cut_somebody_off_and_are_told(
    skipped: tuple[int, int], tmp_path: Path
) -> None:
    """All but a stage at a time: from 0 to 2 the only thing missing is time between them."""
    paths = []
    for number in skipped:
        path = tmp_path / f"{number}.yaml"
        path.write_text(STATES[number], encoding="utf-8")
        paths.append(str(path))
    said, code = _run("prove", *paths, "--zone", "east", "--format", "json")
    assert (json.loads(said)["claims"]["live"]["verdict"] != "equivalent", code != 0) == (
        True,
        True,
    )


def test_without_git_and_inventory_nothing_goes_on(folder: Path) -> None:
    said, _ = _run(*NEXT)
    assert (folder / "m.yaml").read_text() == STATES[1]
    said, _ = _run(*NEXT)
    assert (folder / "m.yaml").read_text() == STATES[1]
    assert "whether stage 1 is rolled out is not known" in said


@pytest.mark.parametrize(("taken", "goes_on"), [(1, True), (0, False)], ids=["since", "before"])
def test_an_inventory_tells_whether_a_stage_is_rolled_out(
    taken: int, goes_on: bool, folder: Path
) -> None:
    (folder / "m.yaml").write_text(STATES[1], encoding="utf-8")
    inventory = folder.parent / f"inventory-{taken}.yaml"
    inventory.write_text(STATES[taken], encoding="utf-8")
    _run(*NEXT, "--inventory", str(inventory))
    assert (folder / "m.yaml").read_text() == STATES[2 if goes_on else 1]


def test_it_is_not_written_unasked(folder: Path) -> None:
    for target in ("2.14", "3.0"):
        _run("run", "--target", target, "--zone", "east", "--select", "mesh-mtls")
        assert (folder / "m.yaml").read_text() == STATES[0]
    said, _ = _run("run", "--target", "3.0", "--zone", "east", "--dry-run")
    assert "stage 1 of 4, next" in said
    assert "--accept mesh-mtls" in said


def test_the_ids_written_are_those_that_a_control_plane_gave() -> None:
    """The names that clients accepted of db, once its identity was published."""
    state = read_resources(read_file("m.yaml", STATES[2].encode()))
    published = next(r for r in state if r.type == IDENTITY and r.name == "identity-published")
    db = next(r for r in state if r.type == "Dataplane" and r.name == "db-1")
    assert spiffe_id(published, db, "east") in ANSWERS["stages"][2]["names"]


LEFT = {
    "mode": ("{mode: Exclusive}", "{mode: Everywhere}", "meshServices.mode"),
    "backend": ("type: builtin", "type: vault", "vault"),
    "old external service": (
        "---\ntype: MeshService\nmesh: default\nname: db",
        "---\ntype: ExternalService\nmesh: default\nname: out\ntags: {kuma.io/service: out}\n"
        "networking: {address: example.com:443}\n---\ntype: MeshService\nmesh: default\nname: db",
        "every ExternalService",
    ),
    "strict": ("mode: STRICT", "mode: PERMISSIVE", "mode Permissive"),
    "no workload label": (", kuma.io/workload: api", "", "the SPIFFE id of api-1 is not known"),
    "who begins alike": ("kuma.io/service: web,", "kuma.io/service: api-2,", "web-1"),
    "nobody known": ("tags: {kuma.io/service: api}}", "tags: {kuma.io/service: x}}", "no known"),
}


@pytest.mark.parametrize("why", LEFT)
def test_what_is_not_safe_is_not_begun(why: str, folder: Path) -> None:
    old, new, told = LEFT[why]
    text = STATES[0].replace(old, new)
    assert text != STATES[0]
    (folder / "m.yaml").write_text(text, encoding="utf-8")
    said, code = _run(*NEXT)
    assert (folder / "m.yaml").read_text() == text
    assert told in said
    assert code != 0


def test_at_the_end_the_upgrade_is_proven(tmp_path: Path) -> None:
    """And before the plan it loses every certificate."""
    verdicts = {}
    for number in (0, 4):
        text = re.sub(
            r"dataplaneTags: \{kuma.io/service: (\w+)\}",
            r"dataplaneLabels: {matchLabels: {app: \1}}",
            STATES[number],
        ).replace("kuma.io/protocol: http}}", "kuma.io/protocol: http}, protocol: http}")
        path = tmp_path / f"{number}.yaml"
        path.write_text(text, encoding="utf-8")
        words = ["prove", str(path), str(path), "--from", "2.14", "--target", "3.0"]
        said, _ = _run(*words, "--zone", "east", "--format", "json")
        verdicts[number] = json.loads(said)["claims"]["release"]["verdict"]
    assert verdicts == {0: "different", 4: "equivalent"}
