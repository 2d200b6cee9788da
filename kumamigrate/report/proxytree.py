"""What proxies resolve to, as a tree: where to, which type, which value from which line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from kumamigrate.model.identity import holder_of
from kumamigrate.model.kinds import OLD_POLICIES
from kumamigrate.model.kri import Kri, kri_of
from kumamigrate.model.resource import MADE_UP_NETWORK, Resource
from kumamigrate.model.shown import value_words
from kumamigrate.model.state import State
from kumamigrate.prover.gateway import is_builtin
from kumamigrate.report.destinations import destination_lines
from kumamigrate.report.inspect import chosen_state, of_workloads
from kumamigrate.report.screen.counted import some
from kumamigrate.report.screen.difftext import route_words
from kumamigrate.report.styled import Line, line
from kumamigrate.scene.scene import Scene
from kumamigrate.source.text import FieldPath, path_text
from kumamigrate.sourcedest.order import Ties
from kumamigrate.sourcedest.table import legacy_table
from kumamigrate.targetref.backendref import Places, called_by_number
from kumamigrate.targetref.explain import Merged, sources
from kumamigrate.targetref.matcher import Matcher
from kumamigrate.targetref.permission import PERMISSION, outranked
from kumamigrate.targetref.proxyrules import ProxyRules
from kumamigrate.targetref.resolve import REAL
from kumamigrate.targetref.routehash import route_hash
from kumamigrate.universe.traffic import Outbound, outbounds_of

ROUTE = "MeshHTTPRoute"
ROUTES = (ROUTE, "MeshTCPRoute")
_SERVICE, _HASH = "kuma.io/service", "__rule-matches-hash__"
NO_ADDRESS = "0.0.0.0"
"""The address of an inbound of a Pod that nobody listed."""
_BY_LABELS = "services by labels, which does nothing here"


def inspect_lines(scene: Scene, *, proxy: str | None, labels: Mapping[str, str]) -> list[Line]:
    """Return a tree per proxy: destination or inbound, policy type, field, value, place.

    Values that are overruled are named behind the one that wins.
    """
    state = chosen_state(scene, proxy=proxy, labels=labels)
    lines: list[Line] = []
    for mesh in state.meshes():
        matcher = Matcher(state.mesh(mesh))
        for dataplane in matcher.proxies():
            lines += _proxy_lines(scene, matcher, dataplane)
    if not lines:
        lines = [line(_none_here(state))]
    for mesh in state.meshes():
        if Outbound.REAL in outbounds_of(state, mesh):
            lines += destination_lines(scene, state, mesh)
    return [*lines, *_old_lines(state), *_refused_lines(scene)]


def _none_here(state: State) -> str:
    """Say how to ask for a proxy where no Dataplane is listed."""
    names = some((one.name for one in of_workloads(state)), 3)
    asked = f"--proxy NAME asks for that of a workload ({names}), " if names else ""
    return f"There is no Dataplane here; {asked}--labels key=value for a made-up proxy."


def _refused_lines(scene: Scene) -> list[Line]:
    """Return what is left out above, since no control plane of the release has it."""
    _, rejections = scene.state(scene.source)
    if not rejections:
        return []
    lines: list[Line] = [(), line(("Left out", "strong"), f": {scene.source} refuses it")]
    for resource, problems in ((one.resource, one.problems) for one in rejections):
        place = _short(scene.locate(resource, problems[0].path if problems else ()))
        why = "; ".join(map(str, problems))
        lines.append(line(f"  {resource.type} {resource.name}   ", (place, "place"), f"   {why}"))
    return lines


def _proxy_lines(scene: Scene, matcher: Matcher, dataplane: Resource) -> list[Line]:
    shown = ", ".join(
        f"{k}={v}" for k, v in sorted(dataplane.labels.items()) if "kuma.io/" not in k
    )
    facts = [f"mesh {dataplane.mesh}", f"zone {dataplane.zone}" if dataplane.zone else "", shown]
    lines = [(), line((dataplane.name, "strong"), "   " + " · ".join(f for f in facts if f))]
    places: dict[str, list[tuple[str, Merged, Any]]] = defaultdict(list)
    ties = []
    numbered = _by_number(matcher, dataplane)
    routes = _routes(matcher.rules(dataplane, ROUTE)) if ROUTE in matcher.policy_types() else {}
    others = _routes_of_others(matcher, dataplane)
    for kind in matcher.policy_types():
        rules = matcher.rules(dataplane, kind)
        holder = holder_of(dataplane, matcher.state)
        identity = holder.identity if holder is not None and holder.sure else None
        every = is_builtin(dataplane)  # a built-in gateway has routes of its own, and no outbounds
        kinds = frozenset(Outbound) if every else outbounds_of(matcher.state, dataplane.mesh)
        asked = identity if kind == PERMISSION else None
        found_here = (*_outbounds(rules, routes, kinds, others), *_places(rules, asked))
        for place, merged, conf in found_here:
            places[place + numbered.get(place, "")].append((kind, merged, conf))
        for tie in rules.ties:
            names = ", ".join(policy.name for policy in tie.policies)
            ties.append(line((f"   tie left to chance ({tie.reason}): {kind} {names}", "warn")))
    for at, (place, found) in enumerate(sorted(places.items())):
        last = at == len(places) - 1
        lines.append(line("└─ " if last else "├─ ", place))
        for kind, merged, conf in found:
            lines += _conf_lines(scene, "   " if last else "│  ", kind, merged, conf)
    return [*lines, *ties]


def _routes(rules: ProxyRules) -> dict[str, str]:
    """Return what the hashes mean by which service-tag outbounds know route rules."""
    return {
        route_hash(rule.get("matches")): ", ".join(map(route_words, rule.get("matches") or [{}]))
        for found in rules.to_rules
        for rule in found.conf.get("rules") or ()
    }


def _routes_of_others(matcher: Matcher, dataplane: Resource) -> frozenset[Kri]:
    """Return the routes that do not select a proxy: what policies say of these is not for it."""
    kinds = [kind for kind in ROUTES if kind in matcher.policy_types()]
    own = {kri_of(p) for kind in kinds for p in matcher.rules(dataplane, kind).selection.policies}
    return frozenset(kri_of(route) for route in matcher.state.of_type(*kinds)) - own


def _outbounds(
    rules: ProxyRules,
    routes: Mapping[str, str],
    kinds: frozenset[Outbound],
    others: frozenset[Kri],
) -> Iterator[tuple[str, Merged, Any]]:
    """Yield what the outbounds read that the mesh has."""
    for resource_rule in rules.resource_rules if Outbound.REAL in kinds else ():
        if resource_rule.kri.of_section("") in others:
            continue
        yield f"to {kri_words(resource_rule.kri)}", resource_rule, resource_rule.conf
    for rule in rules.to_rules if Outbound.SERVICE_TAG in kinds else ():
        yield f"to {_subset_words(rule.subset, routes)} (service-tag outbounds)", rule, rule.conf


def _places(rules: ProxyRules, identity: Resource | None) -> Iterator[tuple[str, Merged, Any]]:
    """Yield what inbounds and the proxy itself read."""
    for point, inbound_rules in rules.inbound_rules.items():
        for inbound in inbound_rules:
            match = f" from {value_words(inbound.match)}" if inbound.match else ""
            yield f"inbound {_at(point)}{match}", inbound, inbound.conf
    for point, from_rules in rules.from_rules.items():
        dead = _without_effect(rules, point, identity)
        whole = (one for one in rules.inbound_rules.get(point, ()) if not one.match)
        told = [leaf for one in whole for leaf in _leaves(one.conf)]
        for rule in from_rules:
            if not rule.subset and all(leaf in told for leaf in _leaves(rule.conf)):
                continue  # `from` for all, which is told as what the inbound has
            whom = _subset_words(rule.subset, {})
            yield f"inbound {_at(point)} from {whom}{dead}", rule, rule.conf
    if rules.single is not None:
        yield "the proxy itself", rules.single, rules.single.conf


def _at(point: str) -> str:
    """Return an inbound as a reader says it: by its port, where nobody knows the address."""
    address, _, port = point.rpartition(":")
    unknown = address.startswith(MADE_UP_NETWORK) or address == NO_ADDRESS
    return f":{port}" if unknown else point


def _without_effect(rules: ProxyRules, point: str, identity: Resource | None) -> str:
    """Return why `from` of permissions is not read at an inbound, if it is not."""
    if rules.selection.policy_type != PERMISSION:
        return ""
    by = outranked(rules.inbound_rules.get(point, ()), identity)
    return f" (no effect: {by.type} {by.name} ends `from` here)" if by is not None else ""


def _by_number(matcher: Matcher, dataplane: Resource) -> dict[str, str]:
    """Return, by the place of a port, that the proxy's own outbounds do not read it."""
    real = {kri_of(r): r for r in matcher.state.of_type(*REAL)}
    places = Places(release=matcher.release, mesh=dataplane.mesh, real=real)
    return {
        f"to {kri_words(kri)}": f" (no effect: its outbound calls the port by its number {number})"
        for kri, number in called_by_number(places, dataplane).items()
    }


