"""Tags of a Universal Dataplane become labels as well (2.x reads the tags, 3.0 the labels)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from kumamigrate.model.resource import Resource
from kumamigrate.pattern import pattern
from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.dataplanes import tag_paths, with_labels, written_labels
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import change, finding
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import FieldPath, at_path

_LABEL = pattern(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
_KUMAS = ("kuma.io/", "k8s.kuma.io/")


def plan(view: View) -> Iterator[Change | Finding]:
    """Yield a change for each Dataplane with tags to copy, a finding for each that cannot be."""
    for dataplane in view.of_type("Dataplane"):
        labels = written_labels(dataplane)
        new: dict[str, str] = {}
        places: list[FieldPath] = []
        for key, values in _tags(dataplane).items():
            wanted = set(values)
            path = next(iter(values.values()))
            if labels.get(key) in wanted and len(wanted) == 1:
                continue
            reason = _obstacle(key, wanted, labels)
            if reason:
                yield finding(view, dataplane, path, reason=reason)
                continue
            new[key] = wanted.pop()
            places.append(path)
        if new:
            notes = [f"{key} becomes a label too" for key in new]
            settled = finding(view, dataplane, places[0], pending=True, notes=notes)
            yield change(view, dataplane, [with_labels(dataplane, new)], [settled])


def _tags(dataplane: Resource) -> Mapping[str, dict[str, FieldPath]]:
    """Return, for each tag that is the user's own, its values and where each stands first."""
    found: dict[str, dict[str, FieldPath]] = defaultdict(dict)
    for path in tag_paths(dataplane):
        for key, value in at_path(dataplane.body, path).items():
            if not str(key).startswith(_KUMAS):
                found[key].setdefault(str(value), (*path, key))
    return found


def _obstacle(key: str, values: set[str], labels: Mapping[str, str]) -> str:
    if len(values) > 1:
        return f"its inbounds say different things about {key}: {', '.join(sorted(values))}"
    (value,) = values
    if key in labels:
        return f"its label {key} is {labels[key]}, its tag {value}"
    if not _LABEL.fullmatch(value):
        return f"{value} is no value that a label may have"
    return ""
