"""What a tired reader gets to see: results first, places once, no internal words."""

from __future__ import annotations

from pathlib import Path

from kumamigrate.flow.sumproof import prove_scenes
from kumamigrate.report.screen.causes import doubts
from kumamigrate.report.screen.onscreen import texts_of
from kumamigrate.report.screen.provescreen import Compared, proof_lines
from kumamigrate.report.styled import plain
from tests.reports.repo import DISABLED, EXCLUSIVE, documents, run

ROUTE = """type: MeshHTTPRoute
name: api
mesh: default
spec:
  to:
    - targetRef: {kind: MeshService, name: orders}
      rules: [{matches: [{path: {type: PathPrefix, value: /v1}}], default: {}}]
    - targetRef: {kind: MeshService, name: pay}
      rules: [{matches: [{path: {type: PathPrefix, value: /v2}}], default: {}}]
"""
TIMEOUT = """type: MeshTimeout
name: slow
mesh: default
spec:
  to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 20s}}}]
"""


def proved(folder: Path, before: str, after: str) -> str:
    """Return what `prove` prints about two states."""
    one = run(folder / "1", {"t.yaml": before}).outcome
    two = run(folder / "2", {"t.yaml": after}).outcome
    proof = prove_scenes(one.before, two.before)
    texts = (texts_of(one.began), texts_of(two.began))
    repositories = [two.before.repository]
    return plain(proof_lines(Compared(proof=proof, repositories=repositories, texts=texts)))


def test_a_doubt_about_both_sides_is_one_line_with_both_places() -> None:
    """A manifest that moved by a line is not two unknowns."""
    assert doubts(
        ["MeshRetry b (u.yaml:1) holds templates", "MeshRetry b (u.yaml:2) holds templates"]
    ) == ["MeshRetry b (u.yaml:1, u.yaml:2) holds templates"]
    assert doubts(["a (u.yaml:1) x", "b (u.yaml:1) x", "a (u.yaml:1) x"]) == [
        "a (u.yaml:1) x",
        "b (u.yaml:1) x",
    ]


def test_prove_says_each_unknown_once(tmp_path: Path) -> None:
    """The same unknown before and after, with other line numbers, is one unknown."""
    text = documents(DISABLED, TIMEOUT.replace("20s", '"${SLOW}"'))
    said = proved(tmp_path, text, "# moved\n" + text.replace("name: slow", "name: slower"))
    reasons = [line for line in said.splitlines() if "cannot tell:" in line]
    assert len(reasons) == len(set(reasons))
    again = proved(tmp_path, text, "# moved\n" + text + "---\n" + TIMEOUT.replace("slow", "other"))
    assert "MeshTimeout slow (t.yaml:5, t.yaml:6) holds" in again


def test_a_difference_names_the_policy_and_place_that_win_on_each_side(tmp_path: Path) -> None:
    """Who reads that a value changes wants to know which line did it."""
    text = documents(DISABLED, TIMEOUT)
    new = TIMEOUT.replace("20s", "9s").replace("slow", "a-new")
    said = proved(tmp_path, text, documents(text, new))
    assert "request timeout  20s → 9s   t.yaml:15 (20s: from t.yaml:9)\n" in said


def test_names_of_routes_are_names(tmp_path: Path) -> None:
    """A split route is called otherwise in Envoy: the reader sees names, not identifiers."""
    done = run(tmp_path, {"m.yaml": EXCLUSIVE, "r.yaml": ROUTE})
    assert "1 change shows in Envoy's configuration and statistics alone" in done.said
    assert "api → api-pay" in done.said
    assert "kri_" not in done.said


def test_a_run_that_leaves_something_to_decide_does_not_call_it_nothing(tmp_path: Path) -> None:
    """ "Nothing to change" above a list of findings reads as if all were well."""
    gone = """type: MeshTimeout
name: t
mesh: default
spec:
  targetRef: {kind: MeshHTTPRoute, name: gone}
  to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 20s}}}]
"""
    done = run(tmp_path, {"m.yaml": EXCLUSIVE, "t.yaml": gone})
    assert done.said.startswith("Nothing was written; 1 finding to look at for Kuma 2.14")
    assert "\n\n\n" not in done.said
    assert "Nothing is left to do" not in done.said


def test_a_run_that_is_done_names_the_next_step(tmp_path: Path) -> None:
    """The last line says what comes after 2.14."""
    done = run(tmp_path, {"m.yaml": EXCLUSIVE, "r.yaml": TIMEOUT})
    assert done.said.startswith("Nothing to change for Kuma 2.14")
    assert done.said.endswith("what 3.0 needs: kumamigrate check --target 3.0\n")
