"""The texts of a repository with some changes written into them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from kumamigrate.rewrite.change import Change, ResourceEdit
from kumamigrate.scene.repository import Repository
from kumamigrate.source.editing.patch import patch
from kumamigrate.source.text import Refusal
from kumamigrate.source.value import Replacement


def patched(
    repository: Repository, changes: Iterable[Change]
) -> dict[str, str | None] | tuple[Refusal, ...]:
    """Return the texts of the files that some changes edit, or what forbids that.

    A file of which no document is left is removed: its text is None.
    """
    by_file: dict[str, list[ResourceEdit]] = defaultdict(list)
    for change in changes:
        for edit in change.edits:
            by_file[edit.where.path].append(edit)
    texts: dict[str, str | None] = {}
    refusals: list[Refusal] = []
    for path in sorted(by_file):
        file = repository.files[path]
        documents = {document.index: document for document in file.documents}
        edited = patch(
            file,
            [
                Replacement(
                    document=documents[edit.where.document],
                    item=edit.where.item,
                    values=edit.manifests,
                    heads=edit.heads,
                    shared=edit.shared,
                    successors=tuple(w.document for w in edit.successors if w.path == path),
                )
                for edit in by_file[path]
            ],
        )
        if isinstance(edited, str):
            texts[path] = edited if edited.strip() else None
        else:
            refusals.extend(edited)
    return tuple(refusals) if refusals else texts
