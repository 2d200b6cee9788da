"""`# kumamigrate: ignore[…]`: what a comment is about, and comments that say nothing (any more)."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from kumamigrate.flow.quiet import OTHER_NAMES
from kumamigrate.scene.marks import Mark, MarkReach, Misspelt, marks_in
from kumamigrate.source.reading.load import read_file
from tests.choose.conftest import MakeShop
from tests.choose.shop import ALIVE, MESH, Shop, findings
from tests.frontdoor import command

RULE = "from-section"
MARK = f"# kumamigrate: ignore[{RULE}]"
OTHER = ALIVE.replace("inbound", "other")


def statuses(shop: Shop) -> set[str]:
    """What became of the findings of the rule."""
    return {s for rule, s, _, _ in findings(shop.run("check", "--format", "json")) if rule == RULE}


def complaints(shop: Shop, *words: str) -> list[tuple[str, str, int, int, str]]:
    """What is said about marks: rule, file, line, column, message."""
    report = shop.run("check", *words, "--format", "json").json
    return [
        (f["rule"].removesuffix("-suppression"), f["file"], f["line"], f["column"], f["message"])
        for f in report["findings"]
        if f["rule"].endswith("-suppression")
    ]


def after(text: str, line: str, mark: str) -> str:
    """Put a mark behind a line."""
    assert line in text
    return text.replace(line, f"{line} {mark}", 1)


def above(text: str, line: str, mark: str) -> str:
    """Put a mark above a line, as far in as it."""
    assert line in text
    at = text.index(line)
    start = text.rfind("\n", 0, at) + 1
    return f"{text[:start]}{' ' * (at - start)}{mark}\n{text[start:]}"


@pytest.mark.parametrize(
    "text",
    [
        after(ALIVE, "from:", MARK),
        after(ALIVE, "default: {http: {requestTimeout: 7s}}", MARK),
        above(ALIVE, "from:", MARK),
        above(ALIVE, "- targetRef", MARK),
        above(ALIVE, "default:", f"{MARK} until the bank is ready"),
        above(ALIVE, "from:", f"{MARK}\n  # and something else"),
    ],
)
def test_on_or_above_any_line_of_what_it_is_about(make_shop: MakeShop, text: str) -> None:
    shop = make_shop({"mesh.yaml": MESH, "a.yaml": text})
    assert statuses(shop) == {"suppressed"}
    assert complaints(shop) == []
    done = shop.run("run", "--format", "json")
    assert (shop.read("a.yaml"), done.code) == (text, 0)


@pytest.mark.parametrize(
    "text", [after(ALIVE, "name: inbound", MARK), above(ALIVE, "mesh: default", MARK)]
)
def test_another_line_of_the_document_is_another_thing(make_shop: MakeShop, text: str) -> None:
    shop = make_shop({"mesh.yaml": MESH, "a.yaml": text})
    assert statuses(shop) == {"pending"}
    assert [one[0] for one in complaints(shop)] == ["unused"]


@pytest.mark.parametrize(
    "mark",
    [
        f"{MARK}\n{ALIVE}",
        f"---\n# Ours.\n{MARK}\n# The bank.\n{ALIVE}",
        f"--- {MARK}\n{ALIVE}",
        f"{ALIVE}# kumamigrate: ignore-document[{RULE}] the bank\n",
        after(ALIVE, "name: inbound", f"# kumamigrate: ignore-document[{RULE}]"),
    ],
)
def test_a_document_as_a_whole_and_no_other_one(make_shop: MakeShop, mark: str) -> None:
    shop = make_shop({"mesh.yaml": MESH, "a.yaml": f"{mark}---\n{OTHER}"})
    said = shop.run("check", "--format", "json").json["findings"]
    assert {(f["resource"]["name"], f["status"]) for f in said if f["rule"] == RULE} == {
        ("inbound", "suppressed"),
        ("other", "pending"),
    }
    assert complaints(shop) == []


def test_an_item_of_a_list_as_a_whole(make_shop: MakeShop) -> None:
    item = (
        "apiVersion: kuma.io/v1alpha1\n  kind: MeshTimeout\n"
        "  metadata: {name: %s, namespace: kuma-system, labels: {kuma.io/mesh: default}}\n"
        "  spec: {from: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 7s}}}]}\n"
    )
    text = f"apiVersion: v1\nkind: List\nitems:\n- {item % 'a'}{MARK}\n- {item % 'b'}"
    shop = make_shop({"mesh.yaml": MESH, "a.yaml": text})
    said = shop.run("check", "--format", "json").json["findings"]
    assert {(f["resource"]["name"], f["status"]) for f in said if f["rule"] == RULE} == {
        ("a", "pending"),
        ("b", "suppressed"),
    }


def test_a_file_as_a_whole(make_shop: MakeShop) -> None:
    text = f"{ALIVE}---\n# kumamigrate: ignore-file[{RULE}] generated\n{OTHER}"
    shop = make_shop({"mesh.yaml": MESH, "a.yaml": text, "b.yaml": ALIVE.replace("inb", "b")})
    said = findings(shop.run("check", "--format", "json"))
    assert {(f, s) for rule, s, f, _ in said if rule == RULE} == {
        ("a.yaml", "suppressed"),
        ("b.yaml", "pending"),
    }


@pytest.mark.parametrize(
    ("epoch", "status"), [("1796083200", "suppressed"), ("1796169600", "pending")]
)
def test_a_date_counts_to_its_end(
    make_shop: MakeShop, monkeypatch: pytest.MonkeyPatch, epoch: str, status: str
) -> None:
    """1796083200 is 2026-12-01, 0 o'clock UTC, and the other the day after."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    text = above(ALIVE, "from:", f"{MARK} until=2026-12-01 the bank")
    shop = make_shop({"mesh.yaml": MESH, "a.yaml": text})
    assert statuses(shop) == {status}
    over = [
        ("expired", "a.yaml", 5, 3, "this was to be ignored until 2026-12-01, and is not any more")
    ]
    assert complaints(shop) == (over if status == "pending" else [])


