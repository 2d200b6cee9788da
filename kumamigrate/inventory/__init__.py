"""Inventories: what a control plane holds beside the repository (world.md §6)."""

from kumamigrate.inventory.exports import Inventory, load_inventory
from kumamigrate.inventory.stamp import Export

__all__ = ["Export", "Inventory", "load_inventory"]
