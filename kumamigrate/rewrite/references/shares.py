"""A MeshService for each share of a service that a route sends traffic to (MADR 058).

Written where labels select exactly the proxies that the tags of a MeshServiceSubset select. What
policies say about the service they then say about its share as well, as they do today.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.model.labels import is_export
from kumamigrate.model.resource import (
    DISPLAY_NAME,
    MESH,
    NAMESPACE,
    SERVICE,
    Form,
    Resource,
    mapping,
    texts,
)
from kumamigrate.model.state import State
from kumamigrate.rewrite.references.knownproxies import is_stable
from kumamigrate.rewrite.references.lookups import services_to_come
from kumamigrate.rewrite.siblings import plain, shortened
from kumamigrate.rewrite.view import View
from kumamigrate.targetref.share import (
    NAMING,
    WORKLOAD,
    is_share,
    labelled_inbounds,
    match_labels,
    may_be_share,
    named_by_custom,
    protocols,
    services_of_proxy,
    tagged_inbounds,
)

BY_SERVICE = ("MeshTimeout", "MeshCircuitBreaker", "MeshHealthCheck", "MeshLoadBalancingStrategy")
"""Types whose settings a share reads as its service does."""
BACKEND = "subset-backend"
MOST_LABELS = 3
LONGEST = 63
_OF_EXPORTS = (MESH, DISPLAY_NAME, NAMESPACE, "kuma.io/env", "kuma.io/origin", "kuma.io/zone")


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A MeshService for a share of another. `manifest` is None where it is there already.

    `guessed`: no known proxy shows its labels; the user says so.
    """

    base: Resource
    name: str
    port: int
    tag: str
    labels: Mapping[str, str]
    manifest: Mapping[str, Any] | None
    listed: bool
    guessed: bool = False


def share_of(view: View, base: Resource, port: Mapping[str, Any], tags: Mapping[str, str]
             ) -> Share | str:  # fmt: skip
    """Return the MeshService for what `tags` select, or a sentence saying why there is none.

    `port` is the port of the service `base` that the tag kuma.io/service stands for.
    """
    known = known_to(view.state, base.mesh)
    target, zone = port.get("targetPort", port.get("port")), base.zone
    found = next(
        (labels for labels in _candidates(base, target, tags, known)
         if is_share(labels, target, zone, tags, known)), None
    )  # fmt: skip
    there = _existing(view.state, base, port, tags, known)
    guess = None
    if there is None and found is None:
        guess = _guess(base, target, tags, known)
        if guess is None or BACKEND not in view.accepted:
            return _missing(tags, known, guess)
    number = port.get("port")
    if not isinstance(number, int):
        return f"which port of MeshService {base.display_name} is meant is not known"
    name = there.display_name if there is not None else _free_name(view, base, tags, known)
    return Share(
        base=base,
        name=name,
        port=number,
        tag=tags[SERVICE],
        labels={DISPLAY_NAME: name, **_place(base)},
        manifest=None
        if there is not None
        else _manifest(base, name, _as_tagged(base, port, tags, known), found or guess or {}),
        listed=bool(tagged_inbounds(tags, known)),
        guessed=guess is not None,
    )


def known_to(state: State, mesh: str) -> tuple[Resource, ...]:
    """Return the Dataplanes of a mesh, listed ones and those its workloads imply."""
    from kumamigrate.model.kubernetes.workloads import implied_dataplanes  # no hook asks

    listed = (r for r in state.of_type("Dataplane") if r.mesh == mesh and not r.made_up)
    return (*listed, *implied_dataplanes(state, mesh))


def _guess(
    base: Resource, target: Any, tags: Mapping[str, str], known: Sequence[Resource]
) -> dict[str, str] | None:
    """Return the labels that the share would have by custom, where no known proxy shows it."""
    extra = {k: v for k, v in tags.items() if k != SERVICE}
    of_pods = base.form is Form.KUBERNETES or "_svc" in tags[SERVICE]
    workload = {} if of_pods else {WORKLOAD: tags[SERVICE]}
    for labels in (match_labels(base), _tags_as_labels(base), workload):
        found = {**labels, **extra}
        if labels and may_be_share(found, target, base.zone, tags, known):
            return found
    return None


