"""One document of a text as a tree of nodes, or where and why it cannot be read."""

from __future__ import annotations

from typing import Any

from kumamigrate.dataclass import replace
from kumamigrate.source.node import MapNode, Node, SeqNode
from kumamigrate.source.reading.mask import Masked
from kumamigrate.source.reading.nodebuilder import NodeBuilder
from kumamigrate.source.reading.parser import yaml
from kumamigrate.source.reading.unparsable import UnparsableError
from kumamigrate.source.text import Reason

_NO_EVENT: tuple[type[Any], ...] = (yaml.StreamStartEvent, yaml.DocumentStartEvent)


def _parser(text: str) -> Any:
    if yaml.__with_libyaml__:
        return yaml.cyaml.CParser(text)  # type: ignore[attr-defined]  # re-exported on purpose
    return yaml.SafeLoader(text)


def parse_document(original: str, masked: Masked, start: int, end: int) -> Node | None:
    """Return the root node of the document in a slice of the text, None if it is empty.

    Offsets in the nodes count from the beginning of the text. Raises `UnparsableError`.
    """
    chunk = masked.text[start:end]
    builder = NodeBuilder(original=original, masked=masked, base=start, chunk=chunk)
    try:
        builder.parser = _parser(chunk)
        event = builder.parser.get_event()
        while isinstance(event, _NO_EVENT):
            event = builder.parser.get_event()
        if isinstance(event, yaml.StreamEndEvent):
            return None
        if isinstance(event, yaml.ScalarEvent) and event.implicit[0] and event.value == "":
            node: Node | None = None
        else:
            node, _, _ = builder.node(event, 1)
            in_branch = masked.branch_at(node.start) is not None
            if isinstance(node, (MapNode, SeqNode)) and in_branch:
                # The condition may begin and end in other documents.
                node = replace(node, templated=True)
        event = builder.parser.get_event()
        if not isinstance(event, yaml.DocumentEndEvent):
            raise UnparsableError(Reason.UNPARSABLE, start, "content after the end of the document")
        builder.parser.get_event()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        offset = start + (mark.index if mark else 0)
        raise UnparsableError(Reason.UNPARSABLE, min(offset, end), _message(error)) from None
    except yaml.reader.ReaderError as error:
        # The C reader counts bytes, the Python reader counts characters.
        offset = error.position
        if yaml.__with_libyaml__:
            offset = len(chunk.encode()[:offset].decode("utf-8", "ignore"))
        detail = f"character U+{_code(error.character):04X} is not allowed in YAML"
        raise UnparsableError(Reason.UNPARSABLE, start + offset, detail) from None
    return node


def _code(character: object) -> int:
    return character if isinstance(character, int) else ord(str(character)[:1] or "\0")


def _message(error: yaml.MarkedYAMLError) -> str:
    parts = [p for p in (error.context, error.problem) if p]
    return " ".join(str(p) for p in parts) or "not YAML"
