"""All that a run reads: the sources, and what each environment's control plane gets of them.

A source may serve several environments. Rules plan on the sources of each, and a change holds
when it holds in every environment that what it edits is a part of (world.md §3).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from kumamigrate.dataclass import dataclass, field, replace
from kumamigrate.deployment.environment import Deployment
from kumamigrate.deployment.rendering import Rendering
from kumamigrate.deployment.tree import Tree
from kumamigrate.inventory import Inventory
from kumamigrate.model.resource import Form, Identity, Resource, Where
from kumamigrate.model.state import Environment
from kumamigrate.rewrite.change import Change
from kumamigrate.scene.loadfiles import repository_of
from kumamigrate.scene.repository import Repository
from kumamigrate.scene.scene import Scene
from kumamigrate.source.reading.seen import digest_of
from kumamigrate.source.text import Reason, Refusal
from kumamigrate.world.scope import Scope


@dataclass(frozen=True, kw_only=True)
class Site:
    """One environment of an estate.

    `written` is made of its sources as they lie there, `applied` of what its control plane
    gets; they are one scene where nothing is built. `beside` is what cannot be read of it, but
    for what keeps it from being built.
    """

    deployment: Deployment
    rendering: Rendering
    written: Scene
    applied: Scene
    beside: tuple[Refusal, ...] = ()

    @property
    def name(self) -> str:
        """Return what the environment is called, empty where there is only one."""
        return self.deployment.name


@dataclass(frozen=True, kw_only=True)
class Estate:
    """Sources, and the environments that they are applied to.

    `whole` is the scene of all sources that belong to an environment, for places and texts;
    `tree` holds all files, also those without a manifest; `scope` is what was asked for,
    `writable` says which files may be edited (None: all). `strays` are files with Kuma's
    resources that nobody is known to apply, `beside` those of other languages that may hold
    some, `scripts` those that may call kumactl. `said` is what rules said of it last.
    """

    whole: Scene
    sites: tuple[Site, ...]
    tree: Tree = field(default_factory=lambda: Tree(files={}))
    scope: Scope | None = None
    writable: frozenset[str] | None = None
    strays: tuple[str, ...] = ()
    beside: Mapping[str, bytes] = field(default_factory=dict, compare=False, repr=False)
    scripts: Mapping[str, bytes] = field(default_factory=dict, compare=False, repr=False)
    kept: dict[int, frozenset[str]] = field(
        init=False, default_factory=dict, compare=False, repr=False
    )
    said: dict[str, Any] = field(init=False, default_factory=dict, compare=False, repr=False)

    @property
    def texts(self) -> Mapping[str, bytes]:
        """Return the files that may name kinds without being manifests, and all others."""
        read = {path: data for path, data in self.tree.files.items() if data is not None}
        return {**self.whole.repository.data, **read, **self.scripts}

    @property
    def inventory(self) -> Inventory:
        """Return what was exported of all control planes alike."""
        return Inventory(resources=self.whole.inventory, exports=self.whole.exports)

    @property
    def editable(self) -> frozenset[str]:
        """Return the files that rules may change."""
        own = frozenset(self.whole.repository.files)
        return own if self.writable is None else own & self.writable

    def editable_of(self, site: Site) -> frozenset[str]:
        """Return those that are sources of one of its environments. Every rule asks for them."""
        if id(site) not in self.kept:
            self.kept[id(site)] = self.editable & site.written.repository.files.keys()
        return self.kept[id(site)]

    def edited(self, texts: Mapping[str, str | None]) -> Estate | tuple[Refusal, ...]:
        """Return the estate with some files changed (None removes one), or what forbids it.

        What has to move along does; a build that fails, before or after, forbids the edit.
        """
        whole = self.whole.repository.with_texts(texts)
        edits: dict[str, bytes | None] = {
            p: whole.files[p].render() if p in whole.files else None for p in texts
        }
        shut = [
            r for site in self.sites for path in edits for r in site.rendering.shut.get(path, ())
        ]
        if shut:
            return tuple(dict.fromkeys(shut))
        from kumamigrate.deployment.follow import follow

        followed = follow(self.tree, edits)
        outside = tuple(self._outside(path) for path in followed.files if not self._may(path))
        if followed.refusals or outside:
            return (*followed.refusals, *outside)
        edits |= followed.files
        more = {p: data.decode() for p, data in followed.files.items() if p in whole.files}
        whole = whole.with_texts(more) if more else whole
        tree = self.tree.edited(edits)
        scene = replace(self.whole, repository=whole, states={})
        sites, refusals = [], list[Refusal]()
        for site in self.sites:
            after = _again(site, self.whole, scene, tree, edits)
            known = {_bare(one) for one in site.rendering.refusals}
            refusals += [r for r in after.rendering.refusals if _bare(r) not in known]
            sites.append(after)
        refusals += self._broken(tree, edits)
        if refusals:
            return tuple(dict.fromkeys(refusals))
        return replace(self, whole=scene, sites=tuple(sites), tree=tree)

    def _broken(self, after: Tree, edits: Collection[str]) -> Iterator[Refusal]:
        """Yield the builds that would not succeed any more, of kustomizations that belong to no
        environment: nobody's build may break."""
        built = frozenset().union(*(site.rendering.sources for site in self.sites))
        from kumamigrate.deployment.filegraph import layout_of
        from kumamigrate.deployment.kustomize import build

        layout = layout_of(after)
        for folder in layout.roots:
            closure = layout.closures[folder]
            if closure.parts[0].path not in built and not closure.files.isdisjoint(edits):
                yield from set(build(folder, after).refusals) - set(
                    build(folder, self.tree).refusals
                )

    def _may(self, path: str) -> bool:
        return self.scope is None or self.scope.allows(path)

    def _outside(self, path: str) -> Refusal:
        return Refusal(
            path=path,
            line=1,
            column=1,
            reason=Reason.OUTSIDE_ROOT,
            detail="has to change together with it, and is not among the paths given",
            advice="give its path as well",
        )


