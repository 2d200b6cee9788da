"""Numbers for what resources say: equal numbers, equal resources."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from kumamigrate.model.conf import canonical
from kumamigrate.model.kinds import OLD_POLICIES
from kumamigrate.model.resource import Resource

Signature = tuple[int, ...]


def _content(resource: Resource) -> str:
    said = [resource.type, resource.mesh, resource.namespace, resource.name]
    said += [resource.created] if resource.type in OLD_POLICIES else []  # decides ties
    filled_in = [resource.templated, *resource.branches]
    return canonical([*said, dict(resource.labels), resource.spec, filled_in])


class Contents:
    """Numbers for what resources say, shared by all sides: equal numbers, equal resources.

    `kept` is what was read of resources, by all that it depends on; it outlives a proof.
    """

    def __init__(self) -> None:
        self.kept: dict[Hashable, Any] = {}
        self._numbers: dict[str, int] = {}
        self._known: dict[int, tuple[Resource, int]] = {}
        self._lists: dict[Signature, int] = {(): 0}

    def of(self, resource: Resource) -> int:
        """Return the number of a resource's identity, labels and spec."""
        known = self._known.get(id(resource))
        if known is None:
            text = resource.kept.get("content")
            if text is None:
                text = resource.kept["content"] = _content(resource)
            # The resource is kept, so that its id stays its own.
            known = (resource, self._numbers.setdefault(text, len(self._numbers)))
            self._known[id(resource)] = known
        return known[1]

    def of_all(self, resources: Sequence[Resource]) -> Signature:
        """Return the numbers of resources, in their order."""
        known = self._known
        try:
            return tuple([known[id(r)][1] for r in resources])
        except KeyError:
            return tuple(self.of(r) for r in resources)

    def of_list(self, resources: Sequence[Resource]) -> int:
        """Return a number for a list of resources; equal lists have equal numbers, none has 0."""
        signature = self.of_all(resources)
        return self._lists.setdefault(signature, len(self._lists))
