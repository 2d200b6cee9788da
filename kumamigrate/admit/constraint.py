"""The rules of `constraints.json`: a closed set of conditions and effects, and what they find.

A constraint holds for some kinds and releases (`since`, `until`, both included; "2.x" is a line)
and is looked at in every place that `at` names: a pattern from the spec, or, in a policy, `conf…`
for the conf of every section (`conf:from…` for one). Paths in conditions and effects start there;
`item_…` conditions look at the entry of `to`, `from` or `rules` around it. See matcher.md, "to /
from / rules exclusivity", "Conf field restrictions" and "Deprecation warnings".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from kumamigrate.admit.effect import EFFECTS, AdmissionFinding
from kumamigrate.admit.form import FORMS
from kumamigrate.admit.places import Place, field_path, is_template, places, present
from kumamigrate.dataclass import dataclass, field
from kumamigrate.model.packed import packed
from kumamigrate.model.problem import Problem
from kumamigrate.model.versions import is_past, version
from kumamigrate.source.text import FieldPath

SECTIONS = ("to", "from", "rules")


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """One rule. `blame` is the path reported instead of the one found."""

    id: str
    types: tuple[str, ...]
    since: str
    until: str
    at: tuple[str, ...]
    when: Mapping[str, Any]
    effect: str
    argument: Any
    blame: str | None
    say: str
    warn: bool

    def holds_in(self, release: str) -> bool:
        """Tell whether the rule is one of a release's."""
        if self.since and version(release) < version(self.since):
            return False
        return not (self.until and is_past(release, self.until))


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstraintGround:
    """What a constraint may look at: a spec without unknown fields, and its top level."""

    spec: Mapping[str, Any]
    top: Mapping[str, Any]
    sections: tuple[str, ...] = ()
    root: FieldPath = field(default=("spec",))

    @property
    def top_kind(self) -> str:
        """The kind of spec.targetRef; omitted counts as Mesh (legacy-notes A4)."""
        return str(self.top.get("kind") or "Mesh")


@cache
def constraints() -> tuple[Constraint, ...]:
    """Return all rules in the order of the file."""
    return tuple(_read(row) for row in packed("admit", "constraints.json"))


@cache
def constraints_of(type_: str, release: str) -> tuple[Constraint, ...]:
    """Return the rules of one kind in one release."""
    return tuple(c for c in constraints() if type_ in c.types and c.holds_in(release))


def all_broken(rules: Iterable[Constraint], ground: ConstraintGround) -> Iterator[Problem]:
    """Yield a problem for every place where a rule is broken, rule by rule."""
    known: dict[str, tuple[Place, ...]] = {}  # many rules look at the same places
    confs: dict[str, list[Place]] = {}
    for rule in rules:
        for pattern in rule.at:
            if pattern not in known:
                known[pattern] = tuple(_anchors(ground, pattern, confs))
            for path, value in known[pattern]:
                if rule.when and not _applies(rule.when, ground, path, value):
                    continue
                for found in EFFECTS[rule.effect](value, rule.argument):
                    inner = found.path if rule.blame is None else _blamed(rule, value)
                    yield _problem(rule, (*ground.root, *path, *inner), found)


def _blamed(constraint: Constraint, value: Any) -> FieldPath:
    pattern = constraint.blame or ""
    first = next(places(value, pattern), None)
    return first[0] if first else field_path(pattern.replace("[]", ""))


def _problem(constraint: Constraint, path: FieldPath, found: AdmissionFinding) -> Problem:
    return Problem(path=path, message=constraint.say, missing=found.missing)


def _read(row: Mapping[str, Any]) -> Constraint:
    effects = [key for key in row if key in EFFECTS]
    if len(effects) != 1:
        raise ValueError(f"constraint {row.get('id')!r} must have exactly one effect")
    at = row.get("at", "")
    return Constraint(
        id=row["id"],
        types=tuple(row["types"]),
        since=row.get("since", ""),
        until=row.get("until", ""),
        at=(at,) if isinstance(at, str) else tuple(at),
        when=row.get("when", {}),
        effect=effects[0],
        argument=row[effects[0]],
        blame=row.get("blame"),
        say=row["say"],
        warn=row.get("warn", False),
    )


