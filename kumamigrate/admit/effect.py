"""Effects of constraints: each takes a place and an argument and yields what is wrong there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from kumamigrate.admit.form import FORMS
from kumamigrate.admit.places import field_path, is_template, places, present
from kumamigrate.dataclass import dataclass
from kumamigrate.model.duration import parse
from kumamigrate.pattern import pattern as compiled
from kumamigrate.source.text import FieldPath


@dataclass(frozen=True, slots=True)
class AdmissionFinding:
    """A path from the place looked at. `missing` where something is not there."""

    path: FieldPath
    missing: bool = False


PROTOCOL = "kuma.io/protocol"
_FIELD = compiled(r"\{\{-?\s*\.(\w+)\s*-?\}\}")
_LABEL = compiled(r"\{\{-?\s*label\s+\"[^\"]*\"\s*-?\}\}")
Effect = Callable[[Any, Any], Iterator[AdmissionFinding]]


def forbid(value: Any, patterns: list[str]) -> Iterator[AdmissionFinding]:
    """None of the fields may be there."""
    return (AdmissionFinding(path) for p in patterns for path, _ in places(value, p))


def empty(value: Any, patterns: list[str]) -> Iterator[AdmissionFinding]:
    """The fields must be absent, or hold nothing."""
    return (AdmissionFinding(path) for p in patterns for path, inner in places(value, p) if inner)


def not_true(value: Any, patterns: list[str]) -> Iterator[AdmissionFinding]:
    """The fields must not be true."""
    return (
        AdmissionFinding(path)
        for p in patterns
        for path, inner in places(value, p)
        if inner is True
    )


def require(value: Any, patterns: list[str]) -> Iterator[AdmissionFinding]:
    """All fields must be there."""
    return (
        AdmissionFinding(field_path(p), missing=True) for p in patterns if not present(value, p)
    )


def require_any(value: Any, patterns: list[str]) -> Iterator[AdmissionFinding]:
    """One of the fields must be there."""
    if not any(present(value, p) for p in patterns):
        yield AdmissionFinding((), missing=True)


def require_one(value: Any, patterns: list[str]) -> Iterator[AdmissionFinding]:
    """Exactly one of the fields must be there."""
    found = [p for p in patterns if present(value, p)]
    if not found:
        yield AdmissionFinding((), missing=True)
    elif len(found) > 1:
        yield AdmissionFinding(())


def fill(value: Any, patterns: list[str]) -> Iterator[AdmissionFinding]:
    """All fields must be there and hold something."""
    return (
        AdmissionFinding(field_path(p), missing=True)
        for p in patterns
        if not any(bool(inner) for _, inner in places(value, p))
    )


def fill_any(value: Any, patterns: list[str]) -> Iterator[AdmissionFinding]:
    """One of the fields must be there and hold something; blames the first."""
    if not any(bool(inner) for p in patterns for _, inner in places(value, p)):
        yield AdmissionFinding(field_path(patterns[0]), missing=True)


def number(value: Any, limits: Mapping[str, Mapping[str, int]]) -> Iterator[AdmissionFinding]:
    """Numbers, or texts that are numbers, must lie within limits."""
    for pattern, bounds in limits.items():
        for path, inner in places(value, pattern):
            if is_template(inner) or isinstance(inner, bool | dict | list):
                continue
            read = _decimal(inner)
            if read is None or not _within(read, {k: Decimal(v) for k, v in bounds.items()}):
                yield AdmissionFinding(path)


def duration(value: Any, limits: Mapping[str, Mapping[str, str]]) -> Iterator[AdmissionFinding]:
    """Durations must lie within limits. What is no duration is found elsewhere."""
    for pattern, bounds in limits.items():
        for path, inner in places(value, pattern):
            read = parse(inner) if isinstance(inner, str) else None
            if read is not None and not _within(
                Decimal(read), {k: Decimal(parse(v) or 0) for k, v in bounds.items()}
            ):
                yield AdmissionFinding(path)


def form(value: Any, forms: Mapping[str, str]) -> Iterator[AdmissionFinding]:
    """Texts must have a form."""
    for pattern, name in forms.items():
        for path, inner in places(value, pattern):
            if isinstance(inner, str) and not is_template(inner) and not FORMS[name](inner):
                yield AdmissionFinding(path)


def one_of(value: Any, allowed: Mapping[str, list[Any]]) -> Iterator[AdmissionFinding]:
    """Values must be of a list."""
    for pattern, values in allowed.items():
        for path, inner in places(value, pattern):
            if inner not in values and not is_template(inner):
                yield AdmissionFinding(path)


def not_one_of(value: Any, refused: Mapping[str, list[Any]]) -> Iterator[AdmissionFinding]:
    """Values must not be of a list."""
    for pattern, values in refused.items():
        for path, inner in places(value, pattern):
            if inner in values:
                yield AdmissionFinding(path)


def words(value: Any, allowed: Mapping[str, list[str]]) -> Iterator[AdmissionFinding]:
    """Texts must be of a list, whatever their case."""
    for pattern, values in allowed.items():
        for path, inner in places(value, pattern):
            if isinstance(inner, str) and inner.lower() not in values and not is_template(inner):
                yield AdmissionFinding(path)


def includes(value: Any, wanted: Mapping[str, Any]) -> Iterator[AdmissionFinding]:
    """One of the places must hold the value."""
    for pattern, one in wanted.items():
        found = [inner for _, inner in places(value, pattern)]
        if one not in found and not any(is_template(inner) for inner in found):
            yield AdmissionFinding(field_path(pattern.partition("[]")[0]), missing=True)


def named(value: Any, lists: Mapping[str, str]) -> Iterator[AdmissionFinding]:
    """A name must be one of those in a list."""
    for pattern, names in lists.items():
        known = [inner for _, inner in places(value, names)]
        for path, inner in places(value, pattern):
            if inner not in known and not any(is_template(one) for one in (inner, *known)):
                yield AdmissionFinding(path)


def at_most_one(value: Any, patterns: list[str]) -> Iterator[AdmissionFinding]:
    """Not two of the fields may be there."""
    if sum(present(value, p) for p in patterns) > 1:
        yield AdmissionFinding(())


def at_most(value: Any, limits: Mapping[str, int]) -> Iterator[AdmissionFinding]:
    """Lists must not be longer than so much."""
    for pattern, limit in limits.items():
        for path, inner in places(value, pattern):
            if isinstance(inner, list) and len(inner) > limit:
                yield AdmissionFinding(path)


def unique(value: Any, patterns: list[str]) -> Iterator[AdmissionFinding]:
    """No value may come twice in all places together."""
    seen: set[str] = set()
    for pattern in patterns:
        for path, inner in places(value, pattern):
            if not isinstance(inner, str) or is_template(inner):
                continue
            if inner in seen:
                yield AdmissionFinding(path)
            seen.add(inner)


def distinct(value: Any, argument: Mapping[str, Any]) -> Iterator[AdmissionFinding]:
    """No two items may agree in all fields; items that lack one are not looked at.

    `absent` says what a field that is not there stands for.
    """
    seen: list[tuple[Any, ...]] = []
    absent = argument.get("absent", {})
    for path, item in places(value, argument["of"]):
        key = tuple(_get(item, name) or absent.get(name) for name in argument["by"])
        if None in key:
            continue
        if key in seen:
            yield AdmissionFinding((*path, argument["by"][-1]))
        seen.append(key)


def all_or_none(value: Any, argument: Mapping[str, str]) -> Iterator[AdmissionFinding]:
    """Either all items have the field or none."""
    items = [inner for _, inner in places(value, argument["of"])]
    having = [item for item in items if _get(item, argument["field"]) is not None]
    if having and len(having) < len(items):
        yield AdmissionFinding(field_path(argument["of"].removesuffix("[]")))


def each(value: Any, argument: Mapping[str, Any]) -> Iterator[AdmissionFinding]:
    """Every item has one of the values."""
    for path, item in places(value, argument["of"]):
        for pattern, values in argument["is"].items():
            if not any(v in values or is_template(v) for _, v in places(item, pattern)):
                yield AdmissionFinding(path)


def no_mix(value: Any, argument: Mapping[str, Any]) -> Iterator[AdmissionFinding]:
    """Items equal in one field agree in another, once a sensitive value is among them."""
    groups: dict[Any, list[tuple[FieldPath, Any]]] = {}
    for path, item in places(value, argument["of"]):
        same, other = _get(item, argument["same"]), _get(item, argument["differs"])
        if isinstance(same, int | str) and isinstance(other, str):
            groups.setdefault(same, []).append((path, other))
    for members in groups.values():
        words = {word for _, word in members}
        if len(words) > 1 and words & set(argument["among"]):
            first = members[0][1]
            later = (path for path, word in members if word != first)
            yield from (AdmissionFinding((*path, argument["same"])) for path in later)


def tags(value: Any, rules: Mapping[str, Mapping[str, Any]]) -> Iterator[AdmissionFinding]:
    """Tags have names and values of a form; some must be there where any is, some never."""
    for pattern, rule in rules.items():
        for path, inner in places(value, pattern):
            if isinstance(inner, dict) and inner:
                yield from (AdmissionFinding((*path, *at)) for at in _wrong_tags(inner, rule))


def _wrong_tags(found: Mapping[str, Any], rule: Mapping[str, Any]) -> Iterator[FieldPath]:
    if any(name not in found for name in rule.get("needs", ())):
        yield ()
    for name, text in found.items():
        protocols = rule.get("protocols") if name == PROTOCOL else None
        if is_template(name) or is_template(text):
            continue
        if (
            not FORMS["tag-name"](name)
            or name in rule.get("never", ())
            or not (text and FORMS[rule["values"]](text))
            or (protocols is not None and text.lower() not in protocols)
        ):
            yield (name,)


def own_template(value: Any, rules: Mapping[str, Mapping[str, Any]]) -> Iterator[AdmissionFinding]:
    """What a template of Kuma's own makes of known names has a form. Others pass."""
    for pattern, rule in rules.items():
        for path, inner in places(value, pattern):
            made = _rendered(inner, rule.get("names")) if isinstance(inner, str) else None
            if made is not None and not FORMS[rule["form"]](made):
                yield AdmissionFinding(path)


