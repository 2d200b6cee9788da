"""New values as text; what was moved keeps its own text and its comments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.source.editing.columns import indented, inline_first, shifted
from kumamigrate.source.editing.edits import Edit
from kumamigrate.source.editing.emit import (
    enclosed,
    flow_text,
    key_text_of,
    literal_text,
    scalar_text,
)
from kumamigrate.source.editing.layout import Layout
from kumamigrate.source.editing.oldtext import OldText
from kumamigrate.source.editing.sheet import RefusedError, Sheet
from kumamigrate.source.editing.sources import (
    Source,
    first_start,
    plain,
    tied,
)
from kumamigrate.source.node import AliasNode, MapNode, Node, ScalarNode, SeqNode, Style
from kumamigrate.source.text import Reason
from kumamigrate.source.value import Moved, Unchanged, Value


@dataclass(frozen=True, slots=True)
class Piece:
    """Rendered text: comment lines for above the entry, what follows on the line, lines below."""

    over: str
    first: str
    body: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Renderer:
    """Writes values in a document's style.

    `old` is the text that moved values come from. `redraft` returns the edits of a copy of old text
    that shall say a value: what drafts edits renders, and the other way round.
    """

    old: OldText
    layout: Layout
    redraft: Callable[[Renderer, Source, Value], list[Edit]]

    def elsewhere(self, sheet: Sheet | None = None) -> Renderer:
        """Return a renderer of text for another document."""
        old = replace(self.old, sheet=sheet or self.old.sheet, elsewhere=True)
        return replace(self, old=old)

    # Block style

    def document(self, value: Value) -> str:
        """Return a whole document."""
        if isinstance(value, Moved):
            piece = self.piece(value, -1, 0)
            first = piece.first.strip()
            return piece.over + (first + self.layout.newline if first else "") + piece.body
        if self.layout.json or not isinstance(value, Mapping) or not value:
            return self.flow(value, 0) + self.layout.newline
        return self.entries(value, 0)

    def entries(self, value: Mapping[str, Value], column: int) -> str:
        """Return the lines of a mapping."""
        return "".join(self.entry(key, child, column) for key, child in value.items())

    def entry(self, key: str, value: Value, column: int, *, flow: bool = False) -> str:
        """Return the lines of one entry."""
        piece = self.flow_piece(value, column) if flow else self.piece_of(value, column)
        name = key_text_of(key, self.layout)
        return f"{piece.over}{' ' * column}{name}:{piece.first}{self.layout.newline}{piece.body}"

    def items(self, value: Sequence[Value], column: int) -> str:
        """Return the lines of a sequence."""
        return "".join(self.item(child, column) for child in value)

    def item(self, value: Value, column: int, *, flow: bool = False) -> str:
        """Return the lines of one item."""
        if flow and not isinstance(value, Moved) and self.is_block(value):
            over, text = "", self.flow(value, column)
        else:
            over, text = self.behind_dash(value, column, column + self.layout.gap)
        lead = " " * (self.layout.gap - 1) if text.strip() else ""
        return f"{over}{' ' * column}-{lead}{text.rstrip(chr(13) + chr(10))}{self.layout.newline}"

    def behind_dash(self, value: Value, dash: int, column: int) -> tuple[str, str]:
        """Return comment lines for above a dash, and the text behind it without first indent."""
        if isinstance(value, Moved):
            piece = self.piece(value, dash, column)
            if piece.body:
                over, text = inline_first(piece.body, column, dash)
                side = piece.first.strip()
                note = f"{' ' * dash}{side}{self.layout.newline}" if side else ""
                return piece.over + note + over, text
            return piece.over, piece.first.lstrip(" ")
        if isinstance(value, Mapping) and value:
            return inline_first(self.entries(value, column), column, dash)
        if is_list(value) and value:
            assert isinstance(value, Sequence)
            return inline_first(self.items(value, column), column, dash)
        return "", self.piece_of(value, dash).first.lstrip(" ")

    def piece_of(self, value: Value, column: int) -> Piece:
        """Return what follows a key at a column."""
        if isinstance(value, Moved):
            return self.piece(value, column, None)
        if self.is_block(value):
            return Piece("", "", self.block(value, column))
        if isinstance(value, str) and "\n" in value:
            self.check_text(value)
            literal = literal_text(value, column + self.layout.step, self.layout.newline)
            if literal is not None:
                return Piece("", " " + literal)
        return Piece("", " " + self.flow(value, column))

    def flow_piece(self, value: Value, column: int) -> Piece:
        """Return a new collection in flow style, as what stood there was; moved text stays."""
        if isinstance(value, Moved) or not self.is_block(value):
            return self.piece_of(value, column)
        return Piece("", " " + self.flow(value, column))

    def is_block(self, value: Value) -> bool:
        """Say whether a value is written on the lines below its key."""
        if isinstance(value, Moved):
            if value.anew and not isinstance(value.value, Unchanged):
                return self.is_block(value.value)
            node = self.old.locate(value).node
            if isinstance(value.value, Unchanged) or same_kind(node, value.value):
                collection = isinstance(node, (MapNode, SeqNode))
                tied_here = tied(self.old.sheet, node)
                return collection and (node_style(node) is Style.BLOCK or tied_here)
            return self.is_block(value.value)
        return (isinstance(value, Mapping) or is_list(value)) and bool(value)

    def block(self, value: Value, column: int) -> str:
        """Return the lines of a collection below a key at a column."""
        if isinstance(value, Moved):
            piece = self.piece(value, column, None)
            side = piece.first.strip()
            note = f"{' ' * column}{side}{self.layout.newline}" if side else ""
            return piece.over + note + piece.body
        if isinstance(value, Mapping):
            return self.entries(value, column + self.layout.step)
        assert is_list(value)
        assert isinstance(value, Sequence)
        return self.items(value, column + max(0, self.layout.dash))

    def inline(self, value: Value, column: int, *, commented: bool) -> tuple[str, str]:
        """Return comment lines for above, and a value that stands behind its key.

        `commented` says that a comment follows on the same line, so it must stay one line.
        """
        if commented and isinstance(value, str):
            return "", self.flow(value, column)
        piece = self.piece_of(value, column)
        return piece.over, piece.first.lstrip(" ")

    # Flow style

    def flow(self, value: Value, column: int) -> str:
        """Return a value in flow style, `column` being the indent of the line it begins on."""
        layout = self.layout
        while isinstance(value, Moved) and (isinstance(value.value, Moved) or value.anew):
            value = (
                plain(self.old.base, value) if isinstance(value.value, Unchanged) else value.value
            )
        if isinstance(value, Moved):
            text = self.flow_slice(value, column)
            return self.flow(plain(self.old.base, value), column) if text is None else text
        if isinstance(value, Mapping) and value:
            inner = column + layout.step
            parts = [self.flow_entry(key, child, inner) for key, child in value.items()]
            return enclosed("{", parts, "}", layout, column)
        if is_list(value) and value:
            assert isinstance(value, Sequence)
            parts = [self.flow(child, column + layout.step) for child in value]
            return enclosed("[", parts, "]", layout, column)
        single = plain(self.old.base, value)
        if isinstance(single, str):
            self.check_text(single)
        return flow_text(single, layout, column) if column >= 0 else scalar_text(single, layout)

    def flow_entry(self, key: str, value: Value, column: int) -> str:
        """Return one entry of a flow mapping."""
        name = key_text_of(key, self.layout, flow=True)
        return f"{name}{self.layout.colon}{self.flow(value, column)}"

    def flow_slice(self, moved: Moved, column: int) -> str | None:
        """Return the old text of something moved if it can stand in flow style."""
        source = self.old.locate(moved)
        node = source.node
        value = moved.value
        if not isinstance(value, Unchanged) and not same_kind(node, value):
            return None
        if not self.old.whole(source):
            return None
        if isinstance(node, ScalarNode):
            quoted = node.style in (Style.SINGLE, Style.DOUBLE) and not self.layout.json
            if not isinstance(value, Unchanged) or not (
                source.place.flow or quoted or node.templated
            ):
                return None
            return self.old.sheet.text[node.start : node.end] or "null"
        if node_style(node) is not Style.FLOW:
            return None
        _, text = self.edited(source, value, node.start, node.end)
        delta = column - source.place.column
        return shifted(text, delta, rest=True, indent=self.layout.indent)

    def check_text(self, text: str) -> None:
        """Refuse to write out text that a template engine would take for its own."""
        if self.old.sheet.masked.masks and ("{{" in text or "{%" in text):
            detail = "a value that holds a template expression would have to be rewritten"
            raise RefusedError(Reason.TEMPLATE, self.old.base.start, detail)

    # What is moved

    def piece(self, moved: Moved, column: int, child: int | None) -> Piece:
        """Return the text of something moved, for a key or dash at a column.

        `child` is the column for its own children, None to keep their distance.
        """
        if moved.anew and not isinstance(moved.value, Unchanged):
            return self.anew(moved, moved.value, column, child)
        if isinstance(moved.value, Moved):
            return self.piece(moved.value, column, child)
        source = self.old.locate(moved)
        node, value = source.node, moved.value
        whole = self.old.whole(source)
        over = self.old.head_comments(source, column) if whole else ""
        if not whole or not (isinstance(value, Unchanged) or same_kind(node, value)):
            rest = plain(self.old.base, moved) if isinstance(value, Unchanged) else value
            made = self.made(rest, column, child)
            return Piece(over + made.over, made.first, made.body)
        if isinstance(node, (MapNode, SeqNode)) and node.style is Style.BLOCK:
            return self.block_piece(source, moved, over, column, child)
        above, text = self.edited(source, value, node.start, node.end)
        text = shifted(text, max(column, 0) - max(source.place.column, 0), rest=True)
        first = " " + text if text else ""
        return Piece(
            over + indented(above, column), first + self.old.side_comment(source, node.end)
        )

    def anew(self, moved: Moved, value: Value, column: int, child: int | None) -> Piece:
        """Return a value written anew, with the comments of what stood somewhere else."""
        source = self.old.locate(moved)
        over = self.old.head_comments(source, column) if source.own else ""
        made = (
            self.piece(value, column, child)
            if isinstance(value, Moved)
            else self.made(value, column, child)
        )
        single = isinstance(source.node, ScalarNode) and source.own
        side = self.old.side_comment(source, source.node.end) if single else ""
        return Piece(over + made.over, made.first + side, made.body)

    def made(self, value: Value, column: int, child: int | None) -> Piece:
        """Return a new value for a key or dash at a column."""
        if child is None or not self.is_block(value):
            return self.piece_of(value, column)
        if isinstance(value, Mapping):
            return Piece("", "", self.entries(value, child))
        assert isinstance(value, Sequence)
        return Piece("", "", self.items(value, child))

    def edited(
        self, source: Source, value: Value | Unchanged, start: int, end: int
    ) -> tuple[str, str]:
        """Return a span of old text edited to say a value: comments for above, and the text."""
        edits = [] if isinstance(value, Unchanged) else self.redraft(self, source, value)
        return self.old.edited(edits, start, end)

    def block_piece(
        self, source: Source, moved: Moved, over: str, column: int, child: int | None
    ) -> Piece:
        node, place, lines = source.node, source.place, self.old.sheet.lines
        begin = first_start(node)
        own_column = lines.column(begin)
        first, pad = "", ""
        if place.root and lines.first_on_line(begin):
            start = lines.start(begin)
        elif lines.start(begin) == lines.start(place.gap):
            start, pad = begin, " " * own_column
        else:
            start = lines.next(place.gap)
            first = self.old.side_comment(source, place.gap)
        end = lines.tail(node.end, place.column)
        above, text = self.edited(source, moved.value, start, end)
        text = pad + text
        if text and text[-1] not in "\r\n":
            text += self.layout.newline
        if child is not None:
            delta = child - own_column
        elif place.item or place.root:
            step = self.layout.step if isinstance(node, MapNode) else self.layout.dash
            delta = column + step - own_column
        else:
            delta = column - place.column
        return Piece(over + indented(above, column), first, shifted(text, delta))


def is_list(value: object) -> bool:
    """Say whether a value is a sequence that is no string."""
    return isinstance(value, (list, tuple))


def same_kind(node: Node, value: Value) -> bool:
    """Say whether a value can be reached by editing inside a node."""
    if isinstance(node, MapNode):
        return isinstance(value, Mapping) and bool(value) and bool(node.entries)
    if isinstance(node, SeqNode):
        return is_list(value) and bool(value) and bool(node.items)
    if isinstance(node, ScalarNode):
        return not isinstance(value, (Moved, Mapping)) and not is_list(value)
    return False


def node_style(node: Node) -> Style | None:
    """Return the style of a node, None for aliases."""
    return None if isinstance(node, AliasNode) else node.style
