"""In which style a document is written, so that new text looks like its neighbours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from kumamigrate.dataclass import dataclass
from kumamigrate.source.node import MapNode, Node, ScalarNode, SeqNode, Style, walk
from kumamigrate.source.reading.lines import Lines, newline_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How a document is written.

    `step` is the indent of a mapping in a mapping, `dash` that of a sequence's `-` in a
    mapping, `gap` the width of `- `. `comma` and `colon` are the separators in flow style.
    `pretty` puts every entry of new JSON on its own line; only there `indent` may be a tab.
    """

    step: int = 2
    dash: int = 2
    gap: int = 2
    quote: str = '"'
    newline: str = "\n"
    json: bool = False
    pretty: bool = False
    comma: str = ", "
    colon: str = ": "
    padding: str = ""
    indent: str = " "


def layout_of(root: Node | None, others: Iterable[Node], lines: Lines) -> Layout:
    """Return the style of a document; what it does not show is taken from its neighbours."""
    seen = _Seen()
    for node in (*([root] if root is not None else []), *others):
        if seen.complete():
            break
        _observe(node, lines, seen)
    json = isinstance(root, (MapNode, SeqNode)) and root.style is Style.FLOW and _quoted_keys(root)
    pretty = json and root is not None and lines.start(root.start) != lines.start(root.end)
    step = seen.most("step", seen.most("dashed", 2))
    if pretty and isinstance(root, MapNode) and root.entries:
        step = max(1, lines.column(root.entries[0][0].start) - lines.column(root.start))
    default_colon, default_comma = (":", ",") if json and not pretty else (": ", ", ")
    has_flow = bool(seen.words["colon"])
    return Layout(
        step=step,
        dash=seen.most("dash", 2),
        gap=seen.most("gap", 2),
        quote=seen.word("quote", '"'),
        newline=newline_of(lines.text),
        json=json,
        pretty=pretty,
        # A plain key needs the blank behind its colon; only JSON can do without.
        colon=seen.word("colon", default_colon) if json else ": ",
        comma=seen.word("comma", default_comma if not has_flow else ", "),
        padding=seen.word("padding", ""),
        indent="\t" if pretty and root is not None and _tabs(root, lines) else " ",
    )


def _tabs(root: Node, lines: Lines) -> bool:
    """Say whether JSON is indented with tabs, which YAML permits between brackets only."""
    if not isinstance(root, MapNode) or not root.entries:
        return False
    start = root.entries[0][0].start
    return lines.text[lines.start(start) : start].strip("\t") == "" and lines.column(start) > 0


class _Seen:
    """Counts of what was observed."""

    def __init__(self) -> None:
        self.numbers: dict[str, Counter[int]] = {
            k: Counter() for k in ("step", "dash", "gap", "dashed")
        }
        self.words: dict[str, Counter[str]] = {
            k: Counter() for k in ("quote", "comma", "colon", "padding")
        }

    def complete(self) -> bool:
        shown = all(counts for name, counts in self.numbers.items() if name != "dashed")
        return shown and all(self.words.values())

    def most(self, name: str, default: int) -> int:
        counts = self.numbers[name]
        return max(counts, key=lambda k: (counts[k], -k)) if counts else default

    def word(self, name: str, default: str) -> str:
        counts = self.words[name]
        return max(counts, key=lambda k: (counts[k], k == default)) if counts else default


def _quoted_keys(root: MapNode | SeqNode) -> bool:
    for _, node in walk(root):
        if isinstance(node, MapNode) and node.entries:
            return node.entries[0][0].style is Style.DOUBLE
    return False


def _observe(root: Node, lines: Lines, seen: _Seen) -> None:
    numbers, words = seen.numbers, seen.words
    fresh = {name: not counts for name, counts in (*numbers.items(), *words.items())}
    for _, node in walk(root):
        if isinstance(node, ScalarNode):
            if fresh["quote"] and node.style in (Style.SINGLE, Style.DOUBLE):
                words["quote"]["'" if node.style is Style.SINGLE else '"'] += 1
        elif isinstance(node, MapNode) and node.style is Style.FLOW:
            _observe_flow(node, lines, words, fresh)
        elif isinstance(node, MapNode):
            for key, child in node.entries:
                column = lines.column(key.start)
                if isinstance(child, MapNode) and child.style is Style.BLOCK:
                    # Behind a dash some count from the dash, others from the key.
                    name = "step" if lines.first_on_line(key.start) else "dashed"
                    if fresh[name]:
                        numbers[name][lines.column(child.entries[0][0].start) - column] += 1
                elif isinstance(child, SeqNode) and child.dashes and fresh["dash"]:
                    numbers["dash"][lines.column(child.dashes[0]) - column] += 1
        elif isinstance(node, SeqNode) and node.dashes and fresh["gap"]:
            for dash, child in zip(node.dashes, node.items, strict=True):
                gap = child.start - dash
                if 1 < gap < 9 and lines.start(dash) == lines.start(child.start):
                    numbers["gap"][gap] += 1


def _observe_flow(
    node: MapNode, lines: Lines, words: dict[str, Counter[str]], fresh: dict[str, bool]
) -> None:
    text = lines.text
    for key, child in node.entries:
        between = text[key.end : child.start]
        if fresh["colon"] and between in (":", ": "):
            words["colon"][between] += 1
    for (_, before), (key, _) in zip(node.entries, node.entries[1:], strict=False):
        between = text[before.end : key.start]
        if fresh["comma"] and between in (",", ", "):
            words["comma"][between] += 1
    if node.entries and fresh["padding"]:
        first = text[max(0, node.entries[0][0].start - 2) : node.entries[0][0].start]
        if first in ("{ ", "") or first.endswith("{"):
            words["padding"][" " if first == "{ " else ""] += 1
