"""Reads a repository whole and finds its environments: the estate that a run works on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from kumamigrate.dataclass import replace
from kumamigrate.deployment.environment import Deployment, matches
from kumamigrate.deployment.tree import SHAPING, Tree
from kumamigrate.inventory import Inventory, load_inventory
from kumamigrate.model.kinds import KUBERNETES
from kumamigrate.model.resource import Identity
from kumamigrate.model.state import Environment
from kumamigrate.pattern import pattern
from kumamigrate.scene.loadfiles import FileContents, contents_of, load_repository, repository_of
from kumamigrate.scene.repository import Repository
from kumamigrate.scene.scene import JOBS, Scene
from kumamigrate.scene.worlds import at_home
from kumamigrate.source.reading.seen import digest_of
from kumamigrate.source.text import Reason, Refusal
from kumamigrate.world.estate import Estate, Site, single, site_of
from kumamigrate.world.options import Options, releases_of
from kumamigrate.world.scope import Extent, Scope

_OURS = pattern(rb'\s{0,9}\{\s{0,9}"schema":\s{0,9}"kumamigrate\.')


def scene_of(paths: Sequence[Path], root: Path, options: Options) -> Scene:
    """Read repository and inventory as one environment. Raises UsageError for unknown releases."""
    inventory = load_inventory(options.inventory)
    repository = load_repository(paths, root, inventory=inventory.resources)
    return _begun(repository, inventory, options)


def _begun(repository: Repository, inventory: Inventory, options: Options) -> Scene:
    """Return the scene that a run begins with."""
    source, target = releases_of(options)
    return Scene(
        repository=repository,
        inventory=inventory.resources,
        exports=inventory.exports,
        environment=at_home(options.environment, inventory.resources),
        source=source,
        target=target,
        owned=frozenset(resource.identity for resource in repository.resources),
        made=tuple(r for r in repository.resources if r.type == "Mesh"),
        kept={JOBS: options.jobs},
    )


def contents_in(scope: Scope, options: Options) -> FileContents:
    """Return the files that a run reads, but for those that the settings leave out."""
    read, stays = contents_of(scope.read, scope.root), _stays(scope.root, options)
    return FileContents(
        files={p: data for p, data in read.files.items() if stays(p) and not _ours(p, data)},
        refusals=[one for one in read.refusals if stays(one.path)],
        beside={path: data for path, data in read.beside.items() if stays(path)},
        scripts={path: data for path, data in read.scripts.items() if stays(path)},
    )


def survey(
    scope: Scope,
    options: Options,
    contents: FileContents,
    more: Mapping[str, bytes] = MappingProxyType({}),
) -> Estate:
    """Return all that a run reads, and `more` files that are not written yet.

    Raises UsageError for settings that cannot be.
    """
    if scope.world is Extent.NAMED:
        # The settings speak of the repository, and this is a part of it, or none.
        options = replace(options, environments=())
    files, root = {**contents.files, **more}, scope.root
    estate = estate_of(files, contents.refusals, root, options, disk=root, scope=scope)
    return replace(estate, beside=contents.beside, scripts=contents.scripts)


def survey_again(
    tree: Estate,
    contents: Mapping[str, bytes],
    refusals: Iterable[Refusal],
    options: Options,
    beside: Mapping[str, bytes],
) -> Estate:
    """Return other files, of a revision of Git, in the environments of an estate; `beside` are
    those of other languages."""
    root = tree.whole.repository.root
    stays = _stays(root, options)
    kept = {path: data for path, data in contents.items() if stays(path)}
    left = [one for one in refusals if stays(one.path)]
    deployments = [site.deployment for site in tree.sites]
    estate = estate_of(kept, left, root, options, disk=None, deployments=deployments)
    return replace(estate, beside={path: data for path, data in beside.items() if stays(path)})


def estate_of(
    contents: Mapping[str, bytes],
    refusals: Iterable[Refusal],
    root: Path,
    options: Options,
    *,
    disk: Path | None,
    scope: Scope | None = None,
    deployments: Sequence[Deployment] | None = None,
) -> Estate:
    """Return some files with the environments that the settings or the layout tell of.

    `disk` is where files that builds need beside them lie (None: nowhere). With `deployments`
    nothing is looked for: these are the environments.
    """
    inventory = load_inventory(options.inventory)
    repository = repository_of(
        contents, root=root, refusals=refusals, inventory=inventory.resources
    )
    whole = _begun(repository, inventory, options)
    tree = Tree(files=contents, root=disk)
    strays: tuple[str, ...] = ()
    if deployments is None and options.environments:
        deployments = options.environments
    elif deployments is None:
        deployments, strays = _found(_standing(repository), tree)
    estate = replace(single(whole), tree=tree, strays=strays)
    if not (len(deployments) == 1 and _is_plain(deployments[0], tree)):
        estate = _of_environments(estate, deployments, options)
        if scope is not None:
            from kumamigrate.world.overlap import check_environments

            check_environments(estate.sites, repository, tree)
    writable = None
    if scope is not None:
        writable = frozenset(p for p in estate.whole.repository.files if scope.allows(p))
    return replace(estate, writable=writable, scope=scope)


_PLAIN = Deployment(name="", include=("**",), found=True)
"""All files, applied as they are."""


def _found(
    standing: Mapping[str, Collection[Identity]], tree: Tree
) -> tuple[Sequence[Deployment], tuple[str, ...]]:
    """Return the environments that the layout tells of, and what is in none of them.

    Where no file says how others hang together and no identity stands in two folders, nothing
    tells of several: most repositories, and all single files, are so.
    """
    if not _shaped(tree) and not _repeated(standing):
        return (_PLAIN,), ()
    from kumamigrate.deployment.discover import discover
    from kumamigrate.deployment.installs import with_charts

    found = discover(standing, tree)
    return with_charts(found.deployments, tree), found.strays


def _shaped(tree: Tree) -> bool:
    return any(path.rpartition("/")[2] in SHAPING for path in tree.files)


def _repeated(standing: Mapping[str, Collection[Identity]]) -> bool:
    """Say whether one identity stands in two folders."""
    folders: dict[Identity, str] = {}
    return any(
        folders.setdefault(identity, folder) != folder
        for path, identities in standing.items()
        for folder in (path.rpartition("/")[0],)
        for identity in identities
    )


def _of_environments(estate: Estate, deployments: Sequence[Deployment], options: Options) -> Estate:
    """Return an estate whose sources are applied as some environments say."""
    whole = estate.whole
    strays = tuple(_stray(path, estate) for path in estate.strays)
    sites = tuple(_site(one, estate, options, strays) for one in deployments)
    applied = frozenset(path for site in sites for path in site.rendering.manifests)
    plain = tuple(s.rendering.manifests for s in sites if not s.rendering.built)
    refusals = dict.fromkeys(
        refusal
        for site in sites
        for refusal in (
            site.applied.repository.unread
            if site.rendering.built
            else site.written.repository.refusals
        )
    )
    repository = replace(whole.repository.only(applied, refusals), apart=plain)
    return replace(estate, whole=replace(whole, repository=repository), sites=sites)


def _site(
    deployment: Deployment, estate: Estate, options: Options, strays: Iterable[Refusal]
) -> Site:
    facts, asked = deployment.facts, options.environment
    environment = Environment(
        mode=facts.control_plane_mode or asked.mode,
        zone=facts.zone or asked.zone,
        system_namespace=facts.system_namespace or asked.system_namespace,
        mesh_services=facts.mesh_services or asked.mesh_services,
        initial_policies=facts.initial_policies or asked.initial_policies,
    )
    inventory = estate.inventory
    if deployment.inventory:
        inventory = load_inventory((*options.inventory, *deployment.inventory))
    return site_of(
        deployment,
        estate.whole,
        estate.tree,
        environment=at_home(environment, inventory.resources),
        inventory=inventory,
        strays=strays,
    )


def _standing(repository: Repository) -> dict[str, Collection[Identity]]:
    """Return the identities of Kuma's resources by file."""
    found: dict[str, set[Identity]] = {}
    for resource in repository.resources:
        if resource.where is not None and resource.type not in KUBERNETES:
            identity = resource.identity
            found.setdefault(resource.where.path, set()).add(identity)
    return dict(found)


