"""Kinds that one policy wins for a whole proxy: TrafficTrace and ProxyTemplate (§1.10, 1.11)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kumamigrate.dataclass import dataclass, field
from kumamigrate.model.resource import SERVICE, Resource
from kumamigrate.pattern import pattern
from kumamigrate.rewrite.sourcedest.backends import trace_conf
from kumamigrate.rewrite.sourcedest.classes import Classes, WinnerClass, class_of, classes_by, prune
from kumamigrate.rewrite.sourcedest.confnotes import Notes
from kumamigrate.rewrite.sourcedest.conversion import Conversion, Dropped, Json, Manual, distinct
from kumamigrate.rewrite.sourcedest.known import KnownWorld
from kumamigrate.rewrite.sourcedest.newpolicies import PolicyDraft, emit
from kumamigrate.rewrite.sourcedest.notconverted import standstill
from kumamigrate.rewrite.sourcedest.wildcards import never_wins, wildcard_notes
from kumamigrate.sourcedest.oldconf import read_conf
from kumamigrate.sourcedest.order import CreationTie, merge_ties
from kumamigrate.sourcedest.winners import proxy_winner

Value = Callable[[Resource, Notes], Any]


@dataclass(slots=True)
class _WholeRun:
    """The winners of one kind over some classes, with what was noticed on the way."""

    world: KnownWorld
    kind: str
    value: Value
    ties: list[CreationTie] = field(default_factory=list)
    manual: list[Manual] = field(default_factory=list)
    memo: dict[Any, Any] = field(default_factory=dict)

    def winner(self, item: WinnerClass) -> Resource | None:
        """Return the policy of a class; a tie that matters is kept."""
        old = self.world.old
        found = proxy_winner(old.of(self.kind), (item.witness,), old.ties)
        if found is None:
            return None
        if found.tie is not None:
            values = [self.translate(policy) for policy in found.tie.policies]
            if any(value != values[0] for value in values[1:]):
                self.ties.append(found.tie)
        return found.policy

    def translate(self, policy: Resource) -> Any:
        """Return the new conf of a policy, translated once."""
        if policy.identity not in self.memo:
            notes = Notes()
            self.memo[policy.identity] = self.value(policy, notes)
            self.manual += [note.manual(policy) for note in notes.items]
        return self.memo[policy.identity]


def convert_traffic_trace(world: KnownWorld) -> Conversion:
    """Return the MeshTraces for the TrafficTraces of a mesh."""
    policies = world.old.of("TrafficTrace")
    stopped = standstill(world, "TrafficTrace", "MeshTrace", policies, routed=False)
    if stopped is not None:
        return stopped
    run = _WholeRun(
        world, "TrafficTrace", lambda p, notes: trace_conf(world.mesh_resource, p, notes)
    )
    classes = classes_by("selectors", policies, world)
    winners = {item: run.winner(item) for item in classes.classes}
    values = {c: run.translate(w) if w is not None else None for c, w in winners.items()}
    kept = prune(values)
    drafts: list[PolicyDraft] = []
    for item, conf in kept.items():
        below = [d.default for d in drafts if d.default and item.within(d.item)]
        winner = winners[item]
        if winner is None or (conf is None and not below):
            continue
        default: Json = conf or {"backends": []}
        if any("sampling" in lower for lower in below) and "sampling" not in default:
            default = {**default, "sampling": {"overall": 100}}
        drafts.append(PolicyDraft(item=item, winners=(winner,), default=default))
    return _done(run, "MeshTrace", drafts, classes, winners)


def convert_proxy_template(world: KnownWorld) -> Conversion:
    """Return the MeshProxyPatches for the ProxyTemplates of a mesh.

    Modifications of all matching patches add up, so no proxy may match two.
    """
    policies = world.old.of("ProxyTemplate")
    stopped = standstill(world, "ProxyTemplate", "MeshProxyPatch", policies, routed=False)
    if stopped is not None:
        return stopped
    run = _WholeRun(world, "ProxyTemplate", modifications)
    classes = classes_by("selectors", policies, world)
    winners = {item: run.winner(item) for item in classes.classes}
    kept = _patches(run, winners)
    if _overlap(kept):
        winners = _by_service(run, classes)
        kept = _patches(run, winners)
        run.manual.append(
            Manual(
                resource=policies[0],
                message="patches add up, so the template for all proxies is written out for each"
                " known service; a new service will not have it",
                action="add new services by hand, or give the templates disjoint selectors",
                blocking=False,
            )
        )
    for narrow in _overlap(kept):
        winner = winners[narrow]
        if winner is not None:
            run.manual.append(_adds_up(winner))
    drafts = [
        PolicyDraft(item=item, winners=(winner,), default={"appendModifications": patches})
        for item, patches in kept.items()
        if patches and (winner := winners[item]) is not None
    ]
    return _done(run, "MeshProxyPatch", drafts, classes, winners)


def _patches(
    run: _WholeRun, winners: Mapping[WinnerClass, Resource | None]
) -> dict[WinnerClass, Any]:
    return prune({c: run.translate(w) if w is not None else [] for c, w in winners.items()})


def _overlap(kept: Mapping[WinnerClass, Any]) -> list[WinnerClass]:
    return [c for c in kept if any(kept[o] and o != c and c.within(o) for o in kept)]


def _by_service(run: _WholeRun, classes: Classes) -> dict[WinnerClass, Resource | None]:
    services = {i.service for proxy in run.world.proxies for i in proxy.inbounds}
    services |= {
        p.gateway[SERVICE] for p in run.world.proxies if p.gateway and SERVICE in p.gateway
    }
    named = {tags[SERVICE] for c in classes.classes if SERVICE in (tags := c.as_map)}
    every = {class_of({SERVICE: s}) for s in (services | named) - {""}}
    every |= {c for c in classes.classes if c.tags}
    ordered = sorted(every, key=lambda c: (len(c.tags), c.tags))
    return {item: run.winner(item) for item in ordered}


def _adds_up(policy: Resource) -> Manual:
    return Manual(
        resource=policy,
        message="proxies it wins on would get the modifications of a broader template as well:"
        " MeshProxyPatches add up",
        action="give the templates selectors that no proxy matches twice",
    )


_OPERATIONS = {
    "add": "Add", "remove": "Remove", "patch": "Patch", "addFirst": "AddFirst",
    "addLast": "AddLast", "addBefore": "AddBefore", "addAfter": "AddAfter",
}  # fmt: skip
_TARGETS = ("cluster", "listener", "networkFilter", "httpFilter", "virtualHost")
_TYPE = pattern(r"""^[{]?[ \t]*+["']?@type["']?\s*:\s*["']?([\w./-]+)""", re.MULTILINE)
_ADDABLE = {"Cluster": "cluster", "Listener": "listener"}


def modifications(policy: Resource, notes: Notes) -> list[Json]:
    """Return a ProxyTemplate as modifications of a MeshProxyPatch."""
    conf = read_conf("ProxyTemplate", policy.spec)
    if "default-proxy" not in (conf.get("imports") or ()):
        notes.lost(
            "without the import default-proxy the proxy is built from its resources alone,"
            " which no policy can do",
            "imports",
        )
    result: list[Json] = []
    for index, item in enumerate(conf.get("resources") or ()):
        added = _resource(item, index, notes)
        result += [added] if added else []
    for index, item in enumerate(conf.get("modifications") or ()):
        changed = _modification(item, index, notes)
        result += [changed] if changed else []
    return result


def _resource(item: Mapping[str, Any], index: int, notes: Notes) -> Json | None:
    text = item["resource"]
    found = _TYPE.search(text)
    target = _ADDABLE.get(found[1].rsplit(".", 1)[-1]) if found is not None else None
    if target is None:
        notes.lost("only clusters and listeners can be added", "resources", index, "resource")
        return None
    return {target: {"operation": "Add", "value": text}}


def _modification(item: Any, index: int, notes: Notes) -> Json | None:
    found = [name for name in _TARGETS if isinstance(item, Mapping) and name in item]
    if len(found) != 1 or not isinstance(item[found[0]], Mapping):
        notes.lost("this modification is not known", "modifications", index)
        return None
    change = dict(item[found[0]])
    operation = str(change.get("operation", ""))
    if operation not in _OPERATIONS:
        notes.lost(
            f"operation {operation!r} is not known", "modifications", index, found[0], "operation"
        )
        return None
    result: Json = {"operation": _OPERATIONS[operation]}
    for name in ("match", "value"):
        if change.get(name):
            result[name] = change[name]
    return {found[0]: result}


_SAME = "it sets nothing, or the same as the policy that would win without it"


def _done(
    run: _WholeRun,
    new: str,
    drafts: Sequence[PolicyDraft],
    classes: Classes,
    winners: Mapping[WinnerClass, Resource | None],
) -> Conversion:
    world, policies = run.world, run.world.old.of(run.kind)
    carried = [w for draft in drafts for w in draft.winners]
    dropped = []
    for policy in policies:
        if any(w is policy for w in carried):
            continue
        reason = never_wins(policy, world, "selectors")
        if any(w is policy for w in winners.values()):
            reason = _SAME
        dropped.append(Dropped(resource=policy, reason=reason))
    same = [d.resource for d in dropped if d.reason == _SAME]
    return Conversion(
        kind=run.kind,
        mesh=world.mesh,
        target=world.target,
        policies=emit(world, new, drafts, chosen_by="selectors"),
        dropped=tuple(dropped),
        manual=distinct([*wildcard_notes(classes, policies, "selectors", same), *run.manual]),
        ties=merge_ties(run.ties),
    )
