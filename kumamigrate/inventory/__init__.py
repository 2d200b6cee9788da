"""Inventories: what a control plane holds beside the repository (world.md §6)."""

from collections.abc import Iterable
from pathlib import Path

from kumamigrate.inventory.exported import Inventory

__all__ = ["Inventory", "load_inventory"]


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
