"""What is taken for granted: a sentence that keeps what it is made of."""

from __future__ import annotations

from enum import StrEnum


class Ground(StrEnum):
    """What a sentence is about. Those of one ground can be said together."""

    SAME_PROXIES = "same-proxies"
    SERVICE = "service"
    INITIAL_POLICIES = "initial-policies"
    OLD_POLICIES = "old-policies"
    PROTOCOL = "protocol"


class Taken(str):
    """A fact that a verdict rests on, as a sentence. What tells facts of one ground apart is in
    `parts`: for proxies the reference by tags, that by labels and how many proxies both choose;
    for a service its mesh, its kind and its labels; for initial policies the mesh, what tells
    which it was given (nothing where that is open) and which were tried; for a protocol the
    service. What matters only where there are old policies has none.
    """

    __slots__ = ("ground", "parts")

    ground: Ground
    parts: tuple[str, ...]

    def __new__(cls, text: str, ground: Ground, *parts: str) -> Taken:
        """Make a fact of its sentence and its parts."""
        self = super().__new__(cls, text)
        self.ground, self.parts = ground, parts
        return self

    def __reduce__(self) -> tuple[type[Taken], tuple[str, ...]]:
        """Return what a copy is made of."""
        return (Taken, (str(self), self.ground, *self.parts))
