"""Edits a file so that its resources say their new values, touching nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kumamigrate.dataclass import replace
from kumamigrate.source.editing.align import same
from kumamigrate.source.editing.documentruns import document_runs
from kumamigrate.source.editing.edits import EditRun, OverlapError, apply, check_masks, finish
from kumamigrate.source.editing.sheet import RefusedError, Sheet, is_refused, sheet_of
from kumamigrate.source.editing.sources import plain
from kumamigrate.source.node import JSON, json_value, node_at
from kumamigrate.source.reading.comments import comments_of
from kumamigrate.source.reading.lines import newline_of
from kumamigrate.source.reading.load import read_file
from kumamigrate.source.reading.mask import mask_templates
from kumamigrate.source.text import Document, FieldPath, Lock, Reason, Refusal, SourceFile
from kumamigrate.source.value import Replacement


def patch(file: SourceFile, replacements: Sequence[Replacement]) -> str | tuple[Refusal, ...]:
    """Return the text of the file with resources replaced, or why it cannot be edited.

    The result is read back before it is returned: every resource says its new value, every
    other one its old value, and no comment is lost. Raises ValueError where a replacement does
    not fit the file: an unknown path, or two for one resource.
    """
    changing = [one for one in replacements if not _says_it(one)]
    _by_document(replacements)
    if not changing:
        return file.text
    if file.text[-1:] in ("\n", "\r"):
        return _checked(file, file, changing)
    # As if the last line were finished: what is put behind it must begin a new one.
    newline = newline_of(file.text)
    finished = read_file(file.path, (file.text + newline).encode())
    return _checked(file, finished, changing, ending=newline)


def _says_it(one: Replacement) -> bool:
    base = node_at(one.document.root, one.item)
    if base is None or len(one.values) != 1:
        return False
    return same(json_value(base), plain(base, one.values[0]))


def _checked(
    file: SourceFile, finished: SourceFile, replacements: Sequence[Replacement], ending: str = ""
) -> str | tuple[Refusal, ...]:
    """Edit the finished text, take its ending away again if the result permits, and check."""
    same_documents = [
        replace(one, document=finished.documents[one.document.index]) for one in replacements
    ]
    sheet = sheet_of(finished)
    text = _edited(finished, sheet, same_documents)
    if not isinstance(text, str):
        return text
    candidates = [text.removesuffix(ending), text] if ending else [text]
    problem = None
    for candidate in candidates:
        problem = _problem(file, candidate, replacements, sheet)
        if problem is None:
            return candidate
    return (_failed(file, replacements, problem or ""),)


def _edited(
    file: SourceFile, sheet: Sheet, replacements: Sequence[Replacement]
) -> str | tuple[Refusal, ...]:
    refusals: list[Refusal] = []
    runs: list[EditRun] = []
    for document, group in _by_document(replacements):
        if (lock := document.lock) is not None:
            refusals.append(_locked(file, lock))
            continue
        try:
            runs.extend(document_runs(file, sheet, document, group))
        except RefusedError as error:
            refusals.append(_refusal(file, error))
    if refusals:
        return tuple(refusals)
    try:
        edits = finish(runs, sheet, copying=False)
        check_masks(edits, sheet)
        return apply(file.text, edits)
    except RefusedError as error:
        return (_refusal(file, error),)
    except OverlapError:
        return (_failed(file, replacements, "two of its edits touch the same place"),)


def _by_document(
    replacements: Sequence[Replacement],
) -> list[tuple[Document, dict[FieldPath, Replacement]]]:
    groups: dict[int, tuple[Document, dict[FieldPath, Replacement]]] = {}
    for one in replacements:
        _, items = groups.setdefault(one.document.index, (one.document, {}))
        if one.item in items:
            raise ValueError(f"two replacements for {one.document.index} {one.item}")
        items[one.item] = one
    for document, items in groups.values():
        if () in items and len(items) > 1:
            raise ValueError(f"replacements for document {document.index} and for parts of it")
    return [groups[index] for index in sorted(groups)]


def _refusal(file: SourceFile, error: RefusedError) -> Refusal:
    line, column = file.position(error.offset)
    advice = "edit it by hand"
    return Refusal(
        path=file.path,
        line=line,
        column=column,
        reason=error.reason,
        detail=error.detail,
        advice=advice,
    )


def _locked(file: SourceFile, lock: Lock) -> Refusal:
    line, column = file.position(lock.offset)
    return Refusal(
        path=file.path,
        line=line,
        column=column,
        reason=lock.reason,
        detail=lock.detail,
        advice=lock.advice,
    )


def _failed(file: SourceFile, replacements: Sequence[Replacement], problem: str) -> Refusal:
    first = min((one.document.span.start for one in replacements), default=0)
    line, column = file.position(first)
    return Refusal(
        path=file.path,
        line=line,
        column=column,
        reason=Reason.COMMENT if "comment" in problem else Reason.UNPARSABLE,
        detail=f"the edit failed its own check: {problem}",
        advice="edit it by hand, and please report the file",
    )


def _problem(
    file: SourceFile, text: str, replacements: Sequence[Replacement], sheet: Sheet
) -> str | None:
    """Read the new text back; say what is wrong with it."""
    bom = b"\xef\xbb\xbf" if file.bom else b""
    after = read_file(file.path, bom + text.encode())
    got: list[JSON | str] = [_content(d, text) for d in after.documents]
    wanted = _expected(file, replacements)
    if len(got) != len(wanted):
        return f"{len(got)} documents instead of {len(wanted)}"
    for number, (left, right) in enumerate(zip(got, wanted, strict=True), 1):
        if not same(left, right):
            return f"document {number} would not say what it should"
    old = Counter(
        sheet.comment_text(c) for c in sheet.lines.comments if c.start not in sheet.dropped
    )
    new = Counter(_comment_texts(after))
    if old - new:
        return f"comment {next(iter(old - new))!r} would be lost"
    return None


def _content(document: Document, text: str) -> JSON:
    if is_refused(document, text):
        return text[document.span.start : document.span.end].rstrip()
    return json_value(document.root)


def _comment_texts(file: SourceFile) -> list[str]:
    masked = mask_templates(file.text, file.path)
    refused = frozenset(d.index for d in file.documents if is_refused(d, file.text))
    comments = comments_of(masked, file.documents, refused)
    return [file.text[c.start : c.end].rstrip() for c in comments]


def _expected(file: SourceFile, replacements: Sequence[Replacement]) -> list[JSON]:
    """Return what each document of the new text must say."""
    wanted: list[JSON] = []
    groups = {document.index: group for document, group in _by_document(replacements)}
    for document in file.documents:
        group = groups.get(document.index)
        if group is None:
            wanted.append(_content(document, file.text))
            continue
        assert document.root is not None
        if () in group:
            wanted.extend(plain(document.root, value) for value in group[()].values)
            continue
        value = json_value(document.root)
        for path in sorted(group, key=lambda p: [str(x).zfill(9) for x in p], reverse=True):
            base = node_at(document.root, path)
            assert base is not None
            parent = value
            for part in path[:-1]:
                parent = parent[part]  # type: ignore[index]  # the path was walked
            assert isinstance(parent, list)
            assert isinstance(path[-1], int)
            parent[path[-1] : path[-1] + 1] = [plain(base, v) for v in group[path].values]
        wanted.append(value)
    return wanted
