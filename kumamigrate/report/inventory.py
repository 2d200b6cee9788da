"""What the inventory was: how many resources, taken when and where."""

from __future__ import annotations

from typing import Any

from kumamigrate.inventory.stamp import Export
from kumamigrate.report.styled import Line, line
from kumamigrate.scene.scene import Scene


def inventory_lines(scene: Scene) -> list[Line]:
    """Return one line for each export, none without an inventory."""
    return [line((f"inventory: {_told(export)}", "dim")) for export in scene.exports]


def inventory_json(scene: Scene) -> list[dict[str, Any]]:
    """Return the same for programs; what an export does not say is null."""
    return [
        {
            "file": export.path,
            "resources": export.resources,
            "taken": export.taken or None,
            "from": export.source or None,
        }
        for export in scene.exports
    ]


def _told(export: Export) -> str:
    count = f"{export.resources} resource{'' if export.resources == 1 else 's'}"
    if not export.taken:
        return f"{count} of {export.path}, which does not say when it was taken"
    return f"{count}, taken {export.day} from {export.source}"
