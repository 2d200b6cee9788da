"""Two references that select the same, one of them by labels: a value, and what it says."""

from __future__ import annotations

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.model.resource import SERVICE
from kumamigrate.model.taken import Ground, Taken
from kumamigrate.model.targetref import TargetRef
from kumamigrate.targetref.select import Selector

WORKLOAD = "kuma.io/workload"


@dataclass(frozen=True, slots=True, kw_only=True)
class Coupling:
    """Two references that select the same: one by tags, type or name, one by labels.

    `inbound`: each inbound counts; `outbound`: it counts whether the proxy is selected at all.
    `chosen` is how many of the proxies known both select.
    """

    old: Selector
    new: Selector
    inbound: bool
    outbound: bool
    chosen: int = 0

    def __str__(self) -> str:
        return f"taken for granted that {self.fact}"

    @property
    def fact(self) -> Taken:
        """What is taken for granted."""
        old, new = _text(self.old.top), _text(self.new.top)
        text = f"{old} and {new} mean the same proxies, as they do among those known"
        return Taken(text, Ground.SAME_PROXIES, old, new, str(self.chosen))


def anywhere(one: Coupling) -> Coupling:
    """Return a coupling as if its policies reached every zone and namespace."""
    old, new = (replace(s, zone=None, namespace=None) for s in (one.old, one.new))
    return replace(one, old=old, new=new)


def says_the_tag(one: Coupling) -> bool:
    """Whether a label has the value of its tag or names the service, or nothing is asked for."""
    tags = dict(one.old.top.asked_tags)
    name = tags.get(SERVICE, one.old.top.name or "")
    names = {name, name.split("_")[0]} - {""}
    labels = dict(one.new.top.labels or ())
    return not labels or any(v in names or tags.get(k) == v for k, v in labels.items())


def _text(top: TargetRef) -> str:
    parts = [f"{k}: {v}" for k, v in (top.tags or top.labels or ())]
    if top.proxy_types:
        parts.append(f"proxyTypes {', '.join(top.proxy_types)}")
    if top.section_name:
        parts.append(f"inbound {top.section_name}")
    name = f" {top.name}" if top.name else ""
    return f"{top.kind}{name}" + (f" with {', '.join(parts)}" if parts else "")
