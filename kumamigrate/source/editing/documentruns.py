"""What the replacements of one document cut and put: whole documents, items of lists, heads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from textwrap import wrap

from kumamigrate.dataclass import replace
from kumamigrate.source.editing.align import same
from kumamigrate.source.editing.draft import Draft, edits_of_copy
from kumamigrate.source.editing.editruns import EditRuns
from kumamigrate.source.editing.edits import EditRun
from kumamigrate.source.editing.layout import Layout, layout_of
from kumamigrate.source.editing.oldtext import OldText
from kumamigrate.source.editing.render import Renderer
from kumamigrate.source.editing.sheet import RefusedError, Sheet
from kumamigrate.source.editing.sources import moved_node, place_of, plain, root_place
from kumamigrate.source.node import MapNode, Node, SeqNode, Style, json_value
from kumamigrate.source.text import Document, FieldPath, Reason, SourceFile
from kumamigrate.source.value import Moved, Replacement, Unchanged, Value

COMMENT_WIDTH = 78


def document_runs(
    file: SourceFile, sheet: Sheet, document: Document, group: Mapping[FieldPath, Replacement]
) -> list[EditRun]:
    """Return the edits of a document, by the items of lists that they replace; () is all of it."""
    root = document.root
    if root is None:
        raise ValueError(f"document {document.index} has no content to replace")
    others = (d.root for d in file.documents if d.root is not None and d is not document)
    layout = layout_of(root, others, sheet.lines)
    if () in group:
        return _whole(file, sheet, document, root, layout, group[()])
    runs: list[EditRun] = []
    for parent in dict.fromkeys(path[:-1] for path in group):
        runs.extend(_list_runs(sheet, root, layout, parent, group))
    return runs


def _list_runs(
    sheet: Sheet,
    root: Node,
    layout: Layout,
    parent: FieldPath,
    group: Mapping[FieldPath, Replacement],
) -> list[EditRun]:
    """Edit the items of one list; new ones are put behind the item they come from."""
    found = place_of(sheet, root, parent, root_place(sheet, root))
    node = found.node
    if not isinstance(node, SeqNode) or not found.own:
        raise RefusedError(Reason.ALIAS, node.start, "the list is not written out here")
    wanted: list[tuple[int | None, Value]] = []
    for index, item in enumerate(node.items):
        path = (*parent, index)
        one = group.get(path)
        if one is None:
            wanted.append((index, Moved(path)))
            continue
        for position, value in enumerate(one.values):
            wanted.append((None if position else index, _rebased(value, path)))
        if one.drop_comments and not one.values:
            at = node.dashes[index] if node.dashes else item.start
            start = sheet.lines.head(at)
            sheet.drop(start, sheet.lines.tail(item.end, sheet.lines.column(at)))
    vacated = (
        found
        for path, one in group.items()
        if one.values
        for found in _vacated(root, _rebased(one.values[0], path), path)
    )
    draft = _draft(sheet, root, layout, vacated)
    if wanted:
        draft.items(node, wanted, found.place)
    else:
        draft.runs.replace(node, [], found.place)
    return draft.runs.found


def _draft(sheet: Sheet, root: Node, layout: Layout, vacated: Iterable[int]) -> Draft:
    old = OldText(
        sheet=sheet, base=root, base_place=root_place(sheet, root), newline=layout.newline
    )
    renderer = Renderer(old=old, layout=layout, redraft=edits_of_copy)
    return Draft(EditRuns(renderer), frozenset(vacated))


def _rebased(value: Value, prefix: FieldPath) -> Value:
    """Return a value whose `Moved` paths start from the document instead of from a resource."""
    if isinstance(value, Moved):
        inner = value.value
        if not isinstance(inner, Unchanged):
            inner = _rebased(inner, prefix)
        return Moved((*prefix, *value.path), inner, value.anew)
    if isinstance(value, Mapping):
        return {key: _rebased(child, prefix) for key, child in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rebased(child, prefix) for child in value]
    return value


def _whole(
    file: SourceFile,
    sheet: Sheet,
    document: Document,
    root: Node,
    layout: Layout,
    one: Replacement,
) -> list[EditRun]:
    """Edit a document that is one resource, write others behind it, or remove it."""
    place = root_place(sheet, root)
    if not one.values:
        return _removal(file, sheet, document, root, one)
    if len(one.values) > 1 and file.path.endswith(".json"):
        detail = "a JSON file holds one document; the change needs another one beside it"
        raise RefusedError(Reason.ONE_DOCUMENT, root.start, detail)
    draft = _draft(sheet, root, layout, _vacated(root, one.values[0], ()))
    runs = draft.runs
    draft.diff(root, one.values[0], place)
    head = _head(one, 0, root, sheet)
    if head or one.shared:
        at = sheet.lines.start(place.at)
        pad = sheet.text[at : place.at] if sheet.text[at : place.at].isspace() else ""
        shared = [place_of(sheet, root, path, place) for path in one.shared]

        def above_first() -> tuple[str, str]:
            said = "".join(runs.renderer.old.head_comments(source, 0) for source in shared)
            return "", "".join(pad + line for line in (said + head).splitlines(keepends=True))

        # What goes at the top takes the comments above it along.
        at = min([at, *(run.start for run in runs.found if run.end > at)])
        runs.put(EditRun(start=at, end=at, render=above_first, whole=True))
    added = one.values[1:]
    if added:
        stays = same(plain(root, one.values[0]), json_value(root))
        renderer = runs.renderer.elsewhere(copied(sheet) if stays else sheet)
        at = sheet.lines.tail(root.end, -1)
        runs.check_branch(min(at, len(sheet.text)), place.at)
        above, below = _separator_blanks(file, sheet)

        def render() -> tuple[str, str]:
            separator = above + "---" + sheet.newline + below
            return "", "".join(
                separator + _head(one, number, root, sheet) + renderer.document(value)
                for number, value in enumerate(added, 1)
            )

        runs.put(EditRun(start=at, end=at, render=render, whole=True))
    return runs.found


def copied(sheet: Sheet) -> Sheet:
    """Return a sheet for what is copied from a resource that stays as it is, comments included:
    one day it goes, and nobody would look there for what it was about."""
    return replace(sheet, cuts=[(0, len(sheet.text))], claimed=set())


def _head(one: Replacement, number: int, root: Node, sheet: Sheet) -> str:
    """Return the comment above one of the new documents, empty where none can stand."""
    text = one.heads[number] if number < len(one.heads) else ""
    block = isinstance(root, MapNode) and root.style is Style.BLOCK
    if not text or not block:
        return ""
    lines = wrap(text, COMMENT_WIDTH)
    return "".join(f"# {line}{sheet.newline}" for line in lines)


def _vacated(root: Node, value: Value, path: FieldPath) -> Iterator[int]:
    """Yield the ids of nodes that move to another place of the same resource."""
    if isinstance(value, Moved):
        if value.path != path and not value.anew:
            yield id(moved_node(root, value))
        if not isinstance(value.value, Unchanged):
            yield from _vacated(root, value.value, path)
    elif isinstance(value, Mapping):
        for key, child in value.items():
            yield from _vacated(root, child, (*path, key))
    elif isinstance(value, (list, tuple)):
        for index, child in enumerate(value):
            yield from _vacated(root, child, (*path, index))


def _separator_blanks(file: SourceFile, sheet: Sheet) -> tuple[str, str]:
    """Return the blank lines that this file has before and behind most of its `---`."""
    lines = sheet.lines
    above = below = count = 0
    for document in file.documents:
        start = document.span.start
        if start == 0 or not file.text.startswith("---", start):
            continue
        before = lines.previous(start)
        if before is None or not before:
            continue
        count += 1
        above += lines.blank(before)
        below += lines.blank(lines.next(start))
    blank = sheet.newline
    return (blank if above * 2 > count else "", blank if below * 2 > count else "")


def _removal(
    file: SourceFile, sheet: Sheet, document: Document, root: Node, one: Replacement
) -> list[EditRun]:
    """Remove a document and one separator. Comments stay, unless they shall go, too."""
    lines, text = sheet.lines, file.text
    sheet.check_cut(root)
    first = root_place(sheet, root).at
    marker = document.span.start if text.startswith("---", document.span.start) else None
    beside = marker is not None and lines.start(root.start) == marker
    start = marker if beside and marker is not None else lines.start(first)
    if marker is not None and one.drop_comments and not beside:
        sheet.drop(marker, lines.next(marker))
    if marker is not None and (marker, lines.next(marker)) in sheet.cuts:
        marker = None  # it goes with the document above, which has no other
    end = lines.tail(root.end, -1) if one.drop_comments else lines.next(root.end)
    runs: list[EditRun] = []
    if one.drop_comments:
        start = min(start, lines.head(first))
        sheet.drop(start, end)
    _drop_standing(file, sheet, one, start, end)
    # With its own separator goes its end; what has none takes the one behind it.
    own = marker is not None and not beside and _bare(sheet, marker)
    behind = document.span.end
    if _is_marked(sheet, behind, "..."):
        behind = lines.next(behind)
        runs.append(EditRun(start=document.span.end, end=behind, whole=True))
    gives_way = marker is None or (own and document.index + 1 in one.successors)
    if gives_way and _is_marked(sheet, behind, "---"):
        runs.append(EditRun(start=behind, end=lines.next(behind), whole=True))
    elif own and marker is not None:
        runs.append(EditRun(start=marker, end=lines.next(marker), whole=True))
    runs.append(EditRun(start=start, end=end, whole=True))
    sheet.cuts.extend((run.start, run.end) for run in runs)
    return runs


def _is_marked(sheet: Sheet, offset: int, mark: str) -> bool:
    """Say whether a line begins with a mark of documents, and holds nothing else of theirs."""
    return sheet.text.startswith(mark, offset) and _bare(sheet, offset)


def _bare(sheet: Sheet, separator: int) -> bool:
    """Say whether nothing stands behind a separator on its line, but for a comment."""
    return sheet.text[separator + 3 : sheet.lines.end(separator)].strip()[:1] in ("", "#")


def _drop_standing(file: SourceFile, sheet: Sheet, one: Replacement, start: int, end: int) -> None:
    """Let the comments of a span vanish that stand in the successors of what goes as well."""
    kept = Counter(
        sheet.comment_text(comment)
        for other in file.documents
        if other.index in one.successors
        for comment in sheet.lines.within(other.span.start, other.span.end)
    )
    for comment in sheet.lines.within(start, end):
        if kept[sheet.comment_text(comment)] > 0:
            kept[sheet.comment_text(comment)] -= 1
            sheet.drop(comment.start, comment.start + 1)
