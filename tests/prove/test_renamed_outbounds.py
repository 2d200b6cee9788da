"""An outbound to a MeshExternalService is called by the port that its reference names."""

from __future__ import annotations

from typing import Any

import pytest

from kumamigrate.effective.difference import Effect
from tests.prove.states import live, proxies, state

STATE = """
type: MeshExternalService
name: bank
mesh: default
spec:
  match: {type: HostnameGenerator, port: 443, protocol: http}
  endpoints: [{address: bank.example, port: 443}]
---
type: Dataplane
name: web
mesh: default
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
  outbound:
    - {port: 10000, backendRef: {kind: MeshExternalService, name: bank, port: %s}}
"""
PATCH = """
---
type: MeshProxyPatch
name: p
mesh: default
spec:
  targetRef: {kind: Mesh}
  default: {appendModifications: [{listener: {operation: Remove, match: {name: bank}}}]}
"""


@pytest.mark.parametrize(
    ("more", "effect"), [("", Effect.NAME), (PATCH, Effect.VALUE)], ids=["alone", "patched"]
)
def test_the_port_of_a_reference_is_a_name(more: str, effect: Any) -> None:
    """Any number finds it: listener and routes are named after the one that is said."""
    before, after = (state(STATE % port + more, mode="Exclusive") for port in (443, 8443))
    (one,) = proxies(live(before, after), "live")["web"].witnesses
    assert (one.policy_type, one.direction, one.field) == ("MeshHTTPRoute", "outbound", "name")
    assert (one.before.value, one.after.value, one.effect) == ("bank:443", "bank:8443", effect)
