"""Kinds of Kong Mesh: those that end with 3.0, and what it refuses in those that stay.

None is modelled, so no proof speaks of them; what their public documentation says of the step to
3.0 is reported field by field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kumamigrate.dataclass import replace
from kumamigrate.model.kinds import ENTERPRISE_ENDING, OLD_POLICIES
from kumamigrate.model.resource import Resource, mapping, sequence
from kumamigrate.rewrite.finding import Danger, Finding
from kumamigrate.rewrite.manifest import finding, items
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import FieldPath

ENDING = (
    OLD_POLICIES
    | ENTERPRISE_ENDING
    | {"ExternalService", "MeshGateway", "MeshGatewayInstance", "MeshGatewayRoute"}
    | {"ZoneEgress", "ZoneIngress"}
)
"""Types that 3.0 does not know: a role may not name them."""

ADMIN = "admin"
"""The role that a control plane brings along, with a binding of its own."""

_OLD_QUALIFIERS = frozenset({"destinations", "selectors", "sources"})
_FLAT = ("inline", "inlineString", "secret")
Said = tuple[FieldPath, str, dict[str, object]]
"""A place inside the spec, the name of what is said of it in the table, and its words."""


def plan(view: View) -> Iterator[Finding]:
    """Yield a finding for each resource that ends, and each place that 3.0 refuses."""
    table = view.rule.table
    for resource in view.of_type(*ENTERPRISE_ENDING):
        yield finding(view, resource, (), advice=table["ends"][resource.type])
    yield from _of_bindings(view)
    for kind, places in _PLACES.items():
        for resource in view.of_type(kind):
            for path, what, words in places(resource):
                yield _refused(view, resource, path, table[what], words)


def _of_bindings(view: View) -> Iterator[Finding]:
    """Yield what a later release binds otherwise where nobody is bound to be admin in these files.

    A binding changes its shape in no release; the one that the control plane brings along does.
    """
    bindings = list(view.of_type("AccessRoleBinding"))
    if any(ADMIN in items(one.spec, ("roles",)) for one in bindings):
        return
    for binding in bindings[:1]:
        said = view.rule.table["default binding"]
        one = finding(view, binding, (), advice="", message=said["message"], action=said["action"])
        yield replace(one, danger=Danger.ADVICE)


def _refused(
    view: View,
    resource: Resource,
    path: FieldPath,
    said: Mapping[str, str],
    words: Mapping[str, object],
) -> Finding:
    one = finding(
        view,
        resource,
        (*resource.spec_path, *path),
        advice="",
        message=said["message"].format(**words),
        action=said["action"].format(**words),
    )
    return replace(one, danger=Danger.REFUSED)


def _of_opa(policy: Resource) -> Iterator[Said]:
    """Yield the fields of a MeshOPA that 3.0 refuses; its kind of reference has its own rules."""
    top = mapping(policy.spec.get("targetRef"))
    for key in ("name", "namespace", "mesh"):
        if key in top and top.get("kind") not in ("MeshService", "MeshServiceSubset"):
            yield ("targetRef", key), "reference", {"key": key}
    conf = mapping(policy.spec.get("default"))
    yield from _flat(conf.get("agentConfig"), ("default", "agentConfig"))
    for at, one in enumerate(items(conf, ("appendPolicies",))):
        yield from _flat(mapping(one).get("rego"), ("default", "appendPolicies", at, "rego"))


def _flat(source: Any, path: FieldPath) -> Iterator[Said]:
    for key in _FLAT:
        if key in mapping(source) and "type" not in mapping(source):
            yield (*path, key), f"source {key}", {"key": key}


def _of_role(role: Resource) -> Iterator[Said]:
    """Yield what 3.0 refuses in the rules of an AccessRole, or an AccessAudit."""
    for at, rule in enumerate(items(role.spec, ("rules",))):
        for index, kind in enumerate(sequence(mapping(rule).get("types"))):
            if isinstance(kind, str) and kind in ENDING:
                yield ("rules", at, "types", index), "type", {"kind": kind}
        for index, when in enumerate(items(rule, ("when",))):
            yield from _of_qualifier(mapping(when), ("rules", at, "when", index))


def _of_qualifier(when: Mapping[str, Any], path: FieldPath) -> Iterator[Said]:
    top = mapping(when.get("targetRef"))
    if top and top.get("kind") not in ("Mesh", "Dataplane"):
        yield (*path, "targetRef", "kind"), "qualifier kind", {"kind": top.get("kind")}
    old = sorted(when.keys() & _OLD_QUALIFIERS)
    if old:
        yield (*path, old[0]), "qualifier", {"key": old[0]}


_PLACES: Mapping[str, Callable[[Resource], Iterator[Said]]] = {
    "MeshOPA": _of_opa,
    "AccessRole": _of_role,
    "AccessAudit": _of_role,
}
