"""What becomes of the policies that a control plane gave a mesh when it made it."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.dataclass import replace
from kumamigrate.model.initial import SKIP, is_initial
from kumamigrate.model.kinds import OLD_POLICIES
from kumamigrate.model.resource import Resource
from kumamigrate.rewrite.finding import Danger, Finding
from kumamigrate.rewrite.manifest import finding
from kumamigrate.rewrite.view import View


def plan(view: View) -> Iterator[Finding]:
    """Yield one finding for each mesh of the repository that has such policies, or may have."""
    for mesh in view.state.meshes():
        anchor = _anchor(view, mesh)
        if anchor is None:
            continue
        if mesh not in view.state.initial_known and not view.state.complete:
            yield _unknown(view, anchor, mesh)
            continue
        names = [f"{r.type} {r.name}" for r in view.state.resources if _is_behind(view, r, mesh)]
        if names:
            yield finding(view, anchor, (), mesh=mesh, names=", ".join(names))


def _anchor(view: View, mesh: str) -> Resource | None:
    """Return the Mesh, or what else of a mesh stands in Git, None where nothing does."""
    own = [r for r in view.manifests() if r.mesh == mesh or (r.type, r.name) == ("Mesh", mesh)]
    return next((r for r in own if r.type == "Mesh"), own[0] if own else None)


def _is_behind(view: View, resource: Resource, mesh: str) -> bool:
    """Say whether a policy comes from the creation of a mesh, in a form that 3.0 does not read."""
    type_, _, _, name = resource.home
    if resource.mesh != mesh or view.owns(resource) or not is_initial((type_, mesh, "", name)):
        return False
    top = resource.spec.get("targetRef")
    limited = isinstance(top, dict) and "proxyTypes" in top
    return type_ in OLD_POLICIES or bool(resource.spec.get("from")) or limited


def _unknown(view: View, anchor: Resource, mesh: str) -> Finding:
    said = finding(
        view,
        anchor,
        (),
        message=f"which policies the control plane gave mesh {mesh} when it made it is not known;"
        " 3.0 reads those of 2.x otherwise or not at all",
        action="say --initial-policies none|2.5|2.6, or give an --inventory of the mesh; if it has"
        f" none, say {SKIP} in its Mesh",
    )
    return replace(said, danger=Danger.ADVICE)
