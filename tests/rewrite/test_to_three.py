"""A run to 3.0 keeps what proxies read: asked of the matcher itself, not of the prover."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kumamigrate.admit.check import refusals_of, unknown_fields_of
from kumamigrate.flow.runoutcome import Outcome
from kumamigrate.model.kinds import OLD_POLICIES
from kumamigrate.model.kri import kri_of
from kumamigrate.model.release import release
from kumamigrate.model.resource import SERVICE, Resource
from kumamigrate.model.state import Environment
from kumamigrate.targetref.matcher import Matcher
from kumamigrate.targetref.resolve import REAL, sections
from kumamigrate.world.options import Options
from kumamigrate.world.survey import scene_of
from tests.frontdoor import fewer
from tests.settled import settled

HERE = Path(__file__).parent.parent
WHOLE = bool(os.environ.get("KUMAMIGRATE_GOLDENS"))
MODEST_SIZE = 8000
"""In bytes. What a run takes grows fast with the mesh: five larger goldens take as long as the
others together, so they are asked with all goldens."""
COPIED = sorted((HERE / "golden" / "matcher-2.14").glob("*.yaml"))[:3]
EVERY = 29 if WHOLE else 58
SHARED = sorted((HERE.parents[1] / "shared" / "goldens" / "matcher-2.14").glob("*.yaml"))[3::EVERY]
FILES = [*COPIED, *(p for p in SHARED if WHOLE or p.stat().st_size < MODEST_SIZE)]
CUT = Path(__file__).parent / "to_three"
"""Goldens of which only the resources are left without which the test would hold anyhow."""
# What went out with the upgrade let something be proven that had been held before.
IN_ROUNDS = [CUT / "in-rounds.yaml"]
# Parts of routes and policies that were taken apart, and did not get to 3.0 themselves.
SPLIT = [CUT / "split-route.yaml", CUT / "split-policy.yaml"]
if WHOLE:
    folder = HERE.parents[1] / "shared" / "goldens" / "matcher-2.14"
    named = {path.stem: path for path in folder.glob("*.yaml")}
    IN_ROUNDS += [named[name] for name in ("06-0082", "50-0026") if name in named]
    SPLIT += [named[name] for name in ("01-0360", "11-0052") if name in named]
# Old policies: what they become for 2.14 would not be taken by 3.0 in nine of eleven meshes.
OLD = fewer(sorted((HERE / "golden" / "legacy-2.9").glob("*.yaml")))
TYPES = frozenset(release("2.14").policy_types)
OUTBOUND = (
    "MeshTimeout",
    "MeshRetry",
    "MeshLoadBalancingStrategy",
    "MeshCircuitBreaker",
    "MeshHealthCheck",
    "MeshAccessLog",
)
INBOUND = ("MeshTimeout", "MeshCircuitBreaker", "MeshRateLimit", "MeshTLS", "MeshAccessLog")
SINGLE = ("MeshMetric", "MeshTrace", "MeshPassthrough", "MeshProxyPatch")


@dataclass(frozen=True)
class Run:
    """One golden, run to 3.0."""

    path: Path
    outcome: Outcome


@pytest.fixture(scope="module")
def run(request: pytest.FixtureRequest) -> Run:
    """Run a golden once for all that is asked of it: pytest puts tests of one golden together."""
    path: Path = request.param
    return Run(path, run_at(path.parent, Path(path.name)))


def of_each(paths: Sequence[Path]) -> pytest.MarkDecorator:
    by_name = {path.stem: path for path in paths}
    return pytest.mark.parametrize(
        "run", by_name.values(), ids=by_name, indirect=True, scope="module"
    )


def run_at(root: Path, path: Path) -> Outcome:
    # As the goldens' control plane had it.
    options = Options(target="3.0", environment=Environment(initial_policies="none"))
    return settled(scene_of([path], root, options), options)


def is_new_form(policy: Resource, outcome: Outcome) -> bool:
    environment = outcome.options.environment
    refused = refusals_of(policy, release="3.0", environment=environment)
    return not refused and not unknown_fields_of(policy, "3.0")


def policies(outcome: Outcome) -> Iterator[Resource]:
    return (r for r in outcome.after.repository.resources if r.type in TYPES)


def matchers(outcome: Outcome) -> tuple[Matcher, Matcher, set[str]]:
    """Return what 2.14 and 3.0 read, and the types of which everything was converted."""
    left = {p.type for p in policies(outcome) if not is_new_form(p, outcome)}
    before, after = outcome.before.state("2.14")[0], outcome.after.state("3.0")[0]
    return Matcher(before), Matcher(after), set(TYPES) - left


def proxies(then: Matcher, now: Matcher) -> Iterator[tuple[Resource, Resource]]:
    later = {p.name: p for p in now.proxies()}
    for proxy in then.proxies():
        gateway = proxy.spec["networking"].get("gateway") or {}
        if gateway.get("type") != "BUILTIN":
            yield proxy, later[proxy.name]


def conf_of(found: Any) -> str:
    return json.dumps(None if found is None else found.conf, sort_keys=True, default=str)


@of_each(FILES)
def test_destinations_read_what_they_read(run: Run) -> None:
    then, now, whole = matchers(run.outcome)
    for was, is_ in proxies(then, now):
        for kind in whole & set(OUTBOUND):
            old, new = then.selection(was, kind), now.selection(is_, kind)
            for service in then.state.of_type(*REAL):
                for section in sections(service) or ("",):
                    kri = kri_of(service, section)
                    got = conf_of(now.resource(new, kri))
                    # What is a real resource on 3.0 was one, or a service tag, on 2.14.
                    tag = service.labels.get(SERVICE, service.display_name)
                    had = {conf_of(then.resource(old, kri)), conf_of(then.service(old, tag))}
                    assert got in had, (was.name, kind, str(kri))


@of_each(FILES)
def test_inbounds_read_what_they_read(run: Run) -> None:
    then, now, whole = matchers(run.outcome)
    for was, is_ in proxies(then, now):
        for kind in whole & set(INBOUND):
            assert inbound_rules(then, was, kind) == inbound_rules(now, is_, kind), (was.name, kind)


def inbound_rules(matcher: Matcher, proxy: Resource, kind: str) -> dict[tuple[str, int], Any]:
    selection = matcher.selection(proxy, kind)
    listed = (
        ((p.address, p.port), [(r.match, r.conf) for r in matcher.inbound(selection, p).rules])
        for p in selection.points
    )
    return {key: rules for key, rules in listed if rules}


@of_each(FILES)
def test_proxies_read_what_they_read(run: Run) -> None:
    then, now, whole = matchers(run.outcome)
    for was, is_ in proxies(then, now):
        for kind in whole & set(SINGLE):
            old, new = then.selection(was, kind), now.selection(is_, kind)
            assert conf_of(then.single(old)) == conf_of(now.single(new)), (was.name, kind)


@of_each(FILES)
def test_what_stays_old_is_said(run: Run) -> None:
    outcome = run.outcome
    said = {
        (f.resource.type, f.resource.name)
        for f in outcome.findings
        if f.resource is not None and f.status.value in ("manual", "held")
    }
    for policy in policies(outcome):
        assert is_new_form(policy, outcome) or (policy.type, policy.name) in said


@of_each(OLD)
def test_an_old_policy_that_stays_is_said(run: Run) -> None:
    said = {
        f.resource.identity
        for f in run.outcome.findings
        if f.resource is not None and f.status.value in ("manual", "held")
    }
    left = [r for r in run.outcome.after.repository.resources if r.type in OLD_POLICIES]
    assert {r.identity for r in left} <= said


@of_each([*FILES, *SPLIT, *OLD])
def test_no_document_that_is_new_is_refused(run: Run) -> None:
    """What 3.0 refuses in the end stood there before, and was refused."""
    outcome = run.outcome
    environment = outcome.options.environment

    def refused(resource: Resource) -> bool:
        return bool(refusals_of(resource, release="3.0", environment=environment))

    began = {r.identity for r in outcome.before.repository.resources if refused(r)}
    ended = {r.identity for r in outcome.after.repository.resources if refused(r)}
    assert ended <= began


@of_each(FILES)
def test_new_services_are_taken_and_lead_where_the_tags_led(run: Run) -> None:
    outcome = run.outcome
    known = {r.identity for r in outcome.before.repository.resources}
    environment = outcome.options.environment
    for service in outcome.after.repository.resources:
        if service.type == "MeshService" and service.identity not in known:
            assert not refusals_of(service, release="3.0", environment=environment)
            assert not unknown_fields_of(service, "3.0")
            assert service.spec["selector"]["dataplaneLabels"]["matchLabels"]


@of_each([*IN_ROUNDS, *FILES[::3], *OLD[::3]])
def test_a_second_run_finds_nothing(run: Run, tmp_path: Path) -> None:
    outcome = run.outcome
    (changed,) = outcome.texts or {run.path.name: None}
    text = outcome.texts[changed][1] if outcome.texts else run.path.read_bytes()
    assert text is not None
    (tmp_path / run.path.name).write_bytes(text)
    assert run_at(tmp_path, Path()).texts == {}
