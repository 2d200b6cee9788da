"""Whether a route carries the protocol of the port that a backend means once it is in labels.

A service tag speaks what its inbounds say, a real service what its port says. 2.x leaves out a
backend that the route does not carry; 3.0 answers its share of the requests with 500.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kumamigrate.model.resource import Resource
from kumamigrate.rewrite.view import View
from kumamigrate.targetref.backendref import (
    DEFAULT_PROTOCOL,
    HTTP_PROTOCOLS,
    ports_of,
    protocols_at,
    tcp_protocols,
)


def not_carried(view: View, route: Resource, services: Iterable[Resource], port: Any) -> str:
    """Return why the target would send a backend no traffic, empty where nothing tells.

    `services` are what the backend means; without `port` all of their ports.
    """
    http = route.type == "MeshHTTPRoute"
    carried = HTTP_PROTOCOLS if http else tcp_protocols(view.target)
    for service in services:
        spoken = sorted(_protocols(service, port))
        if spoken and not any(one in carried for one in spoken):
            at = f"port {port} of {service.type}" if port else service.type
            lost = "answer 500" if http else "close the connection"
            said = "appProtocol" if service.type != "MeshExternalService" else "match.protocol"
            return (
                f"{at} {service.display_name} speaks {', '.join(spoken)}, which no {route.type}"
                f" carries: {view.target_name} would {lost}; mend {said} if it speaks another"
            )
    return ""


def _protocols(service: Resource, port: Any) -> frozenset[str]:
    if service.type == "MeshExternalService":
        return protocols_at(service, "")
    return frozenset(
        _protocol(one) for one in ports_of(service.spec) if port is None or one.get("port") == port
    )


def _protocol(port: Mapping[str, Any]) -> str:
    return str(port.get("appProtocol") or DEFAULT_PROTOCOL)
