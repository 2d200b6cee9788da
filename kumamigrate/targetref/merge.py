"""Merging the confs of entries (matcher.md (e))."""

from __future__ import annotations

from collections.abc import Sequence

from kumamigrate.model.conf import JsonConf, merge
from kumamigrate.model.policytype import Conf
from kumamigrate.targetref.entry import Entry


def merge_entries(entries: Sequence[Entry], fields: Conf) -> tuple[JsonConf, ...]:
    """Return the merged confs of entries in merge order, one for each hostname group.

    Lists with a merge key go in reversed and come out reversed, so that the strongest policy's
    rules come first, in the order it wrote them ((e) step 5).
    """
    keyed = [name for name, field in fields.items() if field.merge == "by-key"]
    confs = [_reversed(entry.conf, keyed) for entry in entries]
    return tuple(_reversed(conf, keyed) for conf in merge(confs, fields))


def _reversed(conf: JsonConf, names: Sequence[str]) -> JsonConf:
    turned = {n: conf[n][::-1] for n in names if isinstance(conf.get(n), list)}
    return {**conf, **turned} if turned else conf
