"""MeshTLS, and `Mesh.mtls` before it: what an inbound asks of its clients."""

from __future__ import annotations

from kumamigrate.effective.policies.meshsections import OFF, STRICT, backend_mode
from kumamigrate.effective.reading import At, Conf, Rules, SlotKind, TypeReading, Values, leaf, read
from kumamigrate.model.identity import REMOVED
from kumamigrate.model.versions import at_least

LISTENERS = "listeners for plain text"
"""With mTLS any MeshTLS gives proxies without transparent proxying two listeners on port 0, which
the mode of the Mesh does not (goldens mixed-2.14/21-0096, features-2.14/32-0006)."""

OF_OUTBOUNDS = "tlsVersion.min of what it calls"
"""What a certificate of a MeshIdentity leaves of `tlsVersion.min` before 3.0: the inbounds of the
proxy do not read it, only its outbounds (asked of 2.14 and 3.0)."""
_MIN, _AUTO = "tlsVersion.min", "TLSAuto"
_AS_UNSAID = (_AUTO, "TLS12")
"""What Envoy asks of clients anyway."""

FIELDS = {
    "mode": leaf(SlotKind.INBOUND),
    _MIN: leaf(SlotKind.INBOUND, default=_AUTO),
    "tlsVersion.max": leaf(SlotKind.INBOUND, default=_AUTO),
    "tlsCiphers": leaf(SlotKind.INBOUND),
}


def of_conf(conf: Conf | None, at: At) -> Values:
    """Return what a conf asks for; where it says no mode, that of the Mesh or of an identity."""
    mode = unsaid_mode(backend_mode(at.mesh), at.certified)
    found = {**({"mode": mode} if mode else {}), **_by_certificate(read(FIELDS, at.part, conf), at)}
    # Who has a MeshIdentity has the listeners without a MeshTLS as well.
    opened = conf is not None and mode and not at.transparent and not at.certified
    return {**found, LISTENERS: True} if opened else found


def _by_certificate(read: Values, at: At) -> Values:
    """Return what is read by who has its certificate from a MeshIdentity, or may have."""
    least = read.get(_MIN, _AUTO)
    if at.certified is False or least in _AS_UNSAID:
        return read
    if at_least(at.release, REMOVED):
        return {**read, OF_OUTBOUNDS: least}
    unread = _AUTO if at.certified else f"{_AUTO} or {least}"
    return {**read, _MIN: unread, OF_OUTBOUNDS: least}


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
