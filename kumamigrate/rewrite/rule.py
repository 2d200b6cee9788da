"""A rewrite rule, as read from `rules/<id>.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kumamigrate.dataclass import dataclass, field
from kumamigrate.rewrite.finding import Danger, Safety


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSelector:
    """Which fields of which resources a declarative rule hits.

    `fields` are paths inside the spec, such as `to[].targetRef`; `[]` stands for every item of
    a list. `where` and `unless` test the mapping found, key by key: a plain value means
    equality, a list membership, true and false whether the key is there, `{pattern: …}` a
    regular expression found in it, any other mapping tests inside. For anything but a mapping
    the one key `value` tests the value itself.
    """

    types: tuple[str, ...]
    fields: tuple[str, ...]
    where: Mapping[str, Any]
    unless: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One literal step: `set`, `default`, `rename`, `remove`, `move`, `map` or `trim`."""

    verb: str
    arguments: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule. Releases are names such as "2.11"; empty means "never" or "always there".

    `since`: first release that accepts the new form. `required`: first release that refuses or
    ignores the old one. `warned`: first release that warns. `claims`: what is proved before
    writing. `after`: rules that must have run before. `upgrade`: written together with the
    upgrade of the control plane, not before. `covers`: row ids of the catalogue. `until`: first
    target for which the rule has nothing to say. `source_before`: it speaks only to those who
    come from a release older than this. `form`: only manifests of that form. `refused`: also
    manifests that the source release refuses. `staged`: what it writes depends on `--stage`.
    `planner`: the shared one that plans for it. `table`: what the planner reads.
    `about`: types without which it has nothing to say, `policy` for all policies, nothing for any;
    `mentions`: words of which one must stand in a manifest of these.
    """

    id: str
    title: str
    why: str
    source: tuple[str, ...]
    since: str = ""
    warned: str = ""
    required: str = ""
    safety: Safety
    danger: Danger
    claims: tuple[str, ...] = ("live",)
    after: tuple[str, ...] = ()
    upgrade: bool = False
    until: str = ""
    source_before: str = ""
    form: str = ""
    refused: bool = False
    staged: bool = False
    planner: str = ""
    table: Mapping[str, Any] = field(default_factory=dict)
    about: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()
    covers: tuple[str, ...] = ()
    traps: tuple[str, ...] = ()
    proved: str = ""
    message: str = ""
    action: str = ""
    select: RuleSelector | None = None
    steps: tuple[Step, ...] = ()
    example: tuple[str, str] = ("", "")
