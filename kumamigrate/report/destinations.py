"""Where proxies of a mesh can send traffic: its real services, port by port, and who says so."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.model.kri import section_of
from kumamigrate.model.kubernetes.kubeservices import is_headless, is_made, made_of
from kumamigrate.model.resource import Resource
from kumamigrate.model.state import State
from kumamigrate.report.styled import Line, line
from kumamigrate.scene.scene import Scene
from kumamigrate.targetref.backendref import ports_of
from kumamigrate.targetref.resolve import REAL

MOST = 40


def destination_lines(scene: Scene, state: State, mesh: str) -> list[Line]:
    """Return the real services of a mesh, those that a control plane generates included."""
    found = [*_services(scene, state.mesh(mesh)), *_headless(scene, state.mesh(mesh))]
    if not found:
        return []
    lines: list[Line] = [(), line(("Destinations", "strong"), f" of mesh {mesh}"), *found[:MOST]]
    more = len(found) - MOST
    return [*lines, line(f"  … and {more} more")] if more > 0 else lines


def _services(scene: Scene, state: State) -> Iterator[Line]:
    services = {(s.namespace, s.name): s for s in state.of_type("Service")}
    for resource in state.of_type(*REAL):
        source = services.get(made_of(resource)) if is_made(resource) else None
        place = _place(scene, source or resource)
        of = f" (Service {source.name})" if source is not None else ""
        ports = ", ".join(_port_words(resource))
        yield line(f"  {_called(resource)}   {ports}   ", (place, "place"), of)


def _headless(scene: Scene, state: State) -> Iterator[Line]:
    for service in state.of_type("Service"):
        if is_headless(service):
            said = "is headless: one MeshService for each of its Pods"
            place = _place(scene, service)
            yield line(f"  Service {_named(service)} {said}   ", (place, "place"))


def _port_words(resource: Resource) -> Iterator[str]:
    for port in ports_of(resource.spec):
        name, number = section_of(port), str(port.get("port"))
        words = number if name == number else f"{name} {number}"
        yield f"{words} {port.get('appProtocol') or 'tcp'}"


def _called(resource: Resource) -> str:
    zone = f", zone {resource.zone}" if resource.zone else ""
    return f"{resource.type} {_named(resource)}{zone}"


def _named(resource: Resource) -> str:
    home = resource.namespace_label or resource.namespace
    return f"{home}/{resource.display_name}" if home else resource.display_name


def _place(scene: Scene, resource: Resource) -> str:
    return scene.locate(resource, ()).rsplit(":", 1)[0]
