"""What the API of 2.14 on Universal lets be changed of labels, asked of a zone and of a global one.

What it refuses to change is no verdict: the stored resource stays as it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from kumamigrate.admit.check import refusals_of
from kumamigrate.flow.judging.updates import refused_updates
from kumamigrate.model.labels import Refused, compute_labels, immutable_labels
from kumamigrate.model.state import Environment
from kumamigrate.scene.loadfiles import repository_of
from kumamigrate.scene.scene import Scene
from tests.admit.manifest import resource_of
from tests.cases import GOLDEN
from tests.frontdoor import command

ASKED = json.loads((GOLDEN / "label-changes-2.14.json").read_text("utf-8"))
MODES = {mode: Environment(mode=mode, zone="east") for mode in ASKED}
ROWS = [(mode, row) for mode, rows in ASKED.items() for row in rows]


def _given(row: Mapping[str, Any], side: str) -> Any:
    return resource_of({"type": row["kind"], "mesh": "default", "name": "t", "labels": row[side]})


def _refused(resource: Any, environment: Environment) -> set[str]:
    resource = resource_of({**resource.body, "spec": {}, "labels": dict(resource.labels)})
    found = refusals_of(resource, release="2.14", environment=environment)
    return {problem.field for problem in found if problem.path[0] == "labels"}


def test_what_is_stored_and_what_may_change_is_what_the_api_said() -> None:
    for mode, row in ROWS:
        environment = MODES[mode]
        old, new = (_given(row, side) for side in ("before", "after"))
        assert bool(_refused(old, environment)) is ("refused" in row), row
        if "refused" in row:
            continue
        stored = compute_labels(old, release="2.14", environment=environment)
        assert not isinstance(stored, Refused)
        told = {k: v for k, v in stored.labels.items() if k != "kuma.io/proxy-type"}
        assert told == {k: v for k, v in row["stored"].items() if k != "kuma.io/proxy-type"}, row
        was, then = (
            immutable_labels(one, release="2.14", environment=environment) for one in (old, new)
        )
        kept = all(then.get(label) == value for label, value in was.items())
        assert (kept and not _refused(new, environment)) is row["taken"], row


POLICY = {
    "type": "MeshTimeout",
    "mesh": "default",
    "name": "t",
    "spec": {"to": [{"targetRef": {"kind": "Mesh"}, "default": {"idleTimeout": "9s"}}]},
}


def _said(folder: Path, before: Any, after: Any, *words: str) -> dict[str, Any]:
    mesh = {"type": "Mesh", "name": "default", "meshServices": {"mode": "Exclusive"}}
    for name, one in (("before", before), ("after", after)):
        (folder / f"{name}.yaml").write_text(yaml.safe_dump_all([mesh, one]), encoding="utf-8")
    paths = [folder / f"{name}.yaml" for name in ("before", "after")]
    flags = ("--target", "2.14", "--initial-policies", "none", "--format", "json", *words)
    claim: dict[str, Any] = command("prove", *paths, *flags, given=None).json["claims"]["live"]
    return claim


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        ({}, {"kuma.io/display-name": "x"}, "equivalent"),
        ({"kuma.io/display-name": "x"}, {}, "unknown"),
        ({"kuma.io/display-name": "x"}, {"kuma.io/display-name": "z"}, "unknown"),
        ({"kuma.io/zone": "east"}, {}, "equivalent"),
        ({"kuma.io/origin": "global"}, {"kuma.io/origin": "zone"}, "different"),
        ({"team": "red"}, {}, "equivalent"),
    ],
)
def test_a_change_that_the_api_refuses_is_no_equivalence(
    tmp_path: Path, before: dict[str, str], after: dict[str, str], verdict: str
) -> None:
    states = ({**POLICY, "labels": before}, {**POLICY, "labels": after})
    found = _said(tmp_path, *states, "--zone", "east")
    assert found["verdict"] == verdict
    assert ("does not let the label" in str(found.get("unknown"))) is (verdict != "equivalent")


WEST = {"kuma.io/mesh": "default", "kuma.io/display-name": "t", "kuma.io/zone": "west"}
WRITTEN_OUT = {"idleTimeout": "9s", "connectionTimeout": "5s"}


@pytest.mark.parametrize(
    ("labels", "more", "verdict", "why"),
    [
        (WEST, {}, "unknown", "`west` is not the zone of this control plane"),
        ({**WEST, "kuma.io/origin": "zone"}, {}, "unknown", "says it is of zone west"),
        ({**WEST, "kuma.io/origin": "global"}, {}, "equivalent", ""),
        (
            {**WEST, "kuma.io/origin": "zone"},
            {"creationTime": "2026-01-01T00:00:00Z"},
            "equivalent",
            "",
        ),
    ],
    ids=["by hand", "perhaps an export", "of a global one", "an export"],
)
def test_an_export_of_another_zone_says_when_it_was_made(
    tmp_path: Path, labels: dict[str, str], more: dict[str, str], verdict: str, why: str
) -> None:
    before = {**POLICY, "labels": labels, **more}
    spec = {"to": [{"targetRef": {"kind": "Mesh"}, "default": WRITTEN_OUT}]}
    found = _said(tmp_path, before, {**before, "spec": spec}, "--zone", "east")
    assert found["verdict"] == verdict
    assert why in str(found.get("unknown"))


def test_exports_of_several_zones_are_what_one_control_plane_holds(tmp_path: Path) -> None:
    """Where nobody names a zone, that stands with the verdict; of one zone all are its own."""
    mesh = {"type": "Mesh", "name": "default", "meshServices": {"mode": "Exclusive"}}
    for zone, taken in (("west", False), ("east", True)):
        given = {
            name: {
                **POLICY,
                "name": name,
                "labels": {**WEST, "kuma.io/display-name": name, "kuma.io/origin": "zone", **more},
            }
            for name, more in (("t", {}), ("o", {"kuma.io/zone": zone}), ("z", {}))
        }
        for side, names in (("before", "to"), ("after", "toz")):
            states = [mesh, *(given[name] for name in names)]
            (tmp_path / f"{side}.yaml").write_text(yaml.safe_dump_all(states), encoding="utf-8")
        paths = [tmp_path / f"{side}.yaml" for side in ("before", "after")]
        flags = ("--target", "2.14", "--initial-policies", "none", "--format", "json")
        found = command("prove", *paths, *flags, given=None).json
        assert found["claims"]["live"]["verdict"] == "equivalent"
        assert ("of zone east or west was read from one" in json.dumps(found)) is taken


def _scene(side: str, mode: str, more: str = "") -> Scene:
    """Return a scene of what every question of a mode was about, each under a name of its own."""
    bodies = [
        {"type": row["kind"], "mesh": "default", "name": f"t{at}", "labels": row[side]}
        for at, row in enumerate(ASKED[mode])
    ]
    text = "\n---\n".join(map(json.dumps, bodies)) + f"\n{more}"
    repository = repository_of({"a.yaml": text.encode()}, root=Path())
    environment = MODES[mode]
    return Scene(
        repository=repository, inventory=(), environment=environment, source="2.14", target="2.14"
    )


@pytest.mark.parametrize("mode", MODES)
def test_what_the_api_does_not_let_be_changed_is_named(mode: str) -> None:
    (said,) = refused_updates(_scene("before", mode), _scene("after", mode)).values()
    for at, row in enumerate(ASKED[mode]):
        if "refused" in row:
            continue
        name = f" of {row['kind']} t{at}, "
        labels = {one.partition(name)[0].rpartition(" ")[2] for one in said if name in one}
        told = {field.removeprefix('labels["').removesuffix('"]') for field in row["fields"]}
        if row["taken"]:
            assert labels == set(), row
        elif not _refused(_given(row, "after"), MODES[mode]):
            assert labels == told, row
            made = {label: row["after"].get(label) for label in labels}
            words = {label: f"be made `{text}`" for label, text in made.items() if text}
            if labels == {"kuma.io/display-name"} and not words:
                words = {"kuma.io/display-name": "be taken away"}
            mine = [one for one in said if name in one]
            assert all(any(f" {k} of" in o and t in o for o in mine) for k, t in words.items())


OF_KUBERNETES = """\
---
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: k, namespace: shop, labels: {kuma.io/zone: %s}}
spec: {}
"""
TEMPLATED = "---\ntype: MeshTimeout\nmesh: default\nname: v\nlabels: {kuma.io/zone: %s}\n"
CONFIG = "---\nkind: ConfigMap\nmetadata: {name: k, labels: {kuma.io/zone: %s}}\n"
OTHER_MESH = TEMPLATED.replace("mesh: default", "mesh: other")


@pytest.mark.parametrize(
    ("more", "was", "then", "where"),
    [
        (OF_KUBERNETES, "east", "west", set()),
        (TEMPLATED, "'{{ .Values.zone }}'", "west", set()),
        (TEMPLATED, "east", "'{{ .Values.zone }}'", set()),
        (OTHER_MESH, "east", "west", {"other"}),
        (CONFIG, "east", "west", set()),
    ],
    ids=["of Kubernetes", "from a template", "to a template", "of another mesh", "of others"],
)  # fmt: skip
def test_labels_are_asked_of_universal_and_of_what_is_known_of_them(
    more: str, was: str, then: str, where: set[str]
) -> None:
    texts = (more % label for label in (was, then))
    sides = (_scene("before", "global", text) for text in texts)
    assert refused_updates(*sides).keys() == where
