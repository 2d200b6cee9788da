"""Labels that select exactly the proxies and inbounds that tags select today (product.md §1 law 4).

In order of trust: labels that mirror the tags on every known proxy, the selector of the Kubernetes
Service behind a service tag, labels that happen to select the same known proxies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from itertools import chain, combinations
from typing import Any

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.model.release import Release
from kumamigrate.model.resource import ENV, NAMESPACE, SERVICE, ZONE, Form, Resource
from kumamigrate.model.state import State
from kumamigrate.model.targetref import TargetRef, read_target_ref
from kumamigrate.model.workloads import implied_dataplanes
from kumamigrate.rewrite.references.lookups import destinations_named
from kumamigrate.targetref.select import (
    NOTHING,
    Proxy,
    Reach,
    Selector,
    passes_gates,
    proxy_of,
    reach,
    selector_of,
)

MOST_LABELS = 3
WORKLOAD = "kuma.io/workload"
_ONLY_TAGS = frozenset(
    {
        SERVICE,
        "kuma.io/protocol",
        "kuma.io/instance",
        "k8s.kuma.io/service-name",
        "k8s.kuma.io/service-port",
    }
)
_UNSTABLE = frozenset(
    {
        "controller-revision-hash",
        "controller-uid",
        "job-name",
        "kuma.io/display-name",
        "kuma.io/env",
        "kuma.io/mesh",
        "kuma.io/origin",
        "kuma.io/proxy-type",
        "kuma.io/sidecar-injection",
        "pod-template-generation",
        "pod-template-hash",
        "rollouts-pod-template-hash",
    }
)
_UNSTABLE_GROUPS = ("batch.kubernetes.io/", "statefulset.kubernetes.io/", "apps.kubernetes.io/")
_OF_NODES = ("topology.kubernetes.io/", "node.kubernetes.io/", "kubernetes.io/")
_FAVOURITES = ("app.kubernetes.io/name", "app", "k8s-app", "name", WORKLOAD)


class Basis(StrEnum):
    """Why labels are believed to select what the tags select."""

    EVERY = "every proxy"
    MIRROR = "mirror"
    PODS = "pods"
    SERVICE = "service"
    WORKLOAD = "workload"
    LISTED = "listed"
    COPIED = "copied"
    FRESH = "fresh"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A top-level reference of kind Dataplane. No labels: every proxy."""

    labels: Mapping[str, str]
    section: str = ""
    basis: Basis

    def ref(self) -> dict[str, Any]:
        """Return it as a targetRef."""
        labels = {"labels": dict(self.labels)} if self.labels else {}
        section = {"sectionName": self.section} if self.section else {}
        return {"kind": "Dataplane", **labels, **section}


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked: a policy, what it selects today of each known proxy, which half matters.

    `known` are the proxies of the mesh, `today` those that the policy's zone and namespace let it
    reach. `inbound`: it has inbound settings, so each inbound counts. `outbound`: it has others,
    so it counts that the proxy is selected at all.
    """

    policy: Resource
    top: TargetRef
    release: Release
    selector: Selector
    known: Proxies
    today: tuple[tuple[Proxy, Reach], ...]
    inbound: bool
    outbound: bool
    sections: bool


class Proxies(tuple[Proxy, ...]):
    """The proxies of a mesh, and which of them carry a tag: most policies select very few."""

    @cached_property
    def carriers(self) -> Mapping[tuple[str, str], frozenset[int]]:
        """Return by tag the places of the proxies that carry it somewhere."""
        found: dict[tuple[str, str], set[int]] = {}
        for at, proxy in enumerate(self):
            for tags in (proxy.gateway_tags, *(place.tags for place in proxy.places)):
                for key, value in tags.items():
                    if isinstance(value, str):
                        found.setdefault((key, value), set()).add(at)
        return {tag: frozenset(places) for tag, places in found.items()}

    def reached(self, selector: Selector, release: Release) -> tuple[Reach, ...]:
        """Return what a selector selects of each proxy."""
        near: frozenset[int] | None = None
        if selector.top.kind in ("MeshSubset", "MeshService", "MeshServiceSubset"):
            for key, value in wanted_tags(selector.top).items():
                if isinstance(value, str) and value != "*":
                    mine = self.carriers.get((key, value), frozenset())
                    near = mine if near is None else near & mine
        if near is None:
            return tuple(reach(selector, proxy, release) for proxy in self)
        found = [NOTHING] * len(self)
        for at in near:
            found[at] = reach(selector, self[at], release)
        return tuple(found)


def known_proxies(state: State, mesh: str, release: Release) -> Proxies:
    """Return the Dataplanes of a mesh, listed ones first, then those its workloads imply."""
    asked = ("known proxies", mesh, release.name)
    if asked not in state.known:
        state.known[asked] = _known_proxies(state, mesh, release)
    found: Proxies = state.known[asked]
    return found


def _known_proxies(state: State, mesh: str, release: Release) -> Proxies:
    gateways = tuple(state.of_type("MeshGateway"))
    listed = [r for r in state.of_type("Dataplane") if r.mesh == mesh]
    return Proxies(
        proxy_of(r, gateways, release) for r in (*listed, *implied_dataplanes(state, mesh))
    )


def before_upgrade(proxies: Proxies, before: State) -> Proxies:
    """Return proxies without the workload labels that the state the run began with lacks.

    Those come with the upgrade, and nothing that is deployed earlier may rest on them.
    """
    old = {r.identity for r in before.of_type("Dataplane") if WORKLOAD in r.labels}
    return Proxies(
        proxy
        if proxy.resource.made_up or proxy.resource.identity in old
        else replace(proxy, resource=_without_workload(proxy.resource))
        for proxy in proxies
    )


def _without_workload(dataplane: Resource) -> Resource:
    return dataplane.with_labels({k: v for k, v in dataplane.labels.items() if k != WORKLOAD})


def question(policy: Resource, proxies: Proxies, release: Release, *, sections: bool) -> Question:
    """Return the question which labels a policy's top-level reference stands for."""
    top = _top(policy, release)
    selector = selector_of(policy, top, {}, release)
    today = tuple(
        (proxy, reached)
        for proxy, reached in zip(proxies, proxies.reached(selector, release), strict=True)
        if passes_gates(selector, proxy.resource)
    )
    spec = policy.spec
    inbound = bool(spec.get("from") or spec.get("rules"))
    outbound = bool(spec.get("to")) or not inbound
    return Question(
        policy=policy,
        top=top,
        release=release,
        selector=selector,
        known=proxies,
        today=today,
        inbound=inbound,
        outbound=outbound,
        sections=sections and inbound,
    )


