"""What a control plane refuses to make of a resource that it has, whatever it would be anew."""

from __future__ import annotations

from collections import defaultdict

from kumamigrate.admit.places import is_template
from kumamigrate.model.labels import immutable_labels, is_kumas
from kumamigrate.model.resource import Form, Resource
from kumamigrate.scene.scene import Scene


def refused_updates(before: Scene, after: Scene) -> dict[str, list[str]]:
    """Return by mesh which resources the API would not take in place of what is stored of them.

    On Universal it lets nobody change some labels; what is stored then stays in effect.
    """
    old = {one.identity: one for one in before.repository.resources if _is_asked(one)}
    found: dict[str, list[str]] = defaultdict(list)
    for new in after.repository.resources:
        was = old.get(new.identity)
        if was is None or was is new or was.labels == new.labels or not _is_asked(new):
            continue
        there, then = (
            immutable_labels(one, release=side.source, environment=side.environment)
            for one, side in ((was, before), (new, after))
        )
        for label, value in there.items():
            text = then.get(label)
            if text != value and not is_template(value) and not is_template(text):
                change = "taken away" if text is None else f"made `{text}`"
                found[new.mesh].append(
                    f"{after.source} does not let the label {label} of {new.type} {new.name},"
                    f" `{value}`, be {change}; the resource would have to be deleted and made anew"
                )
    return found


def _is_asked(resource: Resource) -> bool:
    return resource.form is Form.UNIVERSAL and is_kumas(resource)
