"""What a translated conf cannot say, noted while it is translated."""

from __future__ import annotations

from kumamigrate.dataclass import dataclass, field
from kumamigrate.model.resource import Resource
from kumamigrate.rewrite.sourcedest.conversion import Manual
from kumamigrate.source.text import FieldPath

DECIDE = "decide what it should be, or take it out of the old policy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What a translated conf cannot say. `path` starts at the old resource's spec."""

    message: str
    path: FieldPath = ()
    blocking: bool = True

    def manual(self, policy: Resource, action: str = DECIDE) -> Manual:
        """Return what somebody has to decide about the policy, and how it could be settled."""
        return Manual(
            resource=policy,
            message=self.message,
            action=action,
            path=self.path,
            blocking=self.blocking,
        )


@dataclass(slots=True)
class Notes:
    """Collects notes while one conf is translated."""

    items: list[Note] = field(default_factory=list)

    def lost(self, message: str, *path: str | int) -> None:
        """Note something that would be wrong to write."""
        self.items.append(Note(message=message, path=("conf", *path)))

    def warn(self, message: str, *path: str | int) -> None:
        """Note a small difference that stays."""
        self.items.append(Note(message=message, path=("conf", *path), blocking=False))
