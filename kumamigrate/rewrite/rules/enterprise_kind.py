"""Kinds of Kong Mesh that end with 3.0; the rule's table says what to do about each."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import finding
from kumamigrate.rewrite.view import View


def plan(view: View) -> Iterator[Finding]:
    """Yield a finding for each resource of such a kind."""
    for resource in view.of_type(*view.rule.table):
        yield finding(view, resource, (), advice=view.rule.table[resource.type])
