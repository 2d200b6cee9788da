"""Protocols of services, as far as they decide how Envoy is configured."""

from __future__ import annotations

HTTP_LIKE = ("http", "http2", "grpc")
SPOKEN = frozenset({*HTTP_LIKE, "tcp", "tls", "kafka", "mysql"})
"""Those that Kuma knows; of the rest it makes TCP."""
UNKNOWN_PROTOCOL = ""
"""The protocol of a destination that nothing in the state tells."""
