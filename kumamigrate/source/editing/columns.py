"""Lines of text moved to another column, and comments in front of them taken off."""

from __future__ import annotations

import re


def inline_first(text: str, column: int, indent: int) -> tuple[str, str]:
    """Split lines into leading comments, indented anew, and a rest without its first indent."""
    over = ""
    while text and text.lstrip(" ")[:1] in ("#", "\r", "\n"):
        line, text = _split_line(text)
        over += " " * indent + line.lstrip(" ") if line.strip() else ""
    return over, text[column:] if not text[:column].strip() else text


def _split_line(text: str) -> tuple[str, str]:
    first = _lines(text)[0] if text else ""
    return first, text[len(first) :]


def indented(lines: str, column: int) -> str:
    """Return lines that all begin at a column."""
    return "".join(" " * max(column, 0) + line.lstrip(" ") for line in _lines(lines))


def shifted(text: str, delta: int, *, rest: bool = False, indent: str = " ") -> str:
    """Move lines right or left. Empty lines stay empty. `rest` leaves the first line alone."""
    if not delta or not text:
        return text
    result = []
    for number, line in enumerate(_lines(text)):
        if (rest and number == 0) or line.strip("\r\n") == "":
            result.append(line)
        elif delta > 0:
            result.append(indent * delta + line)
        else:
            blanks = len(line) - len(line.lstrip(indent))
            result.append(line[min(-delta, blanks) :])
    return "".join(result)


def _lines(text: str) -> list[str]:
    """Split as the YAML reader does, not at form feeds and the like."""
    return re.findall(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+\Z", text)
