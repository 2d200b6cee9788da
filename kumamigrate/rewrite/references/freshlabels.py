"""A label of its own for the proxies that a policy selects, where none that they have tells them.

Universal Dataplanes get it in their manifests, which changes nothing else for them. A Pod gets it
from its template, and restarts: that is for the user to say. Proxies to come need it as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from kumamigrate.dataclass import dataclass, replace
from kumamigrate.model.release import Release
from kumamigrate.model.resource import SERVICE, Form, Resource, Where, mapping
from kumamigrate.model.state import State
from kumamigrate.model.targetref import TargetRef
from kumamigrate.model.versions import at_least
from kumamigrate.rewrite.change import ResourceEdit
from kumamigrate.rewrite.dataplanes import WORKLOAD, with_labels, workload_to_come
from kumamigrate.rewrite.manifest import metadata_path, put
from kumamigrate.rewrite.references.knownproxies import Proxies
from kumamigrate.rewrite.references.labelquestion import (
    Basis,
    LabelChoice,
    Question,
    same,
    section_names,
)
from kumamigrate.rewrite.siblings import plain, shortened
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import at_path
from kumamigrate.targetref.select import Proxy

GATEWAY = ("kuma.io/gateway", "enabled")
"""How Kuma itself marks the Pods of delegated gateways."""
SIDECAR = ("proxy", "sidecar")
_SERVES = "serves"
LONGEST = 63


@dataclass(frozen=True, slots=True, kw_only=True)
class Marking:
    """A label, the manifests that get it, and the reference that selects by it."""

    choice: LabelChoice
    edits: tuple[ResourceEdit, ...]
    restarts: tuple[str, ...]
    count: int

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader has to know of it."""
        ((key, value),) = self.choice.labels.items()
        many = self.count > 1
        proxies = f"the {self.count} proxies that it selects get" if many else "its one proxy gets"
        notes = (
            f"proxies: listed; {proxies} the label {key}: {value}; those to come need it as well",
        )
        if not self.restarts:
            return notes
        return (*notes, f"the label goes into Pod templates, so Pods restart: {self._names}")

    @property
    def _names(self) -> str:
        return ", ".join(self.restarts)


def marked(view: View, asked: Question) -> Marking | None:
    """Return how a label of its own marks what a policy selects, None where that cannot be.

    Only on the way to 3.0, which refuses what selects by tags; older releases merely warn of it.
    """
    if not at_least(view.target_name, "3.0"):
        return None
    mine = [proxy for proxy, _ in asked.selected]
    others = sum(proxy.gateway != "builtin" for proxy in mine) < asked.known.plain
    told = others or of_gateways(asked.top)
    if not mine or not told or not all(_may_be_marked(view, proxy) for proxy in mine):
        return None
    if _could_be_mirrored(asked) or becomes_workload(asked):
        return None  # the rules dataplane-tags and dataplane-without-workload do so
    key, value = _label(asked.top)
    if not value or _is_used(view.state, asked, key):
        return None
    choice = _choice(asked, mine, {key: value})
    if choice is None:
        return None
    places: dict[Where, Resource] = {}
    for proxy in mine:
        where = proxy.resource.where
        assert where is not None
        places.setdefault(where, _written(view.state, proxy.resource))
    edits = tuple(_edit(where, resource, key, value) for where, resource in places.items())
    pods = tuple(f"{r.type} {r.name}" for r in places.values() if r.type != "Dataplane")
    return Marking(choice=choice, edits=edits, restarts=pods, count=len(mine))


def of_gateways(top: TargetRef) -> bool:
    """Say whether a reference means gateways and no sidecars, which a label can say by itself."""
    return tuple(top.proxy_types or ()) == ("Gateway",)


def names_services(found: LabelChoice, top: TargetRef) -> bool:
    """Say whether labels tell gateways from others by what they serve: the next gateway will not
    have them."""
    return of_gateways(top) and bool({_SERVES, WORKLOAD} & found.labels.keys())


def _could_be_mirrored(asked: Question) -> bool:
    """Say whether the tags could stand as labels of the same name: no proxy speaks against it."""
    keys = dict(asked.top.asked_tags)
    if not keys or any(key.startswith(("kuma.io/", "k8s.kuma.io/")) for key in keys):
        return False
    return all(map(partial(_agree, asked.known), keys))


