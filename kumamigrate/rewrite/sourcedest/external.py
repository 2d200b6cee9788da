"""ExternalService → MeshExternalService (§1.13), and the report on VirtualOutbound (§1.12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kumamigrate.model.digits import is_number
from kumamigrate.model.resource import SERVICE, ZONE, Resource, mapping
from kumamigrate.model.versions import at_least
from kumamigrate.rewrite.sourcedest.conversion import Conversion, Json, Manual, NewPolicy
from kumamigrate.rewrite.sourcedest.known import KnownWorld
from kumamigrate.rewrite.sourcedest.policynames import Names, slug
from kumamigrate.sourcedest.selector import ANY, selectors_of, tags_of
from kumamigrate.sourcedest.targets import zone_egress

_SINCE = "2.8"
_PROTOCOL = "kuma.io/protocol"
_FILLED_IN = "a template fills in its address, which has to be seen as host:port"


def convert_external_service(world: KnownWorld) -> Conversion:
    """Return MeshExternalServices that stand beside the ExternalServices of a mesh.

    Applications reach them under other names, so the old ones are kept: deleting them is the
    last step, and not one that a file can take.
    """
    services: dict[str, list[Resource]] = {}
    for resource in world.state.of_type("ExternalService"):
        if resource.mesh == world.mesh:
            name = tags_of(resource.spec.get("tags")).get(SERVICE, resource.name)
            services.setdefault(name, []).append(resource)
    every = [r for group in services.values() for r in group]
    if not every:
        return _conversion(world)
    problems = _ground(world, every[0])
    names = Names(r.name for r in world.existing("MeshExternalService"))
    policies: list[NewPolicy] = []
    manual: list[Manual] = list(problems)
    done = {r.name for r in world.existing("MeshExternalService")}
    for name, group in services.items():
        if slug(name) in done:
            continue
        spec = _spec(group, manual)
        if spec is not None and not problems:
            policies.append(
                NewPolicy(
                    type="MeshExternalService",
                    name=names.take(slug(name), "external"),
                    spec=spec,
                    home=group[0],
                    sources=tuple(group),
                )
            )
        manual.append(_names_change(group[0], name))
    return _conversion(
        world,
        policies=tuple(policies),
        kept=tuple(every),
        manual=tuple(manual),
        steps=(
            "apply the MeshExternalServices",
            "move the applications to the new hostnames",
            "delete the ExternalServices",
        ),
    )


def _ground(world: KnownWorld, first: Resource) -> list[Manual]:
    if not at_least(world.target, _SINCE):
        return [_manual(first, f"MeshExternalService exists from {_SINCE} on")]
    mesh = world.mesh_resource
    if mesh is None:
        return [_manual(first, "the Mesh is not in the state; zone egress and mTLS are needed")]
    mtls = mesh.spec.get("mtls")
    secure = isinstance(mtls, Mapping) and bool(mtls.get("enabledBackend"))
    if zone_egress(mesh) and secure:
        return []
    return [_manual(first, "a MeshExternalService works only through zone egress and with mTLS")]


def _spec(group: Sequence[Resource], manual: list[Manual]) -> Json | None:
    endpoints, protocols, settings = [], set(), []
    for resource in group:
        tags = tags_of(resource.spec.get("tags"))
        networking = mapping(resource.spec.get("networking"))
        host, _, port = str(networking.get("address") or "").rpartition(":")
        if not host or not is_number(port):
            filled = resource.templated and "{{" in str(networking.get("address"))
            manual.append(_manual(resource, _FILLED_IN if filled else "address must be host:port"))
            return None
        endpoints.append({"address": host.strip("[]"), "port": int(port)})
        protocols.add(tags.get(_PROTOCOL, "tcp"))
        settings.append(_tls(resource, mapping(networking.get("tls")), host, manual))
        extra = [k for k in tags if k not in (SERVICE, _PROTOCOL)]
        if extra:
            what = "the egress zone is no longer pinned" if ZONE in extra else "no subsets"
            manual.append(_note(resource, f"tags {', '.join(extra)} are lost: {what}"))
    if len(protocols) > 1 or any(s != settings[0] for s in settings):
        manual.append(
            _manual(group[0], "several ExternalServices of one service differ in tls or protocol")
        )
        return None
    match = {
        "type": "HostnameGenerator", "port": endpoints[0]["port"], "protocol": protocols.pop(),
    }  # fmt: skip
    spec: Json = {"match": match, "endpoints": endpoints}
    return {**spec, "tls": settings[0]} if settings[0] else spec


def _tls(resource: Resource, tls: Mapping[str, Any], host: str, manual: list[Manual]) -> Json:
    if tls.get("enabled") is not True:
        return {}
    verification: Json = {"serverName": tls.get("serverName") or host}
    secured = "SkipSAN" if tls.get("skipHostnameVerification") is True else "Secured"
    verification["mode"] = secured if tls.get("caCert") else "SkipAll"
    for name in ("caCert", "clientCert", "clientKey"):
        source = mapping(tls.get(name))
        if "file" in source:
            manual.append(_manual(resource, f"tls.{name} from a file is not possible any more"))
        kept = {k: source[k] for k in ("secret", "inline", "inlineString") if k in source}
        if kept:
            verification[name] = kept
    result: Json = {"enabled": True}
    if tls.get("allowRenegotiation") is True:
        result["allowRenegotiation"] = True
    return {**result, "verification": verification}


def _names_change(resource: Resource, name: str) -> Manual:
    return _note(
        resource,
        f"applications reach {name} under a name from a HostnameGenerator, no longer under its"
        " own host and the old one",
    )


def report_virtual_outbound(world: KnownWorld) -> Conversion:
    """Return the report on VirtualOutbounds: HostnameGenerators name services, not tag sets."""
    manual = []
    for policy in world.old.of("VirtualOutbound"):
        conf = mapping(policy.spec.get("conf"))
        tags = list(selectors_of(policy.spec, "selectors"))
        labels = {k: v for t in tags for k, v in t.items() if v != ANY}
        wild = sorted({k for t in tags for k, v in t.items() if v == ANY and k != SERVICE})
        lost = f"; presence of {', '.join(wild)} cannot be asked for" if wild else ""
        manual.append(
            Manual(
                resource=policy,
                message=f"hostnames {conf.get('host')!r} come from a HostnameGenerator now, the"
                f" port from the MeshService{lost}",
                action="write a HostnameGenerator with spec.selector.meshService.matchLabels"
                f" {labels or '{}'} and spec.template, one parameter per label",
            )
        )
    return Conversion(
        kind="VirtualOutbound", mesh=world.mesh, target=world.target, manual=tuple(manual)
    )


def _manual(resource: Resource, message: str) -> Manual:
    return Manual(resource=resource, message=message, action="decide, then convert by hand")


def _note(resource: Resource, message: str) -> Manual:
    return Manual(
        resource=resource, message=message, action="check who depends on it", blocking=False
    )


def _conversion(world: KnownWorld, **parts: Any) -> Conversion:
    return Conversion(kind="ExternalService", mesh=world.mesh, target=world.target, **parts)
