"""Hash policies move from the load balancer to beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import Json, change, cut, finding, items, put
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import at_path
from kumamigrate.source.value import Moved

_TYPES = {"ringHash": "RingHash", "maglev": "Maglev"}


def plan(view: View) -> Iterator[Change | Finding]:
    """Yield a change for each policy with nested lists, ask where both places are filled."""
    for policy in view.of_type("MeshLoadBalancingStrategy"):
        body: Json = policy.body
        settled = []
        for index, entry in enumerate(items(policy.spec, ("to",))):
            conf = at_path(entry, ("default",))
            balancer = at_path(conf, ("loadBalancer",))
            if not isinstance(balancer, Mapping):
                continue
            at = (*policy.spec_path, "to", index, "default")
            for key, type_ in _TYPES.items():
                path = (*at, "loadBalancer", key, "hashPolicies")
                if at_path(policy.body, path) is None:
                    continue
                chosen = balancer.get("type") == type_
                if chosen and "hashPolicies" in conf:
                    yield finding(view, policy, path)
                    continue
                body = cut(body, path)
                if chosen:
                    body = put(body, (*at, "hashPolicies"), Moved(path))
                settled.append(finding(view, policy, path, pending=True))
        if settled:
            yield change(view, policy, [body], settled)
