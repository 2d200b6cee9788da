"""What made-up proxies showed becomes one verdict for every proxy there could be."""

from __future__ import annotations

from kumamigrate.effective.difference import Value, Witness
from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.prover.proof import ProxyVerdict, Verdict
from kumamigrate.prover.stages.proxyfindings import ANY_PROXY, Findings, verdicts

DOUBT = Doubt(DoubtKind.TIE, "are as old as each other")


def _witness(field: str, now: int = 2) -> Witness:
    return Witness(
        mesh="default",
        proxy="",
        policy_type="MeshTimeout",
        direction="outbound",
        field=field,
        before=Value(value=1),
        after=Value(value=now),
    )


def _found(*names: str, unknown: bool = False) -> Findings:
    found = Findings(unknown={DOUBT: None} if unknown else {})
    for name in names:
        found.add(name, [_witness(f"of {name}")])
    return found


def _short(given: tuple[ProxyVerdict, ...]) -> list[tuple[str, Verdict, bool]]:
    assert all(one.made_up for one in given)
    return [(one.name, one.verdict, bool(one.unknown)) for one in given]


def test_nothing_found_and_nothing_unknown_holds_for_any_proxy() -> None:
    assert _short(verdicts(_found())) == [(ANY_PROXY, Verdict.EQUIVALENT, False)]


def test_what_differs_stands_alone() -> None:
    assert _short(verdicts(_found("a"))) == [("a", Verdict.DIFFERENT, False)]
    assert _short(verdicts(_found(ANY_PROXY))) == [(ANY_PROXY, Verdict.DIFFERENT, False)]


def test_what_is_unknown_stands_with_the_plainest_proxy() -> None:
    assert _short(verdicts(_found(unknown=True))) == [(ANY_PROXY, Verdict.UNKNOWN, True)]
    assert _short(verdicts(_found("a", unknown=True))) == [
        ("a", Verdict.DIFFERENT, False),
        (ANY_PROXY, Verdict.UNKNOWN, True),
    ]
    assert _short(verdicts(_found("a", ANY_PROXY, unknown=True))) == [
        ("a", Verdict.DIFFERENT, False),
        (ANY_PROXY, Verdict.DIFFERENT, True),
    ]


def test_a_difference_is_told_once_at_the_proxy_that_showed_it_first() -> None:
    found = Findings()
    found.add("a", [_witness("x")])
    found.add("b", [_witness("x"), _witness("x", now=3), _witness("y")])
    told = {one.name: [(w.proxy, w.field, w.after.value) for w in one.witnesses]
            for one in verdicts(found)}  # fmt: skip
    assert told == {"a": [("a", "x", 2)], "b": [("b", "x", 3), ("b", "y", 2)]}
