"""YAML inside a scalar of other YAML: edited there, in the scalar's own indent and quotes."""

from __future__ import annotations

from kumamigrate.source.node import ScalarNode, Style
from kumamigrate.source.text import SourceFile

_QUOTED = (Style.SINGLE, Style.DOUBLE)


def with_content(file: SourceFile, node: ScalarNode, content: str) -> str | None:
    """Return the text of a file in which a scalar has another content, None if it cannot be told.

    Lines of a literal block keep their indent. Of other styles only what reads as it is written
    can be replaced, by something that does as well.
    """
    raw = file.text[node.start : node.end]
    if node.style is Style.LITERAL:
        new = _literal(raw, node.text, content)
    elif node.style in _QUOTED:
        quote = raw[:1]
        fits = "\n" not in content and "\\" not in content and "'" not in content
        new = f"{quote}{content}{quote}" if raw[1:-1] == node.text and fits else None
    else:
        new = None
    return None if new is None else file.text[: node.start] + new + file.text[node.end :]


def _literal(raw: str, old: str, content: str) -> str | None:
    header, newline, body = raw.partition("\n")
    if not newline or "\r" in raw:
        return None
    lines = body.split("\n")
    first = next((at for at, line in enumerate(lines) if line.strip()), None)
    was = old.split("\n")
    if first is None or first >= len(was) or not lines[first].endswith(was[first]):
        return None
    indent = lines[first][: len(lines[first]) - len(was[first])]
    if indent.strip():
        return None
    ending = "\n" if body.endswith("\n") else ""
    new = "\n".join(indent + line if line else "" for line in content.rstrip("\n").split("\n"))
    kept = body[len(body.rstrip("\n")) :] if ending else ""
    return f"{header}\n{new}{kept}"