def wanted_tags(top: TargetRef) -> dict[str, str]:
    """Return the tags that a reference asks for, the service of a MeshService among them."""
    name = {SERVICE: top.name or ""} if top.kind in ("MeshService", "MeshServiceSubset") else {}
    return {**name, **dict(top.tags or ())}


def choose(asked: Question, state: State) -> Choice | str:
    """Return the reference that selects the same, or a sentence saying what is missing."""
    tags = wanted_tags(asked.top)
    if any(r.places for p, r in asked.today if p.gateway == "builtin"):
        return "it also selects built-in gateways, which kind Dataplane never does"
    if not tags:
        every = Choice(labels={}, basis=Basis.EVERY)
        if same(asked, every):
            return every
    told = (_mirrored(asked, tags), _by_service(asked, tags, state), _by_workload(asked, tags))
    for choice in chain.from_iterable(told):
        if same(asked, choice):
            return choice
    if not any(r for _, r in asked.today):
        return _copied(asked, tags) or _nothing_selected(asked, tags)
    found = searched(asked)
    if found is not None:
        return found
    return "no set of labels selects exactly the same proxies and inbounds; " + _differing(asked)


def _copied(asked: Question, tags: Mapping[str, str]) -> Choice | None:
    """Return the tags as labels where they select no known proxy, as the tags do today.

    On Universal the label kuma.io/workload takes the place of the service tag, unless some known
    proxy has one without the other.
    """
    labels = {WORKLOAD if key == SERVICE else key: value for key, value in tags.items()}
    if SERVICE in tags and (_on_kubernetes(asked.policy) or "_svc" in tags[SERVICE]):
        return None
    if SERVICE in tags and not all(_is_workload(p, tags[SERVICE]) for p in asked.known):
        return None
    choice = Choice(labels=labels, basis=Basis.COPIED)
    fresh = all(_stands(asked, key) is not False for key in labels if key != WORKLOAD)
    return choice if asked.known and fresh and same(asked, choice) else None


def _is_workload(proxy: Proxy, service: str) -> bool:
    """Say whether a proxy has a service for its only one and as its workload, or for neither."""
    services = {tags.get(SERVICE) for tags in _tag_sets(proxy)}
    if proxy.resource.labels.get(WORKLOAD) == service:
        return services == {service}
    return service not in services


