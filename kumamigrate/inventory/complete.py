"""Is this an export, and all of it? What is missing from one would be taken as not there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kumamigrate.model.resource import mapping
from kumamigrate.pattern import pattern
from kumamigrate.source.node import JSON

MOST = 100
_SPOKEN = pattern(
    r"(?:[Ee]rror\b|Warning:|[Uu]nable to |[Cc]ould ?n.t |The connection to |No resources found)"
)
_WHOLE = "take it again, whole: kumamigrate snapshot does, --print-commands shows how"


def fault_of(value: JSON) -> str | None:
    """Return why a document is no complete export, None where it is one."""
    if value is None or value == {}:
        return None
    if not isinstance(value, dict):
        return f"this is text and no export: {_short(value)}"
    if "items" in value and not isinstance(value.get("type"), str):
        return _fault_of_list(value)
    if isinstance(value.get("kind"), str) and isinstance(value.get("apiVersion"), str):
        failed = value["kind"] == "Status" and value.get("status") == "Failure"
        return f"the cluster answered with an error: {_message(value)}" if failed else None
    if isinstance(value.get("type"), str) and value.get("name") is not None:
        return None
    if message := _message(value):
        return f"the control plane answered with an error: {message}"
    if len(value) == 1:
        key, inner = next(iter(value.items()))
        return f"this is text and no export: {_short(f'{key}: {inner}')}"
    keys = ", ".join(list(value)[:5])
    return f"neither an object of Kubernetes nor a resource of Kuma, with the keys {_short(keys)}"


def fault_of_text(text: str) -> str | None:
    """Return what can be seen without reading: nothing, a page, a complaint."""
    if not text.strip():
        return f"the file is empty; {_WHOLE}"
    if text.lstrip()[:1] == "<":
        return "this is an HTML page, most likely one to log in with; ask with a token"
    said = text.lstrip().partition("\n")[0]
    return f"this is text and no export: {_short(said)}" if _SPOKEN.match(said) else None


def _fault_of_list(value: Mapping[str, Any]) -> str | None:
    items = value.get("items")
    if items is not None and not isinstance(items, list):
        return "the items of the list are no list"
    number = len(items or ())
    if "total" in value:
        return _fault_of_pages(value, number)
    if not isinstance(value.get("kind"), str):
        return f"the list has no end, it was cut off behind {_count(number)}; {_WHOLE}"
    rest = mapping(value.get("metadata"))
    if rest.get("continue") or rest.get("remainingItemCount"):
        more = rest.get("remainingItemCount")
        of = f" of {number + more}" if isinstance(more, int) else ", and there are more"
        return f"the list holds only {_count(number)}{of}; {_WHOLE}"
    return None


def _fault_of_pages(value: Mapping[str, Any], number: int) -> str | None:
    total = value["total"]
    if value.get("next") or (isinstance(total, int) and total > number):
        return f"the list is one page of several, {number} of {total} resources; {_WHOLE}"
    return None


def _message(value: Mapping[str, Any]) -> str:
    """Return what an answer that is an error says, empty where it is none."""
    told = [value.get(key) for key in ("title", "message", "error", "detail", "details")]
    words = dict.fromkeys(text for text in told if isinstance(text, str) and text)
    failed = any(key in value for key in ("status", "code", "error", "title"))
    return _short(": ".join(words)) if failed else ""


def _short(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= MOST else f"{text[:MOST]}…"


def _count(number: int) -> str:
    return f"{number} resource{'' if number == 1 else 's'}"
