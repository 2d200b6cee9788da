"""What a conversion of old policies comes to, as values; nothing here knows files or rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from kumamigrate.dataclass import dataclass
from kumamigrate.model.resource import Identity, Resource
from kumamigrate.source.text import FieldPath
from kumamigrate.sourcedest.order import CreationTie

Json = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPolicy:
    """A targetRef policy to write.

    `home` is the old resource whose place, name and comments it takes; several may share one.
    `sources` are all old resources whose settings it carries. `left` are services that other
    policies speak of, whose entries only keep that of all traffic out.
    """

    type: str
    name: str
    spec: Mapping[str, Any]
    home: Resource
    sources: tuple[Resource, ...] = ()
    left: tuple[str, ...] = ()


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
    `perhaps` are those that may say nothing beside new policies of the mesh: a proof tells, and
    `manual` what to say where they do; `beside` is a conversion that leaves to those what they say,
    worth a try as well. `left` are ties among those kept. `instead` is the
    conversion of all of the kind, which cannot be written, where only a part of it is converted.
    `steps` say in which order to apply, where one commit is not enough.
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
    perhaps: tuple[Dropped, ...] = ()
    beside: Conversion | None = None
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


def distinct(items: Iterable[T]) -> tuple[T, ...]:
    """Return the items without repetitions, in order; for unhashable ones by equality.

    Two that are equal are of one resource, so only those are compared.
    """
    found: list[T] = []
    near: dict[Identity | None, list[T]] = {}
    for item in items:
        alike = near.setdefault(_about(item), [])
        if item not in alike:
            alike.append(item)
            found.append(item)
    return tuple(found)


def _about(item: object) -> Identity | None:
    resource = item if isinstance(item, Resource) else getattr(item, "resource", None)
    return resource.identity if isinstance(resource, Resource) else None


def among(resources: Iterable[Resource]) -> Callable[[Resource], bool]:
    """Return what says whether a resource is one of some: `in`, however many they are."""
    known: dict[Identity, list[Resource]] = {}
    for resource in resources:
        known.setdefault(resource.identity, []).append(resource)
    return lambda resource: resource in known.get(resource.identity, ())


MOST_NAMES = 4


def named(names: Iterable[str]) -> str:
    """Return names for a sentence, some of them where they are many: each policy gets one."""
    every = list(names)
    more = len(every) - MOST_NAMES
    return ", ".join(every[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
