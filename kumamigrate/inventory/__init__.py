"""Inventories: what a control plane holds beside the repository (world.md §6)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
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


def load_inventory(paths: Iterable[Path]) -> Inventory:
    """Return what exported files hold, or all YAML and JSON files of a folder.

    An inventory must be readable whole: what is missing from it would be taken as not there.
    Raises UsageError or SourceError, naming file, line and column, for anything else.
    """
    if not (listed := tuple(paths)):
        return Inventory()
    # Who has none need not import what reads one.
    from kumamigrate.inventory.exports import inventory_of

    return inventory_of(listed)
