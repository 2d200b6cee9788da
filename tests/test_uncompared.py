"""What differs between two states and is not compared: nothing is called equal over it."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.deployment.trees import needs_helm
from tests.frontdoor import Answer, command

MESH = """apiVersion: kuma.io/v1alpha1
kind: Mesh
metadata:
  name: default
"""
POLICY = """apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata:
  name: slow
  namespace: kuma-system
spec:
  to:
  - targetRef: {kind: Mesh}
    default: {http: {requestTimeout: TIME}}
"""
PLAIN = {"mesh.yaml": MESH, "slow.yaml": POLICY.replace("TIME", "3s")}
FLUX = """apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: mesh, namespace: flux-system}
spec:
  path: ./
  interval: 5m
  postBuild:
    substitute: {timeout: NEW}
"""
SET = """apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: mesh}
spec:
  generators: [{clusters: {}}]
  template:
    spec:
      syncPolicy: {automated: {prune: PRUNE}}
      source:
        path: mesh/{{name}}
        kustomize:
          patches:
          - target: {kind: MeshTimeout}
            patch: |-
              - {op: replace, path: /spec/to/0/default/http/requestTimeout, value: NEW}
"""
CHART = {
    "chart/Chart.yaml": "apiVersion: v2\nname: chart\nversion: 1.0.0\n",
    "chart/values.yaml": "timeout: 3s\n",
    "chart/templates/mesh.yaml": MESH,
    "chart/templates/slow.yaml": POLICY.replace("TIME", "{{ .Values.timeout }}"),
}
YTT = "#@data/values\n---\ntimeout: NEW\n"
JINJA = '{% set time = "NEW" %}\n' + POLICY.replace("TIME", "{{ time }}")
SEALED = '{"data": "ENC[AES256_GCM,data:NEW,type:str]", "sops": {"mac": "x"}}\n'
JSONNET = '{ apiVersion: "kuma.io/v1alpha1", kind: "MeshTimeout", spec: "NEW" }\n'
MANY = {"mesh/east/mesh.yaml": MESH, "mesh/east/slow.yaml": PLAIN["slow.yaml"]}
MATTERS: Mapping[str, tuple[Mapping[str, str], str, str]] = {
    "what-flux-fills-in": (PLAIN, "flux.yaml", FLUX),
    "what-a-set-patches": (MANY, "set.yaml", SET),
    "values-of-nobody": (CHART, "prod.yaml", "timeout: NEW\n"),
    "a-helmfile": (CHART, "helmfile.yaml", "releases: [{chart: ./chart, set: [NEW]}]\n"),
    "values-of-ytt": (PLAIN, "values.yaml", YTT),
    "what-a-template-sets": (PLAIN, "slow.yaml", JINJA),
    "sops": (PLAIN, "more.yaml", SEALED),
    "git-crypt": (PLAIN, "more.yaml", "\0GITCRYPT\0NEW"),
    "git-lfs": (PLAIN, "more.yaml", "version https://git-lfs.github.com/spec/v1\noid NEW\n"),
    "jsonnet": (PLAIN, "more.jsonnet", JSONNET),
    "a-script": (PLAIN, "more.sh", f"kubectl apply -f - <<EOF\n{POLICY}EOF\n# NEW\n"),
}
STAYS = {"more.sh": f"cat <<EOF\n{POLICY}EOF\n", "more.tf": f"x = <<EOT\n{POLICY}EOT\n"}
DOES_NOT: Mapping[str, tuple[Mapping[str, str], str, str]] = {
    "a-readme": (PLAIN, "README.md", f"```yaml\n{POLICY}# NEW\n```\n"),
    "how-a-set-is-applied": (MANY, "set.yaml", SET.replace("NEW", "9s").replace("PRUNE", "NEW")),
    "an-encrypted-secret": (PLAIN, "more.yaml", f"kind: Secret\ndata: ENC[NEW]\nsops: {SEALED}"),
    "what-stays": ({**PLAIN, **STAYS}, "more.txt", "NEW\n"),
    "the-code": (PLAIN, "more.jsonnet", '{ kind: "Deployment", spec: "NEW" }\n'),
}


def _write(folder: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def _since_a_commit(folder: Path, case: tuple[Mapping[str, str], str, str]) -> Answer:
    files, path, text = case
    _write(folder, {**files, path: text.replace("NEW", "a1")})
    identity = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.org")
    for words in (("init", "-q"), ("add", "-A"), (*identity, "commit", "-qm", "before")):
        subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True)
    _write(folder, {path: text.replace("NEW", "b2")})
    return command("prove", "--against", "HEAD", folder)


def _of_folders(folder: Path, case: tuple[Mapping[str, str], str, str]) -> Answer:
    files, path, text = case
    for name, new in (("before", "a1"), ("after", "b2")):
        _write(folder / name, {**files, path: text.replace("NEW", new)})
    return command("prove", folder / "before", folder / "after")


@pytest.mark.parametrize("name", MATTERS)
def test_what_changed_unread_is_said(name: str, tmp_path: Path) -> None:
    path = MATTERS[name][1]
    for at, compared in enumerate((_since_a_commit, _of_folders)):
        folder = tmp_path / str(at)
        folder.mkdir()
        answer = compared(folder, MATTERS[name])
        assert answer.code == 3, answer.out
        assert f"{path} differs and is not compared" in answer.out


@pytest.mark.parametrize("name", DOES_NOT)
def test_what_cannot_matter_is_not(name: str, tmp_path: Path) -> None:
    answer = _since_a_commit(tmp_path, DOES_NOT[name])
    assert answer.code == 0, answer.out


@needs_helm
def test_what_gives_a_chart_no_values_does_not_matter(tmp_path: Path) -> None:
    other = (CHART, "compose.yaml", "services: {web: {image: NEW}}\n")
    answer = _since_a_commit(tmp_path, other)
    assert answer.code == 0, answer.out
