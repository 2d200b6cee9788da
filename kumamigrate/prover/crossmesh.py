"""Gateways of other meshes that listen for every mesh: where they are, and by what they are known.

Proxies of all meshes have an outbound to such a listener. What differs there differs in the
gateway's own mesh, too; here it is said of the proxies that call it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.effective.difference import Value, Witness
from kumamigrate.effective.reading import flat
from kumamigrate.model.resource import MESH, Resource, mapping, mappings
from kumamigrate.prover.gateway import is_builtin
from kumamigrate.universe.backend import written_outbounds
from kumamigrate.universe.dataplaneparts import networking
from kumamigrate.universe.side import Side

Key = tuple[str, str, str, str]
"""Mesh, type, namespace and name."""


@dataclass(frozen=True, slots=True)
class CrossMesh:
    """A difference in what a proxy reads of another mesh, for those that call gateways there."""

    mesh: str
    witness: Witness

    def concerns(self, side: Side, proxy: Resource) -> bool:
        """Whether a proxy may call a gateway of the mesh."""
        if written_outbounds(side, proxy) is None:
            return True
        listed = mappings(networking(proxy).get("outbound"))
        tags = (mapping(outbound.get("tags")) for outbound in listed)
        return any(str(one.get(MESH)) == self.mesh for one in tags)


def cross_mesh_differences(before: Side, after: Side) -> Iterator[CrossMesh]:
    """Yield what differs in other meshes that proxies of this one read."""
    left, right = (
        dict(map(_read, filter(_is_called, side.state.across))) for side in (before, after)
    )
    for key in dict.fromkeys((*left, *right)):
        was, now = left.get(key), right.get(key)
        if was is None or now is None:
            there, then = (None if one is None else "present" for one in (was, now))
            yield _difference(before.mesh, key, "", there, then)
            continue
        for field in sorted({*was, *now}):
            if was.get(field) != now.get(field):
                yield _difference(before.mesh, key, field, was.get(field), now.get(field))


def _is_called(resource: Resource) -> bool:
    """Say whether proxies elsewhere rest on a resource: of Dataplanes on those of gateways."""
    return resource.type != "Dataplane" or is_builtin(resource)


def _read(resource: Resource) -> tuple[Key, Mapping[str, Any]]:
    """Return what proxies elsewhere read of a resource: of a Mesh its certificates."""
    spec = resource.spec
    if resource.type == "Mesh":
        spec = {"mtls": spec.get("mtls")}
    elif resource.type == "Dataplane":
        net = networking(resource)
        spec = {"networking": {k: net.get(k) for k in ("address", "advertisedAddress", "gateway")}}
    own = resource.mesh or resource.name
    return (own, resource.type, resource.namespace, resource.name), flat(spec)


def _difference(mesh: str, key: Key, field: str, was: Any, now: Any) -> CrossMesh:
    other, kind, namespace, name = key
    called = f"{name}.{namespace}" if namespace else name
    called = called if kind == "Mesh" else f"{called} of mesh {other}"
    witness = Witness(
        mesh=mesh,
        proxy="",
        policy_type=kind,
        direction="outbound",
        destination=called,
        place=called,
        field=field,
        before=Value(value=was),
        after=Value(value=now),
    )
    return CrossMesh(other, witness)
