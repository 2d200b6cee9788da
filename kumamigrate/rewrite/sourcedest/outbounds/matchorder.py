"""Which rule of a MeshHTTPRoute takes the requests of another, and whether their order is kept.

The new engine sorts by specificity: Exact, then every PathPrefix, then every RegularExpression.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kumamigrate.rewrite.sourcedest.confnotes import Notes
from kumamigrate.rewrite.sourcedest.conversion import Json

_PATHS = ("Exact", "PathPrefix", "RegularExpression")
ROOT: Json = {"path": {"type": "PathPrefix", "value": "/"}}
REGEX_ROOT: Json = {"path": {"type": "RegularExpression", "value": "/.*"}}
"""The catch-all beside regular expressions, all of which a PathPrefix would go before."""


def covers(earlier: Json, later: Json) -> bool:
    """Say whether every request of the later rule is taken by the earlier one."""
    return all(
        any(_match_covers(one, two) for one in earlier["matches"]) for two in later["matches"]
    )


def _match_covers(one: Json, two: Json) -> bool:
    if one == two:
        return True
    if "method" in one and one["method"] != two.get("method"):
        return False
    if any(header not in two.get("headers", ()) for header in one.get("headers", ())):
        return False
    return _path_covers(one["path"], two["path"])


def _path_covers(one: Json, two: Json) -> bool:
    if one == two or one in (ROOT["path"], REGEX_ROOT["path"]):
        return True
    prefix = _raw_prefix(one)
    other = two["value"] if two["type"] == "Exact" else _raw_prefix(two)
    return prefix is not None and other is not None and bool(other.startswith(prefix))


def _raw_prefix(path: Json) -> str | None:
    """Return the raw prefix a path stands for, or None."""
    if path["type"] == "RegularExpression" and path["value"].endswith(".*"):
        text = re.sub(r"\\(.)", r"\1", path["value"][:-2])
        return text if re.escape(text).replace(r"\-", "-") + ".*" == path["value"] else None
    return None


def check_order(rules: Sequence[Json], notes: Notes) -> None:
    """Note it where rules of which one decides by its place would be sorted otherwise."""
    for i, earlier in enumerate(rules):
        for later in rules[i + 1 :]:
            swapped = any(
                _rank(two) < _rank(one) and not _disjoint(one, two)
                for one in earlier["matches"]
                for two in later["matches"]
            )
            if swapped and earlier["default"] != later["default"]:
                notes.lost(
                    "the order of its http rules decides, and a MeshHTTPRoute sorts them by"
                    " specificity",
                    "http",
                )
                return


def _rank(match: Json) -> tuple[int, int, int, int]:
    path = match["path"]
    return (
        _PATHS.index(path["type"]),
        -len(path["value"]),
        0 if "method" in match else 1,
        -len(match.get("headers", ())),
    )


def _disjoint(one: Json, two: Json) -> bool:
    if "method" in one and "method" in two and one["method"] != two["method"]:
        return True
    exact = {h["name"]: h["value"] for h in one.get("headers", ()) if h["type"] == "Exact"}
    for header in two.get("headers", ()):
        if (
            header["type"] == "Exact"
            and exact.get(header["name"], header["value"]) != header["value"]
        ):
            return True
    return _paths_disjoint(one["path"], two["path"])


def _paths_disjoint(one: Json, two: Json) -> bool:
    texts = []
    for path in (one, two):
        exact = path["type"] == "Exact"
        text = path["value"] if exact else _raw_prefix(path)
        if text is None:
            return False
        texts.append((str(text), exact))
    (long, _), (short, whole) = sorted(texts, key=lambda t: (-len(t[0]), t[1]))
    return not long.startswith(short) or (whole and long != short)