@pytest.mark.parametrize(
    ("mark", "said"),
    [
        ("# kumamigrate: ignore[from-sektion]", "there is no rule from-sektion to ignore"),
        ("# kumamigrate: ignore from-section", "the rules are missing behind ignore"),
        ("# kumamigrate: ignore[]", "no rule stands behind ignore"),
        ("# kumamigrate ignore[from-section]", "a colon is missing"),
        ("# kumamigrate: ignroe[from-section]", "`ignroe` says nothing"),
        ("# kumamigrate: ignore-docs[from-section]", "`ignore-docs` says nothing"),
        ("# kumamigrate: ignore[from-section] until=soon", "until=soon is no date"),
        ("# kumamigrate: ignore[from-section] until=2026-13-01", "until=2026-13-01 is no date"),
    ],
)
def test_what_is_misspelt_is_told_and_silences_nothing(
    make_shop: MakeShop, mark: str, said: str
) -> None:
    shop = make_shop({"mesh.yaml": MESH, "a.yaml": above(ALIVE, "from:", mark)})
    assert statuses(shop) == {"pending"}
    ((rule, file, line, column, message),) = complaints(shop)
    assert (rule, file, line, column) == ("misspelt", "a.yaml", 5, 3)
    assert said in message


def test_a_misspelt_rule_is_told_what_it_may_have_meant(make_shop: MakeShop) -> None:
    text = above(ALIVE, "from:", "# kumamigrate: ignore[from-sektion]")
    shop = make_shop({"mesh.yaml": MESH, "a.yaml": text})
    report = shop.run("check", "--format", "json").json
    assert [f["action"] for f in report["findings"] if f["line"] == 5] == ["write from-section"]


def test_of_several_rules_those_that_nothing_needed_are_named(make_shop: MakeShop) -> None:
    text = after(
        ALIVE, "from:", f"# kumamigrate: ignore[{RULE}, mixed-route-entry, multi-entry-route]"
    )
    shop = make_shop({"mesh.yaml": MESH, "a.yaml": text})
    assert complaints(shop) == [
        (
            "unused",
            "a.yaml",
            5,
            9,
            "nothing to ignore here for mixed-route-entry, multi-entry-route",
        )
    ]


def test_a_mark_for_what_only_another_target_refuses_is_not_unused(make_shop: MakeShop) -> None:
    """`proxyTypes` is refused by 3.0 and fine for 2.14."""
    text = ALIVE.replace("  from:", "  targetRef: {kind: Mesh, proxyTypes: [Sidecar]}\n  from:")
    text = above(text, "targetRef: {kind: Mesh, proxy", "# kumamigrate: ignore[proxy-types]")
    shop = make_shop({"mesh.yaml": MESH, "a.yaml": text})
    for target in ("2.14", "3.0"):
        assert complaints(shop, "--target", target) == []


def test_rules_that_were_not_asked_leave_their_marks_in_peace(make_shop: MakeShop) -> None:
    shop = make_shop({"mesh.yaml": MESH, "a.yaml": after(ALIVE, "from:", MARK)})
    assert complaints(shop, "--select", "proxy-types") == []
    assert complaints(shop, "--ignore", RULE) == []


def test_what_only_an_inventory_tells_is_not_missed_without_one(
    make_shop: MakeShop, tmp_path: Path
) -> None:
    mark = MARK.replace(RULE, "inventory-drift")
    assert mark != MARK
    shop = make_shop({"mesh.yaml": MESH, "a.yaml": after(ALIVE, "from:", mark)})
    assert complaints(shop, "--ignore", RULE) == []
    export = tmp_path / "export.yaml"
    export.write_text(MESH)
    assert complaints(shop, "--inventory", str(export), "--select", "proxy-types") == []
    assert complaints(shop, "--inventory", str(export), "--ignore", RULE) != []


@pytest.mark.parametrize(
    "text",
    [
        'a: "# kumamigrate: ignore[x]"\n',
        "a: |\n  # kumamigrate: ignore[x]\n  b\n",
        "# kumamigrate is nice\na: b\n",
        "# see kumamigrate: ignore[x] in the docs\na: b\n",
    ],
)
def test_what_is_no_comment_to_the_tool_says_nothing(text: str) -> None:
    assert marks_in(read_file("a.yaml", text.encode())) == ()


def test_marks_are_read_with_their_place() -> None:
    text = "# x\na: b # kumamigrate: ignore[x, y] until=2027-01-31 why\n# kumamigrate: nothing\n"
    one, two = marks_in(read_file("a.yaml", text.encode()))
    assert isinstance(one, Mark)
    assert (one.line, one.column, one.covers, one.rules) == (2, 6, 2, ("x", "y"))
    assert (one.reach, one.until, one.above) == (MarkReach.NODE, date(2027, 1, 31), False)
    assert isinstance(two, Misspelt)
    assert (two.line, two.column) == (3, 1)


def test_names_that_are_no_rules_say_who_tells_them() -> None:
    for name in ("unused-suppression", "expired-suppression", "misspelt-suppression", *OTHER_NAMES):
        done = command("rule", name)
        assert (done.code, "it is told by" in done.err) == (2, True), name
