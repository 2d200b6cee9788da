"""Values a document shall have afterwards: plain JSON in which parts of the old text may stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Union

from kumamigrate.dataclass import dataclass
from kumamigrate.source.text import Document, FieldPath

Value = Union[None, bool, int, float, str, "Moved", Mapping[str, "Value"], Sequence["Value"]]


class Unchanged:
    """The type of `UNCHANGED`."""


UNCHANGED = Unchanged()
"""Marks a `Moved` whose value stays what it was."""


@dataclass(frozen=True, slots=True)
class Moved:
    """What stood at `path` in the old document, text and comments included.

    `path` starts from the resource that is replaced. With `value` given, that text is edited
    to say `value`; with `anew` it is written anew, and only comments come along: those above, and
    the one behind a single value, which stands behind the key of what is several lines now.
    """

    path: FieldPath
    value: Value | Unchanged = UNCHANGED
    anew: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """What one resource of a document shall become.

    `item` is the path of the resource inside its document: `()` for the whole document,
    `("items", 3)` inside a `kind: List`. `values` holds the new resources in order: the first
    is the old text edited, the others are written right behind it; none removes it. Comments
    of a removed resource stay where they stood unless `drop_comments` says otherwise, or stand in
    one of its `successors` as well: the documents, by index, that say what it said; what is left
    of them goes above the successor where that comes next. `heads` are comments for the values, in
    their order, that are written above them; empty ones are none. What is said above fields that
    several values share, `shared`, goes above the first of them.
    """

    document: Document
    item: FieldPath = ()
    values: tuple[Value, ...]
    drop_comments: bool = False
    successors: tuple[int, ...] = ()
    heads: tuple[str, ...] = ()
    shared: tuple[FieldPath, ...] = ()
