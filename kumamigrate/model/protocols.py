"""Protocols of services, as far as they decide how Envoy is configured."""

from __future__ import annotations

HTTP_LIKE = ("http", "http2", "grpc")
UNKNOWN_PROTOCOL = ""
"""The protocol of a destination that nothing in the state tells."""
