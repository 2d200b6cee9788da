"""What a conversion of old policies comes to, as values; nothing here knows files or rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.model.resource import Resource
from kumamigrate.source.text import FieldPath
from kumamigrate.sourcedest.order import CreationTie

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPolicy:
    """A targetRef policy to write.

    `home` is the old resource whose place, name and comments it takes; several may share one.
    `sources` are all old resources whose settings it carries.
    """

    type: str
    name: str
    spec: Mapping[str, Any]
    home: Resource
    sources: tuple[Resource, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """An old resource (or, with a path, a field of one) that needs no successor, and why."""

    resource: Resource
    reason: str
    path: FieldPath = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Manual:
    """Something without an exact equivalent. `path` leads from the resource's spec to it.

    `blocking`: nothing of this kind may be written before somebody decides. Otherwise the
    policies written are the nearest there is, and this says what is lost.
    """

    resource: Resource
    message: str
    action: str
    path: FieldPath = ()
    blocking: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """One old kind of one mesh, converted as a whole.

    `dropped` old resources are removed without a successor; those among the `sources` or `home`s of
    `policies` are removed because they have one. `assumptions` are facts the state does not hold on
    which the result rests. `kept` old resources stay although they are sources: what else they do
    has no successor yet. `spare` are those that can be removed although the rest cannot be written.
    `left` are ties among those kept. `instead` is the conversion of all of the kind, which cannot
    be written, where only a part of it is converted. `steps` say in which order to apply, where one
    commit is not enough.
    """

    kind: str
    mesh: str
    target: str
    policies: tuple[NewPolicy, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    manual: tuple[Manual, ...] = ()
    kept: tuple[Resource, ...] = ()
    ties: tuple[CreationTie, ...] = ()
    spare: tuple[Dropped, ...] = ()
    left: tuple[CreationTie, ...] = ()
    instead: Conversion | None = None
    assumptions: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()

    @property
    def writable(self) -> bool:
        """Whether nothing stands in the way of writing it: no tie, no decision to take."""
        return not self.ties and not any(item.blocking for item in self.manual)

    def removed(self) -> tuple[Resource, ...]:
        """Return the old resources that go away when the conversion is written."""
        found = [r for policy in self.policies for r in (policy.home, *policy.sources)]
        found += [item.resource for item in self.dropped if not item.path]
        kept = {r.identity for r in self.kept}
        gone = {r.identity: r for r in found if r.type != "Mesh" and r.identity not in kept}
        return tuple(gone.values())


def distinct(items: Iterable[Any]) -> tuple[Any, ...]:
    """Return the items without repetitions, in order; for unhashable ones by equality."""
    result: list[Any] = []
    for item in items:
        if item not in result:
            result.append(item)
    return tuple(result)
