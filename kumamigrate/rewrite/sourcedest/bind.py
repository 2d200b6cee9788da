"""Conversions as changes and findings of a rule: manifests in the form of what they replace."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kumamigrate.dataclass import replace
from kumamigrate.effective.policies.patched import PATCH, only_probes
from kumamigrate.model.kinds import OLD_POLICIES
from kumamigrate.model.resource import MESH, Form, Identity, Resource, mapping
from kumamigrate.model.versions import at_least
from kumamigrate.rewrite.change import Change, ResourceEdit
from kumamigrate.rewrite.commentplaces import carried, shared_fields, why
from kumamigrate.rewrite.finding import Finding, Safety, Status
from kumamigrate.rewrite.manifest import cut
from kumamigrate.rewrite.restraint import restrains
from kumamigrate.rewrite.siblings import inherited
from kumamigrate.rewrite.sourcedest.conversion import (
    Conversion,
    Dropped,
    Json,
    Manual,
    NewPolicy,
    named,
)
from kumamigrate.rewrite.sourcedest.convert import CONVERTERS
from kumamigrate.rewrite.sourcedest.known import KnownWorld, world_of
from kumamigrate.rewrite.sourcedest.notconverted import (
    INBOUND,
    names_inbounds,
    services_named,
)
from kumamigrate.rewrite.sourcedest.spare import spare_of, with_spare
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import FieldPath
from kumamigrate.sourcedest.admit import refusals_of
from kumamigrate.sourcedest.oldconf import read_conf

BOTH_ACT = ("HealthCheck", "TrafficLog", "ProxyTemplate")
"""Old kinds that act beside their successors (§3): both probe, both log, both patch."""
_SUCCESSORS: Mapping[str, tuple[str, ...]] = defaultdict(
    tuple,
    {
        "TrafficPermission": ("MeshTrafficPermission",),
        "Timeout": ("MeshTimeout",),
        "Retry": ("MeshRetry",),
        "CircuitBreaker": ("MeshCircuitBreaker",),
        "HealthCheck": ("MeshHealthCheck",),
        "FaultInjection": ("MeshFaultInjection",),
        "RateLimit": ("MeshRateLimit",),
        "TrafficLog": ("MeshAccessLog",),
        "TrafficTrace": ("MeshTrace",),
        "ProxyTemplate": ("MeshProxyPatch",),
    },
)
_LAST_OLD = "2.14"
"""The last release that has both engines; for a later target other rules go on from its form."""


def plan_kind(view: View, kind: str) -> Iterator[Change | Finding]:
    """Yield, for each mesh, one change that converts a whole old kind, or why it stays.

    `kind` is a key of `CONVERTERS`. In stage `expand` the old policies stay beside the new ones
    where that is safe; `contract` (and `auto`) take them away.
    """
    onward = at_least(view.target_name, "3.0")
    target = _LAST_OLD if onward else view.target_name
    for mesh in view.state.meshes():
        if doubles := _doubles(view, kind, mesh):
            yield from doubles
            continue
        world = world_of(
            view.state.mesh(mesh),
            mesh,
            target,
            onward=onward,
            on_word=view.rule.id in view.accepted,
            exported=view.exported,
        )
        again = _already(world, kind)
        done = again or with_spare(_or_why(CONVERTERS[kind](world), world), world)
        yield from _refused(view, world, kind)
        standing = _standing(view, again) if again is not None else None
        if standing is not None and view.stage == "expand":
            yield from _beside(view, standing)
            continue
        tries = _tries(view, world, done) if view.stage != "expand" else []
        yield from tries
        spare = {d.resource.identity for d in done.spare if view.owns(d.resource)}
        spare |= {f.resource.identity for one in tries for f in one.findings if f.resource}
        for said in _said(view, world, done):
            if said.resource is None or said.resource.identity not in spare:
                yield said
        if again is not None:
            yield from () if standing is None else (standing,)
        elif view.stage == "expand" and kind in BOTH_ACT and done.writable and done.policies:
            yield from _not_beside(view, world, kind)
        else:
            change = _spare(view, done) if done.spare else _change(view, world, done)
            if change is not None and not done.spare:
                rest = replace(done.instead or done, spare=spare_of(kind, world))
                change = replace(change, otherwise=_spare(view, rest))
            if change is not None:
                yield change
            elif not done.spare:
                yield from _elsewhere(view, done)


def _elsewhere(view: View, done: Conversion) -> Iterator[Finding]:
    """Yield why policies wait that could be converted: others of the kind are not in the files."""
    outside = [r for r in done.removed() if not view.owns(r)]
    if not done.writable or not outside:
        return
    names = named(sorted(r.name for r in outside))
    theirs = "which Kuma made with the mesh" if all(r.where is None for r in outside) else ""
    for policy in done.removed():
        if view.owns(policy):
            yield _finding(
                view,
                policy,
                f"it waits: the {done.kind} policies of a mesh are converted together, and {names}"
                f"{', ' + theirs + ',' if theirs else ''} would stay in force: not in these files",
                action="have Kuma's own in Git (--adopt-initial-policies DIR), or remove it first"
                if theirs
                else "bring it into these files, or remove it first",
            )


def _doubles(view: View, kind: str, mesh: str) -> list[Finding]:
    """Return why a kind stays of which a resource stands in several places: one of them is not
    in force, and where one went the other would take its place."""
    places: dict[Identity, list[Resource]] = {}
    for resource in view.state.of_type(kind.partition(".")[0]):
        if resource.mesh == mesh and resource.where is not None:
            places.setdefault(resource.identity, []).append(resource)
    return [
        _finding(
            view,
            again,
            f"it also stands at {view.locate(found[0], ())}, so no {kind} of mesh {mesh} is"
            " converted",
            action="remove one of the two",
        )
        for found in places.values()
        for again in found[1:]
    ]


def _not_beside(view: View, world: KnownWorld, kind: str) -> Iterator[Finding]:
    """Yield why policies of a kind are not written beside the old ones: both would act."""
    for policy in world.old.of(kind):
        yield _finding(
            view,
            policy,
            f"{kind} and its successor act side by side, so one takes the place of the other in"
            " one step, and stage expand leaves it",
            action="run with --stage auto when the step may be taken",
        )


def _beside(view: View, standing: Change) -> Iterator[Finding]:
    """Yield what is left to do where the successors stand beside the old policies."""
    for found in standing.findings:
        if found.resource is not None:
            yield _finding(
                view,
                found.resource,
                "its successor stands beside it",
                action="roll that out, then run with --stage contract",
            )


def _already(world: KnownWorld, kind: str) -> Conversion | None:
    """Return what the old policies of a kind would become if all of that stands there already.

    That is so after stage expand, and where some of a kind had to stay with the old engine.
    """
    present, done = _present(world, kind), _alone(world, kind)
    if done is None:
        return None
    there = [(r.type, r.spec) for r in present]
    if not done.writable or any((p.type, p.spec) not in there for p in done.policies):
        return None
    explained = {m.resource.identity for m in done.manual} | {r.identity for r in done.removed()}
    return done if all(p.identity in explained for p in world.old.of(kind)) else None


def _present(world: KnownWorld, kind: str) -> list[Resource]:
    """Return the policies of the new types that an old kind has become or may become."""
    present = [r for type_ in _SUCCESSORS[kind] for r in world.existing(type_)]
    if kind == "HealthCheck":
        present += [r for r in world.existing(PATCH) if only_probes(r)]
    return present


def _alone(world: KnownWorld, kind: str) -> Conversion | None:
    """Return what the old policies of a kind would become without the new ones that are there,
    None where none are."""
    present = _present(world, kind)
    if not present or not world.old.of(kind):
        return None
    hidden = {r.identity for r in present}
    rest = tuple(r for r in world.state.resources if r.identity not in hidden)
    return CONVERTERS[kind](replace(world, state=replace(world.state, resources=rest)))


def _or_why(done: Conversion, world: KnownWorld) -> Conversion:
    """Return a conversion; where a part of the kind stayed, with what it stayed for."""
    present = _present(world, done.kind) if not done.writable else []
    apart = names_inbounds(present) if done.kind in INBOUND else bool(services_named(present))
    why = _alone(world, done.kind) if present and apart else None
    if why is None or why.writable:
        return done
    return replace(done, manual=tuple(m for m in why.manual if m.blocking), ties=why.ties)


def _standing(view: View, done: Conversion) -> Change | None:
    """Return the removal of old policies whose successors stand there: after stage expand."""
    gone = [r for r in done.removed() if view.owns(r)]
    if not gone or len(gone) < len(done.removed()):
        return None
    stand = tuple(
        r.where
        for p in done.policies
        for r in view.state.of_type(p.type)
        if r.mesh == done.mesh and r.spec == p.spec and r.where is not None
    )
    edits = tuple(
        ResourceEdit(where=r.where, manifests=(), successors=stand) for r in gone if r.where
    )
    names = named(p.name for p in done.policies)
    reason = f"what takes its place stands already: {names}" if names else "it changes nothing"
    return Change(
        rule=view.rule.id,
        mesh=done.mesh,
        edits=edits,
        findings=tuple(_weighed(_finding(view, r, reason), done.dropped) for r in gone),
        group=f"{done.kind} {done.mesh}",
        steps=done.steps[-1:],
    )


def _refused(view: View, world: KnownWorld, kind: str) -> Iterator[Finding]:
    """Yield what control planes refuse: such a policy takes no part."""
    for policy in world.old.refused:
        if policy.type == kind:
            problems = refusals_of(policy) or (None,)
            why = problems[0].message if problems[0] else "it reaches an ExternalService"
            yield _finding(
                view,
                policy,
                f"control planes refuse it ({why}), so it takes no part and was not converted",
                action="repair it or delete it",
                path=problems[0].path if problems[0] else policy.spec_path,
            )


def _said(view: View, world: KnownWorld, done: Conversion) -> Iterator[Finding]:
    """Yield what asks for a decision about policies that stay."""
    gone = {r.identity for r in done.removed()} if done.writable else set()
    spoken: set[Any] = set()
    for item in done.manual:
        if item.blocking or item.resource.identity not in gone:
            spoken.add(item.resource.identity)
            yield _manual(view, item)
    for tie in (*done.ties, *done.left):
        names = " and ".join(dict.fromkeys(tie.names))
        if len(set(tie.names)) == 1:
            names = f"several policies named {names}"
        for policy in tie.policies:
            spoken.add(policy.identity)
            yield _finding(
                view,
                policy,
                f"{names} tie, and the one created later wins; Git does not say which",
                action="give an inventory with creation times (--inventory), or make one of them"
                " more specific",
            )
    for policy in world.old.of(done.kind):
        if policy.identity not in gone | spoken and view.owns(policy):
            yield _finding(
                view,
                policy,
                f"it waits: the {done.kind} policies of a mesh are converted together, and others"
                " of them need a decision",
                action=f"decide about the other {done.kind} policies of mesh {world.mesh} first",
            )


def _manual(view: View, item: Manual) -> Finding:
    return _finding(
        view,
        item.resource,
        item.message,
        action=item.action,
        path=(*item.resource.spec_path, *item.path),
    )


def _change(view: View, world: KnownWorld, done: Conversion) -> Change | None:
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
    edits = _told_once(_edit(view, world, done, resource) for resource in touched.values())
    going = {r.identity for r in done.removed()}
    stay = {r.identity for r in world.old.of(done.kind)} - going
    notes: dict[Identity, list[str]] = defaultdict(list)
    for item in done.manual:
        if not item.blocking and item.resource.identity not in stay:
            notes[item.resource.identity].append(item.message)
    assumed = tuple(f"assumed: {text}" for text in done.assumptions)
    findings = tuple(
        _weighed(
            _finding(
                view,
                r,
                _outcome(done, r),
                notes=(*notes[r.identity], *assumed, *_dropped_fields(r)),
            ),
            done.dropped,
        )
        for r in touched.values()
    )
    return Change(
        rule=view.rule.id,
        mesh=done.mesh,
        edits=edits,
        findings=findings,
        group=f"{done.kind} {done.mesh}",
        steps=done.steps,
    )


def _told_once(edits: Iterable[ResourceEdit]) -> tuple[ResourceEdit, ...]:
    """Return edits of which a file has each comment that says why once: above the first."""
    told: set[tuple[str, str]] = set()
    found = {}
    given = tuple(edits)
    for edit in sorted(given, key=lambda one: (one.where.path, one.where.document)):
        heads = []
        for head in edit.heads:
            known = (edit.where.path, head) in told
            told.add((edit.where.path, head))
            heads.append("" if known else head)
        found[edit.where] = replace(edit, heads=tuple(heads))
    return tuple(found[edit.where] for edit in given)


def _dropped_fields(resource: Resource) -> Iterator[str]:
    """Yield what Kuma never read of a conf, because whoever wrote it thinks that it works."""
    if resource.type not in OLD_POLICIES:
        return
    for path in read_conf(resource.type, resource.spec).unknown:
        yield f"{'.'.join(str(part) for part in path)} is no field that Kuma knows; it is left out"


def _spare(view: View, done: Conversion) -> Change | None:
    """Return the removal of what changes nothing, while the rest of the kind stays."""
    spare = [d for d in done.spare if view.owns(d.resource) and d.resource.where is not None]
    if not spare:
        return None
    edits = tuple(
        ResourceEdit(where=d.resource.where, manifests=()) for d in spare if d.resource.where
    )
    findings = tuple(
        _weighed(_finding(view, d.resource, f"removed: {d.reason}"), spare) for d in spare
    )
    return Change(
        rule=view.rule.id,
        mesh=done.mesh,
        edits=edits,
        findings=findings,
        group=f"{done.kind} {done.mesh}",
    )


def _tries(view: View, world: KnownWorld, done: Conversion) -> list[Change]:
    """Return what may hold beside new policies of the mesh, each the other form of the one before:
    a conversion that leaves services to those, the removal of what says nothing any more, a
    conversion as if there were none."""
    removals = list(_perhaps(view, done))
    alone = _alone(world, done.kind) if done.perhaps else None
    first, last = (_form(view, world, one) for one in (done.beside, alone))
    if first is None and last is None:
        return removals
    instead = tuple(_manual(view, m) for m in done.manual if view.owns(m.resource))
    form: Change | None = None
    for other in (last, *reversed(removals), first):
        form = form if other is None else replace(other, instead=instead, otherwise=form)
    return [form] if form is not None else []


def _form(view: View, world: KnownWorld, done: Conversion | None) -> Change | None:
    """Return a conversion as a change, None where it writes nothing, or a name that is taken."""
    there = {(r.type, r.name) for r in _present(world, done.kind)} if done else set()
    if done is None or not done.policies or any((p.type, p.name) in there for p in done.policies):
        return None
    return _change(view, world, done)


def _perhaps(view: View, done: Conversion) -> Iterator[Change]:
    """Yield the removal of each policy that may say nothing any more; whether, the proof tells.

    Not of one that stayed for a tie: who wins is open, so nothing tells what it says.
    """
    said = {m.resource.identity: m for m in done.manual}
    for one in done.perhaps:
        policy = one.resource
        if policy.identity in said and view.owns(policy) and policy.where is not None:
            gone = _weighed(_finding(view, policy, f"removed: {one.reason}"), [one])
            yield Change(
                rule=view.rule.id,
                mesh=done.mesh,
                edits=(ResourceEdit(where=policy.where, manifests=()),),
                findings=(gone,),
                group=f"{done.kind} {done.mesh}",
                instead=(_manual(view, said[policy.identity]),),
            )


def _edit(view: View, world: KnownWorld, done: Conversion, resource: Resource) -> ResourceEdit:
    assert resource.where is not None
    new = [p for p in done.policies if p.home.identity == resource.identity]
    manifests: list[Any] = [manifest(p, world, view) for p in new]
    heads = [why(policy) for policy in new]
    shared: tuple[FieldPath, ...] = ()
    stays = resource.type == "Mesh" or any(k.identity == resource.identity for k in done.kept)
    if view.stage == "expand" and any(resource in (p.home, *p.sources) for p in done.policies):
        stays = True
    if stays:
        fields = [d.path for d in done.dropped if d.resource.identity == resource.identity]
        body: Any = resource.body
        for path in fields if view.stage != "expand" else ():
            body = cut(body, (*resource.spec_path, *path))
        roots = fields if resource.type == "Mesh" else [("conf",)]
        manifests = [body, *(_carried(m, resource, roots) for m in manifests)]
        heads = ["", *heads]
    elif manifests:
        several = len(manifests) > 1
        shared = shared_fields(resource) if several else ()
        manifests[0] = _carried(manifests[0], resource, [("conf",)], alone=not several)
    return ResourceEdit(
        where=resource.where, manifests=tuple(manifests), heads=tuple(heads), shared=shared
    )


def _carried(
    written: Json, home: Resource, roots: Iterable[FieldPath], *, alone: bool = True
) -> Json:
    return {**written, "spec": carried(written["spec"], home, roots, alone=alone)}


def manifest(policy: NewPolicy, world: KnownWorld, view: View) -> Json:
    """Return the manifest of a new policy in the form of its home.

    Old kinds are cluster-scoped on Kubernetes; their successors stand in the system namespace
    with the label of their mesh.
    """
    home = policy.home
    if home.form is Form.UNIVERSAL:
        kept = _labels(home.body.get("labels"))
        written: Json = {"labels": kept} if kept else {}
        new: Json = {
            "type": policy.type,
            "name": policy.name,
            "mesh": world.mesh,
            **written,
            "spec": policy.spec,
        }
        order = [key for key in home.body if key in new]
        return {key: new[key] for key in (*order, *(k for k in new if k not in order))}
    old = mapping(home.body.get("metadata"))
    labels = {**_labels(old.get("labels")), MESH: world.mesh}
    # A Mesh stays, and keeps its annotations for itself.
    notes = inherited(old.get("annotations")) if home.type != "Mesh" else {}
    notes.pop(MESH, None)  # a label now
    return {
        "apiVersion": "kuma.io/v1alpha1",
        "kind": policy.type,
        "metadata": {
            "name": policy.name,
            "namespace": view.environment.system_namespace,
            "labels": labels,
            **({"annotations": notes} if notes else {}),
        },
        "spec": policy.spec,
    }


def _labels(value: Any) -> dict[str, str]:
    return dict(value) if isinstance(value, Mapping) else {}


def _outcome(done: Conversion, resource: Resource) -> str:
    for item in done.dropped:
        if item.resource.identity == resource.identity:
            what = ".".join(str(part) for part in item.path)
            return f"{what + ': ' if what else ''}{item.reason}"
    names = [f"{p.type} {p.name}" for p in done.policies if resource in (p.home, *p.sources)]
    return f"becomes {', '.join(names)}"


def _weighed(finding: Finding, dropped: Iterable[Dropped]) -> Finding:
    """Return a finding that asks for a look where what denies or limits goes without successor."""
    gone = (d.resource.identity for d in dropped if not d.path)
    resource = finding.resource
    if resource is None or not restrains(resource) or resource.identity not in gone:
        return finding
    said = finding.message.removeprefix("removed: ")
    message = f"it would be removed: {said}; what denies or limits goes only on your word"
    return replace(finding, safety=Safety.REVIEW, message=message)


def _finding(
    view: View,
    resource: Resource,
    message: str,
    *,
    action: str = "",
    path: tuple[str | int, ...] = (),
    notes: tuple[str, ...] = (),
) -> Finding:
    return Finding(
        rule=view.rule.id,
        resource=resource,
        path=path,
        message=message,
        action=action,
        status=Status.MANUAL if action else Status.PENDING,
        safety=Safety.MANUAL if action else view.rule.safety,
        danger=view.rule.danger,
        notes=notes,
    )
