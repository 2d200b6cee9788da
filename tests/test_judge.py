"""What a rule that claims *release* may not do to policies the target cannot read yet."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kumamigrate.effective.difference import HARMLESS
from kumamigrate.flow.judging.acceptance import judge_of
from kumamigrate.flow.judging.everywhere import judge_everywhere
from kumamigrate.flow.judging.onename import newly_overwritten
from kumamigrate.flow.judging.touched import barred
from kumamigrate.model.resource import Form, Resource
from kumamigrate.model.state import Environment
from kumamigrate.prover import prove
from kumamigrate.rewrite.rulebook import rulebook
from kumamigrate.scene.held import HeldVerdict
from kumamigrate.scene.loadfiles import repository_of
from kumamigrate.scene.scene import Scene
from kumamigrate.world.estate import Estate, single

BY_NAME = next(rule for rule in rulebook() if rule.id == "reference-by-name")

MESH = (
    "type: Mesh\nname: default\nmeshServices: {mode: %s}\nskipCreatingInitialPolicies: ['*']\n---\n"
)
INBOUND = """\
type: MeshTimeout
name: t
mesh: default
spec:
  targetRef: {kind: Dataplane, %s}
  rules: [{default: {http: {requestTimeout: %s}}}]
"""
ON_ROUTE = """\
type: MeshHTTPRoute
name: r
mesh: default
spec:
  to:
  - targetRef: {kind: MeshService, name: web}
    rules: [{matches: [{path: {type: PathPrefix, value: /v1}}], default: {}}]
"""
BOUND = """\
---
type: MeshTimeout
name: t
mesh: default
spec:
  targetRef: {kind: MeshHTTPRoute, name: r}
  to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 3s}}}]
"""
SERVICE = """\
type: MeshService
name: web
mesh: default
labels: {kuma.io/display-name: web}
spec: {ports: [{port: 80, appProtocol: http}]}
---
"""
OUTBOUND = """\
type: MeshTimeout
name: t
mesh: default
spec:
  to:
  - targetRef: {kind: MeshService, %s}
    default: {http: {requestTimeout: %s}}
"""


def scene_of(text: str, mode: str = "Exclusive") -> Scene:
    return Scene(
        repository=repository_of({"a.yaml": (MESH % mode + text).encode()}, root=Path()),
        inventory=(),
        environment=Environment(),
        source="2.14",
        target="3.0",
    )


def allows(before: str, after: str, *, mode: str = "Exclusive") -> bool:
    scene = scene_of(before, mode)
    texts = {"a.yaml": MESH % mode + after}
    candidate = replace(scene, repository=scene.repository.with_texts(texts), states={})
    return judge_of(BY_NAME.claims, scene, upgrade=True)(scene, candidate).good


@pytest.mark.parametrize("mode", ["Disabled", "Everywhere", "Exclusive"])
def test_the_form_may_change(mode: str) -> None:
    old, new = (
        OUTBOUND % ("name: web", "3s"),
        OUTBOUND % ("labels: {kuma.io/display-name: web}", "3s"),
    )
    assert allows(SERVICE + old, SERVICE + new, mode=mode)
    assert not allows(SERVICE + old, SERVICE + new.replace("3s", "4s"), mode=mode)


GENERATED = """\
type: Dataplane
name: web-1
mesh: default
labels: {kuma.io/workload: web}
networking:
  address: 192.0.2.1
  inbound:
  - {port: 80, protocol: http, tags: {kuma.io/service: web, kuma.io/protocol: http}}
