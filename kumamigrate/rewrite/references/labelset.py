"""Labels that select exactly the proxies and inbounds that tags select today (product.md §1 law 4).

In order of trust: labels that mirror the tags on every known proxy, the selector of the Kubernetes
Service behind a service tag, labels that happen to select the same known proxies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, combinations
from typing import Any

from kumamigrate.dataclass import replace
from kumamigrate.model.resource import ENV, NAMESPACE, SERVICE, ZONE, Form, Resource
from kumamigrate.model.state import State
from kumamigrate.rewrite.references.knownproxies import WORKLOAD, Proxies, is_stable
from kumamigrate.rewrite.references.labelquestion import (
    Basis,
    LabelChoice,
    Question,
    same,
    section_names,
)
from kumamigrate.rewrite.references.lookups import destinations_named
from kumamigrate.targetref.select import (
    Proxy,
)

MOST_LABELS = 3
_ONLY_TAGS = frozenset(
    {
        SERVICE,
        "kuma.io/protocol",
        "kuma.io/instance",
        "k8s.kuma.io/service-name",
        "k8s.kuma.io/service-port",
    }
)
_OF_NODES = ("topology.kubernetes.io/", "node.kubernetes.io/", "kubernetes.io/")
NONE_SHARED = "the proxies selected today share no label that the others lack"
_FAVOURITES = ("app.kubernetes.io/name", "app", "k8s-app", "name", WORKLOAD)


def choose(asked: Question, state: State) -> LabelChoice | str:
    """Return the reference that selects the same, or a sentence saying what is missing."""
    tags = dict(asked.top.asked_tags)
    if any(r.places for p, r in asked.selected if p.gateway == "builtin"):
        return "it also selects built-in gateways, which kind Dataplane never does"
    if not tags:
        every = LabelChoice(labels={}, basis=Basis.EVERY)
        if same(asked, every):
            return every
    told = (_mirrored(asked, tags), _by_service(asked, tags, state), _by_workload(asked, tags))
    for choice in chain.from_iterable(told):
        if same(asked, choice):
            return choice
    found = (None if asked.reached else _copied(asked, tags)) or searched(asked)
    if found is not None:
        return found
    if not asked.reached:
        return _nothing_selected(asked, tags)
    return "no set of labels selects exactly the same proxies and inbounds; " + _differing(asked)


def _copied(asked: Question, tags: Mapping[str, str]) -> LabelChoice | None:
    """Return the tags as labels where they select no known proxy, as the tags do today.

    On Universal the label kuma.io/workload takes the place of the service tag, unless some known
    proxy has one without the other.
    """
    labels = {WORKLOAD if key == SERVICE else key: value for key, value in tags.items()}
    if SERVICE in tags and (_on_kubernetes(asked.policy) or "_svc" in tags[SERVICE]):
        return None
    if SERVICE in tags and not _is_workload_everywhere(asked.known, tags[SERVICE]):
        return None
    choice = LabelChoice(labels=labels, basis=Basis.COPIED)
    fresh = all(_stands(asked, key) is not False for key in labels if key != WORKLOAD)
    return choice if asked.known and fresh and same(asked, choice) else None


def _is_workload_everywhere(known: Proxies, service: str) -> bool:
    """Say whether the proxies that name a service name it as their workload, and the reverse."""
    carriers = known.carriers.get((SERVICE, service), frozenset[int]())
    named = carriers | known.labelled.get((WORKLOAD, service), frozenset[int]())
    return all(_is_workload(known[at], service) for at in named)


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
    if _opened(asked).reached:
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
        (p for p, r in asked.selected if asked.inbound and len(r.places) < len(p.places)), None
    )
    if part is not None:
        return f"of {part.resource.name} it selects some inbounds only"
    if not _some_left(_opened(asked)):
        return "it selects every proxy known, so nothing shows what their labels mean"
    return NONE_SHARED


def _mirrored(asked: Question, tags: Mapping[str, str]) -> Iterator[LabelChoice]:
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
    return asked.known.once(("stands", key), lambda: _stands_for(asked.known, key))


def _stands_for(known: Proxies, key: str) -> bool | None:
    seen = None
    for proxy in known:
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


def _by_service(asked: Question, tags: Mapping[str, str], state: State) -> Iterator[LabelChoice]:
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


def _by_workload(asked: Question, tags: Mapping[str, str]) -> Iterator[LabelChoice]:
    """Yield the label kuma.io/workload where it is the service tag on every known proxy."""
    rest = {k: v for k, v in tags.items() if k != SERVICE}
    if SERVICE not in tags or not all(_stands(asked, k) for k in rest):
        return
    if asked.known and asked.known.once("workloads", lambda: _are_workloads(asked.known)):
        yield from _with_sections(asked, {WORKLOAD: tags[SERVICE], **rest}, Basis.WORKLOAD)


def _are_workloads(known: Proxies) -> bool:
    return all(
        {tags.get(SERVICE) for tags in _tag_sets(proxy)} == {proxy.resource.labels.get(WORKLOAD)}
        for proxy in known
    )


def searched(asked: Question) -> LabelChoice | None:
    """Return the smallest set of labels that selects the same of all known proxies, or None.

    Proxies that zone or namespace keep from the policy count as well: they show what labels mean.
    Where the labels leave out no known proxy, or only tell a zone, one must say what a tag says.
    Where those are all that show it, the zone and namespace of theirs are not the policy's.
    Labels that name what is selected come first, however many it takes.
    """
    tags = dict(asked.top.asked_tags)
    wide = _opened(asked)
    some_left = _some_left(wide)
    shared = [
        choice
        for choice in _shared_labels(wide, tags)
        if asked.reached or not choice.labels.keys() & {ZONE, NAMESPACE}
    ]
    for choice in sorted(shared, key=lambda one: not names_it(one, tags)):
        shown = some_left and set(choice.labels) != {ZONE}
        if (shown or _says(choice, tags)) and same(wide, choice):
            return choice
    return None


def names_it(choice: LabelChoice, tags: Mapping[str, str]) -> bool:
    """Say whether a person would know by labels what they stand for: they name the workload of a
    service, and say what each other tag says. Those that only happen to select the same do not."""
    if choice.basis is not Basis.LISTED or not tags:
        return True
    values = {*choice.labels.values()}
    named = not choice.labels.keys().isdisjoint(_FAVOURITES)
    said = named or not _names_of(tags).isdisjoint(values)
    return (said or SERVICE not in tags) and all(
        value in values for key, value in tags.items() if key != SERVICE
    )


def _names_of(tags: Mapping[str, str]) -> set[str]:
    """Return what a label may be called after a service tag."""
    service = tags.get(SERVICE, "")
    return {service, service.split("_")[0]} - {""}


def _opened(asked: Question) -> Question:
    """Return the question as if the policy reached every zone and namespace."""
    selector = replace(asked.selector, zone=None, namespace=None)
    return replace(asked, selector=selector, reached=asked.known.reached(selector, asked.release))


def _some_left(asked: Question) -> bool:
    """Say whether a proxy other than a built-in gateway is not selected."""
    return sum(p.gateway != "builtin" for p, _ in asked.selected) < asked.known.plain


def _says(choice: LabelChoice, tags: Mapping[str, str]) -> bool:
    """Say whether one label has the value of its tag, or names the service."""
    names = _names_of(tags)
    return any(value in names or tags.get(key) == value for key, value in choice.labels.items())


def _shared_labels(asked: Question, tags: Mapping[str, str]) -> Iterator[LabelChoice]:
    """Yield sets of labels that all selected proxies share, small and telling ones first."""
    selected = [p.resource.labels for p, _ in asked.selected]
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


def _trust(key: str, value: str, tags: Mapping[str, str]) -> tuple[bool, bool, int, str]:
    service = tags.get(SERVICE, "").split("_")[0]
    favourite = _FAVOURITES.index(key) if key in _FAVOURITES else len(_FAVOURITES)
    return (tags.get(key) != value, value != service, favourite, key)


def _with_sections(
    asked: Question, labels: Mapping[str, str], basis: Basis
) -> Iterator[LabelChoice]:
    yield LabelChoice(labels=labels, basis=basis)
    for name in section_names(asked):
        yield LabelChoice(labels=labels, section=name, basis=basis)
