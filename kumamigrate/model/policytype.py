"""What one policy type accepts in one release, as values (schema in tables/*.json)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kumamigrate.dataclass import dataclass, field, replace

Kinds = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of a conf; `fields` are its own when it is an object or a list of objects.

    `merge` is one of object, scalar, list, append, by-key, key, partition, element
    (matcher.md (e)). `default` is filled in where the parent is present; NO_DEFAULT means none.
    """

    name: str
    path: str
    type: str
    merge: str
    default: Any = None
    has_default: bool = False
    required: bool = False
    always_serialised: bool = False
    empty_list_dropped: bool = False
    zero_value_dropped: bool = False
    enum: tuple[Any, ...] = ()
    item_enum: tuple[Any, ...] = ()
    bounds: Mapping[str, int] = field(default_factory=dict)
    pattern: str = ""
    fields: Mapping[str, Field] = field(default_factory=dict)

    @property
    def is_list(self) -> bool:
        """Whether the value is a list."""
        return self.type.startswith("list<")

    @property
    def item_type(self) -> str:
        """The type of the list's items; the type itself for anything else."""
        return self.type[5:-1] if self.is_list else self.type

    def walk(self) -> Iterator[Field]:
        """Yield the field and all below it, in table order."""
        yield self
        for child in self.fields.values():
            yield from child.walk()


Conf = Mapping[str, Field]
Rows = Mapping[str, list[dict[str, Any]]]
"""The rows of tables/conf.json for one policy type, by section."""


class Confs(Mapping[str, Conf]):
    """The confs of one policy type in one release, by section, read when they are asked for.

    There are a dozen types in each of a dozen releases, and most runs ask for two or three.
    """

    def __init__(
        self, rows: Callable[[], Rows], release: str, without: frozenset[str] = frozenset()
    ) -> None:
        self._rows = rows
        self._release = release
        self._without = without
        self._read: dict[str, Conf] = {}

    def __getitem__(self, section: str) -> Conf:
        """Return the fields of a section."""
        found = self._read.get(section)
        if found is None:
            fields = read_conf(self._rows()[section], self._release)
            found = {name: one for name, one in fields.items() if name not in self._without}
            self._read[section] = found
        return found

    def get(self, section: str, default: Any = None) -> Any:
        """Return the fields of a section. Said here since it is asked at each look-up."""
        found = self._read.get(section)
        if found is None and section in self._rows():
            found = self[section]
        return default if found is None else found

    def __iter__(self) -> Iterator[str]:
        """Yield the sections, in table order."""
        return iter(self._rows())

    def __len__(self) -> int:
        """Return how many sections there are."""
        return len(self._rows())


@dataclass(frozen=True, slots=True, kw_only=True)
class TopLevel:
    """What spec.targetRef may be for one or several roles."""

    kinds: Kinds
    gateway_listener_tags: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyType:
    """One policy type in one release.

    `top` is keyed by role; "any" where roles do not differ. `to_when_top` narrows `to_kinds` for
    a top-level kind. `match_fields` is empty where `rules` have no `matches`.
    """

    name: str
    sections: tuple[str, ...]
    target_ref_required: bool = False
    single_item: bool = False
    from_as_rules: bool = False
    top: Mapping[str, TopLevel] = field(default_factory=dict)
    dataplane_section_name: bool = False
    to_kinds: Kinds = ()
    to_when_top: Mapping[str, Kinds] = field(default_factory=dict)
    from_kinds: Kinds = ()
    backend_kinds: Mapping[str, Kinds] = field(default_factory=dict)
    match_fields: tuple[str, ...] = ()
    confs: Mapping[str, Conf] = field(default_factory=dict)

    def conf(self, section: str) -> Conf:
        """Return the conf fields of a section ("to", "from", "rules", "default")."""
        return self.confs.get(section) or self.confs.get("*") or {}

    def top_for(self, role: str) -> TopLevel | None:
        """Return what spec.targetRef may be for a role; no role counts as system."""
        for key, top in self.top.items():
            if key == "any" or (role or "system") in key.split("|"):
                return top
        return None

    def without_rules(self) -> PolicyType:
        """Return the type as it was before `rules` came."""
        kept = tuple(s for s in self.sections if s != "rules")
        return replace(self, sections=kept, from_as_rules=False, match_fields=())


def read(name: str, form: Mapping[str, Any], confs: Mapping[str, Conf]) -> PolicyType:
    """Return the value for one form of tables/policies.json."""
    to: Mapping[str, Any] = form.get("to", {})
    return PolicyType(
        name=name,
        sections=tuple(form["sections"]),
        target_ref_required=form.get("targetRefRequired", False),
        single_item=form.get("singleItem", False),
        from_as_rules=form.get("fromAsRules", False),
        top={
            k: TopLevel(kinds=tuple(v["kinds"]), gateway_listener_tags=v["gatewayListenerTags"])
            for k, v in form["top"].items()
        },
        dataplane_section_name=form.get("dataplaneSectionName", False),
        to_kinds=tuple(to.get("kinds", ())),
        to_when_top={k: tuple(v["kinds"]) for k, v in to.get("whenTopLevel", {}).items()},
        from_kinds=tuple(form.get("from", {}).get("kinds", ())),
        backend_kinds={k: tuple(v["kinds"]) for k, v in form.get("backendRefs", {}).items()},
        match_fields=tuple(form.get("matchFields", ())),
        confs=confs,
    )


def read_conf(rows: list[dict[str, Any]], release: str) -> Conf:
    """Return the tree of conf fields that one release has, from rows of tables/conf.json."""
    below: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if release in row["in"]:
            below.setdefault(row["path"].rpartition(".")[0].removesuffix("[]"), []).append(row)
    return _level(below, "")


def _level(below: Mapping[str, list[dict[str, Any]]], above: str) -> Conf:
    names = ((row["path"].rpartition(".")[2], row) for row in below.get(above, ()))
    return {name: _field(name, row, below) for name, row in names}


def _field(name: str, row: dict[str, Any], below: Mapping[str, list[dict[str, Any]]]) -> Field:
    bounds = ("min", "max", "minLength", "maxLength", "minItems", "maxItems")
    return Field(
        name=name,
        path=row["path"],
        type=row["type"],
        merge=row["merge"],
        default=row.get("default"),
        has_default="default" in row,
        required=row.get("required", False),
        always_serialised=row.get("alwaysSerialised", False),
        empty_list_dropped=row.get("emptyListDropped", False),
        zero_value_dropped=row.get("zeroValueDropped", False),
        enum=tuple(row.get("enum", ())),
        item_enum=tuple(row.get("itemEnum", ())),
        bounds={k: row[k] for k in bounds if k in row},
        pattern=row.get("pattern", ""),
        fields=_level(below, row["path"]),
    )
