"""`baseline write|prune` and `--fail-on`: only what is new, or dangerous enough, counts."""

from __future__ import annotations

import json

import pytest

from tests.choose.conftest import MakeShop
from tests.choose.shop import ALIVE, FILES, MESH, Shop, findings

BASELINE = "kumamigrate-baseline.json"
OTHER = ALIVE.replace("inbound", "other")


def known(shop: Shop) -> dict[str, dict[str, int]]:
    """The findings of the baseline on the disk."""
    found: dict[str, dict[str, int]] = json.loads(shop.read(BASELINE))["findings"]
    return found


def test_what_is_written_down_counts_no_more_and_what_is_new_does(shop: Shop) -> None:
    assert shop.run("check").code == 1
    done = shop.run("baseline", "write")
    assert (done.code, "Wrote kumamigrate-baseline.json: 2 findings of 2 rules" in done.out) == (
        0,
        True,
    )
    assert known(shop) == {
        "from-section": {"MeshTimeout default/inbound": 1},
        "route-in-target-ref": {"MeshTimeout default/slow-api": 1},
    }
    looked = shop.run("check", "--format", "json")
    assert looked.code == 0
    assert {status for _, status, _, _ in findings(looked)} == {"suppressed"}
    assert looked.json["baseline"] == {"file": BASELINE, "known": 2, "settled": 0}
    shop.write("new.yaml", OTHER)
    looked = shop.run("check", "--format", "json")
    assert looked.code == 1
    assert [f for _, status, f, _ in findings(looked) if status == "pending"] == ["new.yaml"]


def test_it_holds_when_lines_move_and_files_are_renamed(shop: Shop) -> None:
    shop.run("baseline", "write")
    shop.write("moved.yaml", f"# Ours.\n\n{shop.read('alive.yaml')}")
    (shop.root / "alive.yaml").unlink()
    assert shop.run("check").code == 0


def test_more_of_the_same_about_one_resource_is_new(make_shop: MakeShop) -> None:
    """Two folders each hold the resource: one is known, the other is not."""
    shop = make_shop({"mesh.yaml": MESH, "clusters/a/t.yaml": ALIVE})
    shop.run("baseline", "write")
    shop.write("clusters/b/t.yaml", ALIVE)
    said = findings(shop.run("check", "--format", "json"))
    statuses = sorted(status for rule, status, _, _ in said if rule == "from-section")
    assert statuses == ["pending", "suppressed"]


def test_a_run_still_writes_what_is_proven_and_prune_takes_it_out(shop: Shop) -> None:
    shop.run("baseline", "write")
    done = shop.run("run", "--select", "from-section")
    assert (done.code, shop.read("alive.yaml") != FILES["alive.yaml"]) == (0, True)
    looked = shop.run("check")
    assert "1 of it settled: kumamigrate baseline prune" in looked.out
    pruned = shop.run("baseline", "prune")
    assert (pruned.code, "Took 1 settled finding out of" in pruned.out) == (0, True)
    assert known(shop) == {"route-in-target-ref": {"MeshTimeout default/slow-api": 1}}
    before = shop.read(BASELINE)
    assert "Nothing to take out" in shop.run("baseline", "prune").out
    assert shop.read(BASELINE) == before


def test_what_a_run_holds_and_is_known_makes_no_exit_code(shop: Shop) -> None:
    first = shop.run("run", "--dry-run", "--hold", "activation", "--format", "json")
    assert (first.code, [h["cause"] for h in first.json["held"]]) == (1, ["activation"])
    shop.run("run", "--select", "from-section")
    shop.run("baseline", "write")
    again = shop.run("run", "--dry-run", "--hold", "activation", "--format", "json")
    assert (again.code, [h["cause"] for h in again.json["held"]]) == (0, ["baseline"])


def test_a_part_of_the_repository_settles_nothing(shop: Shop) -> None:
    shop.write("team/x.yaml", OTHER)
    shop.run("baseline", "write")
    size = sum(len(names) for names in known(shop).values())
    shop.run("baseline", "prune", "team")
    assert sum(len(names) for names in known(shop).values()) == size
    assert "settled" not in shop.run("check", "team", "--format", "json").json["baseline"]


def test_a_file_of_another_name_is_used_when_it_is_said(shop: Shop) -> None:
    shop.run("baseline", "write", "--baseline", "known.json")
    assert shop.run("check").code == 1
    assert shop.run("check", "--baseline", "known.json").code == 0
    shop.write("kumamigrate.toml", 'baseline = "known.json"\n')
    assert shop.run("check").code == 0
    assert shop.run("check", "--baseline", "none").code == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [("{", "is no baseline"), ('{"schema": "kumamigrate.baseline/9"}', "is no baseline")],
)
def test_what_is_no_baseline_is_refused(shop: Shop, text: str, said: str) -> None:
    shop.write(BASELINE, text)
    done = shop.run("check")
    assert (done.code, said in done.err) == (2, True)


def test_a_baseline_that_is_said_must_be_there(shop: Shop) -> None:
    done = shop.run("check", "--baseline", "gone.json")
    assert (done.code, "there is no such baseline" in done.err) == (2, True)


def test_prune_is_for_the_target_that_was_written_down(shop: Shop) -> None:
    shop.run("baseline", "write", "--target", "3.0")
    done = shop.run("baseline", "prune")
    assert (done.code, "say --target 3.0" in done.err) == (2, True)


def test_files_of_the_tool_itself_are_no_manifests(shop: Shop) -> None:
    """They name resources; a second look must not take them for some."""
    shop.run("baseline", "write")
    shop.run("check", "--baseline", "none", "--output", "json=report.json")
    assert shop.run("check", "--format", "json").json["coverage"]["unread"] == []


@pytest.mark.parametrize(
    ("level", "code"),
    [("none", 0), ("silent-loss", 0), ("other-meaning", 0), ("refused", 0), ("deprecated", 1),
     ("advice", 1)],
)  # fmt: skip
def test_only_findings_as_dangerous_as_that_make_an_exit_code(
    make_shop: MakeShop, level: str, code: int
) -> None:
    """`from` is deprecated in 2.14, no more."""
    shop = make_shop({"mesh.yaml": MESH, "a.yaml": ALIVE})
    assert shop.run("check", "--fail-on", level).code == code
    assert shop.run("run", "--dry-run", "--fail-on", level).code == code
    shop.write("kumamigrate.toml", f'fail-on = "{level}"\n')
    assert shop.run("check").code == code


def test_advice_counts_when_asked_for(make_shop: MakeShop) -> None:
    labelled = "type: MeshService\nname: a\nmesh: default\nlabels: {kuma.io/zone: x}\nspec: {}\n"
    shop = make_shop({"mesh.yaml": MESH, "a.yaml": labelled})
    assert [s for _, s, _, _ in findings(shop.run("check", "--format", "json"))] == ["manual"]
    codes = [shop.run("check", *words).code for words in ((), ("--fail-on", "advice"))]
    assert codes == [0, 1]
