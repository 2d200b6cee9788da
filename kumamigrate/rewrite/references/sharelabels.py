"""Labels that may select a share of a service: such as known proxies have, or would by custom."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from kumamigrate.model.resource import NAMESPACE, SERVICE, Form, Resource, mapping, texts
from kumamigrate.rewrite.references.knownproxies import is_stable
from kumamigrate.targetref.share import (
    NAMING,
    WORKLOAD,
    labelled_inbounds,
    match_labels,
    may_be_share,
    named_by_custom,
    tagged_inbounds,
)

MOST_LABELS = 3


def candidate_labels(
    base: Resource, target: Any, tags: Mapping[str, str], known: Sequence[Resource]
) -> Iterator[dict[str, str]]:
    """Yield labels that may select the share: telling ones first, then any that fit."""
    extra = {k: v for k, v in tags.items() if k != SERVICE}
    place = namespace_labels(base)
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


def guessed_labels(
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


def namespace_labels(base: Resource) -> dict[str, str]:
    return {NAMESPACE: base.namespace_label} if base.namespace_label else {}
