"""The way from Mesh.mtls to MeshIdentity, step by step, for each mesh that has mTLS on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kumamigrate.model.resource import Resource
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import finding, items
from kumamigrate.rewrite.view import View, at_path


def plan(view: View) -> Iterator[Finding]:
    """Yield a finding for each Mesh with an enabled backend; its notes are the steps."""
    for mesh in view.of_type("Mesh"):
        enabled = at_path(mesh.spec, ("mtls", "enabledBackend"))
        if not enabled:
            continue
        backend = _backend(mesh, enabled)
        path = (*mesh.spec_path, "mtls")
        steps = [*_preparation(view, mesh, backend), *_identity(view, mesh, backend)]
        notes = [f"step {number}: {step}" for number, step in enumerate(steps, 1)]
        yield finding(view, mesh, path, mesh=mesh.name, notes=notes)


def _backend(mesh: Resource, name: str) -> Mapping[str, object]:
    for found in items(mesh.spec, ("mtls", "backends")):
        if isinstance(found, Mapping) and found.get("name") == name:
            return found
    return {}


def _preparation(view: View, mesh: Resource, backend: Mapping[str, object]) -> Iterator[str]:
    if view.mode(mesh.name) != "Exclusive":
        yield "switch meshServices.mode to Exclusive; identities need real services"
    if backend.get("mode") == "PERMISSIVE":
        yield "write MeshTLS with mode Permissive; without it 3.0 takes Strict"
    if any(_has_from(policy, mesh) for policy in view.state.of_type("MeshTrafficPermission")):
        yield (
            "give every MeshTrafficPermission `rules` that hold both ids of each client, all in one"
            f" commit: {{type: Prefix, value: spiffe://{mesh.name}/SERVICE}}, which its certificate"
            " shows until it has an identity, and {type: Exact} with the id it will have; `from`"
            " stops counting for a proxy the moment it has an identity, and where any rules are"
        )


def _identity(view: View, mesh: Resource, backend: Mapping[str, object]) -> Iterator[str]:
    if not any(found.mesh == mesh.name for found in view.state.of_type("MeshIdentity")):
        yield (
            f"write a MeshIdentity without provider in {view.environment.system_namespace}, so"
            " that SPIFFE ids are known before they are used"
        )
    yield (
        f"write a second MeshIdentity with {_provider(backend)} and selector: {{}}, which"
        " selects nothing but publishes the trust (MeshTrust)"
    )
    yield "widen its selector to dataplane: {matchLabels: {}}, a few workloads at a time if need be"
    yield "when every proxy has its identity, remove mtls from the Mesh; only then upgrade to 3.0"


def _provider(backend: Mapping[str, object]) -> str:
    match backend.get("type"):
        case "builtin":
            return "a bundled provider that generates its own CA"
        case "provided":
            return "a bundled provider whose ca is the certificate and key of this backend"
        case other:
            return f"what replaces the {other} backend (Spire or an extension: decide which)"


def _has_from(policy: Resource, mesh: Resource) -> bool:
    return policy.mesh == mesh.name and bool(items(policy.spec, ("from",)))
