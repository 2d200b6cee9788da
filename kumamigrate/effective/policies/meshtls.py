"""MeshTLS, and `Mesh.mtls` before it: what an inbound asks of its clients."""

from __future__ import annotations

from kumamigrate.effective.policies.meshsections import OFF, STRICT, backend_mode
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
    """Return what a conf asks for; where it says no mode, that of the Mesh or of an identity."""
    mode = unsaid_mode(backend_mode(at.mesh), at.certified)
    found = {**({"mode": mode} if mode else {}), **read(FIELDS, at.part, conf)}
    # Who has a MeshIdentity has the listeners without a MeshTLS as well.
    opened = conf is not None and mode and not at.transparent and not at.certified
    return {**found, LISTENERS: True} if opened else found


def unsaid_mode(by_mesh: str, certified: bool | None) -> str:
    """Return what an inbound takes where no MeshTLS says it.

    A certificate from a MeshIdentity makes it strict, whatever the Mesh says (features 89); None:
    the proxy may have one.
    """
    if certified:
        return STRICT
    undecided = certified is None and by_mesh not in (OFF, STRICT)
    return f"{STRICT} or {by_mesh}" if undecided else by_mesh


def of_rules(_rules: Rules, merged: Conf | None, at: At) -> Values:
    """Return what an inbound reads: rules with a match are nothing (matcher-notes §3.10)."""
    return of_conf(merged, at)


READING = TypeReading(
    policy_type="MeshTLS", fields=FIELDS, of_conf=of_conf, of_rules=of_rules, of_mesh=("mtls",)
)
