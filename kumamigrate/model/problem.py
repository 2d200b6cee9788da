"""What is wrong with a resource, as a value."""

from __future__ import annotations

from kumamigrate.dataclass import dataclass
from kumamigrate.source.text import FieldPath, path_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One reason, in this project's words. `path` leads from the resource's own root.

    `missing` means that something is not there which must be: the path may then lead to a field
    that does not exist, and a template may still supply it.
    """

    path: FieldPath
    message: str
    missing: bool = False

    @property
    def field(self) -> str:
        """The path as Kuma prints it: `spec.to[0].targetRef.kind`."""
        return path_text(self.path)

    def __str__(self) -> str:
        return f"{self.field}: {self.message}" if self.path else self.message