def _is_plain(deployment: Deployment, tree: Tree) -> bool:
    """Say whether all files are applied as they are."""
    return deployment == _PLAIN and not _shaped(tree)


def _stray(path: str, estate: Estate) -> Refusal:
    resources = [r for r in estate.whole.repository.resources if r.where and r.where.path == path]
    first = resources[0]
    meshes = {r.mesh or (r.name if r.type == "Mesh" else "") for r in resources}
    return Refusal(
        path=path,
        line=first.where.line if first.where is not None else 1,
        column=1,
        reason=Reason.NOT_APPLIED,
        detail=f"no kustomization lists it, so nobody knows whether {first.type} {first.name}"
        " is applied",
        advice="list it, or leave it out with `exclude` in kumamigrate.toml",
        hides=True,
        mesh=meshes.pop() if len(meshes) == 1 else "",
        kind=first.type if len({r.type for r in resources}) == 1 else "",
        digest=digest_of(estate.tree.read(path) or b""),
    )


def _stays(root: Path, options: Options) -> Callable[[str], bool]:
    """Return what says of a file whether the settings leave it in, and it is no inventory."""
    home = options.home.resolve() if options.home is not None else root
    prefix = ""
    if root != home and root.is_relative_to(home):
        prefix = f"{root.relative_to(home).as_posix()}/"
    exports = tuple(_inside(inventories(options), root))
    return lambda path: not (matches(prefix + path, options.exclude) or matches(path, exports))


def _ours(path: str, data: bytes) -> bool:
    """Say whether a file is a report, a plan or a baseline of this tool: it speaks of resources,
    and is none."""
    return path.endswith(".json") and _OURS.match(data) is not None


def inventories(options: Options) -> Iterator[Path]:
    """Yield the inventories of all control planes."""
    yield from options.inventory
    for deployment in options.environments:
        yield from deployment.inventory


def _inside(paths: Iterable[Path], root: Path) -> Iterator[str]:
    """Yield what an inventory within the repository is called there: it is no source."""
    for path in paths:
        real = path.resolve()
        if real != root and real.is_relative_to(root):
            yield real.relative_to(root).as_posix()