def _anchors(
    ground: ConstraintGround, pattern: str, confs: dict[str, list[Place]]
) -> Iterator[Place]:
    in_confs, only, rest = _in_confs(pattern)
    if not in_confs or not ground.sections:
        yield from _mappings(places(ground.spec, pattern))
        return
    for section in ground.sections:
        if only and section != only:
            continue
        if section not in confs:
            confs[section] = list(_confs(ground.spec, section))
        for path, conf in confs[section]:
            found = places(conf, rest)
            yield from _mappings(((*path, *inner), value) for inner, value in found)


@cache
def _in_confs(pattern: str) -> tuple[bool, str, str]:
    """Say whether a pattern begins at confs, of which section only, and how it goes on."""
    head, _, rest = pattern.partition(".")
    name, _, only = head.partition(":")
    return name == "conf", only, rest


def _mappings(found: Iterator[Place]) -> Iterator[Place]:
    return ((path, value) for path, value in found if isinstance(value, dict))


def _confs(spec: Mapping[str, Any], section: str) -> Iterator[Place]:
    """Yield the confs of a section. One that is not written counts as empty, as in Kuma."""
    if section == "default":
        yield ("default",), _or_empty(spec.get("default"))
        return
    for path, item in places(spec, f"{section}[]"):
        if isinstance(item, dict):
            yield (*path, "default"), _or_empty(item.get("default"))


def _or_empty(value: Any) -> Any:
    return {} if value is None else value


def _applies(
    when: Mapping[str, Any], ground: ConstraintGround, path: FieldPath, value: Any
) -> bool:
    item = _item(ground, path)
    return all(_holds(name, argument, ground, value, item) for name, argument in when.items())


def _item(ground: ConstraintGround, path: FieldPath) -> Mapping[str, Any]:
    if len(path) >= 2 and path[0] in SECTIONS and isinstance(path[1], int):
        item = ground.spec[path[0]][path[1]]
        if isinstance(item, dict):
            return item
    return {}


def _holds(
    name: str, argument: Any, ground: ConstraintGround, value: Any, item: Mapping[str, Any]
) -> bool:
    reference = item.get("targetRef")
    reference = reference if isinstance(reference, dict) else {}
    match name:
        case "top_kind":
            return ground.top_kind in argument
        case "top_kind_not":
            return ground.top_kind not in argument
        case "top_includes_gateways":
            return includes_gateways(ground.top) is argument
        case "item_kind":
            return reference.get("kind") in argument
        case "item_has_any":
            return any(present(item, p) or bool(reference.get(p)) for p in argument)
        case "has":
            return all(present(value, p) for p in argument)
        case "lacks":
            return not any(present(value, p) for p in argument)
        case "filled":
            return all(_filled(value, p) for p in argument)
        case "filled_any":
            return any(_filled(value, p) for p in argument)
        case "equals":
            return all(_equals(value, p, allowed) for p, allowed in argument.items())
        case "not_equals":
            return not any(_equals(value, p, allowed) for p, allowed in argument.items())
        case "forms":
            return all(_has_form(value, p, form) for p, form in argument.items())
        case _:
            raise ValueError(f"unknown condition {name!r}")


def includes_gateways(top: Mapping[str, Any]) -> bool:
    """Tell whether a top-level targetRef of 2.x takes gateways in (legacy-notes A4)."""
    kind, proxies = top.get("kind") or "Mesh", top.get("proxyTypes")
    if kind in ("MeshGateway", "MeshHTTPRoute"):
        return True
    all_types = not isinstance(proxies, list) or not proxies
    return kind in ("Mesh", "MeshSubset") and (all_types or "Gateway" in (proxies or ()))


def _filled(value: Any, pattern: str) -> bool:
    return any(bool(inner) for _, inner in places(value, pattern))


def _equals(value: Any, pattern: str, allowed: list[Any]) -> bool:
    return any(inner in allowed for _, inner in places(value, pattern))


def _has_form(value: Any, pattern: str, form: str) -> bool:
    return any(
        isinstance(inner, str) and not is_template(inner) and FORMS[form](inner)
        for _, inner in places(value, pattern)
    )