def _nothing_selected(asked: Question, tags: Mapping[str, str]) -> str:
    text = ", ".join(f"{k}: {v}" for k, v in tags.items())
    if not asked.known:
        return f"no Dataplane or workload is known that says which labels proxies with {text} have"
    if any(r for _, r in _opened(asked).today):
        return (
            f"its zone or namespace keeps every known proxy with {text} from it, so it selects none"
            " of them today, and nothing shows which labels those within its reach would have"
        )
    return (
        f"no known proxy has {text}, so it selects none of them today, and nothing shows which"
        " labels such proxies would have"
    )


def _differing(asked: Question) -> str:
    part = next(
        (p for p, r in asked.today if r and asked.inbound and len(r.places) < len(p.places)), None
    )
    if part is not None:
        return f"of {part.resource.name} it selects some inbounds only"
    if all(r for p, r in _opened(asked).today if p.gateway != "builtin"):
        return "it selects every proxy known, so nothing shows what their labels mean"
    return "the proxies selected today share no label that the others lack"


def same(asked: Question, choice: Choice) -> bool:
    """Say whether a choice selects of every known proxy what the policy selects today."""
    top = read_target_ref(choice.ref(), ("kind", "labels", "sectionName"))
    selector = replace(asked.selector, top=top, identity=None)
    release = _with_dataplane(asked.release)
    return all(
        alike(asked, proxy, before, _reach(selector, proxy, release))
        for proxy, before in asked.today
    )


def _reach(selector: Selector, proxy: Proxy, release: Release) -> Reach:
    if proxy.gateway == "builtin":
        return NOTHING
    return reach(selector, proxy, release)


def _with_dataplane(release: Release) -> Release:
    if "Dataplane" in release.top_kinds:
        return release
    return replace(release, top_kinds=(*release.top_kinds, "Dataplane"))


def alike(asked: Question, proxy: Proxy, before: Reach, after: Reach) -> bool:
    """Say whether two selections of a proxy come to the same for what the policy holds.

    What is said of the proxy as such (`default`) asks only whether it is selected at all.
    """
    if asked.inbound and before.places != after.places:
        return False
    if not asked.outbound:
        return True
    if not asked.policy.spec.get("to"):
        return bool(before) == bool(after)
    listeners = [i for i, place in enumerate(proxy.places) if place.zone_proxy]
    there = [i for i in listeners if i in before.places] == [
        i for i in listeners if i in after.places
    ]
    return there and bool(before) == bool(after) and before.delegated == after.delegated


def _mirrored(asked: Question, tags: Mapping[str, str]) -> Iterator[Choice]:
    """Yield the tags as labels, where both go together on every known proxy.

    On Kubernetes they do by the way a Pod becomes a Dataplane, whatever the key, but for those of
    kuma.io; elsewhere one known proxy at least must show it.
    """
    if not tags or "*" in tags.values():
        return
    stands = {key: _stands(asked, key) for key in tags}
    if all(stands.values()):
        yield from _with_sections(asked, tags, Basis.MIRROR)
        return
    by_pods = all(stands[key] or (stands[key] is None and _of_pods(key)) for key in tags)
    if by_pods and _on_kubernetes(asked.policy):
        yield from _with_sections(asked, tags, Basis.PODS)


def _stands(asked: Question, key: str) -> bool | None:
    """Say whether label and tag of a key are the same on every known proxy; None: none has it."""
    if key in _ONLY_TAGS:
        return False
    seen = None
    for proxy in asked.known:
        label = proxy.resource.labels.get(key)
        values = {tags.get(key) for tags in _tag_sets(proxy)}
        if not values or (key in (NAMESPACE, ZONE) and values == {None}):
            continue
        if values != {label}:
            return False
        seen = seen or label is not None or None
    return seen


def _tag_sets(proxy: Proxy) -> list[Mapping[str, str]]:
    if proxy.gateway:
        return [proxy.gateway_tags]
    return [place.tags for place in proxy.places if place.tags]


def _on_kubernetes(policy: Resource) -> bool:
    return policy.form is Form.KUBERNETES or policy.labels.get(ENV) == "kubernetes"


def _of_pods(key: str) -> bool:
    """Whether a tag comes from a label of the Pod, or from its namespace and zone."""
    return key in (NAMESPACE, ZONE) or not ("kuma.io/" in key or key.startswith(_OF_NODES))


def _by_service(asked: Question, tags: Mapping[str, str], state: State) -> Iterator[Choice]:
    """Yield the selector of the Service, or the MeshService, that a service tag was made from."""
    parts = tags.get(SERVICE, "").split("_")
    rest = {k: v for k, v in tags.items() if k != SERVICE}
    if len(parts) != 4 or not all(_stands(asked, k) for k in rest):
        return
    home = parts[1]
    for service in destinations_named(state, parts[0], home):
        if selector := _selector_labels(service):
            labels = {**selector, NAMESPACE: home, **rest}
            yield from _with_sections(asked, labels, Basis.SERVICE)


