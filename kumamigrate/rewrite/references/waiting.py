"""Which entries of a policy or route must wait: what they refer to is not known in labels."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.model.resource import Resource
from kumamigrate.rewrite.references.realref import Reference, meaning, references
from kumamigrate.rewrite.view import View


def hindered(view: View, owner: Resource) -> list[Reference]:
    """Return the references of a policy or route whose meaning in labels is not known."""
    return [one for one in references(owner) if isinstance(meaning(view, owner, one), str)]


def waiting_rules(view: View, owner: Resource) -> set[tuple[int, int | None]]:
    """Return the entries of `to`, and of routes their rules, that have such a reference.

    None stands for all rules: the entry itself refers to something that is not known.
    """
    return set(_places(owner, hindered(view, owner)))


def _places(owner: Resource, found: list[Reference]) -> Iterator[tuple[int, int | None]]:
    depth = len(owner.spec_path)
    for one in found:
        match one.path[depth:]:
            case ("to", int(at), "rules", int(number), *_):
                yield at, number
            case ("to", int(at), *_):
                yield at, None
