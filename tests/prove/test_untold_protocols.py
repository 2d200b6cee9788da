"""Services of which no Dataplane is known: what they speak nobody tells, and a verdict says so.

On a real mesh their Dataplanes may be elsewhere: in another repository, in another zone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kumamigrate.prover.slots.maderun import MadeRun
from tests.frontdoor import command

MESH = """type: Mesh
name: default
skipCreatingInitialPolicies: ['*']
---
type: TrafficRoute
name: route-all
mesh: default
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: '*'}}]
conf: {destination: {kuma.io/service: '*'}}
---
type: Dataplane
name: web-1
mesh: default
networking:
  address: 10.0.0.1
  inbound: [{port: 8080, tags: {kuma.io/service: web, kuma.io/protocol: http}}]
  outbound: [{port: 11000, tags: {kuma.io/service: remote}}]
"""
OLD = """---
type: {kind}
name: {name}
mesh: default
sources: [{{match: {{kuma.io/service: '*'}}}}]
destinations: [{{match: {{kuma.io/service: remote}}}}]
conf: {conf}
"""
REMOTE = """---
type: Dataplane
name: remote-1
mesh: default
networking:
  address: 10.0.0.2
  inbound: [{port: 8080, tags: {kuma.io/service: remote, kuma.io/protocol: tcp}}]
"""
TIED = [
    ("Retry", "{http: {numRetries: 3}}", "{http: {numRetries: 5}}"),
    (
        "Timeout",
        "{connectTimeout: 1s, http: {requestTimeout: 3s}}",
        "{connectTimeout: 1s, http: {requestTimeout: 5s}}",
    ),
]
IF_TCP = "no Dataplane of remote is known, so it counts as one of TCP"


def _proof(folder: Path, before: str, after: str, *more: str) -> dict[str, Any]:
    for name, text in (("before", before), ("after", after)):
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    files = (str(folder / "before.yaml"), str(folder / "after.yaml"))
    asked = ("--target", "2.14", "--zone", "east", "--format", "json", *more)
    return dict(command("prove", *files, *asked).json)


@pytest.mark.parametrize(("kind", "first", "second"), TIED, ids=[one[0] for one in TIED])
@pytest.mark.parametrize("alone", [True, False], ids=["untold", "tcp"])
def test_a_tie_for_a_service_that_may_speak_http_is_a_tie(
    kind: str, first: str, second: str, alone: bool, tmp_path: Path
) -> None:
    """As TCP both say the same, so either may go; as HTTP creation time decides."""
    mesh = MESH if alone else MESH + REMOTE
    tied = [OLD.format(kind=kind, name=n, conf=c) for n, c in (("a", first), ("b", second))]
    claim = _proof(tmp_path, mesh + "".join(tied), mesh + tied[0])["claims"]["live"]
    assert claim["verdict"] == ("unknown" if alone else "equivalent")
    assert claim["dataplanes"]["web-1"]["verdict"] == claim["verdict"]


def test_what_depends_on_the_protocol_is_said_with_the_verdict(tmp_path: Path) -> None:
    """One Retry goes that only HTTP hears of; a MeshRetry takes the place of what TCP hears."""
    retry = OLD.format(kind="Retry", name="a", conf="{http: {numRetries: 3}}")
    untold = _proof(tmp_path, MESH + retry, MESH)
    assert untold["claims"]["live"]["verdict"] == "equivalent"
    assert (untold["proxies"], IF_TCP in untold["beyond"]) == ("listed", True)
    assert IF_TCP in untold["assumptions"]
    told = _proof(tmp_path, MESH + REMOTE + retry, MESH + REMOTE)
    assert (told["proxies"], told["claims"]["live"]["verdict"]) == ("all", "equivalent")


def test_what_a_service_of_no_protocol_alone_would_lose_is_said_with_the_verdict(
    tmp_path: Path,
) -> None:
    """A Retry counts attempts of whatever is no HTTP, a MeshRetry those of TCP (legacy.md §1.4).

    Of a service that a proxy here calls the control plane gives none today, if it knows nobody of
    it.
    """
    old = OLD.format(kind="Retry", name="a", conf="{tcp: {maxConnectAttempts: 4}}")
    old = old.replace("remote", "'*'")
    new = (
        "---\ntype: MeshRetry\nname: a\nmesh: default\nspec:\n  targetRef: {kind: Mesh}\n"
        "  to: [{targetRef: {kind: Mesh}, default: {tcp: {maxConnectAttempt: 4}}}]\n"
    )
    told = MESH + REMOTE
    untold = _proof(tmp_path, told + old, told + new)
    assert untold["claims"]["live"]["verdict"] == "equivalent"
    assert any("of a service that nobody names" in one for one in untold["beyond"])
    for other in ("", new.replace(": 4", ": 5")):
        assert (
            _proof(tmp_path, told + old, told + other)["claims"]["live"]["verdict"] == "different"
        )
    for mesh in (MESH, MESH + REMOTE.replace("tcp}}]", "kafka}}]")):
        assert _proof(tmp_path, mesh + old, mesh + new)["claims"]["live"]["verdict"] == "different"


def test_what_no_protocol_tells_apart_rests_on_none(tmp_path: Path) -> None:
    moved = OLD.format(kind="CircuitBreaker", name="a", conf="{detectors: {totalErrors: {}}}")
    said = _proof(tmp_path, MESH + moved, MESH + moved.replace("name: a", "name: b"))
    assert (said["proxies"], said["claims"]["live"]["verdict"]) == ("all", "equivalent")


def test_an_inventory_holds_all_there_is(tmp_path: Path) -> None:
    """What has no Dataplane there has no endpoint, so nothing it reads reaches anybody."""
    inventory = tmp_path / "inventory.yaml"
    inventory.write_text(MESH, encoding="utf-8")
    tied = [
        OLD.format(kind="Retry", name=n, conf=c) for n, c in zip("ab", TIED[0][1:], strict=True)
    ]
    whole = _proof(tmp_path, MESH + "".join(tied), MESH + tied[0], "--inventory", str(inventory))
    assert (whole["claims"]["live"]["verdict"], whole["proxies"]) == ("equivalent", "all")


def test_the_headline_says_what_it_rests_on(tmp_path: Path) -> None:
    text = MESH + OLD.format(kind="Retry", name="a", conf="{http: {numRetries: 3}}")
    (tmp_path / "mesh.yaml").write_text(text, encoding="utf-8")
    said = command("run", str(tmp_path), "--dry-run", "--target", "2.14").out
    headline = "Proved: no live value changes for any possible proxy, if services whose Dataplanes"
    assert f"{headline} are not here carry TCP." in " ".join(said.split())


def test_only_outbounds_that_something_is_not_told_of_are_tried_with_every_protocol(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And that is as if all were: here all is told of `web` but where its split leads."""
    kind, first, second = TIED[1]
    to_web = OLD.replace("service: remote", "service: web")
    split = "{split: [{weight: 1, destination: {kuma.io/service: remote}}]}"
    mesh = MESH.replace(
        "11000, tags: {kuma.io/service: remote", "11000, tags: {kuma.io/service: web"
    )
    mesh += to_web.format(kind="TrafficRoute", name="to-remote", conf=split)
    before, after = (mesh + to_web.format(kind=kind, name="a", conf=c) for c in (first, second))
    said = _proof(tmp_path, before, after)
    assert (said["proxies"], said["beyond"]) == ("listed", [IF_TCP])
    every = property(lambda run: {one: {"remote"} for one in run.kept})
    monkeypatch.setattr(MadeRun, "untold", every)
    assert _proof(tmp_path, before, after) == said