def _selector_labels(service: Resource) -> dict[str, str]:
    selector: Any = service.spec.get("selector") or {}
    if service.type == "MeshService":
        by_labels = selector.get("dataplaneLabels") or {}
        selector = by_labels.get("matchLabels") or selector.get("dataplaneTags") or {}
    labels = {str(k): str(v) for k, v in selector.items()}
    return {} if any(key in _ONLY_TAGS for key in labels) else labels


def _by_workload(asked: Question, tags: Mapping[str, str]) -> Iterator[Choice]:
    """Yield the label kuma.io/workload where it is the service tag on every known proxy."""
    rest = {k: v for k, v in tags.items() if k != SERVICE}
    if SERVICE not in tags or not all(_stands(asked, k) for k in rest):
        return
    seen = False
    for proxy in asked.known:
        workload = proxy.resource.labels.get(WORKLOAD)
        if {s.get(SERVICE) for s in _tag_sets(proxy)} != {workload}:
            return
        seen = True
    if seen:
        yield from _with_sections(asked, {WORKLOAD: tags[SERVICE], **rest}, Basis.WORKLOAD)


def searched(asked: Question) -> Choice | None:
    """Return the smallest set of labels that selects the same of all known proxies, or None.

    Proxies that zone or namespace keep from the policy count as well: they show what labels mean.
    Where the labels leave out no known proxy, or only tell a zone, one must say what a tag says.
    """
    tags = wanted_tags(asked.top)
    wide = _opened(asked)
    some_left = any(not r for p, r in wide.today if p.gateway != "builtin")
    for choice in _shared_labels(wide, tags):
        shown = some_left and set(choice.labels) != {ZONE}
        if same(wide, choice) and (shown or _says(choice, tags)):
            return choice
    return None


def _opened(asked: Question) -> Question:
    """Return the question as if the policy reached every zone and namespace."""
    selector = replace(asked.selector, zone=None, namespace=None)
    reached = asked.known.reached(selector, asked.release)
    today = tuple(zip(asked.known, reached, strict=True))
    return replace(asked, selector=selector, today=today)


def _says(choice: Choice, tags: Mapping[str, str]) -> bool:
    """Say whether one label has the value of its tag, or names the service."""
    service = tags.get(SERVICE, "")
    names = {service, service.split("_")[0]} - {""}
    return any(value in names or tags.get(key) == value for key, value in choice.labels.items())


def _shared_labels(asked: Question, tags: Mapping[str, str]) -> Iterator[Choice]:
    """Yield sets of labels that all selected proxies share, small and telling ones first."""
    selected = [dict(p.resource.labels) for p, r in asked.today if r]
    if not selected:
        return
    shared = {
        key: value
        for key, value in selected[0].items()
        if is_stable(key) and all(labels.get(key) == value for labels in selected)
    }
    keys = sorted(shared, key=lambda key: _trust(key, shared[key], tags))
    for size in range(1, MOST_LABELS + 1):
        for chosen in combinations(keys, size):
            yield from _with_sections(asked, {k: shared[k] for k in chosen}, Basis.LISTED)


def is_stable(key: str) -> bool:
    """Say whether a label stays the same while a workload lives, so that one may select by it."""
    return key not in _UNSTABLE and not key.startswith(_UNSTABLE_GROUPS)


def _trust(key: str, value: str, tags: Mapping[str, str]) -> tuple[bool, bool, int, str]:
    service = tags.get(SERVICE, "").split("_")[0]
    favourite = _FAVOURITES.index(key) if key in _FAVOURITES else len(_FAVOURITES)
    return (tags.get(key) != value, value != service, favourite, key)


def _with_sections(asked: Question, labels: Mapping[str, str], basis: Basis) -> Iterator[Choice]:
    yield Choice(labels=labels, basis=basis)
    if not asked.sections:
        return
    names: dict[str, None] = {}
    for proxy, before in asked.today:
        for index in before.places:
            place = proxy.places[index]
            if not proxy.resource.made_up:
                names[place.name or str(place.port)] = None
    for name in _few(list(names)):
        yield Choice(labels=labels, section=name, basis=basis)


def _few(names: Sequence[str]) -> Sequence[str]:
    return names[:8]


def _top(policy: Resource, release: Release) -> TargetRef:
    return read_target_ref(policy.spec.get("targetRef"), release.target_ref_type_fields)
