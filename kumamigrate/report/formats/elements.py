"""HTML made of elements: what is text stays text, because nobody joins strings.

Control and direction characters are shown, not obeyed, as on a terminal.
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree.ElementTree import Element, tostring

from kumamigrate.report.styled import safe


def element(tag: str, *children: Element | str | None, **attributes: str) -> Element:
    """Return an element; `cls` is its class, `_` in names of attributes is a dash."""
    names = {"cls": "class"}
    named = {names.get(key, key.replace("_", "-")): said for key, said in attributes.items()}
    made = Element(tag, {key: _told(said) for key, said in named.items() if said or key != "class"})
    last: Element | None = None
    for child in children:
        if isinstance(child, Element):
            made.append(child)
            last = child
        elif child is not None and last is None:
            made.text = (made.text or "") + _told(child)
        elif child is not None and last is not None:
            last.tail = (last.tail or "") + _told(child)
    return made


def raw(tag: str, text: str) -> Element:
    """Return a style sheet or a script of ours; its text is not escaped in HTML."""
    made = Element(tag)
    made.text = text
    return made


def code(text: str) -> Element:
    """Return text from a file."""
    return element("code", text)


def table(head: Iterable[str], rows: Iterable[Iterable[Element | str]]) -> Element:
    """Return a table of cells."""
    titles = element("tr", *(element("th", title) for title in head))
    body = [element("tr", *(element("td", cell) for cell in row)) for row in rows]
    return element("table", element("thead", titles), element("tbody", *body))


def listed(items: Iterable[Element | str], tag: str = "ul") -> Element:
    """Return a list."""
    return element(tag, *(element("li", item) for item in items))


def folded(summary: str, *children: Element | str | None, shown: bool = False) -> Element:
    """Return what is shown on a click."""
    made = element("details", element("summary", summary), *children)
    if shown:
        made.set("open", "open")
    return made


def document(root: Element) -> str:
    """Return the text of a page."""
    return "<!DOCTYPE html>\n" + tostring(root, encoding="unicode", method="html") + "\n"


def _told(text: str) -> str:
    return "\n".join(safe(line) for line in text.split("\n"))
