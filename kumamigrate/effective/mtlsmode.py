"""What `Mesh.mtls` and MeshTLS say together: who may send plain text to an inbound, and who does.

An inbound takes what MeshTLS says, else the mode of the enabled backend. Those who call it go by
the backend alone (legacy-notes C17).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kumamigrate.effective.policies.meshsections import OFF, PERMISSIVE, STRICT, backend_mode
from kumamigrate.effective.policies.meshtls import unsaid_mode
from kumamigrate.model.identity import has_mtls, identities_of, selects
from kumamigrate.model.resource import Resource
from kumamigrate.model.state import State
from kumamigrate.targetref.inbound import InboundPoint

TLS = "MeshTLS"
TLS_ONLY = frozenset({TLS, "MeshTrafficPermission"})
"""Policy types that do nothing for a proxy without a certificate."""

MTLS_UNKNOWN = (
    "whether it meets clients without a sidecar is up to the mTLS mode of the mesh, which the"
    " state does not say"
)


def may_show_certificate(proxy: Resource, state: State, *, by_mesh: bool) -> bool:
    """Say whether a proxy may have a certificate; `by_mesh`: the release reads `Mesh.mtls`."""
    if by_mesh and has_mtls(state, proxy.mesh) is not False:
        return True
    return any(selects(one, proxy) for one in identities_of(state, proxy.mesh))


def said_by(read: InboundPoint | None) -> str:
    """Return the mode that MeshTLS says for an inbound; empty when none does."""
    if read is None:
        return ""
    confs = [r.conf for r in read.rules] or [r.conf for r in read.from_rules]
    return next((str(c["mode"]) for c in reversed(confs) if c.get("mode")), "")


def inbound_mode(
    mesh: Resource | None, read: InboundPoint | None, *, certified: bool | None = False
) -> str | None:
    """Return what an inbound takes: OFF without mTLS, None where the state does not say it."""
    if mesh is None and not certified:
        return None
    mode = unsaid_mode(backend_mode(mesh.spec) if mesh is not None else OFF, certified)
    found = mode and (said_by(read) or mode)
    return found if found in (OFF, STRICT, PERMISSIVE) else None


def sent_by_clients(spec: Mapping[str, Any]) -> str:
    """Return what sidecars send to a service."""
    if backend_mode(spec) == PERMISSIVE:
        return "plain text until every Dataplane of the service has a certificate"
    return "mTLS"
