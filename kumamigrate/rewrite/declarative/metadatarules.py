"""Declarative rules about labels and annotations of Kubernetes objects.

The rule's `table` says on which objects (`objects`: pods, namespaces, services, routes, resources)
and what to do with which `annotations` or `labels`: a list of cases for each name, of which the
first counts whose `value` (one, a list, or none for any) is the one found. A case says one of
`rename`, `label` (the annotation becomes a label), `set`, `drop`, `keep` or `ask`; `to` is the new
value. A name may end in `*`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from kumamigrate.model.kinds import WORKLOADS
from kumamigrate.model.resource import Form, Resource
from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import (
    Json,
    change,
    cut,
    finding,
    metadata_path,
    put,
    rename,
    words_of,
)
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import FieldPath
from kumamigrate.source.value import UNCHANGED, Moved

_OBJECTS = {"namespaces": {"Namespace"}, "services": {"Service"}, "pods": WORKLOADS}
_GROUPS = {"routes": "gateway.networking.k8s.io/", "resources": "kuma.io/"}


def plan(view: View) -> Iterator[Change | Finding]:
    """Yield one change per object for the cases that edit, one finding for each that asks."""
    concerned = _concerned(view.rule.table["objects"])
    for resource in view.manifests():
        if resource.form is Form.KUBERNETES and concerned(resource):
            yield from _plan_object(view, resource)


def _plan_object(view: View, resource: Resource) -> Iterator[Change | Finding]:
    body: Json = resource.body
    settled: list[Finding] = []
    for kind in ("annotations", "labels"):
        for name, value in words_of(resource, kind).items():
            case = _case(view.rule.table.get(kind, {}), name, value)
            if case is None or "keep" in case:
                continue
            path = (*metadata_path(resource), kind, name)
            taken = _taken(resource, kind, case)
            if "ask" in case or (taken is not None and taken != str(case.get("to", value))):
                clash = f"{case.get('rename')} stands here too and says {taken}: keep which one?"
                ask = str(case["ask"]) if "ask" in case else clash
                yield finding(view, resource, path, action=ask.format(value=value))
                continue
            body = _edited(body, path, case, present=taken is not None)
            settled.append(finding(view, resource, path, pending=True))
    if settled:
        yield change(view, resource, [body], settled)


def _concerned(objects: Collection[str]) -> Callable[[Resource], bool]:
    """Return what says of an object whether it is one of some sorts."""
    types = frozenset().union(*(_OBJECTS.get(name, ()) for name in objects))
    groups = tuple(group for name, group in _GROUPS.items() if name in objects)

    def concerned(resource: Resource) -> bool:
        if resource.type in types:
            return True
        return bool(groups) and str(resource.body.get("apiVersion", "")).startswith(groups)

    return concerned


def _case(table: Mapping[str, Any], name: str, value: str) -> Mapping[str, Any] | None:
    for pattern, cases in table.items():
        if not fnmatchcase(name, pattern):
            continue
        for case in cases if isinstance(cases, list) else [cases]:
            wanted = case.get("value")
            if wanted is None or str(value) in (wanted if isinstance(wanted, list) else [wanted]):
                found: Mapping[str, Any] = case
                return found
    return None


def _taken(resource: Resource, kind: str, case: Mapping[str, Any]) -> str | None:
    """Return what the new name says already; a label of the same name always wins."""
    if "rename" in case:
        return words_of(resource, kind).get(case["rename"])
    return None


def _edited(body: Json, path: FieldPath, case: Mapping[str, Any], *, present: bool) -> Json:
    name = str(path[-1])
    if "set" in case:
        return put(body, path, case["set"])
    if "rename" in case and not present:
        return rename(body, path, case["rename"], case.get("to", UNCHANGED))
    if "label" in case:
        label = (*path[:-2], "labels", name)
        if _says(body, label):
            return cut(body, path)
        return put(cut(body, path), label, Moved(path))
    return cut(body, path)


def _says(body: Json, path: FieldPath) -> bool:
    for part in path:
        if not isinstance(body, Mapping) or part not in body:
            return False
        body = body[part]
    return True
