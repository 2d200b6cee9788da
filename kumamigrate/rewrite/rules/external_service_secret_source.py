"""Certificates of a MeshExternalService in the form that 3.0 reads."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping

from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.manifest import Json, change, finding, put
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import at_path
from kumamigrate.source.value import Moved

_FIELDS = ("caCert", "clientCert", "clientKey")


def plan(view: View) -> Iterator[Change | Finding]:
    """Yield a change for each service with old sources; binary inline data is reported."""
    for service in view.of_type("MeshExternalService"):
        body: Json = service.body
        settled = []
        for field in _FIELDS:
            path = (*service.spec_path, "tls", "verification", field)
            source = at_path(service.body, path)
            if not isinstance(source, Mapping) or "type" in source or len(source) != 1:
                continue
            ((key, value),) = source.items()
            new = _new(key, value, Moved((*path, key)))
            if new is None:
                yield finding(view, service, path)
                continue
            body = put(body, path, new)
            settled.append(finding(view, service, path, pending=True))
        if settled:
            yield change(view, service, [body], settled)


def _new(key: str, value: object, moved: Moved) -> Json:
    if key == "secret":
        return {"type": "Secret", "secretRef": {"kind": "Secret", "name": moved}}
    if key == "inlineString":
        return {"type": "InsecureInline", "insecureInline": {"value": moved}}
    if key == "inline" and isinstance(value, str):
        text = _text(value)
        if text is not None:
            return {"type": "InsecureInline", "insecureInline": {"value": text}}
    return None


def _text(data: str) -> str | None:
    try:
        return base64.b64decode("".join(data.split()), validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return None
