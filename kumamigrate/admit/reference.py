"""What a targetRef or backendRef may hold: its kind, and the fields each kind takes.

`references.json` has the fields by kind, each entry from its release on: `forbid`, `need` (one of),
`exclude` (not beside labels), `fill` (not empty when given), `listenerTags` (tags only where the
policy takes listener tags), `inboundSection` (sectionName only where the policy acts on inbounds),
`name` (of limited characters), `tags` (the form of their values). An empty entry means that Kuma
checks nothing. Which kinds a policy takes where stands in the tables of the model (matcher.md,
"targetRef fields per kind").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from kumamigrate.admit.form import FORMS
from kumamigrate.admit.places import is_template, places
from kumamigrate.model.packed import packed
from kumamigrate.model.policytype import Kinds, PolicyType
from kumamigrate.model.problem import Problem
from kumamigrate.model.versions import newest_entry
from kumamigrate.pattern import pattern
from kumamigrate.source.text import FieldPath

_NARROWED = pattern(r"(\w+)(?: \(default\.(\w+) (set|unset)\))?")


def references_of(
    spec: Mapping[str, Any], policy_type: PolicyType, *, release: str, role: str
) -> Iterator[Problem]:
    """Yield the problems of all references in a spec, top level first."""
    top = spec.get("targetRef")
    if top is None:
        if policy_type.target_ref_required:
            yield Problem(path=("spec", "targetRef"), message="must be given", missing=True)
        top = {"kind": "Mesh"}
    else:
        allowed = policy_type.top_for(role)
        yield from _reference(
            top,
            path=("spec", "targetRef"),
            kinds=allowed.kinds if allowed else (),
            release=release,
            listener_tags=bool(allowed and allowed.gateway_listener_tags),
            inbound=policy_type.dataplane_section_name and _acts_on_inbounds(spec),
        )
    top_kind = top.get("kind") if isinstance(top, dict) else None
    for path, item in places(spec, "to[]"):
        kinds = _to_kinds(policy_type, str(top_kind), item)
        yield from _of_item(item, ("spec", *path), kinds=kinds, release=release)
    for path, item in places(spec, "from[]"):
        yield from _of_item(item, ("spec", *path), kinds=policy_type.from_kinds, release=release)
    yield from _backends(spec, policy_type, release)


def _acts_on_inbounds(spec: Mapping[str, Any]) -> bool:
    return bool(spec.get("rules") or spec.get("from"))


def _of_item(item: Any, path: FieldPath, *, kinds: Kinds, release: str) -> Iterator[Problem]:
    if isinstance(item, dict):
        found = item.get("targetRef")
        yield from _reference(
            {} if found is None else found,
            path=(*path, "targetRef"),
            kinds=kinds,
            release=release,
        )


def _to_kinds(policy_type: PolicyType, top_kind: str, item: Any) -> Kinds:
    default = item.get("default") if isinstance(item, dict) else None
    for key, kinds in policy_type.to_when_top.items():
        found = _NARROWED.fullmatch(key)
        if found is None or found[1] != top_kind:
            continue
        given = isinstance(default, dict) and default.get(found[2] or "") is not None
        if found[2] is None or given is (found[3] == "set"):
            return kinds
    return policy_type.to_kinds


def _backends(spec: Mapping[str, Any], policy_type: PolicyType, release: str) -> Iterator[Problem]:
    patterns = {
        "backendRefs": "to[].rules[].default.backendRefs[]",
        "requestMirror": "to[].rules[].default.filters[].requestMirror.backendRef",
    }
    for name, kinds in policy_type.backend_kinds.items():
        for path, found in places(spec, patterns[name]):
            yield from _reference(found, path=("spec", *path), kinds=kinds, release=release)


def _reference(
    reference: Any,
    *,
    path: FieldPath,
    kinds: Kinds,
    release: str,
    listener_tags: bool = False,
    inbound: bool = False,
) -> Iterator[Problem]:
    if not isinstance(reference, dict):
        return
    kind = reference.get("kind")
    if not kind:
        yield Problem(path=(*path, "kind"), message="must be given", missing=True)
        return
    if is_template(kind):
        return
    if kind not in kinds:
        message = f"{kind} is not allowed here, only {', '.join(kinds)}"
        yield Problem(path=(*path, "kind"), message=message)
        return
    rules = _fields(release).get(str(kind), {})
    yield from _fields_of(reference, rules, path, str(kind))
    if rules.get("listenerTags") and reference.get("tags") and not listener_tags:
        yield Problem(path=(*path, "tags"), message="this policy takes no listener tags")
    if rules.get("inboundSection") and reference.get("sectionName") and not inbound:
        message = "`sectionName` is only allowed where the policy acts on inbounds"
        yield Problem(path=(*path, "sectionName"), message=message)


def _fields_of(
    reference: Mapping[str, Any], rules: Mapping[str, Any], path: FieldPath, kind: str
) -> Iterator[Problem]:
    for name in rules.get("forbid", ()):
        if reference.get(name):
            yield Problem(path=(*path, name), message=f"`{name}` is not allowed with {kind}")
    need = rules.get("need", ())
    if need and not any(reference.get(name) for name in need):
        wanted = " or ".join(f"`{name}`" for name in need)
        message = f"{kind} must be referred to by {wanted}"
        yield Problem(path=(*path, need[0]), message=message, missing=True)
    if reference.get("labels") and any(reference.get(n) for n in rules.get("exclude", ())):
        names = " or ".join(f"`{name}`" for name in rules["exclude"])
        yield Problem(path=(*path, "labels"), message=f"`labels` cannot stand beside {names}")
    for name in rules.get("fill", ()):
        if reference.get(name) == []:
            yield Problem(path=(*path, name), message=f"`{name}` needs an entry")
    yield from _tags_of(reference.get("tags"), str(rules.get("tags", "")), (*path, "tags"))
    name = reference.get("name")
    checked = rules.get("name") and isinstance(name, str) and not is_template(name)
    if checked and not FORMS["reference-name"](str(name)):
        message = "a name has only lower-case letters, digits, `-`, `_` and `.`"
        yield Problem(path=(*path, "name"), message=message)


def _tags_of(tags: Any, form: str, path: FieldPath) -> Iterator[Problem]:
    """Yield the tags that have a name or a value which no tag may have."""
    if not form or not isinstance(tags, Mapping):
        return
    for name, value in tags.items():
        if not is_template(name) and not FORMS["tag-name"](str(name)):
            message = f"{str(name)!r} is no name of a tag: letters, digits and `. - _ / :` only"
            yield Problem(path=(*path, name), message=message)
        elif isinstance(value, str) and not is_template(value) and not FORMS[form](value):
            message = f"{value!r} is no value of a tag here: letters, digits and `. - _ :` only"
            yield Problem(path=(*path, name), message=message)


@cache
def _fields(release: str) -> Mapping[str, Mapping[str, Any]]:
    table = packed("admit", "references.json")
    found: Mapping[str, Mapping[str, Any]] = table[newest_entry(table, release)]
    return found
