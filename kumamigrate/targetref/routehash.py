"""The hash that names a route rule: what Go serialises, digested (matcher.md (g))."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

_ESCAPES = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}
CATCH_ALL: Mapping[str, Any] = {"path": {"value": "/", "type": "PathPrefix"}}


def route_hash(matches: Sequence[Mapping[str, Any]] | None) -> str:
    """Return the hash of a rule's whole list of matches, in normal form; None prints `null`."""
    value = None if matches is None else [_match(m) for m in matches]
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    for char, escape in _ESCAPES.items():
        text = text.replace(char, escape)
    import hashlib

    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return base64.b64encode(digest).decode("ascii")


def _match(match: Mapping[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    if "path" in match:
        out["path"] = {k: match["path"].get(k, "") for k in ("value", "type")}
    if "method" in match:
        out["method"] = match["method"]
    if "queryParams" in match:
        keys = ("type", "name", "value")
        out["queryParams"] = [{k: q.get(k, "") for k in keys} for q in match["queryParams"]]
    if "headers" in match:
        out["headers"] = [_header(h) for h in match["headers"]]
    return out


def _header(header: Mapping[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    if "type" in header:
        out["type"] = header["type"]
    out["name"] = header.get("name", "")
    if header.get("value"):
        out["value"] = header["value"]
    return out
