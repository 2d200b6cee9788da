"""A MeshService for each share of a service that a route sends traffic to (MADR 058).

Written where labels select exactly the proxies that the tags of a MeshServiceSubset select
(sharelabels.py). What policies say about the service they then say about its share as well, as
they do today (shares.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kumamigrate.model.labels import is_export
from kumamigrate.model.resource import DISPLAY_NAME, MESH, NAMESPACE, SERVICE, Form, Resource
from kumamigrate.model.state import State
from kumamigrate.rewrite.references.lookups import services_to_come
from kumamigrate.rewrite.references.sharelabels import (
    candidate_labels,
    guessed_labels,
    namespace_labels,
)
from kumamigrate.rewrite.references.shares import BACKEND, Share
from kumamigrate.rewrite.siblings import plain, shortened
from kumamigrate.rewrite.view import View
from kumamigrate.targetref.share import (
    is_share,
    match_labels,
    protocols,
    services_of_proxy,
    tagged_inbounds,
)

LONGEST = 63
_OF_EXPORTS = (MESH, DISPLAY_NAME, NAMESPACE, "kuma.io/env", "kuma.io/origin", "kuma.io/zone")


def share_of(view: View, base: Resource, port: Mapping[str, Any], tags: Mapping[str, str]
             ) -> Share | str:  # fmt: skip
    """Return the MeshService for what `tags` select, or a sentence saying why there is none.

    `port` is the port of the service `base` that the tag kuma.io/service stands for.
    """
    known = known_to(view.state, base.mesh)
    target, zone = port.get("targetPort", port.get("port")), base.zone
    found = next(
        (labels for labels in candidate_labels(base, target, tags, known)
         if is_share(labels, target, zone, tags, known)), None
    )  # fmt: skip
    there = _existing(view.state, base, port, tags, known)
    guess = None
    if there is None and found is None:
        guess = guessed_labels(base, target, tags, known)
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
        labels={DISPLAY_NAME: name, **namespace_labels(base)},
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
