"""A snapshot is whole, holds no secrets, says what it is, and is an inventory."""

from __future__ import annotations

import json
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kumamigrate.inventory import load_inventory
from kumamigrate.snapshot import kubectl
from tests.cases import GOLDEN
from tests.frontdoor import command
from tests.inventory.readapi import ReadApi, serving

KINDS = {
    "Dataplane": "dataplanes",
    "DataplaneInsight": "dataplane-insights",
    "GlobalSecret": "globalsecrets",
    "Mesh": "meshes",
    "MeshTimeout": "meshtimeouts",
    "Secret": "secrets",
}


def _dataplane(number: int) -> dict[str, Any]:
    return {
        "type": "Dataplane",
        "mesh": "default",
        "name": f"web-{number}",
        "creationTime": "2026-11-01T00:00:00Z",
        "modificationTime": "2026-11-02T00:00:00Z",
        "labels": {"app": "web", "kuma.io/zone": "east"},
        "networking": {"address": "192.0.2.1", "inbound": [{"port": 80, "tags": {"a": "y"}}]},
    }


def _api(**changes: Any) -> ReadApi:
    lists = {
        "dataplanes": [_dataplane(number) for number in range(5)],
        "dataplane-insights": [{"type": "DataplaneInsight", "mesh": "default", "name": "web-1"}],
        "globalsecrets": [{"type": "GlobalSecret", "name": "s", "data": "aGlkZGVu"}],
        "meshes": [{"type": "Mesh", "name": "default", "meshServices": {"mode": "Exclusive"}}],
        "meshtimeouts": [
            {"type": "MeshTimeout", "mesh": "default", "name": "t", "kri": "kri_mt_default___t_",
             "spec": {"targetRef": {"kind": "Mesh"}, "to": []}, "status": {}},
        ],
        "secrets": [{"type": "Secret", "mesh": "default", "name": "s", "data": "aGlkZGVu"}],
    }  # fmt: skip
    return ReadApi(**{"kinds": KINDS, "lists": lists, **changes})


@pytest.fixture
def api() -> Iterator[ReadApi]:
    with serving(_api()) as started:
        yield started


def _taken(folder: Path, *words: str) -> Path:
    output = folder / "inventory.yaml"
    answer = command("snapshot", *words, "--output", output)
    assert answer.code == 0, answer.err
    return output


def test_a_control_plane_is_read_to_its_last_page(tmp_path: Path) -> None:
    with serving(_api(largest=2)) as started:
        output = _taken(tmp_path, "--control-plane", started.url)
        assert started.asked.count("dataplanes") == 3
    found = load_inventory([output])
    assert sorted(r.name for r in found.resources if r.type == "Dataplane") == [
        f"web-{number}" for number in range(5)
    ]
    (export,) = found.exports
    assert (export.resources, export.source) == (7, started.url.removeprefix("http://"))
    assert len(export.taken) == len("2026-11-28T09:00:00Z")


def test_no_secret_is_asked_for_nor_written(api: ReadApi, tmp_path: Path) -> None:
    text = _taken(tmp_path, "--control-plane", api.url).read_text()
    assert "aGlkZGVu" not in text
    assert not {"secrets", "globalsecrets", "dataplane-insights"} & set(api.asked)


def test_what_only_reports_is_left_out_and_values_stay_what_they_are(
    api: ReadApi, tmp_path: Path
) -> None:
    output = _taken(tmp_path, "--control-plane", api.url + "/")
    text = output.read_text()
    assert "modificationTime" not in text
    assert "kri_mt" not in text
    found = {r.name: r for r in load_inventory([output]).resources}
    tags = found["web-1"].spec["networking"]["inbound"][0]["tags"]
    assert (tags, found["web-1"].created) == ({"a": "y"}, "2026-11-01T00:00:00Z")


def test_a_token_is_sent_and_one_that_misses_is_asked_for(tmp_path: Path) -> None:
    with serving(_api(token="mine")) as started:
        refused = command("snapshot", "--control-plane", started.url)
        assert refused.code == 2
        assert "401 Could not authenticate: invalid token; give a token" in refused.err
        wrong = command("snapshot", "--control-plane", started.url, "--token", "other")
        assert (wrong.code, "give a token" in wrong.err) == (2, False)
        output = _taken(tmp_path, "--control-plane", started.url, "--token", "mine")
    assert "mine" not in output.read_text()


def test_an_old_control_plane_lists_its_policies_only(tmp_path: Path) -> None:
    rest = {path: [] for path in kinds_without_policies()}
    whole = _api()
    lists = {**rest, **whole.lists}
    old = _api(before_resources=True, kinds={"MeshTimeout": "meshtimeouts"}, lists=lists)
    with serving(old) as started:
        output = _taken(tmp_path, "--control-plane", started.url)
    assert {r.type for r in load_inventory([output]).resources} == {
        "Dataplane",
        "Mesh",
        "MeshTimeout",
    }


