"""What counts where nobody says anything: as Kuma's reference and Envoy's have it."""

from __future__ import annotations

from typing import Any

from kumamigrate.effective.readings import READINGS

DEFAULTS: dict[str, dict[str, Any]] = {
    "MeshCircuitBreaker": {
        "connectionLimits.maxConnections": 1024,
        "connectionLimits.maxPendingRequests": 1024,
        "connectionLimits.maxRequests": 1024,
        "connectionLimits.maxRetries": 3,
        "outlierDetection.interval": "10s",
        "outlierDetection.baseEjectionTime": "30s",
        "outlierDetection.maxEjectionPercent": 10,
        "outlierDetection.splitExternalAndLocalErrors": False,
        "outlierDetection.detectors.successRate.requestVolume": 100,
        "outlierDetection.detectors.successRate.minimumHosts": 5,
        "outlierDetection.detectors.successRate.standardDeviationFactor": 1.9,
        "outlierDetection.detectors.failurePercentage.requestVolume": 50,
        "outlierDetection.detectors.failurePercentage.minimumHosts": 5,
        "outlierDetection.detectors.failurePercentage.threshold": 85,
    },
    "MeshHealthCheck": {
        "interval": "1m0s",
        "timeout": "15s",
        "unhealthyThreshold": 5,
        "healthyThreshold": 1,
        "initialJitter": "0s",
        "intervalJitter": "0s",
        "intervalJitterPercent": 0,
        "healthyPanicThreshold": 50,
        "failTrafficOnPanic": False,
        "eventLogPath": "",
        "alwaysLogHealthCheckFailures": False,
        "noTrafficInterval": "1m0s",
        "reuseConnection": True,
    },
    "MeshMetric": {"sidecar.includeUnused": False},
    "MeshRateLimit": {"local.http.onRateLimit.status": 429},
    "MeshRetry": {
        "tcp.maxConnectAttempt": 1,
        "http.numRetries": 1,
        "http.backOff.baseInterval": "25ms",
        "grpc.numRetries": 1,
        "grpc.backOff.baseInterval": "25ms",
    },
    "MeshTimeout": {
        "connectionTimeout": "5s",
        "idleTimeout": "1h0m0s",
        "http.requestTimeout": "15s",
        "http.streamIdleTimeout": "30m0s",
        "http.maxStreamDuration": "0s",
        "http.maxConnectionDuration": "0s",
        "http.requestHeadersTimeout": "0s",
    },
    "MeshTLS": {"tlsVersion.min": "TLSAuto", "tlsVersion.max": "TLSAuto"},
    "MeshTrace": {"sampling.overall": 100, "sampling.client": 100, "sampling.random": 100},
}


def test_every_default_is_the_one_that_is_documented() -> None:
    said = {
        kind: {path: leaf.default for path, leaf in reading.fields.items()}
        for kind, reading in READINGS.items()
    }
    for kind, fields in said.items():
        told = {path: value for path, value in fields.items() if value is not None}
        assert told == DEFAULTS.get(kind, {}), kind
