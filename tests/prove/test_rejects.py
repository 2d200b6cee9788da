"""Whatever leaf of a conf changes, a proof says that something does: alone and beside old policies.

Made from the tables. Each mesh has proxies of every protocol for which the leaf matters.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from kumamigrate.effective import sections
from kumamigrate.effective.sections import READ_BY_SECTION, TO_GATEWAYS, is_read
from kumamigrate.errors import FAULT
from kumamigrate.model.kinds import OLD_POLICIES
from kumamigrate.model.release import known_releases, release
from kumamigrate.model.state import State
from kumamigrate.prover import Verdict
from kumamigrate.prover.prover import prove
from tests.prove.leaves import Leaf, leaves, spec_of
from tests.prove.states import state

WHOLE = bool(os.environ.get("KUMAMIGRATE_GOLDENS"))
PROTOCOLS = ("http", "grpc", "tcp")
REDIRECTED = {"redirectPortInbound": 15006, "redirectPortOutbound": 15001}
NOBODY = [{"match": {"kuma.io/service": "nobody"}}]
EVERYBODY = [{"match": {"kuma.io/service": "*"}}]
CONFS: dict[str, Any] = {
    "CircuitBreaker": {"thresholds": {"maxConnections": 7}},
    "FaultInjection": {"abort": {"httpStatus": 500, "percentage": 10}},
    "HealthCheck": {
        "interval": "10s",
        "timeout": "2s",
        "unhealthyThreshold": 3,
        "healthyThreshold": 1,
    },
    "ProxyTemplate": {"imports": ["default-proxy"]},
    "RateLimit": {"http": {"requests": 5, "interval": "10s"}},
    "Retry": {"http": {"numRetries": 2}},
    "Timeout": {"connectTimeout": "3s"},
    "TrafficLog": {},
    "TrafficPermission": None,
    "TrafficRoute": {"destination": {"kuma.io/service": "*"}},
    "TrafficTrace": {},
    "VirtualOutbound": {"host": "{{.s}}.x", "port": "80", "parameters": [{"name": "s"}]},
}


def _old(kind: str) -> dict[str, Any]:
    """Return an old policy that concerns no proxy; a route that leads all where they went."""
    spread = EVERYBODY if kind == "TrafficRoute" else NOBODY
    ends: dict[str, Any] = {"sources": spread, "destinations": spread}
    if kind == "FaultInjection":
        ends["destinations"] = [
            {"match": {"kuma.io/service": "nobody", "kuma.io/protocol": "http"}}
        ]
    if kind in ("TrafficTrace", "ProxyTemplate", "VirtualOutbound"):
        ends = {"selectors": NOBODY}
    conf = CONFS[kind]
    return {"type": kind, "mesh": "default", "name": "old", **ends} | (
        {"conf": conf} if conf is not None else {}
    )


@cache
def _ground(name: str) -> State:
    """Return a mesh with a transparent proxy and a service of every protocol."""
    ca = {"enabledBackend": "ca", "backends": [{"name": "ca", "type": "builtin"}]}
    listed: list[dict[str, Any]] = [
        {"type": "Mesh", "name": "default", "mtls": ca, "meshServices": {"mode": "Everywhere"}}
    ]
    for at, protocol in enumerate(PROTOCOLS):
        tags = {"kuma.io/service": protocol, "kuma.io/protocol": protocol}
        listed.append(
            {
                "type": "Dataplane",
                "mesh": "default",
                "name": f"{protocol}-1",
                "networking": {
                    "address": f"192.0.2.{at + 1}",
                    "inbound": [{"port": 80, "tags": tags}],
                    "transparentProxying": REDIRECTED,
                },
            }
        )
        listed.append(
            {
                "type": "MeshService",
                "mesh": "default",
                "name": protocol,
                "labels": {"kuma.io/display-name": protocol},
                "spec": {
                    "selector": {"dataplaneTags": {"kuma.io/service": protocol}},
                    "ports": [
                        {"port": 80, "name": "main", "appProtocol": protocol},
                        {"port": 81, "name": "more", "appProtocol": protocol},
                    ],
                },
            }
        )
    return _state(listed, name)


def _state(bodies: Sequence[dict[str, Any]], name: str) -> State:
    return state("\n---\n".join(map(json.dumps, bodies)), release=name)


def _mesh(name: str, kind: str, spec: dict[str, Any], beside: Sequence[str]) -> State:
    policy = {"type": kind, "mesh": "default", "name": "p", "spec": spec}
    more = _state([policy], name).resources
    old = _olds(name, tuple(beside))
    ground = _ground(name)
    return replace(ground, resources=(*ground.resources, *old, *more))


@cache
def _olds(name: str, kinds: tuple[str, ...]) -> tuple[Any, ...]:
    return _state([_old(kind) for kind in kinds], name).resources if kinds else ()


def _places(name: str) -> list[tuple[str, str]]:
    """Return the types and sections of a release; 3.0 has no gateways, which alone have some."""
    known = release(name)
    gone = () if known.subset_rules else tuple((kind, "to") for kind in TO_GATEWAYS)
    found = [(kind.name, s) for kind in known.policy_types.values() for s in kind.sections]
    return [place for place in found if place not in gone]


def _sides(leaf: Leaf, name: str, kind: str, section: str, old: Sequence[str]) -> list[State]:
    known = release(name).policy_types[kind]
    return [_mesh(name, kind, spec_of(known, section, c), old) for c in (leaf.before, leaf.after)]


def _company(at: int, name: str) -> list[tuple[str, ...]]:
    """Return the old policies to try beside a leaf: none, all, each of them alone.

    Without KUMAMIGRATE_GOLDENS a leaf of the newest release meets one of the three by turns,
    oftener all of them, since they hide most; of other releases one leaf in six meets one.
    """
    if not release(name).subset_rules:
        return [()] if WHOLE or at % 2 == 0 else []
    kinds = tuple(sorted(OLD_POLICIES - {"MeshGatewayRoute"}))
    alone = [(kind,) for kind in kinds]
    if WHOLE:
        return [(), kinds, *alone]
    if name == NEWEST_OLD:
        return [kinds if at % 4 in (0, 2) else alone[at % len(alone)] if at % 4 == 1 else ()]
    return [[kinds], [()], [alone[at % len(alone)]]][at // 6 % 3] if at % 6 == 0 else []


RELEASES = [r for r in known_releases() if release(r).base == r]
NEWEST_OLD = [r for r in RELEASES if release(r).subset_rules][-1]


def _is_seen(before: State, after: State, *, gateways: bool = False) -> bool:
    """Say whether a proof finds something, for the mesh and for a Dataplane it concerns.

    What built-in gateways alone read is a doubt of theirs: the proxies here are none.
    """
    proof = prove(before, after, claims=("live",))
    assert not any(FAULT in reason for reason in proof.unknown("live"))
    proxies = [p for mesh in proof.meshes.values() for p in mesh.claims["live"].proxies]
    listed = [p.verdict for p in proxies if not p.made_up]
    seen = gateways or not listed or any(v is not Verdict.EQUIVALENT for v in listed)
    return seen and proof.verdict("live") is not Verdict.EQUIVALENT


def _without_proxies(given: State) -> State:
    kept = tuple(r for r in given.resources if r.type != "Dataplane")
    return replace(given, resources=kept)


@pytest.mark.parametrize("name", RELEASES)
def test_no_leaf_is_overlooked(name: str) -> None:
    """Every leaf changed, alone and beside old policies that concern nobody: never equivalent.

    Neither where the proxies are known, nor for those that may exist.
    """
    overlooked = []
    for kind, section in _places(name):
        for at, leaf in enumerate(leaves(release(name).policy_types[kind], section)):
            for old in _company(at, name):
                sides = _sides(leaf, name, kind, section, old)
                bare = WHOLE or (at % 4 == 0 and len(old) > 1)
                theirs = section == "to" and kind in TO_GATEWAYS
                seen = [_is_seen(*sides, gateways=theirs)]
                seen += [_is_seen(*map(_without_proxies, sides))] if bare else []
                if not all(seen):
                    overlooked.append(f"{kind} {section} {leaf.path} beside {', '.join(old)}")
    assert overlooked == []


@pytest.mark.parametrize("name", RELEASES)
def test_every_section_is_read(name: str) -> None:
    assert [place for place in _places(name) if not is_read(*place)] == []


@pytest.mark.parametrize(("kind", "section"), _places("2.14"))
def test_a_section_that_nobody_reads_is_unknown(
    kind: str, section: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = {
        name: tuple(k for k in kinds if (k, name) != (kind, section))
        for name, kinds in READ_BY_SECTION.items()
    }
    monkeypatch.setattr(sections, "READ_BY_SECTION", kept)
    leaf = next(iter(leaves(release("2.14").policy_types[kind], section)))
    before, after = _sides(leaf, "2.14", kind, section, ())
    reasons = prove(before, after, claims=("live",)).unknown("live")
    assert any(f"in `{section}` is not modelled" in reason for reason in reasons)
