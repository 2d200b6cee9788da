"""YAML inside files of other languages: fenced blocks of Markdown, here-documents of Terraform."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from kumamigrate.dataclass import dataclass
from kumamigrate.pattern import pattern

MARKDOWN = (".md", ".markdown")
TERRAFORM = (".tf",)

_FENCE = pattern(r"(?m)^(?P<indent>[ \t>]*)(?P<mark>`{3,}|~{3,})[ \t]*(?P<info>[^\r\n`]*)\r?$")
_YAML = pattern(r"\{?\.?(ya?ml|json)\b", re.IGNORECASE)
_HERE = pattern(r"(?m)<<(?P<strip>-?)(?P<word>[A-Za-z_][A-Za-z0-9_]*)[ \t]*\r?\n")
_OBJECT = pattern(
    r"""(?m)^[ \t]*["']?apiVersion["']?[ \t]*[=:][ \t]*"kuma\.io/[a-z0-9]+"[^\r\n]*\r?\n"""
    r"""(?:[ \t]*\r?\n|[ \t]*#[^\r\n]*\r?\n)*[ \t]*["']?kind["']?[ \t]*[=:][ \t]*"(?P<kind>\w+)\""""
)
_READS = pattern(r'\b(?:file|filebase64|templatefile)\(\s*"(?P<path>[^"\r\n]+)"')
_LISTS = pattern(r'\bfileset\(\s*(?P<folder>"[^"\r\n]*"|path\.\w+)\s*,\s*"(?P<glob>[^"\r\n]+)"')
_HERE_PATH = pattern(r"\$\{\s*path\.(?:module|root|cwd)\s*\}/?")
_UNKNOWN = pattern(r"\$\{(?:[^}$]|\$(?!\{))*+\}")
_NO_NEWLINE = pattern(r"[^\n]")
_COMMENT = pattern(r"[ \t]*(?:#|//)")


@dataclass(frozen=True, slots=True)
class Block:
    """A text inside a file: where it begins and ends, and how far it is indented."""

    start: int
    end: int
    indent: str = ""


@dataclass(frozen=True, slots=True)
class EmbeddedReading:
    """Where a Terraform file reads others: a path, perhaps with `*` for what is not known."""

    line: int
    pattern: str

    def reads(self, path: str) -> bool:
        """Say whether it may read a file."""
        return fnmatchcase(path, self.pattern)


def fenced_blocks(text: str) -> Iterator[Block]:
    """Yield the blocks of YAML or JSON of a Markdown text; one without its end goes on to it."""
    return (block for info, block in _code_blocks(text) if _YAML.match(info))


def commands_of(text: str) -> str:
    """Return a Markdown text with nothing but its blocks that are not YAML, all in their places."""
    kept, at = [], 0
    for info, block in _code_blocks(text):
        if not _YAML.match(info):
            kept += [_NO_NEWLINE.sub(" ", text[at : block.start]), text[block.start : block.end]]
            at = block.end
    return "".join((*kept, _NO_NEWLINE.sub(" ", text[at:])))


def _code_blocks(text: str) -> Iterator[tuple[str, Block]]:
    """Yield the fenced blocks of a Markdown text, with the word that says what stands in them."""
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
        elif _closes(opened, fence):
            yield opened["info"], Block(_behind(text, opened), fence.start(), opened["indent"])
            opened = None
    if opened is not None:
        yield opened["info"], Block(_behind(text, opened), len(text), opened["indent"])


def embeds(path: str, data: bytes) -> bool:
    """Say whether a file that somebody names is one of another language, with YAML inside.

    What is called `.md` and has no block of YAML may be a manifest all the same.
    """
    if path.endswith(MARKDOWN):
        return next(fenced_blocks(data.decode("utf-8", "replace")), None) is not None
    return path.endswith(TERRAFORM)


def _closes(opened: re.Match[str], fence: re.Match[str]) -> bool:
    same = fence["mark"][0] == opened["mark"][0] and len(fence["mark"]) >= len(opened["mark"])
    return same and not fence["info"].strip()


def _behind(text: str, fence: re.Match[str]) -> int:
    return min(fence.end() + 1, len(text))


def here_documents(text: str) -> Iterator[Block]:
    """Yield the here-documents of a Terraform text."""
    at = 0
    while (opened := _HERE.search(text, at)) is not None:
        closing = re.compile(rf"(?m)^[ \t]*{re.escape(opened['word'])}[ \t]*\r?$")
        closed = closing.search(text, opened.end())
        at = closed.end() if closed is not None else len(text)
        yield Block(opened.end(), closed.start() if closed is not None else len(text))


def content_of(text: str, block: Block) -> str:
    """Return what stands in a block, without the indent that all its lines share."""
    body = text[block.start : block.end]
    lines = body.splitlines(keepends=True)
    if block.indent.strip():  # a quote: its mark stands before every line
        mark = block.indent.rstrip()
        return "".join(
            line[len(block.indent) :]
            if line.startswith(block.indent)
            else line.removeprefix(mark).lstrip(" ")
            for line in lines
        )
    indents = [len(line) - len(line.lstrip(" \t")) for line in lines if line.strip()]
    cut = min(indents, default=0)
    return "".join(line[cut:] if line.strip() else line for line in lines)


def objects(text: str) -> Iterator[tuple[int, str]]:
    """Yield where Terraform's own objects are manifests of Kuma's, and of which kind."""
    for match in _OBJECT.finditer(text):
        yield match.start(), match["kind"]


def readings(path: str, text: str) -> Iterator[EmbeddedReading]:
    """Yield what a Terraform file reads, relative to the root that its own path is relative to.

    `path.root` and `path.cwd` are taken for its own folder, which they mostly are.
    """
    folder = posixpath.dirname(path)
    for match in _READS.finditer(text):
        if not _in_comment(text, match.start()):
            yield EmbeddedReading(
                text.count("\n", 0, match.start()) + 1, _place(folder, match["path"])
            )
    for match in _LISTS.finditer(text):
        if not _in_comment(text, match.start()):
            named = match["folder"].strip('"') if match["folder"][0] == '"' else ""
            pattern = _place(folder, f"{named}/{match['glob']}" if named else match["glob"])
            yield EmbeddedReading(text.count("\n", 0, match.start()) + 1, pattern)


def _place(folder: str, written: str) -> str:
    """Return a path as it is below the root; what is worked out elsewhere may be anything."""
    inner = _HERE_PATH.sub("", written)
    literal = re.sub(r"([\[])", r"[\1]", inner)
    known = _UNKNOWN.sub("*", literal).replace("**", "*")
    return posixpath.normpath(posixpath.join(folder, known))


def _in_comment(text: str, offset: int) -> bool:
    return _COMMENT.match(text, text.rfind("\n", 0, offset) + 1, offset) is not None
