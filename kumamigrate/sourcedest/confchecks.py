"""What of the conf of an old policy a 2.x control plane refuses, kind by kind (notes G5–G8)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import Any

from kumamigrate.model.problem import Problem
from kumamigrate.pattern import pattern
from kumamigrate.source.text import FieldPath
from kumamigrate.sourcedest.goduration import ZERO
from kumamigrate.sourcedest.oldconf import OldConf
from kumamigrate.sourcedest.selectorchecks import tags_refused

_LIMIT = pattern(r"[gmk]bps")  # Kuma looks for it anywhere: what may stand before is no matter
_STATUSES = {int(status) for status in HTTPStatus}
_CONF = ("conf",)
_Found = Iterator[Problem]


def _timeout(conf: OldConf) -> _Found:
    yield from _defined(conf)
    needed = {
        "tcp": ("idleTimeout",),
        "http": ("requestTimeout", "idleTimeout"),
        "grpc": ("streamIdleTimeout", "maxStreamDuration"),
    }
    for section, fields in needed.items():
        values = conf.get(section)
        if values is None:
            continue
        if not any(name in values for name in fields):
            message = "at least one timeout in section has to be defined: " + " or ".join(fields)
            yield Problem(path=(*_CONF, section), message=message)
        yield from _positive(values, (*_CONF, section), fields)


def _retry(conf: OldConf) -> _Found:
    yield from _defined(conf)
    if conf.defined and not any(conf.get(name) is not None for name in ("http", "grpc", "tcp")):
        yield Problem(path=_CONF, message="missing protocol [grpc|http|tcp] configuration")
    for section in ("http", "grpc"):
        values = conf.get(section)
        if values is not None:
            yield from _retry_section(values, (*_CONF, section))
    tcp = conf.get("tcp")
    if tcp is not None and not tcp.get("maxConnectAttempts"):
        yield Problem(
            path=(*_CONF, "tcp", "maxConnectAttempts"), message="has to be greater than 0"
        )


def _retry_section(values: Mapping[str, Any], path: FieldPath) -> _Found:
    if not values:
        yield Problem(path=path, message="field cannot be empty")
    yield from _positive(values, path, ("numRetries", "perTryTimeout"))
    back_off = values.get("backOff")
    if back_off is not None:
        base = (*path, "backOff")
        if "baseInterval" not in back_off:
            yield Problem(path=(*base, "baseInterval"), message="has to be defined")
        yield from _positive(back_off, base, ("baseInterval", "maxInterval"))
    on = values.get("retryOn") or []
    if "retriable_status_codes" in on and values.get("retriableStatusCodes") is None:
        message = "retriableStatusCodes cannot be empty when this option is specified"
        yield Problem(path=(*path, "retryOn"), message=message)
    if path[-1] == "grpc" and len(set(on)) != len(on):
        yield Problem(path=(*path, "retryOn"), message="repeated value")
    if "NONE" in (values.get("retriableMethods") or []):
        yield Problem(path=(*path, "retriableMethods"), message="field cannot be empty")


def _circuit_breaker(conf: OldConf) -> _Found:
    detectors, thresholds = conf.get("detectors"), conf.get("thresholds")
    if not detectors and not thresholds:
        message = "must have at least one of the detector or threshold configured"
        yield Problem(path=_CONF, message=message)
        return
    for name, value in (("detectors", detectors), ("thresholds", thresholds)):
        if value is not None and not value:
            yield Problem(path=(*_CONF, name), message="can't be empty")
    yield from _percent(conf.value, _CONF, "maxEjectionPercent")
    failure = conf.get("detectors", "failure")
    if failure:
        yield from _percent(failure, (*_CONF, "detectors", "failure"), "threshold")


def _health_check(conf: OldConf) -> _Found:
    yield from _defined(conf)
    if not conf.defined:
        return
    required = ("interval", "timeout", "unhealthyThreshold", "healthyThreshold")
    for name in required:
        if name not in conf.value:
            yield Problem(path=(*_CONF, name), message="must have a positive value")
    yield from _positive(
        conf.value, _CONF, (*required, "initialJitter", "intervalJitter", "noTrafficInterval")
    )
    yield from _percent(conf.value, _CONF, "healthyPanicThreshold")
    http = conf.get("http")
    if http is None:
        return
    if not http.get("path"):
        message = "has to be defined and cannot be empty"
        yield Problem(path=(*_CONF, "http", "path"), message=message)
    at: FieldPath
    for index, status in enumerate(http.get("expectedStatuses") or []):
        if not 100 <= status < 600:
            at = (*_CONF, "http", "expectedStatuses", index)
            yield Problem(path=at, message="must be in range [100, 600)")
    for index, header in enumerate(http.get("requestHeadersToAdd") or []):
        if not (header.get("header") or {}).get("key"):
            at = (*_CONF, "http", "requestHeadersToAdd", index, "header")
            yield Problem(path=at, message="header.key has to be defined")
    if conf.get("tcp") is not None:
        yield Problem(path=_CONF, message="http and tcp cannot be defined at the same time")


def _fault_injection(conf: OldConf) -> _Found:
    needed = {"delay": "value", "abort": "httpStatus", "responseBandwidth": "limit"}
    if not any(conf.get(name) for name in needed):
        yield Problem(path=_CONF, message="must have at least one of the faults configured")
    for name, field in needed.items():
        values = conf.get(name)
        if not values:
            continue
        for required in ("percentage", field):
            if required not in values:
                yield Problem(path=(*_CONF, name, required), message="cannot be empty")
        yield from _percent(values, (*_CONF, name), "percentage")
    status = conf.get("abort", "httpStatus")
    if status is not None and status not in _STATUSES:
        at = (*_CONF, "abort", "httpStatus")
        yield Problem(path=at, message="http status code is incorrect")
    limit = conf.get("responseBandwidth", "limit")
    if limit is not None and not _LIMIT.search(limit):
        at = (*_CONF, "responseBandwidth", "limit")
        yield Problem(path=at, message="has to be in kbps/mbps/gbps units")


def _rate_limit(conf: OldConf) -> _Found:
    if not conf.defined:
        yield Problem(path=_CONF, message="must have conf")
    http = conf.get("http")
    if http is None:
        return
    for name in ("requests", "interval"):
        if not http.get(name) or http.get(name) == ZERO:
            yield Problem(path=(*_CONF, "http", name), message=f"{name} must be set")
    headers = (http.get("onRateLimit") or {}).get("headers") or []
    for index, header in enumerate(headers):
        for name in ("key", "value"):
            if not header.get(name):
                at = (*_CONF, "http", "onRateLimit", "headers", index)
                yield Problem(path=at, message=f"{name} must be set")


def _traffic_route(conf: OldConf) -> _Found:
    if not conf.defined:
        yield Problem(path=_CONF, message="cannot be empty")
        return
    at: FieldPath
    yield from _targets(conf.value, _CONF)
    for index, http in enumerate(conf.get("http") or []):
        at = (*_CONF, "http", index)
        http = http or {}
        yield from _targets(http, at)
        yield from _http_match(http.get("match") or {}, (*at, "match"))
        yield from _http_modify(http, at)
    balancer = conf.get("loadBalancer") or {}
    if (balancer.get("leastRequest") or {}).get("choiceCount") == 1:
        at = (*_CONF, "loadBalancer", "leastRequest", "choiceCount")
        yield Problem(path=at, message="value must be greater than or equal to 2")
    ring = balancer.get("ringHash")
    if ring is not None and ring.get("hashFunction") not in ("XX_HASH", "MURMUR_HASH_2"):
        at = (*_CONF, "loadBalancer", "ringHash", "hashFunction")
        yield Problem(path=at, message="must have a valid hash function")


def _targets(values: Mapping[str, Any], path: FieldPath) -> _Found:
    rule = {"service": True}
    split, destination = values.get("split"), values.get("destination")
    if split is None and destination is None:
        yield Problem(path=path, message='requires either "destination" or "split"')
    if split is not None and destination is not None:
        message = '"split" cannot be defined at the same time as "destination"'
        yield Problem(path=path, message=message)
    if destination is not None:
        yield from tags_refused(destination, rule, (*path, "destination"))
    for index, entry in enumerate(split or []):
        entry = entry or {}
        if "weight" not in entry:
            yield Problem(path=(*path, "split", index, "weight"), message="needs to be defined")
        tags = entry.get("destination") or {}
        yield from tags_refused(tags, rule, (*path, "split", index, "destination"))
    if split is not None and not sum((entry or {}).get("weight", 0) for entry in split):
        message = "there must be at least one split entry with weight above 0"
        yield Problem(path=(*path, "split"), message=message)


def _http_match(match: Mapping[str, Any], path: FieldPath) -> _Found:
    matchers = {name: match[name] for name in ("method", "path") if name in match}
    headers = match.get("headers")
    if not matchers and headers is None:
        message = 'must contain at least one of "method", "path" or "headers"'
        yield Problem(path=path, message=message)
    for name, matcher in {**matchers, **(headers or {})}.items():
        kinds = [kind for kind in ("exact", "prefix", "regex") if kind in (matcher or {})]
        if len(kinds) != 1 or (kinds[0] != "exact" and matcher[kinds[0]] == ""):
            message = 'one of "exact", "prefix" or "regex" is needed'
            yield Problem(path=(*path, name), message=message)


def _http_modify(http: Mapping[str, Any], path: FieldPath) -> _Found:
    modify = http.get("modify") or {}
    at = (*path, "modify")
    rewrite = modify.get("path")
    if rewrite is not None and set(rewrite) not in ({"rewritePrefix"}, {"regex"}):
        yield Problem(path=(*at, "path"), message='either "rewritePrefix" or "regex" has to be set')
    if rewrite and "rewritePrefix" in rewrite:
        prefix = ((http.get("match") or {}).get("path") or {}).get("prefix")
        if not prefix or not rewrite["rewritePrefix"]:
            message = "can only be set, and not be empty, when match.path.prefix is not empty"
            yield Problem(path=(*at, "path", "rewritePrefix"), message=message)
    host = modify.get("host")
    if host is not None and set(host) not in ({"value"}, {"fromPath"}):
        yield Problem(path=(*at, "host"), message='either "value" or "fromPath" has to be set')
    for side in ("requestHeaders", "responseHeaders"):
        for action in ("add", "remove"):
            for index, header in enumerate((modify.get(side) or {}).get(action) or []):
                name = header.get("name") or ""
                if not name or name.startswith(":") or name in ("host", "Host"):
                    place = (*at, side, action, index, "name")
                    yield Problem(path=place, message="this header cannot be modified")
                if action == "add" and not header.get("value"):
                    place = (*at, side, action, index, "value")
                    yield Problem(path=place, message="cannot be empty")


def _proxy_template(conf: OldConf) -> _Found:
    for index, name in enumerate(conf.get("imports") or []):
        if name not in ("default-proxy", "gateway-proxy"):
            yield Problem(path=(*_CONF, "imports", index), message="profile not found")
    for index, entry in enumerate(conf.get("resources") or []):
        for name in ("name", "version", "resource"):
            if not (entry or {}).get(name):
                at = (*_CONF, "resources", index, name)
                yield Problem(path=at, message="cannot be empty")


def _virtual_outbound(conf: OldConf) -> _Found:
    yield from _defined(conf)
    for name in ("host", "port"):
        if conf.defined and not conf.get(name):
            yield Problem(path=(*_CONF, name), message="has to be defined")


def _defined(conf: OldConf) -> _Found:
    if not conf.defined:
        yield Problem(path=_CONF, message="has to be defined")


def _positive(values: Mapping[str, Any], path: FieldPath, names: Iterable[str]) -> _Found:
    for name in names:
        value = values.get(name)
        if value is not None and value in (0, ZERO):
            yield Problem(path=(*path, name), message="has to be greater than 0 when defined")


def _percent(values: Mapping[str, Any], path: FieldPath, name: str) -> _Found:
    value = values.get(name)
    if value is not None and not 0 <= value <= 100:
        yield Problem(path=(*path, name), message="has to be in [0 - 100] range")


CHECKS: Mapping[str, Callable[[OldConf], Iterator[Problem]]] = {
    "CircuitBreaker": _circuit_breaker,
    "FaultInjection": _fault_injection,
    "HealthCheck": _health_check,
    "ProxyTemplate": _proxy_template,
    "RateLimit": _rate_limit,
    "Retry": _retry,
    "Timeout": _timeout,
    "TrafficRoute": _traffic_route,
    "VirtualOutbound": _virtual_outbound,
}
