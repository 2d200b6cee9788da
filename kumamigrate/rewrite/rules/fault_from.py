"""MeshFaultInjection: `from` for everybody becomes `rules`; for some clients it is for a human."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kumamigrate.model.resource import mapping
from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.declarative.steps import with_spec
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import change, finding
from kumamigrate.rewrite.references.spiffe import Clients, clients_of, matches_for
from kumamigrate.rewrite.view import View
from kumamigrate.source.value import Moved


def plan(view: View) -> Iterator[Change | Finding]:
    """Yield for each policy with `from` its rules, or a finding with what is missing."""
    clients: dict[str, Clients] = {}
    for policy in view.of_type("MeshFaultInjection"):
        entries = [e for e in policy.spec.get("from") or () if isinstance(e, Mapping)]
        if not entries or policy.spec.get("rules"):
            continue
        path = (*policy.spec_path, "from")
        targets = [e.get("targetRef") or {} for e in entries]
        if len(entries) == 1 and mapping(targets[0]).get("kind") == "Mesh":
            rules = [{"default": entries[0].get("default")}]
            spec = {
                "rules" if key == "from" else key: Moved(path, rules) if key == "from" else value
                for key, value in policy.spec.items()
            }
            said = finding(view, policy, path, pending=True)
            yield change(view, policy, (with_spec(policy, spec),), (said,))
            continue
        if policy.mesh not in clients:
            clients[policy.mesh] = clients_of(view.state, policy.mesh, view.source)
        yield finding(view, policy, path, notes=_notes(targets, clients[policy.mesh]))


def _notes(targets: list[Any], clients: Clients) -> tuple[str, ...]:
    if len(targets) > 1 and any(mapping(target).get("kind") == "Mesh" for target in targets):
        return (
            "of several entries the narrower one replaces the other today, while rules add up: a"
            " client would get both faults",
        )
    said = []
    for target in targets:
        ids = matches_for(target, clients)
        if isinstance(ids, str):
            said.append(ids)
        else:
            matches = ", ".join(one.words for one in ids)
            said.append(f"for the clients known: matches: [{matches}]")
    return tuple(dict.fromkeys(said))