def kri_words(kri: Kri) -> str:
    """Return a KRI as a reader says it: `MeshService shop/pay port main, zone east`."""
    if kri.type == "Mesh":
        return "anything"
    name = f"{kri.namespace}/{kri.name}" if kri.namespace else kri.name
    port = f" port {kri.section}" if kri.section else ""
    return f"{kri.type} {name}{port}" + (f", zone {kri.zone}" if kri.zone else "")


def _subset_words(subset: Any, routes: Mapping[str, str]) -> str:
    """Return a set of tags as a reader says it: the service, other tags, the route."""
    words: list[str] = []
    on: list[str] = []
    beside: list[str] = []
    for tag in subset:
        if tag.key == _HASH:
            (beside if tag.negated else on).append(routes.get(tag.value, "a route"))
        elif tag.key == _SERVICE and not tag.value:
            # What is chosen by labels counts as the service named "", which none is called.
            words += [] if tag.negated else [_BY_LABELS]
        else:
            told = tag.value if tag.key == _SERVICE else f"{tag.key}={tag.value}"
            words.append(f"not {told}" if tag.negated else told)
    text = ", ".join(words) or "anything"
    if on:
        return f"{text} {', '.join(on)}"
    return f"{text} but for {', '.join(beside)}" if beside else text


def _conf_lines(scene: Scene, indent: str, kind: str, merged: Merged, conf: Any) -> list[Line]:
    lines = []
    name = kind
    for path, value in _leaves(conf):
        found = sources(merged, path)
        places = [
            _short(scene.locate(s.policy, (*s.policy.spec_path, *s.path))) for s in found
        ] or [""]
        losers = [
            f"{place} ({value_words(s.value)})"
            for place, s in zip(places[1:], found[1:], strict=True)
        ]
        over = f"   overrules {', '.join(losers)}" if losers else ""
        lines.append(
            line(
                f"{indent}   {name:<26}{path_text(path)} {value_words(value)}   ",
                (places[0], "place"),
                (over, "dim"),
            )
        )
        name = ""
    return lines


