"""Which kinds belong in an inventory: what proxies are configured from, and no secrets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SECRETS = frozenset({"Secret", "GlobalSecret"})
_NEVER = SECRETS | {"Config"}
_ABOUT_OTHERS = ("Insight", "Overview")
"""How kinds end that only report what others do."""

PLAIN = ("namespaces", "services")
"""What Kubernetes holds besides that tells what Kuma makes of it."""

PATHS = {
    "CircuitBreaker": "circuit-breakers",
    "Dataplane": "dataplanes",
    "ExternalService": "external-services",
    "FaultInjection": "fault-injections",
    "HealthCheck": "health-checks",
    "Mesh": "meshes",
    "MeshGateway": "meshgateways",
    "MeshGatewayRoute": "meshgatewayroutes",
    "ProxyTemplate": "proxytemplates",
    "RateLimit": "rate-limits",
    "Retry": "retries",
    "Timeout": "timeouts",
    "TrafficLog": "traffic-logs",
    "TrafficPermission": "traffic-permissions",
    "TrafficRoute": "traffic-routes",
    "TrafficTrace": "traffic-traces",
    "VirtualOutbound": "virtual-outbounds",
    "Zone": "zones",
    "ZoneEgress": "zoneegresses",
    "ZoneIngress": "zone-ingresses",
}
"""Where the read API lists what old control planes, which do not say it themselves, have."""


def is_wanted(kind: str) -> bool:
    """Say whether resources of a kind belong in an inventory."""
    return kind not in _NEVER and not kind.endswith(_ABOUT_OTHERS)


def is_secret(manifest: Mapping[str, Any]) -> bool:
    """Say whether a manifest of either form is a secret."""
    kind = manifest.get("kind") if "apiVersion" in manifest else manifest.get("type")
    return kind in SECRETS
