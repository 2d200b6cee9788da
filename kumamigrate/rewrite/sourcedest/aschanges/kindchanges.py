"""A conversion as changes: the whole kind, what goes without a successor, forms to be tried."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from kumamigrate.dataclass import replace
from kumamigrate.model.kinds import OLD_POLICIES
from kumamigrate.model.resource import Identity, Resource
from kumamigrate.rewrite.change import Change, ResourceEdit
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.sourcedest.aschanges.kindedits import edit_of, told_once
from kumamigrate.rewrite.sourcedest.aschanges.kindfindings import (
    finding_about,
    manual_finding,
    weighed,
)
from kumamigrate.rewrite.sourcedest.aschanges.successorsthere import as_if_alone, successors_there
from kumamigrate.rewrite.sourcedest.conversion import Conversion, named
from kumamigrate.rewrite.sourcedest.known import KnownWorld
from kumamigrate.rewrite.view import View
from kumamigrate.sourcedest.oldconf import read_conf


def conversion_change(view: View, world: KnownWorld, done: Conversion) -> Change | None:
    """Return the edits of a conversion: new policies in the place of the old, the rest removed."""
    if not done.writable or not (done.policies or done.dropped):
        return None
    gone = [r for r in done.removed() if view.owns(r)]
    if len(gone) < len(done.removed()):
        return None  # an old policy outside the repository would stay and change the outcome
    homes = {p.home.identity: p.home for p in done.policies}
    touched = {**homes, **{r.identity: r for r in gone}}
    # What a Mesh outside of the files says, nobody reads then; it stays until it is one of them.
    touched |= {d.resource.identity: d.resource for d in done.dropped if view.owns(d.resource)}
    if not touched:
        return None
    edits = told_once(edit_of(view, world, done, resource) for resource in touched.values())
    going = {r.identity for r in done.removed()}
    stay = {r.identity for r in world.old.of(done.kind)} - going
    notes: dict[Identity, list[str]] = defaultdict(list)
    for item in done.manual:
        if not item.blocking and item.resource.identity not in stay:
            notes[item.resource.identity].append(item.message)
    assumed = tuple(f"assumed: {text}" for text in done.assumptions)
    findings = tuple(
        weighed(
            finding_about(
                view,
                r,
                _outcome(done, r),
                notes=(*notes[r.identity], *assumed, *_dropped_fields(r)),
            ),
            done.dropped,
        )
        for r in touched.values()
    )
    return _change(view, done, edits, findings, done.steps)


def only_fields(done: Conversion) -> bool:
    """Say whether nothing comes of a conversion but that fields of the Mesh go."""
    return bool(done.dropped) and not done.policies and all(d.path for d in done.dropped)


def _dropped_fields(resource: Resource) -> Iterator[str]:
    """Yield what Kuma never read of a conf, because whoever wrote it thinks that it works."""
    if resource.type not in OLD_POLICIES:
        return
    for path in read_conf(resource.type, resource.spec).unknown:
        yield f"{'.'.join(str(part) for part in path)} is no field that Kuma knows; it is left out"


def _outcome(done: Conversion, resource: Resource) -> str:
    for item in done.dropped:
        if item.resource.identity == resource.identity:
            what = ".".join(str(part) for part in item.path)
            return f"{what + ': ' if what else ''}{item.reason}"
    names = [f"{p.type} {p.name}" for p in done.policies if resource in (p.home, *p.sources)]
    return f"becomes {', '.join(names)}"


def replaced_removed(view: View, world: KnownWorld, done: Conversion) -> Change | None:
    """Return the removal of old policies, or of a field of the Mesh, whose successors stand there:
    after stage expand."""
    gone = [r for r in done.removed() if view.owns(r)]
    cut = [d for d in done.dropped if d.path and view.owns(d.resource)]
    if not (gone or cut) or len(gone) < len(done.removed()):
        return None
    stand = tuple(
        r.where
        for p in done.policies
        for r in view.state.of_type(p.type)
        if r.mesh == done.mesh and r.spec == p.spec and r.where is not None
    )
    edits = (
        *(ResourceEdit(where=r.where, manifests=(), successors=stand) for r in gone if r.where),
        *(edit_of(view, world, replace(done, policies=()), one.resource) for one in cut),
    )
    names = named(p.name for p in done.policies)
    reason = f"what takes its place stands already: {names}" if names else "it changes nothing"
    findings = [weighed(finding_about(view, r, reason), done.dropped) for r in gone]
    for one in cut:
        path = (*one.resource.spec_path, *one.path)
        findings.append(finding_about(view, one.resource, reason, path=path))
    return _change(view, done, edits, findings, done.steps[-1:])


def spare_removed(view: View, done: Conversion) -> Change | None:
    """Return the removal of what changes nothing, while the rest of the kind stays."""
    spare = [d for d in done.spare if view.owns(d.resource) and d.resource.where is not None]
    if not spare:
        return None
    edits = tuple(
        ResourceEdit(where=d.resource.where, manifests=()) for d in spare if d.resource.where
    )
    findings = tuple(
        weighed(finding_about(view, d.resource, f"removed: {d.reason}"), spare) for d in spare
    )
    return _change(view, done, edits, findings)


def tried_forms(view: View, world: KnownWorld, done: Conversion) -> list[Change]:
    """Return what may hold beside new policies of the mesh, each the other form of the one before:
    a conversion that leaves services to those, the removal of what says nothing any more, a
    conversion as if there were none."""
    removals = list(_perhaps(view, done))
    alone = as_if_alone(world, done.kind) if done.perhaps else None
    first, last = (_form(view, world, one) for one in (done.beside, alone))
    if first is None and last is None:
        return removals
    instead = tuple(manual_finding(view, m) for m in done.manual if view.owns(m.resource))
    form: Change | None = None
    for other in (last, *reversed(removals), first):
        form = form if other is None else replace(other, instead=instead, otherwise=form)
    return [form] if form is not None else []


def _form(view: View, world: KnownWorld, done: Conversion | None) -> Change | None:
    """Return a conversion as a change, None where it writes nothing, or a name that is taken."""
    there = {(r.type, r.name) for r in successors_there(world, done.kind)} if done else set()
    if done is None or not done.policies or any((p.type, p.name) in there for p in done.policies):
        return None
    return conversion_change(view, world, done)


def _perhaps(view: View, done: Conversion) -> Iterator[Change]:
    """Yield the removal of each policy that may say nothing any more; whether, the proof tells.

    Not of one that stayed for a tie: who wins is open, so nothing tells what it says.
    """
    said = {m.resource.identity: m for m in done.manual}
    for one in done.perhaps:
        policy = one.resource
        if policy.identity in said and view.owns(policy) and policy.where is not None:
            gone = weighed(finding_about(view, policy, f"removed: {one.reason}"), [one])
            edit = ResourceEdit(where=policy.where, manifests=())
            instead = (manual_finding(view, said[policy.identity]),)
            yield replace(_change(view, done, (edit,), (gone,)), instead=instead)


def _change(
    view: View,
    done: Conversion,
    edits: Iterable[ResourceEdit],
    findings: Iterable[Finding],
    steps: tuple[str, ...] = (),
) -> Change:
    """Return edits of one old kind of a mesh as a change: they hold together or not at all."""
    return Change(
        rule=view.rule.id,
        mesh=done.mesh,
        edits=tuple(edits),
        findings=tuple(findings),
        group=f"{done.kind} {done.mesh}",
        steps=steps,
    )