def _short(place: str) -> str:
    return place.rsplit(":", 1)[0]


def _leaves(value: Any, path: FieldPath = ()) -> Iterator[tuple[FieldPath, Any]]:
    """Yield what a reader wants as one line: scalars, lists of scalars, and route rules whole."""
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
    elif isinstance(value, list) and value and isinstance(value[0], Mapping):
        for index, inner in enumerate(value):
            yield from (
                [((*path, index), inner)]
                if "matches" not in inner
                else _route(inner, (*path, index))
            )
    else:
        yield path, value


def _route(rule: Mapping[str, Any], path: FieldPath) -> Iterator[tuple[FieldPath, Any]]:
    words = ", ".join(route_words(match) for match in rule.get("matches") or [{}])
    default = rule.get("default") or {}
    yield path, f"{words} → {value_words(default) if default else 'as it is'}"


def _old_lines(state: State) -> list[Line]:
    if not any(True for _ in state.of_type(*OLD_POLICIES)):
        return []
    lines: list[Line] = [
        (),
        line(("Old policies", "strong"), " (one winner each; inert ones included)"),
    ]
    for name, rows in legacy_table(state, Ties.UNKNOWN).items():
        lines.append(line(f"  {name}"))
        for row in rows:
            who = _old_place(row["attachment"], row["name"], row["service"] or "")
            for kind, names in row["policies"].items():
                tie = "  tie: creation time decides" if kind in row.get("ties", {}) else ""
                lines.append(line(f"    {who}  {kind} {', '.join(names)}", (tie, "warn")))
    return lines


def _old_place(attachment: str, name: str, service: str) -> str:
    """Return where an old policy counts, in the words of the tree above."""
    if attachment == "inbound":
        point, _, served = name.rpartition(":")  # Kuma's name of it ends with the workload's port
        port = "" if point.endswith(f":{served}") else f", workload port {served}"
        return f"inbound {point}{port}" + (f" of {service}" if service else "")
    if attachment == "dataplane":
        return "the proxy itself"
    return f"to {service}" + (f" at {name}" if attachment == "outbound" else "")
