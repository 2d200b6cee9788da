"""What a release refuses, warns about and ignores in one resource."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from kumamigrate.admit.constraint import all_broken, constraints_of
from kumamigrate.admit.form import FORMS
from kumamigrate.admit.ground import ground_of, not_dropped, read_ground
from kumamigrate.admit.kind import dropped_fields, kind_problems, name_problems
from kumamigrate.admit.places import is_template
from kumamigrate.admit.reference import references_of
from kumamigrate.admit.shape import other_letters, resource_shape, spec_shape, unknown_part
from kumamigrate.model.labels import (
    Refused,
    compute_labels,
    is_export,
    is_kumas,
    policy_role,
    written_labels,
)
from kumamigrate.model.policytype import Conf
from kumamigrate.model.problem import Problem
from kumamigrate.model.release import release as release_of
from kumamigrate.model.resource import MESH, ORIGIN, ROLE, ZONE, Form, Resource, mapping
from kumamigrate.model.state import Environment
from kumamigrate.source.text import FieldPath


def refusals_of(
    resource: Resource, *, release: str, environment: Environment
) -> tuple[Problem, ...]:
    """Return why the control plane of a release refuses a resource; empty when it takes it.

    Old source/destination policies are looked at by `legacy.admit` for releases that have them;
    here only their kind and name are. Fields the release does not know are ignored, as it ignores
    them (`unknown_fields_of`). Values filled in by templates pass, and in a resource with
    templates nothing is held to be missing.
    Source: matcher.md tables; legacy-notes §3.
    """
    name = release_of(release).name
    if not is_kumas(resource):
        return ()
    gone = tuple(kind_problems(resource, release_name=name))
    if gone:
        return gone
    if _lacks_spec(resource, name):
        path: FieldPath = ("spec",)
        return (Problem(path=path, message="must be given", missing=True),)
    stored = compute_labels(resource, release=name, environment=environment)
    found = [
        *name_problems(resource, release_name=name),
        *_refused_spec(resource, stored, name, environment),
        *_refused_labels(resource, stored, name, environment),
    ]
    return _tidy(found, resource)


def warnings_of(resource: Resource, *, release: str) -> tuple[Problem, ...]:
    """Return what a release still takes but calls deprecated, in this project's words.

    Source: matcher.md "Deprecation warnings".
    """
    name = release_of(release).name
    if not is_kumas(resource):
        return ()
    found = [*name_problems(resource, release_name=name, warn=True)]
    if rules := [c for c in constraints_of(resource.type, name) if c.warn]:
        found.extend(all_broken(rules, ground_of(resource, name)))
    return tuple(dict.fromkeys(found))


def unknown_fields_of(resource: Resource, release: str) -> tuple[FieldPath, ...]:
    """Return the fields of a resource that a release drops without a word, in text order."""
    known = release_of(release)
    if resource.type in known.policy_types:
        shape = spec_shape(resource.type, known.name)
        return tuple(unknown_part(resource.spec, shape, resource.spec_path))
    return tuple(dropped_fields(resource, release_name=known.name))


def other_letters_of(resource: Resource, release: str) -> tuple[tuple[FieldPath, str], ...]:
    """Return the fields of a Universal resource that the API reads all the same, in other letters.

    It takes them for the field whose name is the same in small letters; the last one that is
    written counts. On Kubernetes, and in what is no resource of a policy's kind (Mesh, Dataplane,
    old policies), such a field is dropped. Source: asked of a control plane of 2.14.
    """
    if resource.form is not Form.UNIVERSAL:
        return ()
    known = release_of(release)
    if resource.type in known.policy_types:
        shape: Conf | None = spec_shape(resource.type, known.name)
    else:
        shape = resource_shape(resource.type, known.name)
    return () if shape is None else tuple(other_letters(resource.spec, shape, resource.spec_path))


def _lacks_spec(resource: Resource, release: str) -> bool:
    """Say whether a Universal resource of a kind with a schema has no `spec` at all."""
    if resource.form is not Form.UNIVERSAL or not resource.body or "spec" in resource.body:
        return False
    known = resource.type in release_of(release).policy_types
    return known or resource_shape(resource.type, release) is not None


def _refused_spec(
    resource: Resource, stored: Resource | Refused, release: str, environment: Environment
) -> Iterator[Problem]:
    rules = (c for c in constraints_of(resource.type, release) if not c.warn)
    policy_type = release_of(release).policy_types.get(resource.type)
    if policy_type is None:
        ground, unreadable = read_ground(resource, release)
        yield from not_dropped([*unreadable, *all_broken(rules, ground)], resource, release)
        return
    if not isinstance(resource.body.get("spec", resource.spec), dict):
        absent = resource.body.get("spec") is None
        yield Problem(path=("spec",), message="must be a mapping", missing=absent)
        return
    ground, unreadable = read_ground(resource, release)
    role = _role(resource, stored, release, environment)
    yield from references_of(ground.spec, policy_type, release=release, role=role)
    yield from unreadable
    yield from all_broken(rules, ground)


def _role(
    resource: Resource, stored: Resource | Refused, release: str, environment: Environment
) -> str:
    """Return the role that admission goes by: the stored one, else the computed (A3)."""
    if is_template(resource.namespace):
        return ""
    if isinstance(stored, Refused):
        role = policy_role(resource, release=release, environment=environment)
        return role if isinstance(role, str) else "consumer"
    return stored.labels.get(ROLE, "")


def _refused_labels(
    resource: Resource, stored: Resource | Refused, release: str, environment: Environment
) -> Iterator[Problem]:
    yield from _labels_of_no_form(resource)
    if resource.form is Form.UNIVERSAL and not resource.stored:
        yield from _labels_of_elsewhere(resource, environment)
    if is_export(resource) or is_template(resource.namespace):
        return
    if isinstance(stored, Refused):
        yield Problem(path=stored.path, message=stored.message)
    if resource.form is Form.UNIVERSAL:
        yield from _wrong_role(resource, release)


def _wrong_role(resource: Resource, release: str) -> Iterator[Problem]:
    """Yield a role that no policy has on Universal. Before 3.0 the API looks, and says nothing."""
    known = release_of(release)
    role = resource.labels.get(ROLE)
    if known.subset_rules or resource.type not in known.policy_types:
        return
    if role not in (None, "", "system"):
        message = f"{role!r} is not possible on Universal: only `system` is"
        yield Problem(path=("labels", ROLE), message=message)


def _labels_of_elsewhere(resource: Resource, environment: Environment) -> Iterator[Problem]:
    """Yield labels by which an API sees that a resource is not its own.

    What says that the global control plane handed it out passes, whatever else it says.
    """
    written = written_labels(resource)
    origin = written.get(ORIGIN)
    if origin == "global" or is_template(origin):
        return
    if environment.mode != "zone":
        if origin and not is_export(resource):
            message = f"`{origin}` is not the origin of what a global control plane is given"
            yield Problem(path=("labels", ORIGIN), message=message)
        return
    if origin not in (None, "", "zone"):
        message = f"{origin!r} is no origin: `zone` and `global` are"
        yield Problem(path=("labels", ORIGIN), message=message)
    zone, mesh = written.get(ZONE), written.get(MESH)
    other = zone is not None and zone != environment.zone and not is_template(zone)
    if other and environment.zone_known and not is_export(resource):
        message = f"`{zone}` is not the zone of this control plane, `{environment.zone}`"
        yield Problem(path=("labels", ZONE), message=message)
    own = resource.mesh
    if mesh is not None and mesh != own and not is_template(mesh):
        message = f"`{mesh}` is not the mesh it belongs to" + (f", `{own}`" if own else "")
        yield Problem(path=("labels", MESH), message=message)


def says_zone(resource: Resource, environment: Environment) -> str:
    """Return the zone that a resource says it is of, where that may be another one than reads it.

    The API of another zone refuses it, so it is not known whether it is there. What was read
    from a store and says when it came there is.
    """
    if resource.form is not Form.UNIVERSAL or environment.mode != "zone" or resource.stored:
        return ""
    exported = is_export(resource)
    if resource.created if exported else environment.zone_known:
        return ""
    written = written_labels(resource)
    zone = written.get(ZONE)
    if not isinstance(zone, str) or written.get(ORIGIN) == "global":
        return ""
    return "" if zone == environment.zone else zone


def _labels_of_no_form(resource: Resource) -> Iterator[Problem]:
    """Yield the labels that neither Kubernetes nor a control plane takes."""
    kubernetes = resource.form is Form.KUBERNETES
    holder = resource.body.get("metadata") if kubernetes else resource.body
    path: FieldPath = ("metadata", "labels") if kubernetes else ("labels",)
    labels = mapping(holder).get("labels")
    if labels is None or is_template(labels):
        return
    if not isinstance(labels, Mapping):
        yield Problem(path=path, message="must be a mapping")
        return
    for name, text in labels.items():
        if is_template(name) or is_template(text) or text is None:
            continue
        if not isinstance(text, str):
            yield Problem(path=(*path, name), message="must be a text: put it in quotes")
        elif not FORMS["label-name"](str(name)) or not FORMS["label-value"](text):
            yield Problem(path=(*path, name), message=f"`{name}: {text}` is no valid label")


def _tidy(found: Iterable[Problem], resource: Resource) -> tuple[Problem, ...]:
    """Drop repetitions, problems inside a section that is refused whole, and template gaps."""
    kept: dict[FieldPath, Problem] = {}
    for problem in found:
        if not (resource.templated and problem.missing):
            kept.setdefault(problem.path, problem)
    sections = {("spec", name) for name in ("to", "from", "rules")}
    whole = {path for path in kept if path in sections}
    rest = (p for p in kept.values() if p.path[:2] not in whole or p.path in whole)
    return tuple(rest)