def single(scene: Scene) -> Estate:
    """Return a scene as an estate of one environment, to which all of it is applied."""
    paths = frozenset(scene.repository.files)
    rendering = Rendering(files=scene.repository.data, manifests=paths, sources=paths)
    site = Site(
        deployment=Deployment(name="", include=("**",), found=True),
        rendering=rendering,
        written=scene,
        applied=scene,
    )
    return Estate(whole=scene, sites=(site,), tree=Tree(files=scene.repository.data))


def apply(estate: Estate, changes: Iterable[Change]) -> Estate | tuple[Refusal, ...]:
    """Return the estate with the changes written into its texts, or what forbids that."""
    from kumamigrate.scene.patching import patched  # no check edits, and it is slow to import

    texts = patched(estate.whole.repository, changes)
    return texts if isinstance(texts, tuple) else estate.edited(texts)


def site_of(
    deployment: Deployment,
    whole: Scene,
    tree: Tree,
    *,
    environment: Environment,
    inventory: Inventory,
    strays: Iterable[Refusal] = (),
) -> Site:
    """Return one environment of some sources. `strays` may be a part of it or not."""
    sources = whole.repository
    unreadable = (r for r in sources.refusals if deployment.holds(r.path))
    rendering = _render(deployment, tree)
    scene = replace(
        whole,
        environment=environment,
        inventory=inventory.resources,
        exports=inventory.exports,
    )
    site = Site(
        deployment=deployment,
        rendering=rendering,
        written=scene,
        applied=scene,
        beside=(*unreadable, *strays),
    )
    begun = _rendered(site, rendering, sources)
    written, applied = (
        replace(s, owned=_identities(s), made=_meshes(s)) for s in (begun.written, begun.applied)
    )
    return replace(begun, written=written, applied=applied if rendering.built else written)


def _identities(scene: Scene) -> frozenset[Identity]:
    return frozenset(resource.identity for resource in scene.repository.resources)


def _meshes(scene: Scene) -> tuple[Resource, ...]:
    return tuple(r for r in scene.repository.resources if r.type == "Mesh")


def _rendered(site: Site, rendering: Rendering, sources: Repository) -> Site:
    """Return an environment as another rendering has it."""
    refusals = (*site.beside, *rendering.refusals)
    own = sources.only(rendering.manifests, refusals)
    if not rendering.built:
        written = replace(site.written, repository=own, states={})
        return replace(site, rendering=rendering, written=written, applied=written)
    built = repository_of(rendering.files, root=sources.root, refusals=refusals, known=sources)
    own = own.in_namespaces(_namespaces(built, rendering))
    written = replace(site.written, repository=own, states={})
    built = built.standing_at(lambda one: _home(one, rendering))
    applied = replace(site.applied, repository=built, sources=own, states={})
    return replace(site, rendering=rendering, written=written, applied=applied)


def _render(deployment: Deployment, tree: Tree) -> Rendering:
    """Return what an environment gets of some files. What builds it is not imported before."""
    from kumamigrate.deployment.rendered import render

    return _told_apart(render(deployment, tree), tree)


def _told_apart(rendering: Rendering, tree: Tree) -> Rendering:
    """Return a rendering in which why a build failed says of which sources that is: what these
    come to is not known, so the same sources have to be the same.

    What only a program that is missing could tell says nothing of the kind: those sources count
    as they stand, apart from what templates fill in.
    """
    told = []
    for refusal in rendering.refusals:
        sources = sorted(path for path, why in rendering.shut.items() if refusal in why)
        parts = [part for p in sources for part in (p.encode(), tree.read(p) or b"")]
        told.append(replace(refusal, digest=digest_of(*parts)) if sources else refusal)
    return replace(rendering, refusals=tuple(told))


def _bare(refusal: Refusal) -> Refusal:
    return replace(refusal, digest="")


def _namespaces(built: Repository, rendering: Rendering) -> dict[Where, str]:
    """Return the namespaces in which sources end up, by place, where it is one."""
    found: dict[Where, set[str]] = {}
    for resource in built.resources:
        home = _home(resource, rendering)
        if home is not None and resource.form is Form.KUBERNETES:
            found.setdefault(home, set()).add(resource.namespace)
    return {home: names.pop() for home, names in found.items() if len(names) == 1}


def _home(built: Resource, rendering: Rendering) -> Where | None:
    """Return where the source of a built resource stands."""
    where = built.where
    if where is None:
        return None
    return rendering.origins.get((where.path, where.document), where)


def _again(site: Site, old: Scene, new: Scene, tree: Tree, edits: Collection[str]) -> Site:
    """Return an environment after some edits: the same one where they are no part of it."""
    if site.rendering.sources.isdisjoint(edits):
        return site
    if site.written is old:
        return replace(site, written=new, applied=new)
    rendering = site.rendering
    if rendering.built:
        rendering = _render(site.deployment, tree)
    return _rendered(site, rendering, new.repository)
