"""The value of a document that is only looked at: read by the C parser alone, no node tree.

Most documents that are read are never edited, and building their trees takes four times as long
as parsing them. Anything unusual is left to the parser proper.
"""

from __future__ import annotations

import operator
from typing import Any, cast

from kumamigrate.pattern import pattern
from kumamigrate.source.node import JSON
from kumamigrate.source.reading.parser import yaml
from kumamigrate.source.reading.scalar import resolve_plain
from kumamigrate.source.text import FieldPath

MOST_CHARACTERS = 200_000
MOST_BRACKETS = 200
"""The C parser calls itself for each level: what may be nested deeper goes the other way."""

MOST_LEVELS = 50
_DEEP = ("\n" + " " * 4 * MOST_LEVELS, "- " * MOST_LEVELS)
_UNUSUAL = ("<<", "${", "? ", "\t", *_DEEP)
_PROPERTY = pattern(r"(?:\A|[\s\[{,:])[&*!]")
"""Where an anchor, an alias or a tag may begin; elsewhere these characters are text."""


READER = (yaml.__version__, bool(yaml.__with_libyaml__))
"""What reads YAML here."""


class _UnusualError(Exception):
    """A document that the parser proper must read."""


def quick_value(chunk: str) -> tuple[dict[str, JSON], int] | None:
    """Return the mapping a document holds and the offset at which it begins, None if in doubt.

    Equal to `json_value` of the tree. Anchors, tags, merges, templates, doubled keys and whatever
    is refused or deeply nested are in doubt. The text must have no masked spans.
    """
    if _PARSER is None or len(chunk) > MOST_CHARACTERS or any(map(chunk.__contains__, _UNUSUAL)):
        return None
    if _PROPERTY.search(chunk):
        return None
    if chunk.count("[") + chunk.count("{") > MOST_BRACKETS:
        return None
    try:
        node = _PARSER(chunk).get_single_node()
        if not isinstance(node, yaml.MappingNode):
            return None
        return cast("dict[str, JSON]", _value(node, 1)), node.start_mark.index
    except (yaml.YAMLError, _UnusualError):
        return None


def quick_start(chunk: str, path: FieldPath) -> int:
    """Return the offset at which a field stands, or the nearest thing above it that is there.

    The text must be one whose value could be read quickly: the answer is the tree's.
    """
    node = _PARSER(chunk).get_single_node()
    for part in path:
        below = _child(node, part)
        if below is None:
            break
        node = below
    return cast("int", node.start_mark.index)


def _child(node: Any, part: str | int) -> Any:
    if isinstance(node, yaml.MappingNode) and isinstance(part, str):
        return next((child for key, child in node.value if key.value == part), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part]
    return None


def _value(node: Any, level: int) -> JSON:
    if isinstance(node, yaml.ScalarNode):
        return node.value if node.style else resolve_plain(node.value)
    if level > MOST_LEVELS:
        raise _UnusualError
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, level + 1) for item in node.value]
    result: dict[str, JSON] = {}
    for key, child in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise _UnusualError
        name = key.value if key.style else resolve_plain(key.value)
        if not isinstance(name, str) or name in result:
            raise _UnusualError
        result[name] = _value(child, level + 1)
    return result


def _parser() -> Any:
    """Return the C parser, composing nodes whose tags nobody asks for; None where it is absent.

    What it calls for each node is done by built-ins, which take what they are given and do
    nothing: a Python function each would double the time.
    """
    if not yaml.__with_libyaml__:
        return None

    class Parser(yaml.cyaml.CParser):  # type: ignore[misc, name-defined]  # untyped extension
        descend_resolver = operator.is_
        ascend_resolver = int
        resolve = slice

        def __init__(self, text: str) -> None:
            super().__init__(text)
            self.anchors: dict[str, Any] = {}

    return Parser


_PARSER: Any = _parser()
