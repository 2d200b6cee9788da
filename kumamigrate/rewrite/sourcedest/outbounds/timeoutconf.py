"""The conf of a Timeout as that of a MeshTimeout (legacy.md §1.3).

Values that the old engine left off are written out where the new engine's default differs.
"""

from __future__ import annotations

from kumamigrate.rewrite.sourcedest.confnotes import Notes
from kumamigrate.rewrite.sourcedest.conversion import Json
from kumamigrate.sourcedest.goduration import ZERO, Duration, seconds
from kumamigrate.sourcedest.oldconf import OldConf

CONNECT_DEFAULT = seconds(5)
INBOUND_TIMEOUTS: Json = {
    "connectionTimeout": "10s",
    "idleTimeout": "2h",
    "http": {"requestTimeout": "0s", "streamIdleTimeout": "1h", "maxStreamDuration": "0s"},
}
"""What inbounds have without a MeshTimeout; one that matches a proxy would change it (§1.3 (d))."""


def mesh_timeout(
    route: OldConf | None,
    cluster: OldConf | None,
    family: str,
    notes: Notes,
    idle_unsaid: str = "0s",
) -> Json:
    """Return the MeshTimeout conf of an outbound of a protocol family (http, grpc, tcp).

    `route` is the Timeout of the outbound, which listener and routes read; `cluster` that of the
    outbound that leads to this service, which the cluster reads (notes C2). None: everything off,
    but for idle connections, of which nobody says anything, `idle_unsaid`.
    """
    route, cluster = route or OldConf(), cluster or OldConf()
    connect = cluster.get("connectTimeout")
    if connect is not None and connect <= ZERO:
        notes.lost("connectTimeout of 0 or less has no equivalent", "connectTimeout")
    if family == "tcp":
        idle = route.get("tcp", "idleTimeout")
    else:
        idle = cluster.get("http", "idleTimeout")
    if family == "grpc":
        for lost in (("http", "idleTimeout"), ("http", "maxStreamDuration")):
            if cluster.get(*lost):
                notes.warn(f"{'.'.join(lost)} does not reach gRPC clusters any more", *lost)
        if cluster.get("grpc", "maxStreamDuration"):
            notes.warn(
                "grpc.maxStreamDuration does not reach gRPC clusters any more",
                "grpc",
                "maxStreamDuration",
            )
    return {
        "connectionTimeout": str(connect if connect is not None else CONNECT_DEFAULT),
        "idleTimeout": str(idle) if idle else idle_unsaid,
        "http": {
            "requestTimeout": str(route.get("http", "requestTimeout") or ZERO),
            "streamIdleTimeout": str(_twin(route, "streamIdleTimeout", family)),
            "maxStreamDuration": str(_twin(cluster, "maxStreamDuration", family)),
        },
    }


def _twin(conf: OldConf, name: str, family: str) -> Duration:
    value = conf.get("http", name)
    if not value and family == "grpc":
        value = conf.get("grpc", name)
    return value if isinstance(value, Duration) else ZERO
