"""`run --plan` and `apply`: what was reviewed is what is written, or nothing is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.choose.conftest import MakeShop
from tests.choose.shop import ALIVE, FILES, MESH, Shop

PLAN = "plan.json"


def without_plan(shop: Shop) -> dict[str, str]:
    return {path: text for path, text in shop.texts().items() if path != PLAN}


def changed(shop: Shop, edit: Any) -> None:
    """Change the plan on the disk."""
    data = json.loads(shop.read(PLAN))
    edit(data)
    shop.write(PLAN, json.dumps(data))


def test_a_plan_writes_nothing_and_apply_writes_what_a_run_would(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = without_plan(shop)
    made = shop.run("run", "--plan", PLAN)
    assert (made.code, without_plan(shop)) == (1, before)
    assert "+  rules:" in made.out
    twin = Shop(tmp_path / "twin", monkeypatch, FILES)
    twin.run("run")
    done = shop.run("apply", PLAN)
    assert (done.code, without_plan(shop)) == (0, twin.texts())
    assert "Wrote 2 files as planned for Kuma 2.14" in done.out


@pytest.mark.parametrize(
    "text", [ALIVE.replace("\n", "\r\n"), "\ufeff" + ALIVE, ALIVE.rstrip("\n"), f"# ü…\n{ALIVE}"]
)
def test_bytes_stay_bytes(
    make_shop: MakeShop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    files = {"mesh.yaml": MESH, "ä/a.yaml": text}
    shop, twin = make_shop(files), Shop(tmp_path / "twin", monkeypatch, files)
    twin.run("run")
    shop.run("run", "--plan", PLAN)
    assert shop.run("apply", PLAN).code == 0
    assert (shop.root / "ä/a.yaml").read_bytes() == (twin.root / "ä/a.yaml").read_bytes()
    assert shop.read("ä/a.yaml") != text


def test_applied_again_it_finds_all_done(shop: Shop) -> None:
    shop.run("run", "--plan", PLAN)
    shop.run("apply", PLAN)
    after = shop.texts()
    done = shop.run("apply", PLAN)
    assert (done.code, "all of the plan is there already" in done.out) == (0, True)
    assert shop.texts() == after


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        ("alive.yaml", f"{ALIVE}# later\n", "alive.yaml changed"),
        ("orders.yaml", FILES["orders.yaml"].replace("http", "tcp"), "orders.yaml changed"),
        ("more/new.yaml", ALIVE.replace("inbound", "other"), "more/new.yaml is new"),
        ("kumamigrate.toml", 'exclude = ["x/**"]\n', "kumamigrate.toml is new"),
    ],
)
def test_it_is_refused_when_a_file_moved_that_the_proof_rests_on(
    shop: Shop, path: str, text: str, said: str
) -> None:
    shop.run("run", "--plan", PLAN)
    shop.write(path, text)
    before = shop.texts()
    done = shop.run("apply", PLAN)
    assert (done.code, shop.texts()) == (2, before)
    assert said in done.err
    assert "nothing was written" in done.err
    assert "kumamigrate run --plan" in done.err


def test_it_is_refused_when_a_file_is_gone(shop: Shop) -> None:
    shop.run("run", "--plan", PLAN)
    (shop.root / "route.yaml").unlink()
    done = shop.run("apply", PLAN)
    assert (done.code, "route.yaml is gone" in done.err) == (2, True)


def test_what_holds_no_manifest_may_change(shop: Shop) -> None:
    shop.run("run", "--plan", PLAN)
    shop.write("README.md", "# Later\n")
    shop.write("ci.yaml", "jobs: []\n")
    assert shop.run("apply", PLAN).code == 0


def test_a_part_of_the_repository_is_planned_against_all_of_it(shop: Shop) -> None:
    shop.write("team/t.yaml", ALIVE.replace("inbound", "team"))
    shop.run("run", "team", "--plan", PLAN)
    paths = [one["path"] for one in json.loads(shop.read(PLAN))["files"]]
    assert paths == ["team/t.yaml"]
    shop.write("dead.yaml", FILES["dead.yaml"].replace("60s", "61s"))
    assert "dead.yaml changed" in shop.run("apply", PLAN).err


@pytest.mark.parametrize(
    "path",
    [
        "../out.yaml",
        "/tmp/out.yaml",
        "a/../../out.yaml",
        ".git/config",
        "a/.git/hooks/x",
        ".",
        "",
        "a\0b",
        "\ud800",
        "x" * 5000,
    ],
    ids=repr,
)
def test_a_plan_writes_nothing_out_of_the_repository(shop: Shop, path: str) -> None:
    shop.run("run", "--plan", PLAN)
    changed(shop, lambda data: data["files"][0].update(path=path, old=None))
    before = shop.texts()
    done = shop.run("apply", PLAN)
    assert (done.code, shop.texts()) == (2, before)
    assert not (shop.root.parent / "out.yaml").exists()


@pytest.mark.parametrize("goal", ["outside", "shop/.git"])
def test_a_plan_follows_no_link_out_of_the_repository(shop: Shop, goal: str) -> None:
    (shop.root.parent / "outside").mkdir()
    shop.run("run", "--plan", PLAN)
    (shop.root / "linked").symlink_to(shop.root.parent / goal)
    changed(shop, lambda data: data["files"][0].update(path="linked/x.yaml", old=None))
    done = shop.run("apply", PLAN)
    assert (done.code, "leads out of the repository" in done.err) == (2, True)
    assert not (shop.root.parent / goal / "x.yaml").exists()


def test_a_plan_that_was_changed_by_hand_is_refused(shop: Shop) -> None:
    shop.run("run", "--plan", PLAN)
    changed(shop, lambda data: data["files"][0].update(text="type: Mesh\n"))
    done = shop.run("apply", PLAN)
    assert (done.code, "was changed" in done.err) == (2, True)


@pytest.mark.parametrize(
    "text", ["", "[]", '{"schema": "kumamigrate.plan/9"}', "null", "[" * 100_000, "\0"], ids=len
)
def test_what_is_no_plan_is_refused(shop: Shop, text: str) -> None:
    shop.write(PLAN, text)
    done = shop.run("apply", PLAN)
    assert (done.code, "is no plan that this version knows" in done.err) == (2, True)


def test_new_files_and_removed_ones_are_planned_too(make_shop: MakeShop) -> None:
    """Initial policies are adopted into a folder that is not there yet."""
    shop = make_shop({"mesh.yaml": MESH})
    shop.run("run", "--adopt-initial-policies", "stock", "--plan", PLAN, given="2.6")
    planned = [one["path"] for one in json.loads(shop.read(PLAN))["files"]]
    assert planned
    assert all(path.startswith("stock/") for path in planned)
    assert not (shop.root / "stock").exists()
    assert shop.run("apply", PLAN).code == 0
    assert all((shop.root / path).is_file() for path in planned)


def test_an_inventory_in_the_repository_is_no_manifest(shop: Shop) -> None:
    shop.write(
        "inv.yaml", "type: Dataplane\nname: web\nmesh: default\nnetworking: {address: 1.1.1.1}\n"
    )
    shop.run("run", "--inventory", "inv.yaml", "--plan", PLAN)
    assert shop.run("apply", PLAN).code == 0
