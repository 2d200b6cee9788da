"""Kuma's resources inside Markdown and Terraform are counted and named, and never touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumamigrate.world.otherfiles import embedded_in, readers_of
from tests.frontdoor import command

GUIDE = """\
# Timeouts

```yaml
type: MeshTimeout
mesh: default
name: slow
spec: {to: []}
---
type: MeshRetry
mesh: default
name: often
spec: {to: []}
```

1. In a list

   ~~~ {.yaml}
   apiVersion: kuma.io/v1alpha1
   kind: MeshTrace
   metadata: {name: listed}
   spec: {}
   ~~~

> ```yml
> type: Mesh
> name: quoted
> ```

```sh
echo "type: Mesh
name: not-yaml" | kumactl apply -f -
```

````yaml
type: Dataplane
mesh: default
name: four
# ```
networking: {address: 192.0.2.1}
````

```yaml
apiVersion: v1
kind: Service
metadata: {name: plain}
```

```yaml
type: HostnameGenerator
name: without-its-end
"""


def test_blocks_of_markdown_are_found_wherever_they_stand() -> None:
    found = embedded_in({"docs/guide.md": GUIDE.encode()})
    assert [(one.line, one.kind, one.name) for one in found] == [
        (4, "MeshTimeout", "slow"),
        (9, "MeshRetry", "often"),
        (18, "MeshTrace", "listed"),
        (25, "Mesh", "quoted"),
        (35, "Dataplane", "four"),
        (49, "HostnameGenerator", "without-its-end"),
    ]
    assert {one.language for one in found} == {"Markdown"}


MAIN = """\
resource "kubectl_manifest" "one" {
  yaml_body = <<-YAML
    apiVersion: kuma.io/v1alpha1
    kind: MeshTimeout
    metadata:
      name: ${var.name}
    spec: {}
  YAML
}
locals {
  two = yamldecode(<<EOT
type: MeshRetry
mesh: default
name: two
spec: {}
EOT
  )
}
resource "kubernetes_manifest" "three" {
  manifest = {
    apiVersion = "kuma.io/v1alpha1"
    # why: the bank
    kind       = "MeshTrafficPermission"
  }
}
"""


def test_here_documents_and_objects_of_terraform_are_found() -> None:
    found = embedded_in({"infra/main.tf": MAIN.encode()})
    assert [(one.line, one.kind, one.name) for one in found] == [
        (3, "MeshTimeout", ""),
        (12, "MeshRetry", "two"),
        (21, "MeshTrafficPermission", ""),
    ]
    assert {one.language for one in found} == {"Terraform"}


def test_what_is_broken_is_named_all_the_same() -> None:
    text = "```yaml\ntype: MeshTimeout\nname: x\nspec: [\n```\n"
    (found,) = embedded_in({"a.md": text.encode()})
    assert (found.kind, found.name) == ("something of Kuma's", "")
    assert embedded_in({"a.md": b"\xff\xfe kuma.io ```"}) == ()


READS = {
    'file("${path.module}/../policies/slow.yaml")': True,
    'templatefile("../policies/slow.yaml", {})': True,
    'yamldecode(file("${path.module}/../policies/${var.name}.yaml"))': True,
    'fileset("${path.module}/../policies", "*.yaml")': True,
    'fileset(path.module, "../policies/**")': True,
    'file("../policies/other.yaml")': False,
    'file("policies/slow.yaml")': False,
    '# file("../policies/slow.yaml")': False,
    'profile("../policies/slow.yaml")': False,
}


@pytest.mark.parametrize("text", READS)
def test_who_reads_a_file_that_changes(text: str) -> None:
    files = {"infra/main.tf": f"locals {{\n  x = {text}\n}}\n".replace("x = #", "#").encode()}
    found = readers_of(files, ["policies/slow.yaml", "policies/b/c.json"])
    read = [(path, reading.line, target) for path, reading, target in found]
    assert (("infra/main.tf", 2, "policies/slow.yaml") in read) is READS[text]


OLD = """\
type: MeshTimeout
mesh: default
name: slow
spec:
  targetRef: {kind: Mesh}
  from:
  - targetRef: {kind: Mesh}
    default: {idleTimeout: 5m}
"""


def _repository(folder: Path) -> Path:
    (folder / "docs").mkdir()
    (folder / "infra").mkdir()
    (folder / "policies").mkdir()
    (folder / "docs" / "guide.md").write_text(f"Text.\n\n```yaml\n{OLD}```\n")
    (folder / "infra" / "main.tf").write_text(
        f'locals {{\n  a = file("../policies/slow.yaml")\n  b = <<EOT\n{OLD}EOT\n}}\n'
    )
    (folder / "policies" / "slow.yaml").write_text(OLD)
    return folder


@pytest.mark.parametrize("words", [("check",), ("run", "--dry-run"), ("run",)], ids=" ".join)
def test_check_and_run_name_them_and_leave_them_alone(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    folder = _repository(tmp_path)
    before = {name: (folder / name).read_bytes() for name in ("docs/guide.md", "infra/main.tf")}
    printed = command(*words, folder, "--target", "2.14").out
    assert "1 resource inside Markdown, in 1 file: " in printed
    assert "docs/guide.md:4   MeshTimeout slow" in printed
    assert "1 resource inside Terraform, in 1 file: applied by Terraform" in printed
    assert "infra/main.tf:4   MeshTimeout slow" in printed
    assert "Terraform reads 1 file that changes: apply it as well" in printed
    assert "infra/main.tf:2   reads policies/slow.yaml" in printed
    assert {name: (folder / name).read_bytes() for name in before} == before


def test_programs_are_told_the_same(tmp_path: Path) -> None:
    folder = _repository(tmp_path)
    told = command("check", folder, "--format", "json").json
    markdown, terraform = told["embedded"]
    assert markdown == {
        "file": "docs/guide.md",
        "line": 4,
        "type": "MeshTimeout",
        "name": "slow",
        "in": "markdown",
    }
    assert (terraform["file"], terraform["in"]) == ("infra/main.tf", "terraform")
    assert told["readBy"] == [
        {"file": "infra/main.tf", "line": 2, "reads": "policies/slow.yaml"},
    ]


def test_a_file_that_is_ignored_is_not_named(tmp_path: Path) -> None:
    folder = _repository(tmp_path)
    (folder / ".git").mkdir()
    (folder / ".gitignore").write_text("docs/\n")
    printed = command("check", folder).out
    assert "inside Markdown" not in printed
    assert "inside Terraform" in printed


def test_markdown_that_is_named_is_no_manifest(tmp_path: Path) -> None:
    folder = _repository(tmp_path)
    answer = command("check", folder / "docs" / "guide.md")
    assert answer.code == 0
    assert "1 resource inside Markdown" in answer.out
