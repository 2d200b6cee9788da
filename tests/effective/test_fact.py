"""What stands in a slot where something undecided has a say."""

from __future__ import annotations

from kumamigrate.effective.fact import LISTENER, SHARED, Fact, joined

ONE, TWO = {"idleTimeout": "1h"}, {"idleTimeout": "2h"}


def test_what_some_ways_lack_may_be_absent() -> None:
    """An outbound that only one of two tied routes makes has its values, or nothing."""
    fact = joined([{LISTENER: Fact(ONE)}, {}])[LISTENER]
    assert fact.options == (ONE, {})
    assert fact.why == "TrafficRoutes tie"


def test_every_way_counts_once_and_why_it_is_open_is_kept() -> None:
    fact = joined([{LISTENER: Fact(one, why="a tie")} for one in (ONE, TWO, ONE)])[LISTENER]
    assert fact.options == (ONE, TWO)
    assert fact.why == "a tie"


def test_what_all_ways_say_is_decided() -> None:
    fact = joined([{LISTENER: Fact(ONE, why="a tie")}] * 2)[LISTENER]
    assert (fact.options, fact.why) == ((ONE,), "")


def test_what_only_outbounds_tell_is_known_where_it_is_decided_too() -> None:
    facts = [{LISTENER: Fact(ONE, why=why)} for why in ("a tie", SHARED)]
    assert joined(facts)[LISTENER].why == SHARED


def test_what_nobody_hears_is_what_all_ways_say() -> None:
    said = ({"connectionTimeout": "7s", "idleTimeout": "2h"}, {"connectionTimeout": "7s"})
    fact = joined([{LISTENER: Fact(ONE, unheard=one)} for one in said])[LISTENER]
    assert fact.unheard == {"connectionTimeout": "7s"}
