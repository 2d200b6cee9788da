"""MeshTrafficPermission by tags: who only denies still does, who allows goes by the ids known.

An allowed client is a set of tags today and a SPIFFE id tomorrow: no proof makes the two equal
for clients to come, so what allows is written on the user's word alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kumamigrate.dataclass import replace
from kumamigrate.model.identity import nobody_is_asked
from kumamigrate.model.resource import Resource
from kumamigrate.model.versions import at_least
from kumamigrate.rewrite.change import Change, ResourceEdit
from kumamigrate.rewrite.declarative.steps import with_spec
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.identities.permissions import (
    Rules,
    entries_of,
    of_clients_to_come,
    only_denies,
    rules_of,
)
from kumamigrate.rewrite.identities.stages import domains_of
from kumamigrate.rewrite.manifest import change, finding
from kumamigrate.rewrite.references.spiffe import Clients, clients_of
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import FieldPath
from kumamigrate.source.value import Moved


def plan(view: View) -> Iterator[Change | Finding]:
    """Yield the rules of each mesh whose identities are known, and else for each policy with `from`
    the rules that deny the same, or a finding with what is missing."""
    by_mesh: dict[str, list[Resource]] = {}
    for policy in view.of_type("MeshTrafficPermission"):
        if entries_of(policy):
            by_mesh.setdefault(policy.mesh, []).append(policy)
    for mesh, policies in by_mesh.items():
        clients = clients_of(view.state, mesh, view.source)
        domains = domains_of(view, mesh)
        found = [rules_of(policy, clients, domains) for policy in policies]
        if _all_known(view, mesh, found):
            yield _together(view, found)
            continue
        for policy, rules in zip(policies, found, strict=True):
            if only_denies(policy):
                yield _denied(view, policy, (*policy.spec_path, "from"))
            elif not (at_least(view.target_name, "3.0") and nobody_is_asked(view.state, mesh)):
                yield _asked(view, rules, clients)


def _all_known(view: View, mesh: str, found: Sequence[Rules]) -> bool:
    """Say whether all permissions of a mesh can be said by ids that a MeshIdentity gives."""
    if not domains_of(view, mesh) or all(only_denies(one.policy) for one in found):
        return False
    mine = {one.policy.identity for one in found}
    every = {
        policy.identity
        for policy in view.state.of_type("MeshTrafficPermission")
        if policy.mesh == mesh and entries_of(policy)
    }
    return mine == every and not any(one.missing for one in found)


def _together(view: View, found: Sequence[Rules]) -> Change:
    """Return the rules of all permissions of a mesh: one with rules ends every `from`."""
    first, *others = found
    edits = [
        ResourceEdit(where=one.policy.where, manifests=(one.body,))
        for one in others
        if one.policy.where is not None
    ]
    said = [
        finding(
            view,
            one.policy,
            (*one.policy.spec_path, "from"),
            pending=True,
            notes=(*one.notes, *of_clients_to_come((one,))),
        )
        for one in found
    ]
    return replace(change(view, first.policy, (first.body,), said, others=edits), group="")


def _asked(view: View, rules: Rules, clients: Clients) -> Finding:
    policy = rules.policy
    told = (*_proposal(rules, clients), *_unasked(view, policy.mesh))
    path = (*policy.spec_path, "from")
    return finding(view, policy, path, notes=(*told, *_caution(view, policy.mesh)))


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
    if not nobody_is_asked(view.state, mesh):
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


def _proposal(rules: Rules, clients: Clients) -> tuple[str, ...]:
    """Return the rules of a policy as text where every client is known, else what is not."""
    if rules.missing:
        return rules.missing
    if "deny" in rules.lists:
        return (
            "it allows and denies: today the narrower entry wins, with rules every deny does; sort"
            " out by hand who may come in",
        )
    return (
        f"for the clients known: {rules.words}",
        *of_clients_to_come((rules,) if rules.homes else ()),
        "write it for all policies of an inbound at once: one with rules switches every from off",
        *_of_both(clients),
    )


def _of_both(clients: Clients) -> Iterator[str]:
    """Say why the ids by `Mesh.mtls` are there, where they are."""
    if any(client.old for client in clients):
        yield (
            "the prefixes let clients in that still show a certificate by Mesh.mtls, which names"
            " its service first of several; that Envoy compares the names joined by commas is"
            " documented, and was not tried on one"
        )