def kinds_without_policies() -> list[str]:
    from kumamigrate.snapshot.configkinds import PATHS

    return list(PATHS.values())


def test_paths_are_those_of_an_old_control_plane() -> None:
    """2.9 says its paths itself (recorded), those before it do not; 2.14 knows both forms."""
    from kumamigrate.snapshot.configkinds import PATHS

    told = json.loads((GOLDEN / "paths" / "2.9.json").read_text())
    assert {kind: told[kind] for kind in PATHS} == PATHS


HTML = (200, {"Content-Type": "text/html"}, b"<!doctype html><title>Log in</title>")
BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "a page to log in with": ({"_resources": HTML}, "a page for browsers"),
    "no JSON": ({"meshes": (200, {}, b"ok")}, "the answer is no JSON"),
    "half an answer": (
        {"meshes": (200, {"Content-Length": "100"}, b'{"items": [')},
        "the answer broke off",
    ),
    "a list that is none": ({"meshes": (200, {}, b'{"items": {}, "total": 1}')}, "is no list"),
    "fewer than it says": (
        {"meshes": (200, {}, b'{"items": [], "total": 2, "next": null}')},
        "only 0 of 2 resources came",
    ),
    "pages without end": (
        {"meshes": (200, {}, b'{"items": [], "total": 2, "next": "http://x/meshes?offset=1"}')},
        "do not come to an end",
    ),
    "a fault of its own": (
        {"meshes": (500, {}, b'{"title": "Internal Server Error", "detail": "store"}')},
        "meshes: 500 Internal Server Error: store",
    ),
    "a kind that is not there": ({"meshes": (404, {}, b"{}")}, "there is no list of Mesh"),
    "a kind nobody may read": (
        {"meshes": (403, {}, b'{"title": "Access Denied"}')},
        "403 Access Denied",
    ),
    "no read API": ({"_resources": (404, {}, b""), "policies": (404, {}, b"")}, "no read API"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_cannot_be_read_whole_is_said_and_nothing_written(case: str, tmp_path: Path) -> None:
    instead, said = BROKEN[case]
    output = tmp_path / "inventory.yaml"
    with serving(_api(instead=instead)) as started:
        answer = command("snapshot", "--control-plane", started.url, "--output", output)
    assert (answer.code, said in answer.err) == (2, True), answer.err
    assert "internal error" not in answer.err
    assert not output.exists()


def test_a_token_goes_nowhere_else(tmp_path: Path) -> None:
    with serving(_api()) as other:
        away = (302, {"Location": f"{other.url}/meshes"}, b"")
        with serving(_api(instead={"meshes": away})) as started:
            answer = command("snapshot", "--control-plane", started.url, "--token", "mine")
        assert (answer.code, other.asked) == (2, [])
    assert "redirects" in answer.err
    assert not list(tmp_path.iterdir())


def test_a_kind_of_an_enterprise_control_plane_that_nobody_may_read_is_left_out(
    tmp_path: Path,
) -> None:
    kinds = {**KINDS, "AccessRole": "access-roles"}
    denied = {"access-roles": (403, {}, b'{"title": "Access Denied"}')}
    with serving(_api(kinds=kinds, instead=denied)) as started:
        output = _taken(tmp_path, "--control-plane", started.url)
    assert len(load_inventory([output]).resources) == 7


def test_nobody_answers() -> None:
    with serving(_api()) as started:
        url = started.url
    answer = command("snapshot", "--control-plane", url)
    assert (answer.code, f"{url}: " in answer.err) == (2, True)
    assert command("snapshot", "--control-plane", "ftp://x").code == 2


POLICY = """\
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata:
  name: t
  namespace: kuma-system
  uid: 6a8b
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: "{}"
    mine: "yes"
  labels: {kuma.io/mesh: default}
spec: {to: []}
status: {}
"""
SECRET = """\
apiVersion: v1
kind: Secret
type: system.kuma.io/secret
metadata: {name: s, namespace: kuma-system}
data: {value: aGlkZGVu}
"""
NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n"


def test_given_exports_become_one_file(tmp_path: Path) -> None:
    one, two = tmp_path / "kuma.yaml", tmp_path / "kubernetes.json"
    one.write_text(f"{POLICY}---\n{SECRET}")
    two.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "metadata": {}, "items": [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}},
    ]}))  # fmt: skip
    output = _taken(tmp_path, str(one), str(two), str(one), "--name", "prod-east")
    text = output.read_text()
    assert text.startswith("# kumamigrate snapshot: 2 resources, taken ")
    assert text.partition("\n")[0].endswith(" from prod-east")
    assert not [word for word in ("aGlkZGVu", "uid", "last-applied", "status") if word in text]
    found = load_inventory([output])
    assert [r.name for r in found.resources] == ["t", "shop"]
    assert found.resources[0].annotations == {"mine": "yes"}


