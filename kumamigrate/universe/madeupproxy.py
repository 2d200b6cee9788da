"""A made-up Dataplane that has some of what policies tell apart, and what a reader calls it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kumamigrate.model.digits import is_number
from kumamigrate.model.resource import (
    DISPLAY_NAME,
    MADE_UP_NETWORK,
    MESH,
    NAMESPACE,
    ORIGIN,
    PROXY_TYPE,
    SERVICE,
    ZONE,
    Resource,
)
from kumamigrate.universe.madeup import (
    ANY_VALUE,
    OTHER_NAMESPACE,
    OTHER_PROXY,
    OTHER_SERVICE,
    OTHER_ZONE,
    ZONE_TAG,
    Atom,
    Setting,
)


def proxy_with(
    atoms: Iterable[Atom], setting: Setting, mesh: str, *, one_inbound: bool
) -> Resource | None:
    """Return a made-up Dataplane that has some atoms, or None where they exclude each other.

    Each set of tags gets an inbound of its own; with `one_inbound` all stand on one.
    """
    labels: dict[str, str] = {NAMESPACE: setting.namespace}
    if setting.zone:
        labels |= {ZONE: setting.zone, ORIGIN: "zone"}
    name = ""
    inbounds: list[dict[str, Any]] = []
    for atom in atoms:
        if atom.name:
            here = (setting.zone, setting.namespace)
            if name not in ("", atom.name) or atom.identity != here:
                return None
            name = atom.name
        for key, value in atom.labels:
            if key == DISPLAY_NAME:
                if name not in ("", value):
                    return None
                name = value
            elif labels.setdefault(key, value) != value:
                return None
        if atom.tags or atom.section:
            inbounds.append(_inbound(atom))
    if one_inbound and inbounds:
        merged = _merged(inbounds)
        if merged is None:
            return None
        inbounds = [merged]
    return _dataplane(name or OTHER_PROXY, labels, inbounds, setting, mesh)


def _dataplane(
    name: str,
    labels: dict[str, str],
    inbounds: Sequence[Mapping[str, Any]],
    setting: Setting,
    mesh: str,
) -> Resource:
    labels = {MESH: mesh, PROXY_TYPE: "gateway" if setting.gateway else "sidecar", **labels}
    filled = [_filled(inbound, at, setting) for at, inbound in enumerate(inbounds or [{}])]
    net: dict[str, Any] = {}
    if setting.gateway:
        tags: dict[str, str] = {}
        for inbound in filled:
            tags = {**inbound["tags"], **tags}
        net["gateway"] = {"type": "DELEGATED", "tags": tags}
    else:
        net["inbound"] = filled
    return dataplane_of(name, labels, net, mesh)


def dataplane_of(
    name: str, labels: Mapping[str, str], net: Mapping[str, Any], mesh: str
) -> Resource:
    """Return a made-up Dataplane by its labels and by what its `networking` says."""
    return Resource(
        type="Dataplane",
        mesh=mesh,
        name=name,
        labels=labels,
        spec={"networking": {"address": f"{MADE_UP_NETWORK}1", **net}},
        made_up=True,
    )


def _inbound(atom: Atom) -> dict[str, Any]:
    inbound: dict[str, Any] = {"tags": dict(atom.tags)}
    if is_number(atom.section):
        inbound["port"] = int(atom.section)
    elif atom.section:
        inbound["name"] = atom.section
    return inbound


def _merged(inbounds: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    out: dict[str, Any] = {}
    tags: dict[str, str] = {}
    for inbound in inbounds:
        for key in ("name", "port"):
            if key in inbound and out.setdefault(key, inbound[key]) != inbound[key]:
                return None
        for key, value in inbound["tags"].items():
            known = tags.get(key, "*")
            if "*" not in (known, value) and known != value:
                return None
            tags[key] = value if known == "*" else known
    # An inbound that is chosen by its port has no name.
    if "name" in out and "port" in out:
        return None
    return {**out, "tags": tags}


def _filled(inbound: Mapping[str, Any], at: int, setting: Setting) -> dict[str, Any]:
    tags = {k: ANY_VALUE if v == "*" else v for k, v in inbound.get("tags", {}).items()}
    tags.setdefault(SERVICE, OTHER_SERVICE)
    if setting.zone:
        tags.setdefault(ZONE_TAG, setting.zone)
    return {"port": 10_000 + at, **inbound, "tags": tags}


def describe(atoms: Sequence[Atom], setting: Setting) -> str:
    """Return what a reader calls a made-up proxy."""
    kind = "gateway" if setting.gateway else "proxy"
    parts = [str(atom) for atom in atoms]
    if setting.namespace != OTHER_NAMESPACE:
        parts.append(f"namespace {setting.namespace}")
    has = f" with {' and '.join(parts)}" if parts else ""
    where = " in another zone" if setting.zone == OTHER_ZONE else ""
    return f"any {kind}{has}{where}"
