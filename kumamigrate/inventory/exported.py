"""What a control plane holds beside the repository, as a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kumamigrate.dataclass import dataclass
from kumamigrate.model.resource import Resource

if TYPE_CHECKING:
    from kumamigrate.inventory.stamp import Export


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """The resources of all exports, each once, and what is known of the exports themselves."""

    resources: tuple[Resource, ...] = ()
    exports: tuple[Export, ...] = ()
