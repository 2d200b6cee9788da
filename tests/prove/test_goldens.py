"""What the real control plane's Envoys said of two states, proxy by proxy."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kumamigrate.match.matcher import Matcher
from kumamigrate.match.route import ServiceTag
from kumamigrate.prove import Verdict
from kumamigrate.prove.picture import outbound_facts, routing_of
from kumamigrate.prove.prover import prove
from kumamigrate.prove.side import Contents, Side
from tests.prove.states import COMMITTED, SHARED, case, proxies, state

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
    wrong = compare(kind, found)
    assert wrong.lax == []
    assert len(wrong.strict) * STRICTER <= wrong.seen


class Wrong:
    def __init__(self) -> None:
        self.lax: list[str] = []
        self.strict: list[str] = []
        self.seen = 0


def compare(kind: str, found: list[Path]) -> Wrong:
    wrong = Wrong()
    claim = "live" if kind == "live" else "carry"
    for folder in found:
        golden = case(folder, CLAIMS[kind])
        proof = prove(golden.before, golden.after, claims=(claim,))
        for name, verdict in proxies(proof, claim).items():
            wrong.seen += 1
            same = verdict.verdict is Verdict.EQUIVALENT
            if same and not golden.truth[name]:
                wrong.lax.append(f"{folder.name} {name}")
            if golden.truth[name] and not same:
                wrong.strict.append(f"{folder.name} {name}")
    return wrong


@pytest.mark.parametrize("kind", ["live", "carry"])
def test_made_up_proxies_show_what_listed_ones_would(kind: str) -> None:
    """Without the Dataplanes and MeshServices a real difference is still found."""
    found = folders(SHARED, kind) or folders(COMMITTED, kind)
    for folder in found:
        golden = case(folder, CLAIMS[kind])
        if all(golden.truth.values()):
            continue
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
        assert proof.verdict(kind) is not Verdict.EQUIVALENT, folder.name


def test_the_law_of_lost_values() -> None:
    """A policy on backend's route takes the service-level timeout off web's (golden law)."""
    answer = json.loads((COMMITTED / "law" / "envoy.json").read_text())
    mesh = state((COMMITTED / "law" / "mesh.yaml").read_text(), complete=True)
    side = Side(mesh, "default", Contents())
    proxy = next(r for r in mesh.resources if r.name == answer["dataplane"])
    got = []
    for service in ("web", "backend"):
        destination = ServiceTag(service)
        routing = routing_of(side, proxy, destination)
        facts = outbound_facts(side, proxy, "MeshTimeout", destination, routing)
        for key, route in routing.http or ():
            assert route.path is not None
            kind, value = route.path
            got.append(
                {
                    "destination": service,
                    "match": {"path" if kind == "exact" else "prefix": value},
                    "timeout": facts[key].settings["http.requestTimeout"],
                }
            )
    assert got == answer["requestTimeout"]
    assert isinstance(side.matcher, Matcher)
