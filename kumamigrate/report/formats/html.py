"""The report as one page that needs nothing else: no network, no files beside it.

What changes, the proof with its witnesses, who reaches whom before and after, what is left, and
what was read. A policy of the page forbids it everything but its own style and script.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any
from xml.etree.ElementTree import Element

from kumamigrate import __version__
from kumamigrate.report.formats.drawing import reach
from kumamigrate.report.formats.elements import code, document, element, raw, table
from kumamigrate.report.formats.headline import counted, headline, scope
from kumamigrate.report.formats.pageparts import changes, coverage, left, proved, verdict

Report = Mapping[str, Any]


def html(report: Report) -> str:
    """Return the page."""
    level, said = headline(report)
    sections = [
        ("changes", "What changes", list(changes(report))),
        ("proof", "The proof", list(proved(report))),
        ("reach", "Who reaches whom", list(reach(report))),
        ("left", "What is left", list(left(report))),
        ("coverage", "What was read", list(coverage(report))),
    ]
    shown = [one for one in sections if one[2]]
    links = [element("a", title, href=f"#{name}") for name, title, _ in shown]
    body = element(
        "body",
        element("h1", said, cls=level),
        element("p", scope(report), cls="scope"),
        _meshes(report),
        element("nav", *links),
        *(
            element("section", element("h2", title), *parts, id=name)
            for name, title, parts in shown
        ),
        element("p", f"kumamigrate {__version__}", cls="dim"),
        raw("script", _part("page.js")),
    )
    return document(element("html", _head(said), body, lang="en"))


def _head(title: str) -> Element:
    style, script = _part("page.css"), _part("page.js")
    allowed = f"style-src {_digest(style)}; script-src {_digest(script)}"
    policy = f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
    forbid = element("meta", content=policy)
    forbid.set("http-equiv", "Content-Security-Policy")
    return element(
        "head",
        element("meta", charset="utf-8"),
        forbid,
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", f"kumamigrate: {title}"),
        raw("style", style),
    )


def _part(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _meshes(report: Report) -> Element | None:
    rows = report.get("meshes", ())
    several = any(row.get("environment") for row in rows)
    head = ["Mesh", *(["Environment"] if several else []), "Verdict", "Policies", "Files"]
    return table(head, (_mesh(row, several=several) for row in rows)) if rows else None


def _mesh(row: Mapping[str, Any], *, several: bool) -> list[Element | str]:
    found = verdict(row["verdict"]) if "verdict" in row else counted(row["findings"], "finding")
    where = [row["environment"]] if several else []
    return [code(row["mesh"]), *where, found, str(row["changed"]), str(row["files"])]