def _tags_as_labels(base: Resource) -> dict[str, str]:
    """Return the tags by which a MeshService selects, as labels, if Pods have them as such."""
    labels = texts(mapping(base.spec.get("selector")).get("dataplaneTags"))
    own = [key for key in labels if "kuma.io/" in key and key != NAMESPACE]
    return {} if own else labels


def _missing(
    tags: Mapping[str, str], known: Sequence[Resource], guess: Mapping[str, str] | None
) -> str:
    text = ", ".join(f"{k}: {v}" for k, v in tags.items())
    if guess is not None:
        labels = ", ".join(f"{k}: {v}" for k, v in guess.items())
        return (
            f"no known proxy has {text}, and none shows which labels such proxies would have; if"
            f" they are {labels}, take it with --accept {BACKEND}"
        )
    if not known:
        return f"no Dataplane or workload is known that says which labels proxies with {text} have"
    if tagged_inbounds(tags, known):
        return f"no labels select exactly the inbounds with {text} and no others"
    return f"no known proxy has {text}, and nothing shows which labels such proxies would have"


def _candidates(
    base: Resource, target: Any, tags: Mapping[str, str], known: Sequence[Resource]
) -> Iterator[dict[str, str]]:
    """Yield labels that may select the share: telling ones first, then any that fit."""
    extra = {k: v for k, v in tags.items() if k != SERVICE}
    place = _place(base)
    for own in (match_labels(base), _tags_as_labels(base)):
        if own:
            yield {**own, **extra}
    whole = tagged_inbounds({SERVICE: tags[SERVICE]}, known)
    if not whole:
        for labels in named_by_custom(tags[SERVICE], known):
            yield {**labels, **extra}
        return
    mine = [p for p in known if any((p.namespace, p.name) == one[:2] for one in whole)]
    shared = _shared(mine)
    for key in (*(k for k in NAMING if k in shared), *(k for k in shared if k not in NAMING)):
        rest = {key: shared[key], **place}
        if labelled_inbounds(rest, target, base.zone, known) == whole:
            yield {**rest, **extra}
    today = tagged_inbounds(tags, known)
    carried = _shared([p for p in mine if any((p.namespace, p.name) == one[:2] for one in today)])
    for size in range(1, MOST_LABELS + 1):
        for keys in combinations(carried, size):
            # Labels that leave out nothing known of the service must say what a tag says.
            if today != whole or any(carried[k] == extra.get(k) for k in keys):
                yield {**{k: carried[k] for k in keys}, **place}


def _shared(proxies: Sequence[Resource]) -> dict[str, str]:
    if not proxies:
        return {}
    return {
        key: value
        for key, value in proxies[0].labels.items()
        if is_stable(key) and all(p.labels.get(key) == value for p in proxies)
    }


def _place(base: Resource) -> dict[str, str]:
    return {NAMESPACE: base.namespace_label} if base.namespace_label else {}


def _existing(
    state: State,
    base: Resource,
    port: Mapping[str, Any],
    tags: Mapping[str, str],
    known: Sequence[Resource],
) -> Resource | None:
    """Return a MeshService that is the share already, the one this run would call so."""
    wanted = (_name(base, tags), base.namespace_label, base.zone)
    for service in state.of_type("MeshService"):
        if service.mesh != base.mesh or service.identity == base.identity:
            continue
        if (service.display_name, service.namespace_label, service.zone) != wanted:
            continue
        if service.spec.get("ports") != [_as_tagged(base, port, tags, known)]:
            continue
        target = port.get("targetPort", port.get("port"))
        if is_share(match_labels(service), target, service.zone, tags, known):
            return service
    return None


