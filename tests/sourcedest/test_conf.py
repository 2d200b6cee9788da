"""Reading old confs, and durations as text."""

from __future__ import annotations

import pytest

from kumamigrate.sourcedest.goduration import Duration, parse_duration, seconds
from kumamigrate.sourcedest.oldconf import read_conf


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("0.025s", "25ms"),
        ("3600s", "1h"),
        ("1800s", "30m"),
        ("90s", "1m30s"),
        ("60.0s", "1m"),
        ("1.5s", "1.5s"),
        ("0.000001s", "1us"),
        ("0s", "0s"),
        ("-1s", "-1s"),
        ("60.5s", "1m500ms"),
        ("1h0m1.25s", "1h1.25s"),
        ("1.0005s", "1.0005s"),
    ],
)
def test_duration_text(text: str, written: str) -> None:
    duration = parse_duration(text)
    assert duration is not None
    assert str(duration) == written
    assert parse_duration(written) == duration


def test_no_durations() -> None:
    assert parse_duration("5") is None
    assert parse_duration("") is None
    assert parse_duration("1 s") is None


def test_conf_is_typed_and_unknown_fields_are_listed() -> None:
    conf = read_conf(
        "HealthCheck",
        {
            "conf": {
                "interval": "10s",
                "healthy_threshold": "3",
                "tcp": {"send": "Zm9v"},
                "bogus": 1,
                "http": None,
                "reuseConnection": False,
            }
        },
    )
    assert conf.get("interval") == seconds(10)
    assert conf.get("healthyThreshold") == 3
    assert conf.get("tcp", "send") == b"foo"
    assert conf.get("reuseConnection") is False
    assert "http" not in conf.value
    assert conf.unknown == (("conf", "bogus"),)
    assert conf.problems == ()


@pytest.mark.parametrize(
    ("kind", "conf", "path"),
    [
        ("HealthCheck", {"tcp": {"send": "%%%"}}, ("conf", "tcp", "send")),
        ("HealthCheck", {"healthyThreshold": True}, ("conf", "healthyThreshold")),
        ("HealthCheck", {"healthyThreshold": -1}, ("conf", "healthyThreshold")),
        ("HealthCheck", {"healthyThreshold": 1.5}, ("conf", "healthyThreshold")),
        ("HealthCheck", {"healthyThreshold": "three"}, ("conf", "healthyThreshold")),
        ("HealthCheck", {"reuseConnection": "yes"}, ("conf", "reuseConnection")),
        ("FaultInjection", {"abort": {"percentage": "50%"}}, ("conf", "abort", "percentage")),
        ("CircuitBreaker", {"detectors": []}, ("conf", "detectors")),
        ("Retry", {"http": {"retryOn": "all_5xx"}}, ("conf", "http", "retryOn")),
        ("TrafficRoute", {"destination": "web"}, ("conf", "destination")),
    ],
)
def test_unreadable_values(kind: str, conf: object, path: tuple[str | int, ...]) -> None:
    assert [p.path for p in read_conf(kind, {"conf": conf}).problems] == [path]


@pytest.mark.parametrize("written", [3, "3", 3.0])
def test_a_whole_number_may_be_written_as_text(written: object) -> None:
    conf = read_conf("HealthCheck", {"conf": {"healthyThreshold": written}})
    assert (conf.get("healthyThreshold"), conf.problems) == (3, ())


def test_conf_that_is_no_object() -> None:
    assert read_conf("Timeout", {"conf": 7}).problems
    assert not read_conf("Timeout", {"conf": None}).defined
    assert read_conf("Timeout", {"conf": {}}).defined
    assert Duration(0) == read_conf("Timeout", {"conf": {"connectTimeout": "0s"}}).get(
        "connectTimeout"
    )
