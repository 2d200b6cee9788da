"""MeshTLS, and `Mesh.mtls` before it: what an inbound asks of its clients."""

from __future__ import annotations

from kumamigrate.effective.policies.meshsections import backend_mode
from kumamigrate.effective.reading import At, Conf, Rules, SlotKind, TypeReading, Values, leaf, read

LISTENERS = "listeners for plain text"
"""With mTLS any MeshTLS gives proxies without transparent proxying two listeners on port 0, which
the mode of the Mesh does not (goldens mixed-2.14/21-0096, features-2.14/32-0006)."""

FIELDS = {
    "mode": leaf(SlotKind.INBOUND),
    "tlsVersion.min": leaf(SlotKind.INBOUND, default="TLSAuto"),
    "tlsVersion.max": leaf(SlotKind.INBOUND, default="TLSAuto"),
    "tlsCiphers": leaf(SlotKind.INBOUND),
}


def of_conf(conf: Conf | None, at: At) -> Values:
    """Return what a conf asks for; the mode of the Mesh where it says none."""
    mode = backend_mode(at.mesh)
    found = {**({"mode": mode} if mode else {}), **read(FIELDS, at.part, conf)}
    opened = conf is not None and mode and not at.transparent
    return {**found, LISTENERS: True} if opened else found


def of_rules(_rules: Rules, merged: Conf | None, at: At) -> Values:
    """Return what an inbound reads: rules with a match are nothing (matcher-notes §3.10)."""
    return of_conf(merged, at)


READING = TypeReading(
    policy_type="MeshTLS", fields=FIELDS, of_conf=of_conf, of_rules=of_rules, of_mesh=("mtls",)
)
