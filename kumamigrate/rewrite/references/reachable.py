"""Lists of reachable services as references to real ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kumamigrate.model.resource import SERVICE
from kumamigrate.model.state import State
from kumamigrate.rewrite.dataplanes import DNS_LABEL, generated_name
from kumamigrate.source.text import at_path

EVERYTHING = "*"


def references(
    services: Iterable[str], state: State, mesh: str
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the references for services named by tags, and those that cannot be read.

    An empty mesh stands for any.
    """
    outside = {
        str(at_path(r.spec, ("tags", SERVICE)) or r.name)
        for r in state.of_type("ExternalService", "MeshExternalService")
        if mesh in ("", r.mesh)
    }
    found: list[dict[str, Any]] = []
    unread: list[str] = []
    for service in services:
        generated = generated_name(service)
        if generated is not None:
            name, namespace, port = generated
            reference: dict[str, Any] = {"kind": "MeshService", "name": name}
            found.append({**reference, "namespace": namespace, "port": port})
        elif DNS_LABEL.fullmatch(service):
            kind = "MeshExternalService" if service in outside else "MeshService"
            found.append({"kind": kind, "name": service})
        else:
            unread.append(service)
    return found, unread
