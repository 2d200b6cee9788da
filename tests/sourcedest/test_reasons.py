"""What is said of old policies that go without a successor, and of what one of them loses."""

from __future__ import annotations

import pytest

from kumamigrate.rewrite.sourcedest.conversion import Conversion
from kumamigrate.rewrite.sourcedest.convert import CONVERTERS
from kumamigrate.rewrite.sourcedest.known import world_of
from tests.sourcedest.meshes import ROUTE_ALL, state

MESH = """
type: Mesh
name: default
skipCreatingInitialPolicies: ['*']
logging: {backends: [{name: f, type: file, conf: {path: /tmp/f}}]}
tracing: {backends: [{name: z, type: zipkin, conf: {url: 'http://z:1/api'}}]}
"""
WEB = """
type: Dataplane
name: web-%s
mesh: default
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web, kuma.io/protocol: http, version: %s}}]
"""
RETRY = """
type: Retry
name: %s
mesh: default
sources: [{match: {kuma.io/service: web%s}}]
destinations: [{match: {kuma.io/service: '*'}}]
conf: {http: {numRetries: %d}}
"""
OF_ANY = ", version: '*'"


def _converted(kind: str, *texts: str) -> Conversion:
    world = world_of(state("\n---\n".join((MESH, *texts))), "default", "2.9")
    return CONVERTERS[kind](world)


def _reasons(done: Conversion) -> dict[str, str]:
    return {one.resource.name: one.reason for one in done.dropped if not one.path}


def _noted(done: Conversion) -> list[str]:
    return [one.resource.name for one in done.manual if "a tag is present" in one.message]


def test_an_outranked_policy_is_said_to_be() -> None:
    """Of two that tie the one created later wins, everywhere."""
    older, younger = (
        (RETRY % (name, "", retries)) + f"creationTime: '{year}-01-01T00:00:00Z'\n"
        for name, retries, year in (("older", 2, 2024), ("younger", 3, 2025))
    )
    done = _converted("Retry", ROUTE_ALL, older, younger)
    assert _reasons(done) == {"older": "it never wins: others rank higher"}


def test_a_policy_that_nobody_is_known_for_is_not_said_to_be_outranked() -> None:
    trace = (
        "type: TrafficTrace\nname: t\nmesh: default\nconf: {backend: z}\nselectors: [{match: %s}]\n"
    )
    done = _converted(
        "TrafficTrace", trace % "{kuma.io/service: web, env: '*'}", WEB % ("v1", "v1")
    )
    assert _reasons(done) == {"t": "no proxy is known that has the tags it is for"}
    assert _noted(done) == ["t"]


def test_a_log_that_nothing_reads_is_inert() -> None:
    log = "type: TrafficLog\nname: l\nmesh: default\nconf: {backend: f}\n"
    log += "sources: [{match: {kuma.io/service: web}}]\n"
    log += "destinations: [{match: {kuma.io/service: api}}]\n"
    assert _reasons(_converted("TrafficLog", log))["l"].startswith("inert: ")
    assert _reasons(_converted("TrafficLog", log, ROUTE_ALL)) == {}


@pytest.mark.parametrize(("retries", "noted"), [(3, []), (4, ["of-any"])], ids=["same", "other"])
def test_values_of_a_tag_are_lost_where_a_policy_says_something_of_them(
    retries: int, noted: list[str]
) -> None:
    """Where the one for any version says what the one for all says, v9 reads the same of either."""
    texts = (RETRY % ("all", "", 3), RETRY % ("of-any", OF_ANY, retries), WEB % ("v1", "v1"))
    done = _converted("Retry", ROUTE_ALL, *texts)
    assert _noted(done) == noted
    assert set(_reasons(done)) == ({"of-any"} if not noted else set())


def test_one_that_never_wins_among_known_values_may_win_at_others() -> None:
    """of-v1 says what all says and outranks of-any, which a proxy of v9 would read."""
    texts = (
        RETRY % ("all", "", 3),
        RETRY % ("of-any", OF_ANY, 4),
        RETRY % ("of-v1", ", version: v1", 3),
        WEB % ("v1", "v1"),
    )
    done = _converted("Retry", ROUTE_ALL, *texts)
    assert _noted(done) == ["of-any"]
