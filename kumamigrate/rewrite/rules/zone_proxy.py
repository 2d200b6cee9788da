"""ZoneIngress and ZoneEgress, with the resources that take their place."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import finding
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import at_path


def plan(view: View) -> Iterator[Finding]:
    """Yield a finding for each zone proxy, its notes naming what to write for each mesh."""
    meshes = view.state.meshes() or ("default",)
    for proxy in view.of_type("ZoneIngress", "ZoneEgress"):
        address = at_path(proxy.spec, ("networking", "address")) or "its address"
        port = at_path(proxy.spec, ("networking", "port"))
        first = port if isinstance(port, int) else 10001
        outside = at_path(proxy.spec, ("networking", "advertisedAddress"))
        outside_port = at_path(proxy.spec, ("networking", "advertisedPort")) or first
        notes = []
        for index, mesh in enumerate(meshes):
            notes.append(
                f"mesh {mesh}: Dataplane with networking.listeners: [{{type: {proxy.type},"
                f" address: {address}, port: {first + index}, name: {proxy.type.lower()}}}]"
            )
            if proxy.type == "ZoneIngress" and outside:
                notes.append(
                    f"mesh {mesh}: MeshZoneAddress with address {outside} and port {outside_port}"
                    ", if it is reached there"
                )
        notes.append("delete the old kind when its traffic has moved, before the upgrade")
        yield finding(view, proxy, (), notes=notes)
