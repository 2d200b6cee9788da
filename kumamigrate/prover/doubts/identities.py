"""What is not known where the certificates of a mesh change, or what permissions go by."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.effective.admitted import certificates, everybody_identified
from kumamigrate.effective.difference import Value, Witness
from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.model.conf import canonical
from kumamigrate.model.identity import IDENTITY, trust_domain
from kumamigrate.model.resource import Resource
from kumamigrate.prover.slots.letin import Read, changed_certificates, go_by_clients
from kumamigrate.targetref.permission import PERMISSION
from kumamigrate.universe.side import Side

CERTIFICATES = ("MeshIdentity", "MeshTrust")
"""Types that say whose certificates proxies show and trust: compared by whom they let in."""

OF_ENVOY = (
    "that Envoy compares all names of a certificate as one text, joined by commas, is documented"
    " and was not tried on one"
)


def identity_doubts(before: Side, after: Side) -> Iterator[Doubt]:
    """Yield what nobody knows of a mesh whose identities or trust change."""
    if mtls_went_unused(before, after) and _mtls(before) != _mtls(after):
        yield Doubt(
            DoubtKind.CERTIFICATE,
            f"Mesh {before.mesh} says something else of mTLS, by which no proxy has its certificate"
            " any more: see that each has one of a MeshIdentity",
        )
    for kind in CERTIFICATES:
        old, new = ({r.name: r for r in side.state.of_type(kind)} for side in (before, after))
        for name in dict.fromkeys((*old, *new)):
            if _said(before, old.get(name)) != _said(after, new.get(name)):
                yield Doubt(
                    DoubtKind.CERTIFICATE,
                    f"{kind} {name} changes which certificates proxies show and trust: only whom"
                    " permissions let in was compared, not the handshake; roll it out by itself,"
                    " and see that every proxy took it",
                )


def _mtls(side: Side) -> list[str]:
    return [canonical(r.spec.get("mtls")) for r in side.state.of_type("Mesh")]


def _said(side: Side, resource: Resource | None) -> str | None:
    if resource is None:
        return None
    # Whence a trust came is a note: nobody trusts more or less for it.
    said = {key: value for key, value in resource.spec.items() if key != "origin"}
    if resource.type == IDENTITY:  # whose trust domain may be made of its own labels
        said["trustDomain"] = trust_domain(resource, side.state.environment.zone)
    return canonical(said)


def permission_doubts(before: Side, after: Side, was: Resource, now: Resource) -> Iterator[Doubt]:
    """Yield what nobody knows of the clients of one proxy."""
    points = (
        {p.key: p for p in side.selection(proxy, PERMISSION).points}
        if PERMISSION in side.types
        else {}
        for side, proxy in ((before, was), (after, now))
    )
    old, new = next(points), next(points)
    for name in dict.fromkeys((*old, *new)):
        if go_by_clients(Read(before, was, old.get(name)), Read(after, now, new.get(name))):
            yield _of_clients(before, after)
            return


def unheld_permission_doubts(before: Side, after: Side) -> Iterator[Doubt]:
    """Yield the same for proxies that the states do not hold."""
    old, new = ({p.identity: p for p in side.state.of_type(PERMISSION)} for side in (before, after))
    if not (old or new):
        return
    moved = any(
        bool(old[one].spec.get("rules")) is not bool(new[one].spec.get("rules"))
        for one in old.keys() & new.keys()
    )
    shown = changed_certificates(before, after)
    if (moved and any(map(_allows, (*old.values(), *new.values())))) or shown:
        yield _of_clients(before, after)


def _allows(policy: Resource) -> bool:
    """Say whether a permission lets anybody in, or may."""
    return "allow" in canonical(policy.spec).lower()


def _of_clients(before: Side, after: Side) -> Doubt:
    old, new = (certificates(side.state, side.mesh) for side in (before, after))
    known = [name for name in old.keys() & new.keys() if None not in (old[name], new[name])]
    listed = f"of {len(known)} known" if known else "of none known"
    return Doubt(
        DoubtKind.CERTIFICATE,
        f"permissions are compared by the clients that are known ({listed}), as tags on one side"
        f" and SPIFFE ids on the other say nothing of those to come; {OF_ENVOY}",
    )


def mtls_went_unused(before: Side, after: Side) -> bool:
    """Say whether `Mesh.mtls` gives no proxy its certificate, before and after."""
    return all(everybody_identified(side.state, side.mesh) for side in (before, after))


def tls_differences(before: Side, after: Side) -> Iterator[Witness]:
    """Yield the clients that begin or cease to show a certificate at all."""
    old, new = (certificates(side.state, side.mesh) for side in (before, after))
    for name in (name for name in old if name in new):  # in their order, the same at every run
        was, now = old[name], new[name]
        if was is not None and now is not None and bool(was) is not bool(now):
            yield Witness(
                mesh=before.mesh,
                proxy="",
                policy_type="MeshIdentity",
                direction="mesh",
                destination=name,
                place=name,
                field="certificate",
                before=Value(value=", ".join(was) or None),
                after=Value(value=", ".join(now) or None),
            )
