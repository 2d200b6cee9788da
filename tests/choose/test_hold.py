"""`--hold`: what makes dead settings work is left for a change of its own, the rest is proven."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cases import FIXTURES
from tests.choose.shop import ALIVE, DEAD, FILES, Shop, findings
from tests.frontdoor import command

HELD = ("route-in-target-ref", "held", "dead.yaml", 6)
FIXED = ("from-section", "fixed", "alive.yaml", 6)
RULES = ALIVE.replace(
    "from:\n    - targetRef: {kind: Mesh}\n      default", "rules:\n    - default"
)


def test_what_starts_to_work_is_left_and_the_rest_is_written_and_proven(shop: Shop) -> None:
    done = shop.run("run", "--hold", "activation", "--format", "json")
    assert (shop.read("dead.yaml"), shop.read("alive.yaml")) == (DEAD, RULES)
    assert HELD in findings(done)
    assert FIXED in findings(done)
    report = done.json
    assert (done.code, report["whole"]) == (1, "proven")
    (held,) = report["held"]
    assert held["cause"] == "activation"
    assert {w["effect"] for w in held["witnesses"]} == {"activation"}
    assert report["proof"]["claims"]["live"]["verdict"] == "equivalent"


def test_without_hold_it_is_written_as_an_activation(shop: Shop) -> None:
    done = shop.run("run", "--format", "json")
    assert shop.read("dead.yaml") != DEAD
    assert (done.code, done.json["held"]) == (0, [])
    found = done.json["proof"]["claims"]["live"]["dataplanes"].values()
    assert {w["effect"] for one in found for w in one["witnesses"]} == {"activation"}


def test_the_report_says_what_was_left_and_how_to_write_it(shop: Shop) -> None:
    done = shop.run("run", "--dry-run", "--hold", "activation")
    assert "left for later: settings that are ignored today would start to work" in done.out
    assert "dead.yaml:6" in done.out
    assert "--hold activation" in done.out.partition("To write this: ")[2]
    assert "held" not in done.out


def test_a_comment_on_a_pull_request_says_so_too(shop: Shop) -> None:
    done = shop.run("run", "--dry-run", "--hold", "activation", "--format", "markdown")
    assert "left for later, since a setting that is ignored today would start to work" in done.out
    assert "would change what proxies get" not in done.out


@pytest.mark.parametrize("said", ['activations = "review"', 'hold = ["activation"]'])
def test_the_settings_may_say_so_and_the_command_line_overrules_them(shop: Shop, said: str) -> None:
    shop.write("kumamigrate.toml", f"{said}\n")
    left = shop.run("run", "--dry-run", "--format", "json")
    assert HELD in findings(left)
    done = shop.run("run", "--dry-run", "--hold", "none", "--format", "json")
    assert done.json["held"] == []


def test_what_has_an_effect_besides_is_held_as_ever(shop: Shop) -> None:
    """Beside a policy for the service the moved one also loses what its route inherited: a mesh
    in mode Disabled reads both, so the difference is a value and no activation."""
    shop.write("mesh.yaml", FILES["mesh.yaml"].replace("Exclusive", "Disabled"))
    done = shop.run("run", "--stage", "contract", "--hold", "activation", "--format", "json")
    assert all("cause" not in held for held in done.json["held"])


def test_a_word_that_is_no_kind_of_difference_is_refused(shop: Shop) -> None:
    done = shop.run("run", "--hold", "values")
    assert (done.code, "may be activation, name, residue, none" in done.err) == (2, True)


def test_a_setting_that_is_no_word_for_it_is_refused(shop: Shop) -> None:
    shop.write("kumamigrate.toml", 'activations = "never"\n')
    done = shop.run("run")
    assert (done.code, "must be one of write, review" in done.err) == (2, True)


def test_a_route_whose_policies_are_left_is_not_split_and_a_later_run_comes_to_the_same(
    tmp_path: Path,
) -> None:
    """The split would copy a MeshTimeout and a MeshRetry on the route, in the form that goes."""
    staged, direct = tmp_path / "staged", tmp_path / "direct"
    for folder in (staged, direct):
        shutil.copytree(FIXTURES / "example" / "before", folder)
    done = command("run", staged, "--hold", "activation")
    assert "1  left as before: 2.14 would warn about what it becomes\n" in done.out
    assert "CHANGED  1 resource, in 1 of 7 files" in done.out
    command("run", staged)
    command("run", direct)
    for path in direct.rglob("*.yaml"):
        assert (staged / path.relative_to(direct)).read_text() == path.read_text()