---
"""


@pytest.mark.parametrize("mode", ["Disabled", "Everywhere", "Exclusive"])
@pytest.mark.parametrize("old", ["name: web", "labels: {kuma.io/display-name: web}"])
def test_a_service_that_comes_with_the_upgrade_keeps_its_value(mode: str, old: str) -> None:
    before = GENERATED + OUTBOUND % (old, "3s")
    after = GENERATED + OUTBOUND % ("labels: {kuma.io/display-name: web}", "%s")
    assert allows(before, after % "3s", mode=mode)
    assert not allows(before, after % "4s", mode=mode)


@pytest.mark.parametrize(
    ("top", "value"),
    [("name: foo", "3s"), ("name: foo", "9s"), ("labels: {app: y}", "3s")],
    ids=["a form that is misread", "and another value", "other proxies"],
)
def test_what_the_target_reads_stays_readable(top: str, value: str) -> None:
    assert not allows(INBOUND % ("labels: {app: x}", "3s"), INBOUND % (top, value))


@pytest.mark.parametrize(
    ("top", "value"), [("name: foo", "9s"), ("name: bar", "3s")], ids=["value", "proxies"]
)
def test_what_the_target_misreads_before_and_after_keeps_its_meaning(top: str, value: str) -> None:
    assert not allows(INBOUND % ("name: foo", "3s"), INBOUND % (top, value))


def test_what_the_target_misreads_may_change_what_envoy_alone_is_told() -> None:
    """Rules are called after their policy, and nobody lets anybody in: the mesh has no mTLS."""
    named = PERMISSION.replace("name: t", "name: u")
    assert allows(PERMISSION, named)
    assert not allows(PERMISSION + "---\n" + INBOUND % ("name: foo", "3s"), named)


PERMISSION = """\
type: MeshTrafficPermission
name: t
mesh: default
spec:
  targetRef: {kind: Dataplane, name: foo}
  rules: [{default: {allow: [{spiffeID: {type: Exact, value: spiffe://a/b}}]}}]
"""


@pytest.mark.parametrize(("mode", "inert"), [("Disabled", False), ("Exclusive", True)])
def test_what_the_target_refuses_may_not_just_go(mode: str, inert: bool) -> None:
    assert allows(ON_ROUTE + BOUND, ON_ROUTE, mode=mode) is inert


FROM_GLOBAL = """\
type: MeshHTTPRoute
name: r
mesh: default
labels: {kuma.io/mesh: default, kuma.io/display-name: r, kuma.io/origin: global}
spec:
  to:
  - targetRef: {kind: MeshService, %s}
    rules: [{matches: [{path: {type: PathPrefix, value: /v1}}], default: {}}]
---
"""
RETRY = """\
type: MeshRetry
name: t
mesh: default
spec:
  to:
  - targetRef: {kind: MeshService, labels: {kuma.io/display-name: web}}
    default: {http: {numRetries: %s}}
"""


@pytest.mark.parametrize(("retries", "allowed"), [(2, True), (3, False)])
def test_a_route_shows_again_what_its_service_shows(retries: int, allowed: bool) -> None:
    """Labels are read of real services alone, of which there is none yet: the upgrade starts the
    retries, not the route."""
    old = FROM_GLOBAL % "name: web" + RETRY % 2
    new = FROM_GLOBAL % "labels: {kuma.io/display-name: web}" + RETRY % retries
    assert allows(old, new, mode="Disabled") is allowed


def test_a_service_by_hand_has_an_outbound_today_on_which_a_route_begins() -> None:
    """In mode Disabled as well: features-2.14/a3-service-by-hand-in-mode-disabled."""
    old, new = (
        SERVICE + FROM_GLOBAL % ref + RETRY % 2
        for ref in ("name: web", "labels: {kuma.io/display-name: web}")
    )
    assert not allows(old, new, mode="Disabled")


TWICE = """\
type: %s
name: twice
mesh: %s
spec: {targetRef: {kind: Mesh}, to: [{targetRef: {kind: Mesh}, default: %s}]}
---
"""
RULE = next(rule for rule in rulebook() if rule.id == "from-section")


def scenes_beside(beside: str, before: str, after: str) -> tuple[Scene, Scene]:
    """Return two scenes that differ in one file, with another one beside it."""
    scene = Scene(
        repository=repository_of(
            {"a.yaml": (MESH % "Exclusive" + before).encode(), "b.yaml": beside.encode()},
            root=Path(),
        ),
        inventory=(),
        environment=Environment(),
        source="2.14",
        target="2.14",
    )
    texts = {"a.yaml": MESH % "Exclusive" + after}
    return scene, replace(scene, repository=scene.repository.with_texts(texts), states={})


def twice(kind: str, mesh: str) -> str:
    values = {"MeshTimeout": "connectionTimeout", "MeshRetry": "tcp"}
    fields = [
        f"{{{values[kind]}: {one}}}"
        for one in (("1s", "2s") if kind == "MeshTimeout" else ("{maxConnectAttempt: 1}", "{}"))
    ]
    return "".join(TWICE % (kind, mesh, one) for one in fields)


@pytest.mark.parametrize(
    ("beside", "bars"),
    [
        (twice("MeshTimeout", "default"), True),
        (twice("MeshTimeout", "other"), False),
        (twice("MeshRetry", "default"), False),
        ("type: Dataplane\nmesh: default\nname: [\n", True),
        ("type: MeshTimeout\nmesh: other\nname: [\n", False),
        ("kuma.io/mesh: [\n", True),
    ],
)
def test_what_could_not_be_read_bars_a_change_without_a_search_for_differences(
    beside: str, bars: bool
) -> None:
    """The prover finds the same in doubt, so no verdict changes; a word of the user's is still
    held against every difference."""
    words = ("labels: {a: b}", "1s"), ("labels: {a: b}", "2s")
    before, after = scenes_beside(beside, *(INBOUND % pair for pair in words))
    verdict = judge_of(RULE.claims, before)(before, after)
    assert bool(verdict.unknown) is bars
    assert bool(verdict.witnesses) is not bars
    proof = prove(before.state("2.14")[0], after.state("2.14")[0], claims=("live",))
    assert bool(proof.unknown("live")) is bars
    assert set(verdict.unknown) <= set(proof.doubts("live"))
    assert judge_of(RULE.claims, before, take_unknown=True)(before, after).witnesses


METRICS = "metrics: {enabledBackend: m, backends: [{name: m, type: prometheus}]}\n"


@pytest.mark.parametrize(
    ("more", "beside", "bars"),
    [
        (METRICS, "MeshMetric", True),
        (METRICS, "MeshTimeout", False),
        ("labels: {a: b}\n", "MeshTimeout", True),
        ("labels: {a: b}\n" + METRICS, "MeshTimeout", True),
    ],
    ids=["the policy it stands for", "another", "a label", "a label as well"],
)
def test_a_field_of_a_mesh_is_barred_by_the_policies_it_stands_for(
    more: str, beside: str, bars: bool
) -> None:
    """Whatever other meshes are given in the same change."""
    unread = f"type: {beside}\nmesh: shop\nname: [\n"
    both = "type: Mesh\nname: shop\n{}---\ntype: Mesh\nname: other\n{}"
    for other in ("", "labels: {c: d}\n"):
        texts = (both.format("", ""), both.format(more, other))
        assert any(barred(*scenes_beside(unread, *texts))) is bars


def test_a_mesh_that_comes_or_goes_is_barred_by_every_policy() -> None:
    unread = "type: MeshTimeout\nmesh: other\nname: [\n"
    there = "type: Mesh\nname: other\n"
    assert any(barred(*scenes_beside(unread, "", there)))
    assert any(barred(*scenes_beside(unread, there, "")))
    assert not any(barred(*scenes_beside(unread, there, there)))


def test_what_could_not_be_read_does_not_bar_what_changes_nothing() -> None:
    """Another spelling of a duration is local: nothing else is asked."""
    words = (INBOUND % ("labels: {a: b}", one) for one in ("60s", "1m"))
    before, after = scenes_beside(twice("MeshTimeout", "default"), *words)
    assert judge_of(RULE.claims, before)(before, after).good


OPEN = MESH.replace("skipCreatingInitialPolicies: ['*']\n", "")
"""A mesh of which nobody knows what policies it was given."""


@pytest.mark.parametrize("mesh", [MESH, OPEN], ids=["known", "open"])
def test_what_was_judged_is_not_judged_again_and_other_texts_are(
    mesh: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that begins anew asks of the same texts, and of others as soon as a text changes.

    Of which worlds a change fails in all of them tell, that is found once, and of that text.
    """
    asked: list[Scene] = []

    def counted(*_: Any, **__: Any) -> Any:
        judge = judge_of(BY_NAME.claims, base.whole, upgrade=False)

        def one(current: Scene, candidate: Scene) -> HeldVerdict:
            asked.append(candidate)
            return judge(current, candidate)

        return one

    monkeypatch.setattr("kumamigrate.flow.judging.everywhere.judge_of", counted)
    files = {"a.yaml": (mesh % "Disabled" + ON_ROUTE + BOUND).encode()}
    repository = repository_of(files, root=Path())
    base = single(
        Scene(
            repository=repository,
            inventory=(),
            environment=Environment(),
            source="2.14",
            target="3.0",
        )
    )

    def edited(bound: str) -> Estate:
        candidate = base.edited({"a.yaml": mesh % "Disabled" + ON_ROUTE + bound})
        assert isinstance(candidate, Estate)
        return candidate

    def judged(bound: str) -> HeldVerdict:
        judge = judge_everywhere(
            BY_NAME.claims,
            base,
            upgrade=False,
            take_unknown=False,
            allow=HARMLESS,
            hold=frozenset(),
        )
        return judge(base, edited(bound))

    def told(verdict: HeldVerdict) -> HeldVerdict:
        assert not verdict.good
        assert (verdict.whole is None) is (mesh == MESH)
        return verdict if verdict.whole is None else verdict.whole(lambda _witness: True)

    first, other = BOUND.replace("3s", "4s"), BOUND.replace("3s", "5s")
    # Nobody asked for more yet, so what was looked at is not there any more.
    assert judged(first) == judged(first)
    assert len(asked) == 1
    every = told(judged(first))
    assert len(asked) == (1 if mesh == MESH else 2)
    assert told(judged(first)) == every
    assert len(asked) == (1 if mesh == MESH else 2)
    fresh = judge_of(BY_NAME.claims, base.whole, upgrade=False)
    for bound in (first, other, ""):
        found, new = judged(bound), fresh(base.whole, edited(bound).whole)
        assert (found.witnesses, told(found)) == (new.witnesses, told(new))
    assert len(asked) == (3 if mesh == MESH else 4)


def test_a_difference_at_one_proxy_excuses_none_at_another() -> None:
    """The first change brought 5s to proxies of x; the second takes it to those of y instead."""
    base = OUTBOUND.replace("name: t", "name: b") % ("labels: {kuma.io/display-name: web}", "1s")
    top = "spec:\n  targetRef: {kind: Dataplane, labels: {app: APP}}\n"
    moved = OUTBOUND.replace("spec:\n", top) % ("labels: {kuma.io/display-name: web}", "5s")
    before, current, candidate = (
        scene_of(SERVICE + base + "---\n" + moved.replace("APP", app) if app else SERVICE + base)
        for app in ("", "x", "y")
    )
    judge = judge_of(BY_NAME.claims, before, upgrade=True)
    assert not judge(current, candidate).good
    assert judge(current, before).good
    assert judge(current, current).good


@pytest.mark.parametrize(
    ("namespace", "mesh", "form", "told"),
    [
        ("kuma-system", "other", Form.KUBERNETES, True),
        ("shop", "other", Form.KUBERNETES, False),
        ("kuma-system", "default", Form.KUBERNETES, False),
        ("", "other", Form.UNIVERSAL, False),
    ],
)
def test_nothing_takes_the_place_of_an_object_of_another_mesh(
    namespace: str, mesh: str, form: Form, *, told: bool
) -> None:
    """Kubernetes has one object of a type and name in a namespace, whatever mesh it is for."""
    there = Resource(
        type="MeshTrace", mesh="default", name="t", namespace="kuma-system", form=Form.KUBERNETES
    )
    new = Resource(type="MeshTrace", mesh=mesh, name="t", namespace=namespace, form=form)
    old, now = (
        cast("Any", SimpleNamespace(repository=SimpleNamespace(resources=resources)))
        for resources in ((there,), (there, new))
    )
    words = [str(doubt) for doubt in newly_overwritten(old, now)]
    said = "MeshTrace t of namespace kuma-system would be written for mesh default and mesh other"
    assert [text.startswith(said) for text in words] == [True] * told
    assert newly_overwritten(now, now) == ()


OBJECT = """\
---
apiVersion: kuma.io/v1alpha1
kind: MeshTrace
metadata: {name: t, namespace: kuma-system, labels: {kuma.io/mesh: %s}}
spec: {default: {backends: []}}
"""


@pytest.mark.parametrize("word", [True, False])
def test_not_on_anybody_s_word(*, word: bool) -> None:
    before = scene_of(OBJECT % "default")
    after = scene_of(OBJECT % "default" + OBJECT % "other")
    held = judge_of((), before, take_unknown=word)(before, after)
    assert any("Kubernetes has one object of a name" in str(doubt) for doubt in held.unknown)
