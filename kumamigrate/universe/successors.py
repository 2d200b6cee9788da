"""Which MeshServices take the place of a service tag: by label, by the name of the tag, by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kumamigrate.model.digits import is_number
from kumamigrate.model.kri import kri_of, section_of
from kumamigrate.model.resource import SERVICE, Resource
from kumamigrate.targetref.backendref import ports_of
from kumamigrate.targetref.route import RealResource


class Successors:
    """Some MeshServices, found by the service tags that they replace."""

    def __init__(self, resources: Iterable[Resource] = ()) -> None:
        self._listed: list[Resource] = []
        self._by_label: dict[str, list[int]] = {}
        self._by_name: dict[str, list[int]] = {}
        for resource in resources:
            self.add(resource)

    def add(self, resource: Resource) -> None:
        """Note one more; what is no MeshService replaces no tag."""
        if resource.type != "MeshService":
            return
        at = len(self._listed)
        self._listed.append(resource)
        self._by_name.setdefault(resource.display_name, []).append(at)
        label = resource.labels.get(SERVICE)
        if label is not None:
            self._by_label.setdefault(label, []).append(at)

    def of(self, service: str) -> tuple[RealResource, ...]:
        """Return the ports that replace a service tag, in the order of the resources.

        A plain name means the service without a namespace, else that of the one namespace that
        has it: on Kubernetes no tag is called like that, and the policy must mean the service.
        """
        name, home, port = service_parts(service)
        if not home:
            name, port = service, ""
            spaces = {self._listed[at].namespace_label for at in self._by_name.get(name, ())}
            home = next(iter(spaces)) if len(spaces) == 1 else ""
        found = dict.fromkeys(self._by_label.get(service, ()), "")
        for at in self._by_name.get(name, ()):
            resource = self._listed[at]
            if resource.labels.get(SERVICE) is None and resource.namespace_label == home:
                found[at] = port
        every = (one for at in sorted(found) for one in _ports(self._listed[at], found[at]))
        return tuple(dict.fromkeys(every))


def _ports(resource: Resource, only: str) -> Iterator[RealResource]:
    ports = ports_of(resource.spec)
    if not ports:
        yield RealResource(kri_of(resource))
    for port in ports:
        if not only or str(port.get("port", "")) == only:
            yield RealResource(kri_of(resource, section_of(port)))


def service_parts(service: str) -> tuple[str, str, str]:
    """Take `web_shop_svc_80` apart into name, namespace and port."""
    parts = service.split("_")
    numbered = len(parts) == 4 and is_number(parts[3])
    if (len(parts) == 3 or numbered) and parts[2] == "svc":
        return parts[0], parts[1], parts[3] if len(parts) == 4 else ""
    return service, "", ""
