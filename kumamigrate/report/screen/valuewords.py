"""Values as people would write them: who may connect, which backends, `60s`; never cut JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from kumamigrate.model import duration
from kumamigrate.model.conf import canonical
from kumamigrate.model.resource import NAMESPACE, SERVICE, mapping
from kumamigrate.report.screen.fieldwords import CLIENT

NOTHING = "none"
NOBODY = "nobody may"
EMPTY = '""'
NOWHERE = "nowhere"
MOST = 3
_GRANTS = ("Allow", "ALLOW")


def in_words(value: Any, *, field: str = "") -> str:
    """Return a value in words. Of a list MOST entries are said and the others counted."""
    if field in ("from", "rules.allow", "rules.deny"):
        return _grants(value, field)
    if field == "allowed":
        return "may connect" if value else "may not connect"
    if field.startswith(CLIENT) and value in (None, *_GRANTS):
        return in_words(value is not None, field="allowed")
    if value is None:
        return NOTHING
    if field == "protocol" and not value:
        return "not known"
    if field == "certificate":  # the id, then a name for each of the proxy's tags
        return _listed(str(value).split(", "), 1)
    if field == "answered with 500":
        return str(value) if value == "all" else f"weight {value}"
    if field == "backendRefs":
        return _listed([_backend_ref(one) for one in value]) or NOWHERE
    return _words(value)


def compact(text: str) -> str:
    """Return a duration without parts that are zero (`1m0s` is `1m`); other text as it is."""
    nanoseconds = duration.parse(text) if text[:1].isdigit() and text[-1:].isalpha() else None
    if nanoseconds is None or nanoseconds == 0:
        return text
    said = duration.render(nanoseconds)
    said = said.removesuffix("0s") if said.endswith("m0s") else said
    return said.removesuffix("0m") if said.endswith("h0m") else said


def leaves_that_differ(before: Any, after: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield what differs inside two structures: the path, the value before, the value after."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in dict.fromkeys((*before, *after)):
            if before.get(key) != after.get(key):
                inner = f"{path}.{key}" if path else str(key)
                yield from leaves_that_differ(before.get(key), after.get(key), inner)
    elif _is_list(before) and _is_list(after):
        yield from _entries_that_differ(before, after, path)
    else:
        yield path, before, after


def _entries_that_differ(
    before: Sequence[Any], after: Sequence[Any], path: str
) -> Iterator[tuple[str, Any, Any]]:
    """Yield what differs in two lists, entries that are in both set against each other."""
    old_texts, new_texts = ([canonical(one) for one in side] for side in (before, after))
    from difflib import SequenceMatcher

    matched = SequenceMatcher(None, old_texts, new_texts, autojunk=False)
    for word, a, b, c, d in matched.get_opcodes():
        if word == "equal":
            continue
        for at, (old, new) in enumerate(zip_longest(before[a:b], after[c:d])):
            yield from leaves_that_differ(old, new, f"{path}[{(a if b > a else c) + at}]")


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return compact(value) or EMPTY
    if isinstance(value, Mapping):
        return _entry(value)
    if _is_list(value):
        return _listed([_words(one) for one in value]) if value else "none listed"
    return NOTHING if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _listed(words: Sequence[str], most: int = MOST) -> str:
    more = len(words) - most
    return ", ".join(words[:most]) + (f" and {more} more" if more > 0 else "")


def _entry(value: Mapping[str, Any]) -> str:
    """Return an object in words: as what it is where that is known, else key by key."""
    for is_it, said in _KNOWN:
        if is_it(value):
            return said(value)
    inner = [f"{key} {_inner(one)}" for key, one in value.items()]
    return ", ".join(inner) if inner else "nothing set"


def _inner(value: Any) -> str:
    said = _words(value)
    several = isinstance(value, Mapping) and len(value) > 1
    return f"({said})" if several or (_is_list(value) and len(value) > 1) else said


def _has(*keys: str) -> Callable[[Mapping[str, Any]], bool]:
    return lambda value: bool(value) and set(value) <= set(keys)


def _fault(value: Mapping[str, Any]) -> str:
    parts = []
    for kind, what in (("abort", "httpStatus"), ("delay", "value"), ("responseBandwidth", "limit")):
        if kind in value:
            one = mapping(value[kind])
            name = "bandwidth" if kind == "responseBandwidth" else kind
            share = _words(one.get("percentage"))
            parts.append(f"{name} {_words(one.get(what))} for {share} %")
    return " and ".join(parts)


def _rule(value: Mapping[str, Any]) -> str:
    conf, match = _words(value.get("conf")), value.get("match")
    return f"{conf} where {_words(match)}" if match else conf


def _typed(value: Mapping[str, Any]) -> str:
    """Return a backend, a match, a hash policy, a filter: its type, then what it says."""
    kind = str(value["type"])
    rest = {k: v for k, v in value.items() if k != "type"}
    own = rest.get(kind[:1].lower() + kind[1:])
    if isinstance(own, Mapping) and len(rest) == 1:
        plain = [v for k, v in own.items() if k in ("address", "endpoint", "url", "path", "name")]
        if len(own) == len(plain) == 1:
            return f"{kind} {_words(plain[0])}"
        return f"{kind} {_entry(own)}" if own else kind
    return f"{kind} {_entry(rest)}" if rest else kind


def _target(value: Mapping[str, Any]) -> str:
    """Return a reference: its kind, and what it is called or chooses by."""
    by = value.get("name") or ""
    tags = value.get("tags") or value.get("labels") or {}
    chosen = ", ".join(f"{k}={v}" for k, v in tags.items()) if isinstance(tags, Mapping) else ""
    weight = f" weight {value['weight']}" if "weight" in value else ""
    said = " ".join(part for part in (str(value.get("kind")), str(by), chosen) if part)
    return f"{said}{weight}"


def _named(value: Mapping[str, Any]) -> str:
    how = f" ({value['type']})" if "type" in value else ""
    return f"{value['name']}: {_words(value['value'])}{how}"


def _domain(value: Mapping[str, Any]) -> str:
    port = f":{value['port']}" if "port" in value else ""
    protocol = f" {value['protocol']}" if "protocol" in value else ""
    return f"{value.get('type')} {value.get('value')}{port}{protocol}"


_KNOWN: tuple[
    tuple[Callable[[Mapping[str, Any]], bool], Callable[[Mapping[str, Any]], str]], ...
] = (
    (_has("abort", "delay", "responseBandwidth"), _fault),
    (lambda v: "conf" in v and set(v) <= {"conf", "match"}, _rule),
    (lambda v: "name" in v and "value" in v and set(v) <= {"name", "value", "type"}, _named),
    (lambda v: {"type", "value"} <= set(v) <= {"type", "value", "port", "protocol"}, _domain),
    (lambda v: "kind" in v and set(v) & {"name", "tags", "labels"} != set(), _target),
    (lambda v: set(v) == {"duration"}, lambda v: duration.render(v["duration"])),
    (lambda v: "type" in v, _typed),
)
"""What an object may be, and how one says that."""


def _backend_ref(value: Any) -> str:
    """Return where a share of the traffic goes: a cluster with its weight."""
    if not (_is_list(value) and len(value) == 2):
        return _words(value)
    return f"{_cluster(str(value[0]))} (weight {value[1]})"


def _cluster(key: str) -> str:
    """Return a cluster as `cart.shop:web`, one by its tag as the service."""
    parts = key.split("_")
    if key.startswith("kri_") and len(parts) == 7:
        return ".".join(filter(None, (parts[5], parts[4]))) + (f":{parts[6]}" if parts[6] else "")
    return key.removeprefix(f"{SERVICE}=").replace(",", " ")


def _grants(value: Any, field: str) -> str:
    """Return who may connect, or who may not."""
    if field == "rules.deny":
        denied = [_client(one) for one in value or ()]
        return f"{_listed(denied)} may not connect" if denied else "nobody is refused"
    who = list(dict.fromkeys(_granted(one) for one in _joined(value or ())))
    return f"{_listed(who)} may connect" if who else NOBODY


def _joined(rules: Sequence[Any]) -> list[Any]:
    """Return rules of `from`, two halves of whom somebody lets in as one.

    The engine tells those of a namespace that are a certain service from those that are not.
    """
    known = [rule for rule in rules if isinstance(rule, Mapping) and "from" in rule]
    whole = {(canonical(sorted(map(list, r["from"]))), r.get("action")) for r in known}

    def half(rule: Mapping[str, Any], part: Any) -> bool:
        other = [[*p[:2], False] if p == part else list(p) for p in rule["from"]]
        return (canonical(sorted(other)), rule.get("action")) in whole

    def one(rule: Any) -> Any:
        if rule not in known:
            return rule
        return {**rule, "from": [p for p in rule["from"] if not (p[2] and half(rule, p))]}

    return [one(rule) for rule in rules]


def _granted(rule: Any) -> str:
    """Return whom one rule lets in: of `from` by tags, of `rules` by identity."""
    if not isinstance(rule, Mapping):
        return str(rule)
    if "from" in rule:
        said = _subset(rule["from"])
        return said if rule.get("action") in _GRANTS else f"{said} ({rule.get('action')})"
    key, match = next(iter(rule.items()))
    said = _client(match)
    return said if key == "allow" else f"{said} ({key})"


def _subset(parts: Iterable[Any]) -> str:
    """Return whom tags choose; a service by its name alone, which holds its namespace."""
    tags = [tuple(part) for part in parts]
    names = [str(v) for k, v, no in tags if k == SERVICE and not no]
    if len(names) == 1 and all(k in (SERVICE, NAMESPACE) for k, *_ in tags):
        return names[0]
    said = [f"{_SHORT.get(k, k)}{'≠' if no else '='}{v}" for k, v, no in tags]
    return " and ".join(said) if said else "everybody"


_SHORT = {SERVICE: "service", NAMESPACE: "namespace"}


def _client(match: Any) -> str:
    spiffe = mapping(match).get("spiffeID")
    if not isinstance(spiffe, Mapping):
        return _words(match)
    anything = "…" if spiffe.get("type") == "Prefix" else ""
    return f"{spiffe.get('value')}{anything}"
