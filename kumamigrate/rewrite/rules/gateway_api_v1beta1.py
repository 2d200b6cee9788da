"""Objects of the Gateway API that Kuma serves move to v1."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.gatewayapi import GROUP, is_kumas
from kumamigrate.rewrite.manifest import change, finding, put
from kumamigrate.rewrite.view import View

_OLD, _NEW = f"{GROUP}/v1beta1", f"{GROUP}/v1"


def plan(view: View) -> Iterator[Change | Finding]:
    """Yield a change for each such object."""
    for resource in view.of_type(*view.rule.table["kinds"]):
        if resource.body.get("apiVersion") == _OLD and is_kumas(resource, view.state):
            body = put(resource.body, ("apiVersion",), _NEW)
            settled = finding(view, resource, ("apiVersion",), pending=True)
            yield change(view, resource, [body], [settled])
