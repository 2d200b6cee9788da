"""Resources: what a control plane stores, whichever form the manifest had."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from enum import StrEnum
from typing import Any

from kumamigrate.dataclass import dataclass, field, replace
from kumamigrate.model.conf import canonical
from kumamigrate.source.text import FieldPath

Spec = Mapping[str, Any]
"""Plain JSON: dict, list, str, int, float, bool, None. Never changed in place."""

Identity = tuple[str, str, str, str]
"""What two resources of one store may not share: type, mesh, namespace, name."""

FAULTY = "(faulty)"
"""The type of what stands for a manifest that this tool failed to read; its name says why."""

MESH = "kuma.io/mesh"
ZONE = "kuma.io/zone"
ORIGIN = "kuma.io/origin"
ENV = "kuma.io/env"
MADE_UP_NETWORK = "192.0.2."
"""Begins the addresses of proxies that are made up, which say nothing to a reader."""
DISPLAY_NAME = "kuma.io/display-name"
NAMESPACE = "k8s.kuma.io/namespace"
ROLE = "kuma.io/policy-role"
EFFECT = "kuma.io/effect"
PROXY_TYPE = "kuma.io/proxy-type"
SERVICE = "kuma.io/service"


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a value that ought to be a mapping, an empty one where it is not."""
    return value if isinstance(value, (dict, Mapping)) else {}


def sequence(value: Any) -> list[Any]:
    """Return a value that ought to be a list, an empty one where it is not."""
    return value if isinstance(value, list) else []


def mappings(value: Any) -> list[Mapping[str, Any]]:
    """Return the mappings in a value that ought to be a list of them."""
    return [one for one in sequence(value) if isinstance(one, (dict, Mapping))]


def numbered(value: Any) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the mappings in a value that ought to be a list of them, with their places there."""
    return ((at, one) for at, one in enumerate(sequence(value)) if isinstance(one, (dict, Mapping)))


def texts(value: Any) -> dict[str, str]:
    """Return what ought to be a mapping with keys and values as text."""
    return {str(k): str(v) for k, v in mapping(value).items()}


class Form(StrEnum):
    """How the manifest was written; decided for each document."""

    KUBERNETES = "kubernetes"
    UNIVERSAL = "universal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Where a resource stands. `item` is its path inside the document (`kind: List`)."""

    path: str
    document: int
    item: FieldPath = ()
    line: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """One resource. `labels` are what the state says they are: see `model.labels`.

    `spec` is the content without identity: `.spec`, or, for Universal types that have none
    (Mesh, Dataplane, old policies), the top-level fields that are not identity.
    `spec_path` leads from the resource's own root to it, for finding lines.
    `body` is the whole manifest. `made_up` marks witnesses. `templated` means that some value
    inside comes from a template and is unknown; `branches` tells the branches and loops of its
    file from others. `stored` means that an inventory holds it: no API is asked whether it takes
    it. `kept` is what was read of it, for those who read it again.
    """

    type: str
    mesh: str
    name: str
    namespace: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    spec: Spec = field(default_factory=dict)
    form: Form = Form.UNIVERSAL
    created: str = ""
    where: Where | None = None
    spec_path: FieldPath = ()
    body: Mapping[str, Any] = field(default_factory=dict)
    made_up: bool = False
    templated: bool = False
    branches: tuple[str, ...] = ()
    stored: bool = False
    kept: dict[Hashable, Any] = field(init=False, default_factory=dict, repr=False, compare=False)

    @property
    def identity(self) -> Identity:
        """Type, mesh, namespace and name."""
        return (self.type, self.mesh, self.namespace, self.name)

    @property
    def canonical_body(self) -> str:
        """The whole manifest as text that is equal exactly for equal ones; made once."""
        if "canonical" not in self.kept:
            self.kept["canonical"] = canonical(self.body)
        text: str = self.kept["canonical"]
        return text

    @property
    def home(self) -> Identity:
        """The identity it has in Git, whichever name and form a control plane exports it in."""
        return (self.type, self.mesh, self.namespace_label or self.namespace, self.display_name)

    @property
    def display_name(self) -> str:
        """The name policies refer to (matcher.md (b))."""
        return self.labels.get(DISPLAY_NAME) or self.name

    @property
    def full_name(self) -> str:
        """The name, with the namespace where there is one."""
        return f"{self.name}.{self.namespace}" if self.namespace else self.name

    @property
    def zone(self) -> str:
        """The zone label, empty when there is none."""
        return self.labels.get(ZONE, "")

    @property
    def namespace_label(self) -> str:
        """The namespace label, which matching reads; not `metadata.namespace`."""
        return self.labels.get(NAMESPACE, "")

    def with_labels(self, labels: Mapping[str, str]) -> Resource:
        """Return the same resource with other labels."""
        return replace(self, labels=dict(labels))


def with_zone_tag(dataplane: Resource, zone: str) -> Resource:
    """Return a Dataplane whose inbounds and gateway carry the zone as a tag, where they have none.

    The control plane of a zone adds it to all that it stores (legacy-notes.md G2). An inbound
    without any tags stays so: in mode Exclusive it gets none, and else it is refused.
    """
    networking = dataplane.spec.get("networking")
    if not zone or not isinstance(networking, Mapping):
        return dataplane
    changed = dict(networking)
    inbounds = networking.get("inbound")
    if isinstance(inbounds, list):
        changed["inbound"] = [_tagged(inbound, zone) for inbound in inbounds]
    if isinstance(networking.get("gateway"), Mapping):
        changed["gateway"] = _tagged(networking["gateway"], zone)
    return replace(dataplane, spec={**dataplane.spec, "networking": changed})


def _tagged(node: Any, zone: str) -> Any:
    tags = node.get("tags") if isinstance(node, Mapping) else None
    if not isinstance(tags, Mapping) or not tags:
        return node
    return {**node, "tags": {ZONE: zone, **tags}}
