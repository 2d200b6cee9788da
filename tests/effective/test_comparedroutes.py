"""Two route tables are equal when they do the same with every request (legacy.md §1.2)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from kumamigrate.effective.bothengines.comparedroutes import (
    Action,
    RouteRule,
    Table,
    Test,
    decided,
    first_difference,
)
from kumamigrate.effective.bothengines.requesttables import old_table, raw_prefix
from kumamigrate.model.resource import Resource

PATH, METHOD = ("path", ""), ("method", "")
HEADER, PARAM = ("header", "a"), ("param", "a")


def _to(*names: str, filters: tuple[Any, ...] = ()) -> Action:
    return frozenset((name, Fraction(1, len(names))) for name in names), filters


def _rule(name: str, **tests: Test) -> RouteRule:
    subjects = {"path": PATH, "method": METHOD, "header": HEADER, "param": PARAM}
    return RouteRule(tuple((subjects[key], test) for key, test in tests.items()), _to(name))


def _table(*rules: RouteRule) -> Table:
    return Table("http", rules)


REST = _rule("rest")


def test_only_families_decide_where_there_are_no_requests() -> None:
    assert first_difference(Table(""), Table("")) is None
    assert first_difference(Table(""), Table("tcp")) == ("any request", "nothing", "tcp")
    assert first_difference(Table("http"), Table("")) == ("any request", "http", "nothing")
    told = ("any request", "treated as tcp", "treated as grpc")
    assert first_difference(Table("tcp"), Table("grpc")) == told
    # Both are lists of requests.
    assert first_difference(Table("http"), Table("grpc")) is None


@pytest.mark.parametrize(
    ("one", "two", "request_"),
    [
        ((REST,), (REST,), None),
        ((REST,), (_rule("else"),), "any request"),
        # What is never reached does not count …
        ((REST, _rule("else", path=("exact", "/a"))), (REST,), None),
        ((_rule("x", path=("prefix", "/a")), _rule("y", path=("exact", "/a")), REST),
         (_rule("x", path=("prefix", "/a")), REST), None),
        # … and what is decides.
        ((_rule("y", path=("exact", "/a")), _rule("x", path=("prefix", "/a")), REST),
         (_rule("x", path=("prefix", "/a")), REST), "path /a"),
        ((_rule("x", path=("prefix", "/a")), REST), (_rule("x", path=("exact", "/a")), REST),
         "path /a…"),
        ((_rule("x", method=("exact", "GET")), REST), (REST,), "method GET"),
        ((_rule("x", header=("present", "")), _rule("y", header=("absent", ""))),
         (_rule("x", header=("present", "")), _rule("y")), None),
        ((_rule("x", header=("present", "")), REST), (_rule("x", header=("exact", "b")), REST),
         "header a /…"),
        ((_rule("x", header=("absent", "")), REST), (REST,), "any request"),
        # Nothing is at the beginning of what is not there.
        ((_rule("x", header=("present", "")),), (_rule("x"),), "any request"),
        ((_rule("x", param=("prefix", "b")), REST), (REST,), "param a b"),
        ((_rule("x", param=("exact", "b")), REST), (_rule("x", header=("exact", "b")), REST),
         "param a /…, header a b"),
        # An expression may hold or not; the same one holds on both sides.
        ((_rule("x", path=("coin", "p")), REST), (_rule("x", path=("coin", "p")), REST, REST),
         None),
        ((_rule("x", path=("coin", "p")), REST), (_rule("x", path=("coin", "q")), REST),
         "coin p no, coin q yes"),
        # Requests are told apart by all tests at once.
        ((_rule("x", path=("exact", "/a"), method=("exact", "GET")), REST),
         (_rule("x", path=("exact", "/a")), REST), "path /a, method /…"),
    ],
)  # fmt: skip
def test_the_first_request_that_is_treated_otherwise(
    one: tuple[RouteRule, ...], two: tuple[RouteRule, ...], request_: str | None
) -> None:
    found = first_difference(_table(*one), _table(*two))
    assert (found and found[0]) == request_
    assert (first_difference(_table(*two), _table(*one)) is None) is (request_ is None)
    assert (_table(*one) == _table(*two)) is (request_ is None)


def test_where_no_rule_holds_nothing_is_done() -> None:
    only = _table(_rule("x", path=("exact", "/a")))
    assert decided(only, {PATH: "/b"}) is None
    assert first_difference(only, _table()) == ("path /a", "x 1", "nothing")


def test_shares_and_changes_are_told() -> None:
    half = RouteRule((), _to("kuma.io/service=a", "kuma.io/service=b"))
    changed = RouteRule((), _to("kuma.io/service=a", filters=(("host", "x"),)))
    told = first_difference(_table(half), _table(changed))
    assert told == ("any request", "a 0.5, b 0.5", "a 1 [('host', 'x')]")


def test_too_many_kinds_of_requests_are_no_equality() -> None:
    rules = [RouteRule((((("header", f"h{at}")), ("exact", "a")),), _to("x")) for at in range(12)]
    told = first_difference(_table(*rules, REST), _table(*rules[::-1], REST))
    assert told == ("too many kinds of request", "not compared", "not compared")


A = {"kuma.io/service": "a"}


def _old(conf: dict[str, Any], family: str = "http") -> Table:
    route = Resource(type="TrafficRoute", mesh="default", name="r", spec={"conf": conf})
    return old_table(route, A, family)


def _of_rule(match: Any = None, modify: Any = None) -> RouteRule:
    rule = {"match": match or {"path": {"exact": "/"}}, "destination": A}
    rule |= {} if modify is None else {"modify": modify}
    table = _old({"http": [rule], "destination": A})
    assert (len(table.rules), table.rules[1].tests) == (2, ())
    return table.rules[0]


@pytest.mark.parametrize(
    ("match", "tests"),
    [
        ({"path": {"exact": "/a"}}, ((PATH, ("exact", "/a")),)),
        ({"path": {"prefix": "/a"}}, ((PATH, ("prefix", "/a")),)),
        # An expression that is plain text, or a prefix of it, is told as what it is …
        ({"path": {"regex": "/a"}}, ((PATH, ("exact", "/a")),)),
        ({"path": {"regex": r"/a\.b"}}, ((PATH, ("exact", "/a.b")),)),
        ({"path": {"regex": "/a.*"}}, ((PATH, ("prefix", "/a")),)),
        ({"path": {"regex": r"/a\.b.*"}}, ((PATH, ("prefix", "/a.b")),)),
        # … and any other by its text and by what it is asked of.
        ({"path": {"regex": "/a+"}}, ((PATH, ("coin", "('path', '')~/a+")),)),
        ({"path": {"regex": "/a+.*"}}, ((PATH, ("coin", "('path', '')~/a+.*")),)),
        ({"method": {"exact": "GET"}}, ((METHOD, ("exact", "GET")),)),
        ({"headers": {"A": {"prefix": "b"}}}, ((HEADER, ("prefix", "b")),)),
        (
            {"path": {"exact": "/a"}, "method": {"regex": "GET|PUT"}},
            ((PATH, ("exact", "/a")), (METHOD, ("coin", "('method', '')~GET|PUT"))),
        ),
    ],
)
def test_what_a_traffic_route_matches(match: Any, tests: Any) -> None:
    assert _of_rule(match).tests == tests


@pytest.mark.parametrize(
    ("pattern", "prefix"),
    [("/a.*", "/a"), (r"/a\.b.*", "/a.b"), ("/a", None), ("/(a).*", None), (r"/\d.*", None)],
)
def test_a_pattern_that_wants_a_beginning_alone(pattern: str, prefix: str | None) -> None:
    assert raw_prefix(pattern) == prefix


@pytest.mark.parametrize(
    ("modify", "filters"),
    [
        (None, ()),
        ({"path": {"rewritePrefix": "/b"}}, (("path", "prefix", "/b"),)),
        # No rewrite by whole segments keeps the slash at the joint.
        ({"path": {"rewritePrefix": "/b/"}}, (("path", "prefix", "/b/ and the rest of the path"),)),
        ({"path": {"regex": {"pattern": "a"}}}, (("path", "regex", "{'pattern': 'a'}"),)),
        ({"host": {"value": "x"}}, (("host", "x"),)),
        ({"host": {"fromPath": {"pattern": "a"}}}, (("host", "path", "{'pattern': 'a'}"),)),
        (
            {
                "requestHeaders": {
                    "add": [
                        {"name": "A", "value": "b"},
                        {"name": "c", "value": "d", "append": True},
                    ],
                    "remove": [{"name": "E"}],
                },
                "responseHeaders": {"remove": [{"name": "f"}]},
            },
            (
                ("request", "add", "c", "d"),
                ("request", "remove", "e"),
                ("request", "set", "a", "b"),
                ("response", "remove", "f"),
            ),
        ),
    ],
)
def test_what_a_traffic_route_changes(modify: Any, filters: Any) -> None:
    assert _of_rule(modify=modify).action == (frozenset({("kuma.io/service=a", 1)}), filters)


def test_where_a_traffic_route_leads() -> None:
    b = {"kuma.io/service": "b"}
    split = {"split": [{"weight": 1, "destination": A}, {"weight": 3, "destination": b}]}
    quarter = {("kuma.io/service=a", Fraction(1, 4)), ("kuma.io/service=b", Fraction(3, 4))}
    assert [rule.action for rule in _old(split).rules] == [(frozenset(quarter), ())]
    # Weights of one cluster add up, and what has none is not led to.
    same = {"split": [{"weight": 2, "destination": A}, {"weight": 2, "destination": A},
                      {"weight": 0, "destination": b}, {"destination": b}]}  # fmt: skip
    assert _old(same).rules[0].action == (frozenset({("kuma.io/service=a", 1)}), ())
    nowhere = {"split": [{"weight": 0, "destination": A}]}
    assert _old(nowhere).rules[0].action == (frozenset(), ())
    # Connections have no requests: they go by the weights of all rules together.
    rule = {"match": {"path": {"exact": "/"}}, "destination": b}
    tcp = _old({"http": [rule], "destination": A}, "tcp")
    halves = {("kuma.io/service=a", Fraction(1, 2)), ("kuma.io/service=b", Fraction(1, 2))}
    assert [(one.tests, one.action) for one in tcp.rules] == [((), (frozenset(halves), ()))]


def test_an_outbound_without_a_route_is_dead() -> None:
    assert first_difference(old_table(None, A, "http"), Table("")) is None
