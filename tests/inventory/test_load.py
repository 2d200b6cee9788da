"""An inventory is read whole, or refused with what is wrong; what it says of itself is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kumamigrate.errors import KumamigrateError
from kumamigrate.inventory import Inventory, load_inventory

POLICY = """\
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: t, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec: {to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 5s}}}]}
"""
UNIVERSAL = {"type": "MeshTimeout", "mesh": "default", "name": "t", "spec": {"to": []}}
KUBECTL = """\
apiVersion: v1
items:
- apiVersion: kuma.io/v1alpha1
  kind: MeshTimeout
  metadata:
    name: one
    namespace: kuma-system
  spec:
    to:
    - targetRef:
        kind: Mesh
- apiVersion: kuma.io/v1alpha1
  kind: MeshTimeout
  metadata:
    name: two
    namespace: kuma-system
  spec: {}
kind: List
metadata:
  resourceVersion: ""
"""


def _load(folder: Path, text: str | bytes, name: str = "inventory.yaml") -> Inventory:
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_inventory([file])


BROKEN = {
    "an empty file": ("", "the file is empty"),
    "blanks": ("\n \n", "the file is empty"),
    "comments": ("# nothing\n", "nothing but comments"),
    "an error of kubectl": (
        'Error from server (Forbidden): meshes.kuma.io is forbidden: User "x"\n',
        "this is text and no export: Error from server (Forbidden)",
    ),
    "an error without a colon": ("error\n", "this is text and no export: error"),
    "an error of kumactl": (
        "Error: could not reach the control plane\n",
        "this is text and no export: Error",
    ),
    "a page to log in with": (
        "<!DOCTYPE html>\n<html><head><title>Log in</title></head></html>\n",
        "an HTML page",
    ),
    "an error of the control plane": (
        json.dumps({"type": "/std-errors", "status": 403, "title": "Access Denied"}),
        "the control plane answered with an error: Access Denied",
    ),
    "a failure of the cluster": (
        "apiVersion: v1\nkind: Status\nstatus: Failure\nmessage: meshes is forbidden\n",
        "the cluster answered with an error: meshes is forbidden",
    ),
    "half a JSON": (json.dumps([UNIVERSAL])[:-20], "cut off"),
    "half a JSON within a string": (json.dumps([UNIVERSAL])[:12], "cut off"),
    "JSON and a word behind it": (json.dumps(UNIVERSAL) + " x", "not complete JSON"),
    "half a list of kubectl": (KUBECTL.split("kind: List")[0], "the list has no end"),
    "half an item of kubectl": (KUBECTL[: KUBECTL.index("spec: {}") + 7], "not complete YAML"),
    "a page of kubectl": (
        KUBECTL.replace('resourceVersion: ""', "continue: abc\n  remainingItemCount: 3"),
        "the list holds only 2 resources of 5",
    ),
    "a page of the read API": (
        json.dumps({"total": 3, "items": [UNIVERSAL], "next": "http://localhost/x?offset=1"}),
        "one page of several, 1 of 3 resources",
    ),
    "the last page of the read API": (
        json.dumps({"total": 3, "items": [UNIVERSAL], "next": None}),
        "one page of several, 1 of 3 resources",
    ),
    "a list of kumactl without its end": (
        f"items:\n- {json.dumps(UNIVERSAL)}\n",
        "the list has no end",
    ),
    "YAML that ends within quotes": (f"{POLICY}---\nkind: 'Mesh", "not complete YAML"),
    "another document": (f"{POLICY}---\nname: x\nvalue: y\n", "neither an object of Kubernetes"),
    "nothing of Kuma": ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n", "no resource"),
    "UTF-16": (POLICY.encode("utf-16"), "UTF-16"),
    "no text": (b"type: Mesh\nname: \xff\n", "byte 0xff is not UTF-8"),
    "a snapshot that lost its end": (
        f"# kumamigrate snapshot: 2 resources, taken 2026-11-28T09:00:00Z from east\n{POLICY}",
        "says that it holds 2 resources, and holds 1",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_is_no_whole_export_is_refused_with_the_reason(case: str, tmp_path: Path) -> None:
    text, said = BROKEN[case]
    with pytest.raises(KumamigrateError) as caught:
        _load(tmp_path, text)
    assert said in str(caught.value)
    assert "inventory.yaml" in str(caught.value)


def test_the_place_of_the_fault_is_named(tmp_path: Path) -> None:
    with pytest.raises(KumamigrateError) as caught:
        _load(tmp_path, f"{POLICY}---\nError from server: no\n")
    assert "inventory.yaml:6:1: " in str(caught.value)


WHOLE: dict[str, Any] = {
    "a list of kubectl": (KUBECTL, ["one", "two"]),
    "with Windows line ends": (KUBECTL.replace("\n", "\r\n"), ["one", "two"]),
    "documents": (f"{POLICY}---\n{POLICY.replace('name: t', 'name: u')}", ["t", "u"]),
    "an empty list beside them": (
        f"apiVersion: v1\nitems: []\nkind: List\nmetadata: {{}}\n---\n{POLICY}",
        ["t"],
    ),
    "a list of the read API": (
        json.dumps({"total": 1, "items": [UNIVERSAL], "next": None}),
        ["t"],
    ),
    "a list of kumactl": (
        f"items:\n- {json.dumps(UNIVERSAL)}\nnext: null\ntotal: 1\n",
        ["t"],
    ),
    "a JSON array": (json.dumps([UNIVERSAL, {**UNIVERSAL, "name": "u"}]), ["t", "u"]),
    "JSON texts in a row": (
        json.dumps(UNIVERSAL) + "\n" + json.dumps({**UNIVERSAL, "name": "u"}),
        ["t", "u"],
    ),
    "a mark of byte order": (b"\xef\xbb\xbf" + POLICY.encode(), ["t"]),
    "the same twice": (f"{POLICY}---\n{POLICY}", ["t"]),
}


@pytest.mark.parametrize("case", WHOLE)
def test_exports_of_every_tool_are_read(case: str, tmp_path: Path) -> None:
    text, names = WHOLE[case]
    found = _load(tmp_path, text)
    assert [resource.name for resource in found.resources] == names


def test_what_looks_like_a_template_is_a_value_of_kumas(tmp_path: Path) -> None:
    text = (
        "type: HostnameGenerator\nname: h\n"
        'spec: {template: "{{ .DisplayName }}.mesh", selector: {}}\n'
    )
    (found,) = _load(tmp_path, text).resources
    assert (found.templated, found.spec["template"]) == (False, "{{ .DisplayName }}.mesh")


def test_lists_of_kubectl_mean_the_same_read_item_by_item_or_whole(tmp_path: Path) -> None:
    anchored = KUBECTL.replace("kind: Mesh\n", "kind: &mesh Mesh\n")
    plain, slow = (_load(tmp_path, text).resources for text in (KUBECTL, anchored))
    assert [(r.identity, r.spec) for r in plain] == [(r.identity, r.spec) for r in slow]


def test_two_exports_that_disagree_are_refused(tmp_path: Path) -> None:
    other = POLICY.replace("5s", "6s")
    with pytest.raises(KumamigrateError, match="twice, and not the same"):
        _load(tmp_path, f"{POLICY}---\n{other}")


def test_zones_may_have_services_of_one_name(tmp_path: Path) -> None:
    text = "---\n".join(
        f"type: MeshService\nmesh: default\nname: web\nlabels: {{kuma.io/zone: {zone}}}\n"
        f"spec: {{ports: [{{port: {port}}}]}}\n"
        for zone, port in (("east", 80), ("west", 81))
    )
    assert [r.zone for r in _load(tmp_path, text).resources] == ["east", "west"]


def test_a_snapshot_says_when_and_where_it_was_taken(tmp_path: Path) -> None:
    stamp = "# kumamigrate snapshot: 1 resource, taken 2026-11-28T09:00:00Z from prod-east\n"
    (export,) = _load(tmp_path, stamp + POLICY).exports
    assert (export.resources, export.day, export.source) == (1, "2026-11-28", "prod-east")
    (export,) = _load(tmp_path, POLICY).exports
    assert (export.resources, export.day, export.source) == (1, "", "")
