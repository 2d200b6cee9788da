"""Findings that rest on what a template fills in: what is not known is not said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kumamigrate.admit.places import is_template
from kumamigrate.dataclass import replace
from kumamigrate.model.resource import Resource
from kumamigrate.model.state import State
from kumamigrate.rewrite.finding import Finding, Status
from kumamigrate.rewrite.rule import Rule
from kumamigrate.source.text import FieldPath, path_text

RENDER = "Render the template and run on the result"


def without_guesses(findings: Iterable[Finding], rules: Iterable[Rule]) -> list[Finding]:
    """Return the findings without what they say about values that a template fills in.

    A sentence that quotes such a value rests on it, and so does what is said about the value
    itself. The name of the resource is quoted to name it, which claims nothing.
    """
    titles = {rule.id: rule.title for rule in rules}
    return [_sober(finding, titles.get(finding.rule, finding.message)) for finding in findings]


def _sober(finding: Finding, title: str) -> Finding:
    resource = finding.resource
    open_ = finding.status in (Status.MANUAL, Status.PENDING, Status.HELD)
    if resource is None or not resource.templated or not open_:
        return finding
    filled = {
        path: value
        for path, value in templated_values(resource.body)
        if value not in (resource.name, resource.namespace, resource.mesh)
    }
    about = [path for path in filled if path == finding.path]
    quoted = [path for path, value in filled.items() if value in finding.message]
    noted = [path for path, v in filled.items() if any(v in note for note in finding.notes)]
    asked = [path for path, value in filled.items() if value in finding.action]
    if not (about or quoted or noted or asked):
        return finding
    notes = tuple(n for n in finding.notes if not any(filled[path] in n for path in noted))
    fields = ", ".join(dict.fromkeys(path_text(p) for p in (*about, *quoted, *noted, *asked)))
    doubt = f"cannot tell more: a template fills in {fields}"
    if about or quoted:
        return replace(finding, message=f"{title}: {doubt}", notes=notes, action=RENDER)
    action = RENDER if finding.status is Status.MANUAL else finding.action
    return replace(finding, notes=(*notes, doubt), action=action)


def templated_values(value: Any, path: FieldPath = ()) -> Iterator[tuple[FieldPath, str]]:
    """Yield the strings below a value that hold a template, with their paths, in text order."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from templated_values(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from templated_values(inner, (*path, index))
    elif is_template(value):
        yield path, value


def hidden(state: State, mesh: str, *types: str) -> Resource | None:
    """Return a resource of some types that may have any name, or be of this mesh, by a template."""
    for resource in state.of_type(*types):
        if is_template(resource.mesh) or (resource.mesh == mesh and is_template(resource.name)):
            return resource
    return None
