"""Changes: what a rule wants to write, as values that stand or fall together."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from kumamigrate.dataclass import dataclass
from kumamigrate.model.resource import Where
from kumamigrate.rewrite.finding import Finding
from kumamigrate.source.text import FieldPath
from kumamigrate.source.value import Value


class Rollout(StrEnum):
    """When a change may be deployed relative to the upgrade of the control plane."""

    NOW = "now"
    WITH_UPGRADE = "with-upgrade"
    AFTER_UPGRADE = "after-upgrade"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceEdit:
    """What one resource shall become: its manifests in order, none to remove it.

    The first manifest is the old text edited, further ones follow it as own documents. Parts
    of the old text stand in them as `source.value.Moved`. `heads` are comments that say why they
    are there, in their order; empty where that shows. `shared` are fields of the old text of which
    all manifests have a part: what is said above them goes above the first. `successors` say what
    a removed one said: comments that stand there as well go with it.
    """

    where: Where
    manifests: tuple[Value, ...]
    heads: tuple[str, ...] = ()
    shared: tuple[FieldPath, ...] = ()
    successors: tuple[Where, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Edits that are right only together, with the findings they settle.

    Changes of one `group` (a policy type in a mesh, say) are first proven together; if that
    fails each is tried alone. `otherwise` is another form, for when this one cannot be proven.
    `instead` is what to say of one that was only worth a try and does not hold.
    """

    rule: str
    mesh: str
    edits: tuple[ResourceEdit, ...]
    findings: tuple[Finding, ...]
    group: str = ""
    rollout: Rollout = Rollout.NOW
    steps: tuple[str, ...] = ()
    otherwise: Change | None = None
    instead: tuple[Finding, ...] = ()

    @property
    def key(self) -> tuple[str, tuple[Where, ...]]:
        """What identifies a change across passes, so that a held one is not tried again."""
        return (self.rule, tuple(edit.where for edit in self.edits))


def without_conflicts(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Return the changes that touch different resources; the others wait for the next pass."""
    taken: set[tuple[str, int, FieldPath]] = set()
    kept = []
    for change in changes:
        places = {(e.where.path, e.where.document, e.where.item) for e in change.edits}
        if not places & taken:
            taken |= places
            kept.append(change)
    return tuple(kept)
