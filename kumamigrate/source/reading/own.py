"""Templates that Kuma itself fills in: ids of a MeshIdentity, names of a HostnameGenerator."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from kumamigrate.pattern import pattern

_KINDS = pattern(r"MeshIdentity|HostnameGenerator|VirtualOutbound")
_WORD = r"""\{\{-?\s*(?:\.[A-Za-z]\w*|label\s+\\?"[^"\\{}\r\n]*\\?")\s*-?\}\}"""
_FIELD = pattern(
    r"""\b(?=((?:trustDomain|path|template|host|port)["']?[ \t]*+:[ \t]*+["']?"""
    rf"""(?:[^"'{{}}\r\n]|{_WORD}){{1,500}}+))"""
)
"""Fields may follow each other on one line: what is found may overlap."""
_FOREIGN = pattern(r"\{\{-?\s*\.(?:Values|Release|Chart|Files|Capabilities|Template)\b")
_CHART = pattern(r"(?:^|/)templates/|\.(?:tpl|tmpl|gotmpl|template|j2|jinja2?)$")


def all_own(text: str, spans: Iterable[tuple[int, int]], path: str) -> bool:
    """Say whether Kuma fills in all template expressions of a file.

    In the templates of a chart it is Helm that would, whatever words they use; and where one
    expression is of another tool, that tool reads all.
    """
    if _CHART.search(path) or not _KINDS.search(text):
        return False
    fields = [match.span(1) for match in _FIELD.finditer(text)]
    starts = [start for start, _ in fields]
    for start, end in spans:
        at = bisect_right(starts, start) - 1
        if at < 0 or end > fields[at][1] or _FOREIGN.match(text, start):
            return False
    return True
