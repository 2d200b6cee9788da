"""Releases and their tables."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from kumamigrate.model import release as release_module
from kumamigrate.model.packed import packed
from kumamigrate.model.release import UnknownRelease, known_releases, release


def test_known_releases_are_in_order_of_time() -> None:
    assert known_releases() == (
        "2.6",
        "2.7",
        "2.8",
        "2.9",
        "2.10",
        "2.11",
        "2.12",
        "2.13",
        "2.14",
        "3.0",
    )


@pytest.mark.parametrize("name", known_releases())
def test_every_policy_type_has_a_short_name_of_its_own(name: str) -> None:
    """Releases without KRIs borrow them: what is told of a policy has one form everywhere."""
    short = release(name).kri_short_names
    assert release(name).policy_types.keys() <= short.keys()
    assert len({*short.values()}) == len(short)


@pytest.mark.parametrize("name", ["2.5", "4.0", "", "latest", "2"])
def test_an_unknown_release_names_those_known(name: str) -> None:
    with pytest.raises(UnknownRelease) as caught:
        release(name)
    assert caught.value.known == known_releases()
    assert str(caught.value).startswith(f"unknown release {name!r}; known are 2.6, 2.7, ")


def test_patch_releases_and_a_leading_v_are_the_same_release() -> None:
    assert release("v2.14.3") is not None
    assert release("v2.14.3").name == release("2.14").name == "2.14"


def test_kinds_rank_as_the_release_ranks_them() -> None:
    assert release("2.6").kind_order["MeshService"] == 4
    assert release("2.9").kind_order["MeshServiceSubset"] == 7
    assert release("2.14").kind_order["MeshService"] == 5
    assert release("2.14").kind_order["Dataplane"] == 2
    assert "MeshSubset" not in release("3.0").kind_order


def test_sections_come_and_go_with_releases() -> None:
    def sections(name: str, kind: str) -> set[str]:
        return set(release(name).policy_types[kind].sections)

    assert sections("2.9", "MeshTimeout") == {"to", "from"}
    assert sections("2.14", "MeshTimeout") == {"to", "from", "rules"}
    assert sections("3.0", "MeshTimeout") == {"to", "rules"}
    assert sections("2.12", "MeshFaultInjection") == {"to", "from"}
    assert sections("2.13", "MeshFaultInjection") == {"to", "from", "rules"}
    assert "MeshTLS" not in release("2.6").policy_types


def test_from_counts_as_rules_for_five_types_of_2_14() -> None:
    """matcher.md, descriptor flags."""
    types = release("2.14").policy_types.values()
    assert {t.name for t in types if t.from_as_rules} == {
        "MeshAccessLog",
        "MeshCircuitBreaker",
        "MeshRateLimit",
        "MeshTimeout",
        "MeshTLS",
    }


def test_single_item_types() -> None:
    types = release("2.14").policy_types.values()
    assert {t.name for t in types if t.single_item} == {
        "MeshMetric",
        "MeshPassthrough",
        "MeshProxyPatch",
        "MeshTrace",
    }


def test_routes_may_stand_in_to_from_the_release_that_brought_them() -> None:
    def takes_route(name: str) -> set[str]:
        types = release(name).policy_types.values()
        return {t.name for t in types if "MeshHTTPRoute" in t.to_kinds}

    assert takes_route("2.9") == takes_route("2.10") == set()
    assert takes_route("2.11") == {"MeshAccessLog", "MeshRetry", "MeshTimeout"}
    assert (
        takes_route("2.14")
        == takes_route("2.12")
        == {
            "MeshAccessLog",
            "MeshLoadBalancingStrategy",
            "MeshRetry",
            "MeshTimeout",
        }
    )


def test_top_level_kinds_depend_on_the_role() -> None:
    timeout = release("2.14").policy_types["MeshTimeout"]
    system, consumer = timeout.top_for(""), timeout.top_for("consumer")
    assert system is not None and "MeshHTTPRoute" in system.kinds
    assert consumer is not None and "MeshHTTPRoute" not in consumer.kinds


def test_only_read_tables_are_certain() -> None:
    exact = {name for name in known_releases() if not release(name).assumed}
    assert exact == {"2.6", "2.9", "2.14", "3.0"}


def test_a_release_like_its_predecessor_costs_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """With `{"base": "2.14"}` as its row a release is read, and everything is as in 2.14."""
    between = {**packed("model/tables", "between.json"), "2.15": {"base": "2.14"}}
    real = packed

    def patched(folder: str, name: str) -> Any:
        return between if name == "between.json" else real(folder, name)

    monkeypatch.setattr(release_module, "packed", patched)
    release.cache_clear()
    try:
        new, old = release("2.15"), release("2.14")
        assert "2.15" in known_releases()
        assert new.policy_types.keys() == old.policy_types.keys()
        same = {f.name for f in fields(old)} - {"name", "policy_types"}
        assert {name for name in same if getattr(new, name) != getattr(old, name)} == set()
    finally:
        release.cache_clear()
