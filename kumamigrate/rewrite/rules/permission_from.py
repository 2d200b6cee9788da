"""MeshTrafficPermission by tags: who only denies still does, who allows is proposed, not written.

An allowed client is a set of tags today and a SPIFFE id tomorrow: no proof makes the two equal
for clients to come, and too wide a rule lets somebody in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kumamigrate.model.resource import Resource, mapping
from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.declarative.steps import with_spec
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import change, finding
from kumamigrate.rewrite.references.spiffe import Client, Match, clients_of, matches_for
from kumamigrate.rewrite.view import View, at_path
from kumamigrate.source.text import FieldPath
from kumamigrate.source.value import Moved

_KEYS = {"allow": "allow", "deny": "deny", "allowwithshadowdeny": "allowWithShadowDeny"}


def plan(view: View) -> Iterator[Change | Finding]:
    """Yield for each policy with `from` the rules that deny the same, or a finding with what to
    write."""
    clients: dict[str, tuple[Client, ...]] = {}
    for policy in view.of_type("MeshTrafficPermission"):
        entries = [e for e in policy.spec.get("from") or () if isinstance(e, Mapping)]
        if not entries:
            continue
        path = (*policy.spec_path, "from")
        if all(_action(entry) == "deny" for entry in entries):
            yield _denied(view, policy, path)
            continue
        if policy.mesh not in clients:
            clients[policy.mesh] = clients_of(view.state, policy.mesh, view.source)
        told = (*_proposal(entries, clients[policy.mesh]), *_unasked(view, policy.mesh))
        yield finding(view, policy, path, notes=(*told, *_caution(view, policy.mesh)))


def _denied(view: View, policy: Resource, path: FieldPath) -> Change:
    """Return the rules that let in nobody, as `from` does that only denies.

    An explicit deny is never deleted: what else lets clients in (an old TrafficPermission, say)
    need not stand in Git.
    """
    everybody = {"spiffeID": {"type": "Prefix", "value": f"spiffe://{policy.mesh}"}}
    rules = Moved(path, [{"default": {"deny": [everybody]}}])
    spec = {
        "rules" if key == "from" else key: rules if key == "from" else value
        for key, value in policy.spec.items()
    }
    note = "with rules a deny beats every allow: take it away before others shall let clients in"
    notes = (note, *_caution(view, policy.mesh))
    said = finding(view, policy, path, pending=True, notes=notes)
    return change(view, policy, (with_spec(policy, spec),), (said,))


def _unasked(view: View, mesh: str) -> tuple[str, ...]:
    """Say that nobody is asked for permission where neither the Mesh nor a MeshIdentity has TLS."""
    found = next((r for r in view.state.of_type("Mesh") if r.name == mesh), None)
    if found is None or at_path(found.spec, ("mtls", "enabledBackend")):
        return ()
    if any(identity.mesh == mesh for identity in view.state.of_type("MeshIdentity")):
        return ()
    return (
        f"mesh {mesh} has neither mTLS nor a MeshIdentity, so nobody is asked for permission today:"
        " where that stays so, remove the policy",
    )


def _caution(view: View, mesh: str) -> tuple[str, ...]:
    """Say that a permissive mesh lets in who has no identity (kumahq/kuma 8152)."""
    for resource in view.state.of_type("Mesh", "MeshTLS"):
        mine = resource.name == mesh if resource.type == "Mesh" else resource.mesh == mesh
        if mine and any(mode in ("PERMISSIVE", "Permissive") for mode in _modes(resource.spec)):
            return (f"mesh {mesh} is PERMISSIVE: plain traffic passes beside every permission",)
    return ()


def _modes(value: Any) -> Iterator[Any]:
    """Yield what stands under a key `mode`, however deep."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key == "mode":
                yield inner
            else:
                yield from _modes(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _modes(inner)


def _action(entry: Mapping[str, Any]) -> str:
    conf = entry.get("default")
    action = str(conf.get("action", "")) if isinstance(conf, Mapping) else ""
    return action.replace("_", "").lower()


def _proposal(entries: list[Mapping[str, Any]], clients: tuple[Client, ...]) -> tuple[str, ...]:
    """Return the rules of a policy as text where every client is known, else what is not."""
    found: dict[str, list[Match]] = {}
    missing: list[str] = []
    for entry in entries:
        target = entry.get("targetRef") or {}
        key = _KEYS.get(_action(entry), "allow")
        if mapping(target).get("kind") == "Mesh" and key == "deny":
            continue
        ids = matches_for(target, clients)
        if isinstance(ids, str):
            missing.append(ids)
        else:
            found.setdefault(key, []).extend(ids)
    if missing:
        return tuple(dict.fromkeys(missing))
    if "deny" in found:
        return (
            "it allows and denies: today the narrower entry wins, with rules every deny does; sort"
            " out by hand who may come in",
        )
    lists = ", ".join(
        f"{key}: [{', '.join(one.words for one in dict.fromkeys(ids))}]"
        for key, ids in found.items()
    )
    return (
        f"for the clients known: rules: [{{default: {{{lists}}}}}]",
        "write it for all policies of an inbound at once: one with rules switches every from off",
        *_of_both(clients),
    )


def _of_both(clients: tuple[Client, ...]) -> Iterator[str]:
    """Say why the ids by `Mesh.mtls` are there, where they are."""
    if any(client.old for client in clients):
        yield (
            "the prefixes let clients in that still show a certificate by Mesh.mtls, which names"
            " its service first of several; that Envoy compares the names joined by commas is"
            " documented, and was not tried on one"
        )
