"""The way from Mesh.mtls to MeshIdentity, one stage a run, for each mesh that has mTLS on."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.dataclass import replace
from kumamigrate.model.resource import Resource
from kumamigrate.rewrite.change import Change, ResourceEdit
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.identities.manifests import enabled_backend
from kumamigrate.rewrite.identities.stages import (
    TITLES,
    Stage,
    is_of_this_run,
    next_stage,
    not_rolled_out,
    of_zone,
)
from kumamigrate.rewrite.manifest import change, finding
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import at_path

_LAST = len(TITLES)
_DOCUMENTED = (
    "prefixes hold ids by Mesh.mtls: such a certificate shows several names, which Envoy compares"
    " joined by commas, its service first; that is documented and was not tried on an Envoy"
)
_DO_FIRST = (
    "Do what stands above first, on 2.x. Then `kumamigrate run --accept mesh-mtls` writes stage"
    " {stage} of {last}; each is rolled out before the next."
)


def plan(view: View) -> Iterator[Change | Finding]:
    """Yield the next stage of each Mesh with an enabled backend, or what keeps it back."""
    for mesh in view.of_type("Mesh"):
        if not at_path(mesh.spec, ("mtls", "enabledBackend")):
            continue
        path = (*mesh.spec_path, "mtls")
        stage = next_stage(view, mesh)
        if _has_old_permissions(view, mesh):
            stage = replace(stage, number=1)
        missing = [*_first(view, mesh), *stage.missing]
        missing = missing or list(not_rolled_out(view, stage))
        if missing:
            done = _done(stage, of_this_run=is_of_this_run(view, stage))
            notes = (*done, _now(view, mesh, stage), *missing, *_later(stage))
            first = _DO_FIRST.format(stage=stage.number, last=_LAST)
            yield finding(view, mesh, path, mesh=mesh.name, notes=notes, action=first)
        else:
            yield _change(view, mesh, stage)


def _first(view: View, mesh: Resource) -> Iterator[str]:
    """Yield what has to be done before the first stage."""
    if view.mode(mesh.name) != "Exclusive":
        yield "switch meshServices.mode to Exclusive first: identities need real services"
    if _has_old_permissions(view, mesh):
        yield (
            "turn every TrafficPermission into MeshTrafficPermission first: proxies with an"
            " identity do not read it"
        )
    if any(s.mesh == mesh.name for s in view.state.of_type("ExternalService")):
        yield (
            "turn every ExternalService into MeshExternalService first: a zone egress lets clients"
            " reach it by `from` alone"
        )
    if enabled_backend(mesh).get("mode") == "PERMISSIVE" and not _has_mode(view, mesh):
        yield (
            "write a MeshTLS with mode Permissive for the whole mesh first: a proxy with an"
            " identity is strict where none says otherwise"
        )


def _has_old_permissions(view: View, mesh: Resource) -> bool:
    return any(p.mesh == mesh.name for p in view.state.of_type("TrafficPermission"))


def _has_mode(view: View, mesh: Resource) -> bool:
    return any(
        policy.mesh == mesh.name and at_path(policy.spec, ("targetRef", "kind")) in (None, "Mesh")
        for policy in view.state.of_type("MeshTLS")
    )


def _done(stage: Stage, *, of_this_run: bool) -> list[str]:
    done = [f"stage {n} of {_LAST}, done: {TITLES[n - 1]}" for n in range(1, stage.number)]
    return (
        [*done[:-1], done[-1].replace(", done:", ", this run:")] if done and of_this_run else done
    )


def _now(view: View, mesh: Resource, stage: Stage) -> str:
    title = TITLES[stage.number - 1]
    return f"stage {stage.number} of {_LAST}, next: {title}{of_zone(view, mesh)}"


def _later(stage: Stage) -> list[str]:
    return [f"stage {n} of {_LAST}: {TITLES[n - 1]}" for n in range(stage.number + 1, _LAST + 1)]


def _change(view: View, mesh: Resource, stage: Stage) -> Change:
    (first, manifests), *others = stage.edits
    edits = [
        ResourceEdit(where=one.where, manifests=made)
        for one, made in others
        if one.where is not None
    ]
    about = (*stage.clients, _DOCUMENTED) if stage.number == 1 else ()
    found = [
        finding(
            view,
            mesh,
            (*mesh.spec_path, "mtls"),
            pending=True,
            message=f"mesh {mesh.name} moves to MeshIdentity: {TITLES[stage.number - 1]}",
            notes=(
                _now(view, mesh, stage),
                *about,
                *(note for _, note in stage.notes),
            ),
        )
    ]
    made = change(view, first, manifests, found, others=edits, steps=(_order(mesh, stage),))
    return replace(made, mesh=mesh.name, group="")


def _order(mesh: Resource, stage: Stage) -> str:
    if stage.number == _LAST:
        return f"mesh {mesh.name}: once stage {_LAST} is rolled out, 3.0 may come"
    return (
        f"mesh {mesh.name}: commit stage {stage.number} of {_LAST} by itself, roll it out to every"
        f" control plane and proxy, and run again with --accept mesh-mtls for stage"
        f" {stage.number + 1} ({TITLES[stage.number]})"
    )
