"""What the real control plane's Envoys said of two states, proxy by proxy."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kumamigrate.prover import Verdict
from kumamigrate.prover.prover import prove
from tests.frontdoor import command, some
from tests.prove.states import COMMITTED, SHARED, case

CLAIMS = {"live": "same", "carry": "carried", "recipes": "carried"}
STRICTER = 50
"""At most one proxy of so many may be called different although it is not (product.md §6)."""


def folders(root: Path, kind: str) -> list[Path]:
    return sorted(p.parent for p in (root / kind).glob("*/verdict.json"))


@pytest.mark.parametrize("kind", CLAIMS)
def test_committed_goldens(kind: str) -> None:
    """The pairs named in matcher-notes §3 come out as Envoy had them."""
    wrong = compare(kind, folders(COMMITTED, kind))
    assert wrong.lax == []
    # Any load balancing conf switches locality awareness on, which one zone alone cannot show.
    assert wrong.strict in ([], ["03-0112 backend-1"])
    assert wrong.seen > 0


@pytest.mark.parametrize("kind", CLAIMS)
def test_all_goldens(kind: str) -> None:
    """No proxy is called equivalent that is not, and few the other way."""
    found = folders(SHARED, kind)
    if not found:
        pytest.skip("the goldens are not beside the checkout")
    wrong = compare(kind, some(found))
    assert wrong.lax == []
    assert len(wrong.strict) * STRICTER <= wrong.seen
    assert len(wrong.refused) * STRICTER <= wrong.seen


class Wrong:
    """What came out otherwise. `refused`: the command cannot tell, because a resource is refused in
    one of the states. The goldens have it absent there; a control plane may keep what it had."""

    def __init__(self) -> None:
        self.lax: list[str] = []
        self.strict: list[str] = []
        self.refused: list[str] = []
        self.seen = 0


def compare(kind: str, found: list[Path]) -> Wrong:
    wrong = Wrong()
    claim = "live" if kind == "live" else "carry"
    for folder in found:
        states = (folder / "before.yaml", folder / "after.yaml")
        printed = command("prove", *states, "--zone", "east", "--format", "json").json
        answer = json.loads((folder / "verdict.json").read_text())
        for name, said in answer["dataplanes"].items():
            wrong.seen += 1
            found_here = printed["claims"][claim]["dataplanes"][name]
            same = found_here["verdict"] == "equivalent"
            if same and not said[CLAIMS[kind]]:
                wrong.lax.append(f"{folder.name} {name}")
            if said[CLAIMS[kind]] and not same:
                unsure = found_here["verdict"] == "unknown"
                refused = unsure and all(" is refused by " in u for u in found_here["unknown"])
                (wrong.refused if refused else wrong.strict).append(f"{folder.name} {name}")
    return wrong


@pytest.mark.parametrize("kind", ["live", "carry"])
def test_made_up_proxies_show_what_listed_ones_would(kind: str) -> None:
    """Without the Dataplanes and MeshServices a real difference is still found."""
    found = folders(SHARED, kind) or folders(COMMITTED, kind)
    differing = [folder for folder in found if not _is_same(folder, CLAIMS[kind])]
    assert differing
    for folder in some(differing):
        golden = case(folder, CLAIMS[kind])
        bare = [
            replace(
                s,
                complete=False,
                resources=tuple(
                    r for r in s.resources if r.type not in ("Dataplane", "MeshService")
                ),
            )
            for s in (golden.before, golden.after)
        ]
        proof = prove(bare[0], bare[1], claims=(kind,))
        # What only Dataplanes tell, their outbounds and protocols, is said to be taken for granted.
        taken = "".join(proof.meshes["default"].assumptions)
        rests = "list their outbounds" in taken or "speaks TCP" in taken
        assert rests or proof.verdict(kind) is not Verdict.EQUIVALENT, folder.name


def _is_same(folder: Path, key: str) -> bool:
    said = json.loads((folder / "verdict.json").read_text())["dataplanes"]
    return all(one[key] for one in said.values())


def test_the_law_of_lost_values(tmp_path: Path) -> None:
    """A policy on backend's route takes the service-level timeout off web's (golden law).

    Where one timeout takes the place of all, `prove` says of each route what it had.
    """
    mesh = COMMITTED / "law" / "mesh.yaml"
    kept = [d for d in mesh.read_text().split("---\n") if "type: MeshTimeout" not in d]
    other = tmp_path / "other.yaml"
    other.write_text("---\n".join([*kept, OTHER]))
    answer = json.loads((COMMITTED / "law" / "envoy.json").read_text())
    live = command("prove", mesh, other, "--format", "json").json["claims"]["live"]
    witnesses = live["dataplanes"][answer["dataplane"]]["witnesses"]
    got = {
        (w["destination"], envoy): w["before"]["value"]
        for w in witnesses
        for envoy in _as_envoy(w["route"]["path"])
    }
    assert got == {
        (route["destination"], *route["match"].items()): route["timeout"]
        for route in answer["requestTimeout"]
    }


OTHER = """type: MeshTimeout
mesh: default
name: other
spec: {to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 99s}}}]}
"""


def _as_envoy(path: dict[str, str]) -> list[tuple[str, str]]:
    """Return the matches that Envoy gets of a PathPrefix: the path itself, and what is below."""
    assert path["type"] == "PathPrefix"
    if path["value"] == "/":
        return [("prefix", "/")]
    return [("path", path["value"]), ("prefix", path["value"] + "/")]
