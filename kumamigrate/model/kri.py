"""Resource identifiers: the keys of real-resource rules (matcher.md (f))."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from kumamigrate.model.release import release
from kumamigrate.model.resource import Resource


class Kri(NamedTuple):
    """A resource, or one section of it. `mesh` is empty for a Mesh itself.

    A tuple, since it is the key of every look-up.

    `str()` gives the text of 2.10 and later; `typed()` that of 2.9. A type without a short
    name has the empty text.
    """

    type: str
    mesh: str
    zone: str
    namespace: str
    name: str
    section: str = ""

    def __str__(self) -> str:
        short = _short_names().get(self.type)
        if short is None:
            return ""
        parts = (short, self.mesh, self.zone, self.namespace, self.name, self.section)
        return "_".join(("kri", *parts))

    def typed(self) -> str:
        """Return the text form of 2.9."""
        parts = {
            "mesh": self.mesh,
            "zone": self.zone,
            "namespace": self.namespace,
            "name": self.name,
            "section": self.section,
        }
        return ":".join((self.type.lower(), *(f"{k}/{v}" for k, v in parts.items() if v)))

    def of_section(self, section: str) -> Kri:
        """Return the identifier of a section of the same resource; "" = the whole resource."""
        return self if self.section == section else Kri(*self[:5], section)


def kri_of(resource: Resource, section: str = "") -> Kri:
    """Return the identifier of a resource: zone and namespace are its labels."""
    return Kri(
        resource.type,
        "" if resource.type == "Mesh" else resource.mesh,
        resource.zone,
        resource.namespace_label,
        resource.display_name,
        section,
    )


def section_of(port: Mapping[str, Any]) -> str:
    """Return what a port of a service is called: its name, else its number."""
    return str(port.get("name") or port.get("port", ""))


def mesh_kri(mesh: str) -> Kri:
    """Return the identifier of a mesh."""
    return Kri("Mesh", "", "", "", mesh)


@cache
def _short_names() -> dict[str, str]:
    return dict(release("2.14").kri_short_names)
