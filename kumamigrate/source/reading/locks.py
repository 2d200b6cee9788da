"""Documents that are read and must stay as they are, byte for byte."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from kumamigrate.dataclass import dataclass
from kumamigrate.source.node import MapNode, Node
from kumamigrate.source.reading.directives import Directive
from kumamigrate.source.reading.mask import Masked
from kumamigrate.source.text import Lock, Reason, Span

SOPS = "sops"
"""The key at the root in which sops keeps the checksum of all values of a document."""


@dataclass(frozen=True, slots=True)
class LockPlace:
    """Where a document stands: behind the content of the one before, in its own span."""

    behind: int
    span: Span
    root: Node | None

    @property
    def content(self) -> Span:
        """Return where what it says stands."""
        root = self.root
        return Span(root.start, root.end) if root is not None else self.span


def lock_of(place: LockPlace, masked: Masked, found: Sequence[Directive]) -> Lock | None:
    """Return why a document may not be edited, None if it may."""
    for directive in (d for d in _around(place, found) if not d.loads):
        return _by_directive(directive.start)
    branch = masked.branch_at(place.content.start)
    if branch is not None and any(directive.start == branch for directive in found):
        return _by_directive(branch)
    return _by_checksum(place.root)


def overlay_of(place: LockPlace, found: Sequence[Directive]) -> Directive | None:
    """Return the directive that makes a document an overlay, which is no manifest of its own."""
    for directive in _around(place, found):
        if directive.patches and directive.start < place.content.end:
            return directive
    return None


def sealed(value: object, offset: int) -> Lock | None:
    """Return the lock of a document that is known as plain JSON."""
    holds = isinstance(value, dict) and isinstance(value.get(SOPS), dict)
    return _checksum(offset) if holds else None


def _around(place: LockPlace, found: Sequence[Directive]) -> Iterator[Directive]:
    first = bisect_left(found, place.behind, key=lambda directive: directive.start)
    for directive in found[first:]:
        if directive.start >= place.span.end:
            return
        yield directive


def _by_directive(offset: int) -> Lock:
    return Lock(
        reason=Reason.TEMPLATE,
        offset=offset,
        detail="a directive of ytt decides what becomes of this document",
        advice="render it and run on the result, or edit it by hand",
    )


def _by_checksum(root: Node | None) -> Lock | None:
    if not isinstance(root, MapNode) or not isinstance(root.get(SOPS), MapNode):
        return None
    return _checksum(next((k.start for k, _ in root.entries if k.text == SOPS), root.start))


def _checksum(offset: int) -> Lock:
    return Lock(
        reason=Reason.ENCRYPTED,
        offset=offset,
        detail="the document is encrypted with sops, whose checksum covers every value",
        advice="decrypt it, run on the result and encrypt it again",
    )