def _agree(known: Proxies, key: str) -> bool:
    return known.once(("agree", key), lambda: all(_agrees(proxy, key) for proxy in known))


def becomes_workload(asked: Question) -> bool:
    """Say whether the service is, or becomes with the upgrade, the workload of what it selects."""
    service = dict(asked.top.asked_tags).get(SERVICE, "")
    mine = (proxy.resource for proxy, _ in asked.selected)
    named = (one.labels.get(WORKLOAD) or workload_to_come(one) for one in mine)
    return bool(service) and all(name == service for name in named)


def _agrees(proxy: Proxy, key: str) -> bool:
    values, label = _values(proxy, key), proxy.resource.labels.get(key)
    return len(values) <= 1 and (label is None or values == {label})


def _values(proxy: Proxy, key: str) -> set[str]:
    sets = [proxy.gateway_tags] if proxy.gateway else [place.tags for place in proxy.places]
    return {tags[key] for tags in sets if key in tags}


def _may_be_marked(view: View, proxy: Proxy) -> bool:
    resource = proxy.resource
    if proxy.gateway == "builtin" or not view.owns(resource):
        return False
    return resource.made_up or (resource.form is Form.UNIVERSAL and not resource.templated)


def _written(state: State, proxy: Resource) -> Resource:
    """Return the resource in whose manifest a proxy gets its labels."""
    if not proxy.made_up:
        return proxy
    return next(r for r in state.resources if r.where == proxy.where and not r.made_up)


def _label(top: TargetRef) -> tuple[str, str]:
    """Return a label that says what a reference is for."""
    tags = dict(top.asked_tags)
    if not tags and top.proxy_types:
        return GATEWAY if of_gateways(top) else SIDECAR
    values = [value for key, value in tags.items() if key == SERVICE]
    values += [value for key, value in tags.items() if key != SERVICE]
    text = shortened(plain("-".join(values)), LONGEST) if values else ""
    if set(tags) == {SERVICE}:
        return _SERVES, text
    if len(tags) == 1:
        return f"inbound-{plain(next(iter(tags)).rpartition('/')[2])}", text
    return "inbound-tags", text


def _is_used(state: State, asked: Question, key: str) -> bool:
    """Say whether a label of that name means something already, to proxies or to policies."""
    return key in asked.known.label_keys or key in _mentioned(state, asked.release)


def _mentioned(state: State, release: Release) -> set[str]:
    """Return all keys that stand in what selects."""
    if ("mentioned", release.name) not in state.known:
        keys: set[str] = set()
        for one in state.of_type(*release.policy_types, "MeshService", "MeshIdentity"):
            _collect(one.spec, keys)
        state.known["mentioned", release.name] = keys
    found: set[str] = state.known["mentioned", release.name]
    return found


def _collect(node: Any, keys: set[str]) -> None:
    if isinstance(node, Mapping):
        keys.update(node)
        for child in node.values():
            _collect(child, keys)
    elif isinstance(node, list):
        for child in node:
            _collect(child, keys)


def _choice(
    asked: Question, mine: Sequence[Proxy], labels: Mapping[str, str]
) -> LabelChoice | None:
    """Return the reference by a label, as it will be on the proxies, if it selects the same.

    Nobody else has the label. A policy for inbounds may need the name of one inbound besides.
    """
    then = Proxies(_labelled(proxy, labels) for proxy in mine)
    reached = dict(enumerate(asked.reached.values()))
    wanted = replace(asked, known=then, reached=reached)
    for section in ("", *section_names(asked)):
        choice = LabelChoice(labels=labels, section=section, basis=Basis.FRESH)
        if same(wanted, choice):
            return choice
    return None


def _labelled(proxy: Proxy, labels: Mapping[str, str]) -> Proxy:
    resource = proxy.resource
    return replace(proxy, resource=resource.with_labels({**resource.labels, **labels}))


def _edit(where: Where, resource: Resource, key: str, value: str) -> ResourceEdit:
    if resource.type == "Dataplane":
        return ResourceEdit(where=where, manifests=(with_labels(resource, {key: value}),))
    path = (*metadata_path(resource), "labels")
    labels = at_path(resource.body, path)
    old = mapping(labels)
    return ResourceEdit(where=where, manifests=(put(resource.body, path, {**old, key: value}),))
