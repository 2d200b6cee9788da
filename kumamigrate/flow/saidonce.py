"""What rules say of several environments, each thing once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from kumamigrate.dataclass import replace
from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.finding import Finding


def all_said(by_site: Iterable[tuple[Change | Finding, ...]]) -> tuple[Change | Finding, ...]:
    """Return what a rule says of several environments, each thing once.

    Where it wants to change one place in several ways, each is tried until one holds.
    """
    listed = list(by_site)
    if len(listed) == 1:
        return listed[0]
    changes: dict[object, Change] = {}
    findings: dict[tuple[object, ...], Finding] = {}
    for said in chain.from_iterable(listed):
        if isinstance(said, Finding):
            findings.setdefault(_key(said), said)
        else:
            known = changes.get(said.key)
            changes[said.key] = said if known is None else _either(known, said)
    return (*changes.values(), *findings.values())


def _key(finding: Finding) -> tuple[object, ...]:
    place = finding.resource.where if finding.resource is not None else finding.file
    return (finding.rule, place, finding.path, finding.line, finding.message)


def _either(first: Change, second: Change) -> Change:
    """Return a change with another as what is tried when it does not hold."""
    forms = list(_forms(first))
    for form in _forms(second):
        if all(form.edits != one.edits for one in forms):
            forms.append(replace(form, otherwise=None))
    chained: Change | None = None
    for form in reversed(forms):
        chained = replace(form, otherwise=chained)
    assert chained is not None
    return chained


def _forms(change: Change | None) -> Iterator[Change]:
    while change is not None:
        yield change
        change = change.otherwise
