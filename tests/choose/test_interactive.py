"""`run -i`: somebody says of each change whether it is written; what is left is proven anew."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from tests.choose.conftest import MakeShop
from tests.choose.shop import ALIVE, DEAD, FILES, MESH, Shop, findings
from tests.frontdoor import Answer

RULES = ALIVE.replace(
    "from:\n    - targetRef: {kind: Mesh}\n      default", "rules:\n    - default"
)


def asked(shop: Shop, answers: str, *words: str | Path) -> Answer:
    """Run with answers from a file beside the repository."""
    file = shop.root.parent / "answers"
    file.write_text(answers)
    return shop.run("run", "-i", "--answers", file, *words)


def test_what_is_accepted_is_written_and_what_is_skipped_is_held(shop: Shop) -> None:
    """The rule for `from` comes first."""
    done = asked(shop, "a\ns\n", "--format", "json")
    assert (shop.read("alive.yaml"), shop.read("dead.yaml")) == (RULES, DEAD)
    assert done.code == 1
    assert {(rule, s) for rule, s, _, _ in findings(done)} == {
        ("from-section", "fixed"),
        ("route-in-target-ref", "held"),
    }
    (held,) = done.json["held"]
    assert (held["cause"], held["witnesses"]) == ("skipped", [])
    assert done.json["whole"] == "proven"
    assert "(1/2)" in done.err
    assert "+  rules:" in done.err
    assert "alive.yaml:6" in done.err


def test_the_other_way_round(shop: Shop) -> None:
    done = asked(shop, "skip\naccept\n", "--format", "json")
    assert shop.read("alive.yaml") == ALIVE
    assert shop.read("dead.yaml") != DEAD
    live = done.json["proof"]["claims"]["live"]
    effects = {w["effect"] for one in live["dataplanes"].values() for w in one["witnesses"]}
    assert effects == {"activation"}


@pytest.mark.parametrize("answers", ["q\n", "", "s\ns\n", "what\n\nq\n"])
def test_who_quits_or_skips_all_writes_nothing(shop: Shop, answers: str) -> None:
    done = asked(shop, answers)
    assert (done.code, {p: shop.read(p) for p in FILES}) == (1, dict(FILES))
    assert "2  skipped" in done.out


def test_who_quits_keeps_what_was_accepted(shop: Shop) -> None:
    asked(shop, "a\nq\n")
    assert (shop.read("alive.yaml"), shop.read("dead.yaml")) == (RULES, DEAD)


def test_why_says_what_proxies_notice_and_asks_again(shop: Shop) -> None:
    done = asked(shop, "w\na\nw\na\n")
    assert shop.read("alive.yaml") == RULES
    assert shop.read("dead.yaml") != DEAD
    assert "No proxy can tell the difference today." in done.err
    assert "request timeout" in done.err
    assert done.err.count("[a/s/w/q]?") == 4


def test_a_dry_run_asks_and_shows_what_would_be_written(shop: Shop) -> None:
    done = asked(shop, "a\ns\n", "--dry-run")
    assert {p: shop.read(p) for p in FILES} == dict(FILES)
    assert "+  rules:" in done.out
    assert "--- a/dead.yaml" not in done.out
    assert "kumamigrate run --interactive" in done.out


def test_without_a_terminal_nobody_is_asked(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("a\na\n"))
    done = shop.run("run", "-i")
    assert (done.code, "-i asks at a terminal" in done.err) == (2, True)
    assert {p: shop.read(p) for p in FILES} == dict(FILES)


def test_answers_come_in_when_told_so(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("a\ns\n"))
    done = shop.run("run", "--answers", "-")
    assert (done.code, shop.read("alive.yaml"), shop.read("dead.yaml")) == (1, RULES, DEAD)


def test_one_of_two_files_with_the_same_resource_is_skipped(make_shop: MakeShop) -> None:
    shop = make_shop({"mesh.yaml": MESH, "clusters/a/t.yaml": ALIVE, "clusters/b/t.yaml": ALIVE})
    asked(shop, "a\ns\n")
    assert (shop.read("clusters/a/t.yaml"), shop.read("clusters/b/t.yaml")) == (RULES, ALIVE)


def test_what_rested_on_a_skipped_change_is_proven_again_and_held(make_shop: MakeShop) -> None:
    """Two destinations inherit different values: without the split the move would lose one."""
    entry = (
        "    - targetRef: {kind: MeshService, name: %s}\n"
        "      rules: [{matches: [{path: {type: PathPrefix, value: /v1}}], default: {}}]\n"
    )
    route = "type: MeshHTTPRoute\nname: api\nmesh: default\nspec:\n  to:\n"
    idle = (
        "type: MeshTimeout\nname: idle\nmesh: default\nspec:\n  to:\n"
        "    - targetRef: {kind: MeshService, name: orders}\n"
        "      default: {http: {streamIdleTimeout: 60s}}\n"
    )
    files = {
        "mesh.yaml": MESH,
        "orders.yaml": FILES["orders.yaml"],
        "second.yaml": FILES["orders.yaml"].replace("orders", "second"),
        "route.yaml": route + entry % "orders" + entry % "second",
        "dead.yaml": DEAD,
        "idle.yaml": idle,
    }
    shop = make_shop(files)
    done = asked(shop, "s\na\n", "--format", "json")
    assert {path: shop.read(path) for path in files} == files
    held = {h["rule"]: h for h in done.json["held"]}
    assert held["multi-entry-route"]["cause"] == "skipped"
    assert "cause" not in held["route-in-target-ref"]
    fields = {
        w["field"] for w in held["route-in-target-ref"]["witnesses"] if w["effect"] == "value"
    }
    assert fields == {"http.streamIdleTimeout"}
    assert done.code == 4
    both = asked(shop, "a\na\n", "--format", "json")
    assert (both.code, both.json["held"]) == (0, [])