def _rendered(text: str, names: list[str] | None) -> str | None:
    """Return what a template of fields and labels makes of stand-ins, None where it is another."""
    unknown = [name for name in _FIELD.findall(text) if names is not None and name not in names]
    made = _LABEL.sub("label", _FIELD.sub("name", text))
    if unknown or "{{" in made:
        return "" if unknown and "{{" not in made else None
    return made


def _get(item: Any, name: str) -> Any:
    return item.get(name) if isinstance(item, dict) else None


def _decimal(value: Any) -> Decimal | None:
    try:
        read = Decimal(str(value).strip())
    except InvalidOperation:
        return None
    return read if read.is_finite() else None


def _within(value: Decimal, bounds: Mapping[str, Decimal]) -> bool:
    return (
        value > bounds.get("gt", value - 1)
        and value >= bounds.get("ge", value)
        and value <= bounds.get("le", value)
    )


EFFECTS: Mapping[str, Effect] = {
    "all_or_none": all_or_none,
    "at_most": at_most,
    "at_most_one": at_most_one,
    "distinct": distinct,
    "duration": duration,
    "each": each,
    "empty": empty,
    "fill": fill,
    "fill_any": fill_any,
    "forbid": forbid,
    "form": form,
    "includes": includes,
    "named": named,
    "no_mix": no_mix,
    "not_one_of": not_one_of,
    "not_true": not_true,
    "number": number,
    "one_of": one_of,
    "own_template": own_template,
    "require": require,
    "require_any": require_any,
    "require_one": require_one,
    "tags": tags,
    "unique": unique,
    "words": words,
}