def _as_tagged(
    base: Resource, port: Mapping[str, Any], tags: Mapping[str, str], known: Sequence[Resource]
) -> dict[str, Any]:
    """Return the port with the protocol that a share has today: that of its service's inbounds.

    What is called by its number in a service that a control plane makes has no name of its own.
    """
    unnamed = base.where is None and port.get("name") == str(port.get("port"))
    found = {k: v for k, v in port.items() if k != "name"} if unnamed else dict(port)
    spoken = protocols({SERVICE: tags[SERVICE]}, known)
    if not spoken:
        return found
    return {**found, "appProtocol": spoken.pop() if len(spoken) == 1 else "tcp"}


def _name(base: Resource, tags: Mapping[str, str]) -> str:
    values = "-".join(plain(v) for k, v in sorted(tags.items()) if k != SERVICE)
    return shortened(f"{base.display_name}-{values}", LONGEST)


def _free_name(
    view: View, base: Resource, tags: Mapping[str, str], known: Sequence[Resource]
) -> str:
    """Return a name for a share that no service has or gets with the upgrade."""
    made = services_to_come(view.state, view.target.name)
    taken = {
        r.display_name for r in (*view.state.of_type("MeshService", "Service"), *made)
        if r.mesh in ("", base.mesh)
    }  # fmt: skip
    taken |= {name for proxy in known for name in services_of_proxy(proxy)}
    name = _name(base, tags)
    tries = (name, *(shortened(f"{name}-{n}", LONGEST) for n in range(2, 100)))
    return next((one for one in tries if one not in taken), name)


def _manifest(
    base: Resource, name: str, port: Mapping[str, Any], labels: Mapping[str, str]
) -> dict[str, Any]:
    """Return the manifest of a share: form, mesh and place of its service, nothing else of it."""
    spec = {"selector": {"dataplaneLabels": {"matchLabels": dict(labels)}}, "ports": [dict(port)]}
    if base.form is Form.KUBERNETES:
        metadata: dict[str, Any] = {"name": name}
        if base.namespace:
            metadata["namespace"] = base.namespace
        metadata["labels"] = {MESH: base.mesh}
        head = {k: base.body[k] for k in ("apiVersion", "kind") if k in base.body}
        return {**head, "metadata": metadata, "spec": spec}
    out: dict[str, Any] = {"type": base.type, "mesh": base.mesh, "name": name}
    written = base.body.get("labels")
    if isinstance(written, Mapping) and is_export(base) and base.where is not None:
        out["name"] = name + base.name.removeprefix(base.display_name)
        out["labels"] = {
            k: name if k == DISPLAY_NAME else v for k, v in written.items() if k in _OF_EXPORTS
        }
    return {**out, "spec": spec}


def entry_for(
    policy: Resource, at: int, then: int, was: Resource, share: Share
) -> dict[str, Any] | None:
    """Return the `to` entry about a share that goes with one about its service, if it is one.

    `was` is the policy as it was when the run began, `then` the place of the entry in it. What a
    share reads is looked up by service tag on 2.x: entries that name it, of a policy without
    entries for routes (product.md §1 law 2).
    """
    entries, old = policy.spec["to"], was.spec.get("to")
    if not isinstance(old, list) or then >= len(old) or not _is_read_by_tag(old, then, share):
        return None
    entry = entries[at]
    if not isinstance(entry, Mapping) or entry.get("default") != old[then].get("default"):
        return None
    new = {"kind": "MeshService", "labels": dict(share.labels)}
    return {k: new if k == "targetRef" else v for k, v in entry.items()}


def _is_read_by_tag(entries: list[Any], at: int, share: Share) -> bool:
    refs = [mapping(e).get("targetRef") for e in entries]
    kinds = [ref.get("kind") for ref in refs if isinstance(ref, Mapping)]
    mine = refs[at]
    return (
        "MeshHTTPRoute" not in kinds
        and isinstance(mine, Mapping)
        and mine.get("kind") == "MeshService"
        and mine.get("name") == share.tag
    )


def is_told(policy: Resource, share: Share) -> bool:
    """Say whether a policy has an entry for a share."""
    return any(is_about(entry, share) for entry in policy.spec.get("to") or ())


def is_about(entry: Any, share: Share) -> bool:
    """Say whether a `to` entry is about a share."""
    return mapping(mapping(entry).get("targetRef")).get("labels") == dict(share.labels)
