"""Namespaces whose Pods ask for a sidecar themselves say that the others get none."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.model.kinds import WORKLOADS
from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import change, finding, put, words_of
from kumamigrate.rewrite.view import View

INJECTION = "kuma.io/sidecar-injection"
_ON = ("enabled", "true", "yes")


def plan(view: View) -> Iterator[Change | Finding]:
    """Yield a change for each such namespace, and for the control plane's own."""
    wanting = {
        workload.namespace or "default"
        for workload in view.state.of_type(*WORKLOADS)
        if str(words_of(workload, "labels").get(INJECTION)) in _ON
    }
    wanting.add(view.environment.system_namespace)
    for namespace in view.of_type("Namespace"):
        if namespace.name in wanting and INJECTION not in words_of(namespace, "labels"):
            body = put(namespace.body, ("metadata", "labels", INJECTION), "disabled")
            own = namespace.name == view.environment.system_namespace
            message = view.rule.table["system"].format(name=namespace.name) if own else ""
            settled = finding(view, namespace, ("metadata", "name"), pending=True, message=message)
            yield change(view, namespace, [body], [settled])
