"""Entries: the items of policies that rules are merged from, with their places."""

from __future__ import annotations

from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.model.conf import JsonConf
from kumamigrate.model.resource import Resource
from kumamigrate.model.targetref import TargetRef
from kumamigrate.source.text import FieldPath


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Entry:
    """One item of `to`, `from` or `rules`, or the one conf of a single-item policy.

    `conf` is in normal form, `path` leads from the policy's spec to it. `index` is Kuma's
    ruleIndex. `via` is the route through which a policy with top-level MeshHTTPRoute gets its
    artificial target. `order` sorts entries of one list (item order).
    """

    policy: Resource
    section: str
    index: int
    top: TargetRef
    target: TargetRef | None
    conf: JsonConf
    path: FieldPath
    match: dict[str, Any] | None = None
    via: Resource | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Found:
    """What a look-up finds: merged confs and the entries they came from, lowest first.

    Several confs only for MeshHTTPRoute with hostnames: one for each. `level` says which key
    answered.
    """

    confs: tuple[JsonConf, ...]
    entries: tuple[Entry, ...]
    level: str

    @property
    def conf(self) -> JsonConf:
        """The conf that proxies read: the first."""
        return self.confs[0]


def origin(entries: tuple[Entry, ...]) -> list[str]:
    """Return the names of the contributing policies, each once, in order of appearance."""
    return list(dict.fromkeys(e.policy.name for e in entries))


def origin_with_index(entries: tuple[Entry, ...]) -> list[dict[str, Any]]:
    """Return the contributing (policy, item) pairs, each once, in order of appearance."""
    pairs = dict.fromkeys((e.policy.name, e.index) for e in entries)
    return [{"name": name, "ruleIndex": index} for name, index in pairs]
