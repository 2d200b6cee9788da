"""Scripts that call kumactl with removed types are reported with their line, and never edited."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kumamigrate.cli import app
from tests.runner import CliRunner

POLICY = "type: MeshTimeout\nname: t\nmesh: default\nspec: {to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1m}}]}\n"  # noqa: E501
SCRIPT = """#!/bin/sh
# kumactl get timeouts
kumactl get traffic-permissions -m default -o yaml
kumactl get meshtrafficpermissions
kubectl get timeouts
echo kumactl; echo get retries
kumactl --config-file "$C" delete \\\\
  retry old
"""


def _found(folder: Path, target: str) -> list[tuple[str, int, str]]:
    words = ["check", str(folder), "--target", target, "--format", "json"]
    report = json.loads(CliRunner().invoke(app, words).stdout)
    return [
        (Path(f["file"]).name, f["line"], f["message"].split(" from")[0])
        for f in report["findings"]
        if f["rule"] == "removed-kind-named"
    ]


@pytest.mark.parametrize("name", ["sync.sh", "Makefile", "Jenkinsfile"])
def test_a_script_is_searched_whatever_it_is_written_in(name: str, tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(POLICY, encoding="utf-8")
    (tmp_path / name).write_text(SCRIPT, encoding="utf-8")
    assert _found(tmp_path, "3.0") == [(name, 3, "kumactl has no traffic-permissions")]
    assert _found(tmp_path, "2.14") == []
    assert (tmp_path / name).read_text() == SCRIPT


@pytest.mark.parametrize("end", ["\\\n", "\\\r\n"])
def test_a_command_may_go_on_in_the_next_lines(end: str, tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(POLICY, encoding="utf-8")
    script = f'kumactl --config-file "$C" delete {end}  retry {end}  old\n'
    script += f"kumactl \\{end}get traffic-logs\n"  # a backslash, and no command that goes on
    script += f"kumactl {end}  get {end}  traffic-traces\n"
    (tmp_path / "sync.sh").write_bytes(script.encode())
    assert _found(tmp_path, "3.0") == [
        ("sync.sh", 2, "kumactl has no retry"),
        ("sync.sh", 8, "kumactl has no traffic-traces"),
    ]


FLAGS = """kumactl get --mesh default retries
kumactl get -m shop timeouts -o yaml
kumactl get --mesh=default "traffic-logs"
kumactl delete --all healthchecks
echo $(kubectl get -n kuma-system retries.kuma.io,meshretries.kuma.io,timeouts.kuma.io)
kubectl describe timeouts.kuma.io/slow
kumactl get -m default meshtimeout retries
kumactl get meshtimeouts -m timeouts
"""


def test_flags_may_stand_before_the_kind(tmp_path: Path) -> None:
    """The last two speak of new kinds: an object and a mesh are called as an old kind is."""
    (tmp_path / "policy.yaml").write_text(POLICY, encoding="utf-8")
    (tmp_path / "sync.sh").write_text(FLAGS, encoding="utf-8")
    assert _found(tmp_path, "3.0") == [
        ("sync.sh", 1, "kumactl has no retries"),
        ("sync.sh", 2, "kumactl has no timeouts"),
        ("sync.sh", 3, "kumactl has no traffic-logs"),
        ("sync.sh", 4, "kumactl has no healthchecks"),
        ("sync.sh", 5, "kubectl has no retries.kuma.io"),
        ("sync.sh", 5, "kubectl has no timeouts.kuma.io"),
        ("sync.sh", 6, "kubectl has no timeouts.kuma.io"),
    ]


KUBECTL = """kubectl -n x delete meshgatewayroutes,timeouts edge
kubectl get trafficroute/all -o yaml
kubectl get retries,healthcheck
kubectl get meshtimeouts trafficroutes
kubectl get timeout.kuma.io
"""


def test_names_that_nobody_else_has_need_no_group(tmp_path: Path) -> None:
    """`timeouts` may be those of another tool, and what follows a kind is the name of an object."""
    (tmp_path / "policy.yaml").write_text(POLICY, encoding="utf-8")
    (tmp_path / "sync.sh").write_text(KUBECTL, encoding="utf-8")
    assert _found(tmp_path, "3.0") == [
        ("sync.sh", 1, "kubectl has no meshgatewayroutes"),
        ("sync.sh", 2, "kubectl has no trafficroute"),
        ("sync.sh", 5, "kubectl has no timeout.kuma.io"),
    ]


MARKDOWN = """# Look

`kumactl get retries` is told in words: kumactl get timeouts.

```sh
$ kumactl get healthchecks -m default
kumactl get meshtimeouts; kumactl get \\
   virtual-outbounds
```
kumactl get fault-injections
> ~~~console
> kumactl get rate-limits
> ~~~
"""


def test_examples_of_markdown_are_searched_and_its_words_are_not(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(POLICY, encoding="utf-8")
    (tmp_path / "README.md").write_text(MARKDOWN, encoding="utf-8")
    assert _found(tmp_path, "3.0") == [
        ("README.md", 6, "kumactl has no healthchecks"),
        ("README.md", 8, "kumactl has no virtual-outbounds"),
        ("README.md", 12, "kumactl has no rate-limits"),
    ]


def test_hostile_lines_take_no_time(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(POLICY, encoding="utf-8")
    (tmp_path / "x.sh").write_text("kumactl " * 100_000 + "get retry\n", encoding="utf-8")
    assert _found(tmp_path, "3.0") == []