def test_a_snapshot_of_a_snapshot_keeps_its_age_and_origin(tmp_path: Path) -> None:
    old = tmp_path / "old.yaml"
    stamp = "# kumamigrate snapshot: 1 resource, taken 2026-01-02T03:04:05Z from prod-east"
    old.write_text(f"{stamp}\n{POLICY}")
    assert _taken(tmp_path, str(old)).read_text().partition("\n")[0] == stamp


def test_a_broken_export_makes_no_snapshot(tmp_path: Path) -> None:
    broken = tmp_path / "kuma.yaml"
    broken.write_text("Error from server (Forbidden): no\n")
    answer = command("snapshot", broken, "--output", tmp_path / "out.yaml")
    assert (answer.code, "is text and no export" in answer.err) == (2, True)
    assert not (tmp_path / "out.yaml").exists()


FAKE = """#!{python}
import json, sys
words = sys.argv[1:]
open({log!r}, "a").write(json.dumps(words) + "\\n")
if "current-context" in words:
    print("from-config")
elif "api-resources" in words:
    print("meshes.kuma.io\\nmeshtimeouts.kuma.io\\ndataplaneinsights.kuma.io")
elif {fails!r}:
    sys.stderr.write("E1128 noise\\nerror: " + {fails!r} + "\\n")
    sys.exit(1)
elif "namespaces,services" in words:
    print({namespace!r})
else:
    print({policy!r})
"""


def _fake(folder: Path, monkeypatch: pytest.MonkeyPatch, *, fails: str = "") -> Path:
    """Put a kubectl of our own first on the PATH; it notes what it is asked."""
    tools = folder / "tools"
    tools.mkdir()
    log = folder / "log"
    script = tools / "kubectl"
    script.write_text(
        FAKE.format(
            python=sys.executable, log=str(log), fails=fails, namespace=NAMESPACE, policy=POLICY
        )
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tools))
    return log


@pytest.mark.skipif(sys.platform == "win32", reason="the script is found by its first line")
def test_a_cluster_is_asked_through_kubectl(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = _fake(tmp_path, monkeypatch)
    output = _taken(tmp_path, "--context", "prod; rm -rf /", "--kubeconfig", "a b")
    assert [r.name for r in load_inventory([output]).resources] == ["t", "shop"]
    asked = [json.loads(line) for line in log.read_text().splitlines()]
    start = ["--kubeconfig", "a b", "--context", "prod; rm -rf /"]
    assert all(words[:4] == start for words in asked)
    assert [words[5:] for words in asked if "get" in words] == [
        ["get", "meshes.kuma.io,meshtimeouts.kuma.io", "--all-namespaces", "-o", "yaml"],
        ["get", "namespaces,services", "--all-namespaces", "-o", "yaml"],
    ]
    assert "from prod; rm -rf /\n" in output.read_text()
    later = _taken(tmp_path, "--kubeconfig", "a b").read_text()
    assert later.partition("\n")[0].endswith(" from from-config")


@pytest.mark.skipif(sys.platform == "win32", reason="the script is found by its first line")
def test_what_kubectl_complains_about_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _fake(tmp_path, monkeypatch, fails="You must be logged in to the server")
    answer = command("snapshot", "--context", "prod")
    assert (answer.code, "You must be logged in to the server" in answer.err) == (2, True)
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    answer = command("snapshot", "--context", "prod")
    assert (answer.code, "kubectl is not on the PATH" in answer.err) == (2, True)


def test_commands_are_shown_and_not_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    both = command("snapshot", "--print-commands").out
    assert "kubectl get " in both
    assert "kumactl export --profile all" in both
    only = command("snapshot", "--print-commands", "--context", "prod east").out
    assert "kubectl --context 'prod east' get namespaces,services --all-namespaces -o yaml" in only
    assert "kumactl" not in only
    for line in kubectl.commands(kubectl.KubectlCluster(context="prod east")):
        assert line in only


@pytest.mark.parametrize(
    "words",
    [(), ("--context", "a", "--control-plane", "http://localhost"), ("nowhere.yaml",)],
    ids=["nothing", "two ways", "no such file"],
)
def test_what_is_asked_for_has_to_be_clear(words: tuple[str, ...]) -> None:
    answer = command("snapshot", *words)
    assert (answer.code, answer.out, "kumamigrate: " in answer.err) == (2, "", True)


def test_what_was_there_stays_when_it_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "kuma.yaml").write_text(POLICY)
    answer = command("snapshot", tmp_path / "kuma.yaml", "--output", tmp_path / "no" / "x.yaml")
    assert answer.code == 2
    assert sorted(p.name for p in tmp_path.iterdir()) == ["kuma.yaml"]
