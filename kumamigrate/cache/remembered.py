"""A check that may have been asked before: its answer then, or how to keep the one it gets now."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from kumamigrate.cache.answer import Asked, answer_json, answer_of
from kumamigrate.cache.question import NotKnownError, word_of
from kumamigrate.cache.shelf import Shelf, shelf
from kumamigrate.dataclass import dataclass
from kumamigrate.deployment.tree import Tree
from kumamigrate.library import Sources
from kumamigrate.report.forms import Answer
from kumamigrate.scene.scene import GIT_ASKED
from kumamigrate.world.estate import Estate


@dataclass(frozen=True, slots=True)
class Remembered:
    """A check, by the word for all that it rests on, and where its answer is kept."""

    sources: Sources
    given: Mapping[str, Any]
    word: str
    shelf: Shelf

    def answer(self) -> Answer | None:
        """Return the answer that was given before, if all that it rested on is as it was."""
        found = answer_of(self.shelf.find(self.word))
        if found is None or not self._still(found[1]):
            return None
        return found[0]

    def _still(self, asked: Sequence[Asked]) -> bool:
        """Say whether the disk answers what it did when it was asked."""
        if not asked:
            return True
        # What runs programs is slow to import, and most repositories ask nothing of the disk.
        from kumamigrate.deployment.program import asked_again

        tree = Tree(files=self.sources.contents.files, root=self.sources.scope.root)
        for what, path, _ in asked:
            asked_again(tree, what, path)
        return set(tree.asked) == set(asked)

    def keep(self, answer: Answer, estate: Estate) -> None:
        """Keep an answer, unless it rests on more than can be asked again.

        What kustomize and helm made of files is their own affair, and what Git has committed
        changes without any file.
        """
        if estate.tree.ran or any(site.written.kept.get(GIT_ASKED) for site in estate.sites):
            return
        try:
            again = word_of(self.sources, self.given)
        except NotKnownError:
            return
        if again == self.word:  # an inventory that was written meanwhile is not what was read
            self.shelf.keep(self.word, answer_json(answer, estate.tree.asked))


def remembered(sources: Sources, given: Mapping[str, Any]) -> Remembered | None:
    """Return a check as one that may have been asked before, None where nothing is kept.

    Who looks for faults or measures wants the work done.
    """
    if given.get("no_cache") or given.get("stats") or os.environ.get("KUMAMIGRATE_DEBUG"):
        return None
    try:
        word = word_of(sources, given)
    except NotKnownError:
        return None
    place = shelf()
    return None if place is None else Remembered(sources, given, word, place)
