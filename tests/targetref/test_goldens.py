"""`inspect --release R` prints what Kuma's own matcher printed, on 2.14 and 3.0."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kumamigrate.targetref.matcher import Matcher
from kumamigrate.targetref.route import ServiceTag
from tests.frontdoor import command, some
from tests.targetref.meshes import state_of

_ROOT = Path(__file__).parents[2]
_SHARED = _ROOT.parent / "shared" / "goldens"
_SETS = {"matcher-2.14": "2.14", "matcher-3.0": "3.0"}
_SELECTED = [
    case for name in _SETS for case in sorted((_ROOT / "tests" / "golden" / name).glob("*.yaml"))
]


def _comparable(answer: dict[str, Any]) -> dict[str, Any]:
    """Sort the tags inside each subset: they are a set; everything else is in order."""
    text = json.dumps(answer)
    out: dict[str, Any] = json.loads(text, object_pairs_hook=_sorted_tags)
    return out


def _sorted_tags(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if "subset" in found:
        found["subset"] = sorted(found["subset"], key=lambda t: (t["Key"], t["Value"], t["Not"]))
    return found


def _differences(case: Path) -> list[str]:
    golden = _comparable(json.loads(case.with_suffix(".json").read_text(encoding="utf-8")))
    release = _SETS[case.parent.name]
    printed = command("inspect", case, "--release", release, "--format", "json")
    assert printed.code == 0, printed.err
    answer = _comparable(printed.json)
    out = [
        f"{case.stem}: {name} {kind} {key}"
        for name, types in golden["dataplanes"].items()
        for kind, rules in types.items()
        for key in rules
        if rules[key] != answer["dataplanes"].get(name, {}).get(kind, {}).get(key)
    ]
    return out if out or golden == answer else [f"{case.stem}: other keys or warnings"]


@pytest.mark.parametrize("case", _SELECTED, ids=lambda c: f"{c.parent.name}-{c.stem}")
def test_selected_goldens(case: Path) -> None:
    assert _differences(case) == []


@pytest.mark.parametrize("name", _SETS)
def test_every_golden(name: str) -> None:
    if not _SHARED.is_dir():
        pytest.skip("the goldens are not beside this checkout")
    cases = sorted((_SHARED / name).glob("*.yaml"))
    assert len(cases) > 100
    assert [line for case in some(cases) for line in _differences(case)] == []


def test_a_route_of_one_service_takes_the_timeout_of_another() -> None:
    """The law mesh: what Envoy got, route by route (matcher-notes §2)."""
    folder = _ROOT / "tests" / "golden" / "law"
    envoy = json.loads((folder / "envoy.json").read_text(encoding="utf-8"))
    matcher = Matcher(state_of(folder / "mesh.yaml", "2.14"))
    proxy = next(p for p in matcher.proxies() if p.name == envoy["dataplane"])
    timeouts = matcher.selection(proxy, "MeshTimeout")
    got = [
        {
            "destination": name,
            "match": {"path" if route.path[0] == "exact" else "prefix": route.path[1]},
            "timeout": found.conf["http"]["requestTimeout"],
        }
        for name in ("web", "backend")
        for route in matcher.http_routes(proxy, ServiceTag(name))
        if route.path and (found := matcher.lookup(timeouts, ServiceTag(name), route))
    ]
    assert got == envoy["requestTimeout"]
