"""`import kumamigrate` as somebody uses it who builds on it."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

import kumamigrate
from kumamigrate.errors import SourceError, UsageError
from kumamigrate.library import EditRefusedError
from kumamigrate.source.reading.find import JOURNAL

OLD = """\
type: MeshTimeout
name: inbound
mesh: default
spec:
  targetRef: {kind: Mesh}
  from:
    - targetRef: {kind: Mesh}
      default: {idleTimeout: 20s}  # as long as the load balancer
"""
OTHER = OLD.replace("20s", "30s")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "timeout.yaml").write_text(OLD)
    return tmp_path


def test_the_examples_of_the_documentation_say_what_they_print() -> None:
    result = doctest.testmod(kumamigrate)
    assert result.attempted > 5
    assert result.failed == 0


def test_the_six_verbs_are_all_there_is() -> None:
    assert set(kumamigrate.__all__) == {"load", "read", "plan", "apply", "prove", "migrate"}
    assert all(getattr(kumamigrate, verb).__doc__ for verb in kumamigrate.__all__)
    with pytest.raises(AttributeError):
        kumamigrate.survey  # noqa: B018


def test_nothing_is_written_unless_asked(shop: Path) -> None:
    outcome = kumamigrate.migrate(kumamigrate.read(kumamigrate.load(shop)))
    ((path, (old, new)),) = outcome.texts.items()
    assert (path, old) == ("timeout.yaml", OLD.encode())
    assert b"rules:" in (new or b"")
    assert (shop / "timeout.yaml").read_text() == OLD


def test_a_plan_is_not_proven_and_proving_it_tells(shop: Path) -> None:
    today = kumamigrate.read(kumamigrate.load(shop))
    tomorrow = kumamigrate.apply(today, kumamigrate.plan(today).changes)
    assert kumamigrate.prove(today, tomorrow).verdict("live").value == "equivalent"
    (shop / "timeout.yaml").write_text(OTHER)
    changed = kumamigrate.read(kumamigrate.load(shop))
    proof = kumamigrate.prove(today, changed)
    assert proof.verdict("live").value == "different"
    assert {w.field for w in proof.witnesses("live")} == {"idleTimeout"}


def test_files_that_are_not_on_disk_are_read_beside_the_others(shop: Path) -> None:
    sources = kumamigrate.load(shop)
    reading = kumamigrate.read(sources, {"more.yaml": OTHER.replace("inbound", "more").encode()})
    names = {resource.name for resource in reading.estate.whole.repository.resources}
    assert names == {"inbound", "more"}


def test_a_text_that_must_stay_is_named(shop: Path) -> None:
    (shop / "timeout.yaml").write_text(
        OLD.replace("default: {idleTimeout: 20s}", "default: &conf {idleTimeout: 20s}")
        .replace("targetRef: {kind: Mesh}\n  from", "targetRef: &mesh {kind: Mesh}\n  from")
        .replace("- targetRef: {kind: Mesh}", "- targetRef: *mesh")
        + "  to:\n    - targetRef: *mesh\n      default: *conf\n"
    )
    today = kumamigrate.read(kumamigrate.load(shop))
    changes = kumamigrate.plan(today).changes
    assert changes
    with pytest.raises(EditRefusedError) as refused:
        kumamigrate.apply(today, changes)
    assert refused.value.refusals[0].path == "timeout.yaml"


def test_what_cannot_be_is_an_error(shop: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        kumamigrate.load(shop / "missing")
    with pytest.raises(UsageError, match="9\\.9"):
        kumamigrate.read(kumamigrate.load(shop, target="9.9"))
    (shop / JOURNAL).mkdir()
    with pytest.raises(SourceError, match="interrupted"):
        kumamigrate.load(shop)
