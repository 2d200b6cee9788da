"""What references by name mean in labels, which 3.0 wants: all of a resource or none.

On 2.x a name means one resource of the policy's own zone and namespace (nameref.py), or, spelled
as a service tag, the service of every zone (tagref.py). Labels mean every resource that has them
(matcher.md Traps 2).
"""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.dataclass import replace
from kumamigrate.model.resource import Resource, mappings
from kumamigrate.rewrite.references.oldrefs import (
    Meaning,
    Reference,
    is_tag_backend,
    references,
    tag_parts,
)
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import at_path


def meaning(
    view: View, owner: Resource, reference: Reference, *, as_tag: bool = True
) -> Meaning | str:
    """Return what a reference means in labels, or a sentence that says why that is not known.

    `as_tag`: where a name works both as a service tag and for real resources, what it means as
    a tag; else what it means once the mesh's mode is Exclusive.
    """
    found = _meaning(view, owner, reference, as_tag=as_tag)
    if isinstance(found, str) or not _is_sent_requests(view, owner, reference):
        return found
    return _unfit(view, owner, reference, found) or found


def hindered(view: View, owner: Resource) -> list[Reference]:
    """Return the references of a policy or route whose meaning in labels is not known."""
    return [one for one in references(owner) if isinstance(meaning(view, owner, one), str)]


def waiting_rules(view: View, owner: Resource) -> set[tuple[int, int | None]]:
    """Return the entries of `to`, and of routes their rules, that have such a reference.

    None stands for all rules: the entry itself refers to something that is not known.
    """
    return set(_places(owner, hindered(view, owner)))


def _places(owner: Resource, found: list[Reference]) -> Iterator[tuple[int, int | None]]:
    depth = len(owner.spec_path)
    for one in found:
        match one.path[depth:]:
            case ("to", int(at), "rules", int(number), *_):
                yield at, number
            case ("to", int(at), *_):
                yield at, None


def _is_sent_requests(view: View, owner: Resource, reference: Reference) -> bool:
    """Whether a backend gets requests, other than copies and those that a filter answers."""
    if view.target.subset_rules or not reference.backend or reference.path[-2] != "backendRefs":
        return False
    filters = at_path(owner.body, (*reference.path[:-2], "filters"))
    return not any(one.get("requestRedirect") for one in mappings(filters))


def _unfit(view: View, owner: Resource, reference: Reference, found: Meaning) -> str:
    """Return why the target sends a backend nothing, by what its port speaks."""
    from kumamigrate.rewrite.references.candidates import labelled, to_come
    from kumamigrate.rewrite.references.carried import not_carried  # only on the way to 3.0

    share = found.share
    if share is not None and share.manifest is not None:
        services = [replace(share.base, spec=share.manifest["spec"], body={})]
    else:
        kind = str(reference.ref.get("kind")).removesuffix("Subset")
        services = labelled(view, owner, kind, found.labels) or to_come(view, owner, found.labels)
    port = reference.ref.get("port") if found.port is None else found.port
    return not_carried(view, owner, services, port)


def _meaning(view: View, owner: Resource, reference: Reference, *, as_tag: bool) -> Meaning | str:
    from kumamigrate.rewrite.references.nameref import meaning_of_name  # where there is any
    from kumamigrate.rewrite.references.tagref import (
        meaning_of_subset,
        meaning_of_tag,
        meaning_of_tag_backend,
    )

    ref = reference.ref
    if ref.get("kind") == "MeshServiceSubset" and ref.get("tags"):
        return meaning_of_subset(view, owner, ref)
    if reference.backend and is_tag_backend(ref):
        return meaning_of_tag_backend(view, owner, ref)
    parts = tag_parts(ref) if not reference.top and not reference.backend else None
    if parts is not None:
        return meaning_of_tag(view, owner, parts)
    return meaning_of_name(view, owner, reference, as_tag=as_tag)
