"""Source files and places in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from enum import StrEnum
from typing import Any

from kumamigrate.dataclass import dataclass, field
from kumamigrate.source.node import JSON, Node, json_value, node_at

ENCRYPTED = "ENC[AES256_GCM,"
"""How a value begins that sops has encrypted."""

FILLED_IN = ("{{", "{%", "{#", "<%", "${", "#@", ENCRYPTED, " !")
"""What a text must hold for some value to come from elsewhere: templates, secrets, tags."""

FieldPath = tuple[str | int, ...]
"""Keys and indexes from the root of a document: `("spec", "to", 0, "targetRef")`."""


def at_path(value: Any, path: FieldPath) -> Any:
    """Return what stands at a path in plain JSON, None where it ends."""
    for part in path:
        # dict comes first: to ask an abstract class takes as long as all the rest.
        if isinstance(part, str) and isinstance(value, (dict, Mapping)):
            value = value.get(part)
        elif isinstance(part, int) and isinstance(value, list) and 0 <= part < len(value):
            value = value[part]
        else:
            return None
    return value


def common_end(one: FieldPath, other: FieldPath) -> int:
    """Return how many parts at the end of two paths are the same."""
    length = 0
    for a, b in zip(reversed(one), reversed(other), strict=False):
        if a != b:
            break
        length += 1
    return length


def path_text(path: FieldPath) -> str:
    """Return a path as Kuma prints it: `spec.to[0].targetRef`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of code-point offsets in `SourceFile.text`."""

    start: int
    end: int


class Reason(StrEnum):
    """Why something is left alone. The value is the word shown in reports."""

    UNDECODABLE = "undecodable"
    UNPARSABLE = "unparsable"
    DUPLICATE_KEY = "duplicate-key"
    DUPLICATE_IDENTITY = "duplicate-identity"
    ALIAS = "alias"
    TEMPLATE = "template"
    TOO_DEEP = "too-deep"
    TOO_LARGE = "too-large"
    NOT_AT_ROOT = "not-at-root"
    ONE_DOCUMENT = "one-document"
    UNREADABLE = "unreadable"
    OUTSIDE_ROOT = "outside-root"
    ENCRYPTED = "encrypted"
    COMMENT = "comment"
    NOT_APPLIED = "not-applied"
    NOT_MODELLED = "not-modelled"
    NO_NAMESPACE = "no-namespace"
    UNBUILDABLE = "unbuildable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Something the tool will not read or will not touch, as a value.

    `line` and `column` count from 1; 0 means the whole file. `detail` says what is wrong,
    `advice` what the user can do. `hides` is true where content went unread that may hold
    Kuma resources: such a refusal bars the verdict "equivalent" for the mesh named in `mesh`,
    and there for what things of type `kind` matter to; empty means any. `digest` tells apart
    what was not read: where it is the same before and after, nothing of its type has changed.
    """

    path: str
    line: int
    column: int
    reason: Reason
    detail: str
    advice: str = ""
    hides: bool = False
    mesh: str = ""
    kind: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """Why a document is read and never edited, and at which offset it says so."""

    reason: Reason
    offset: int
    detail: str
    advice: str


class Later:
    """A tree that is built when it is first asked for, or for where many of its fields stand.

    `near` tells of one where it stands in less time than it takes to build the tree.
    """

    __slots__ = ("_asked", "_build", "_near", "_node")
    FEW = 3

    def __init__(
        self, build: Callable[[], Node | None], near: Callable[[FieldPath], int] | None = None
    ) -> None:
        self._build: Callable[[], Node | None] | None = build
        self._near = near
        self._asked = 0
        self._node: Node | None = None

    def node(self) -> Node | None:
        """Return the tree."""
        if self._build is not None:
            self._node, self._build, self._near = self._build(), None, None
        return self._node

    def start(self, path: FieldPath) -> int | None:
        """Return the offset of a field or the nearest thing above it; None asks the tree."""
        self._asked += 1
        if self._asked > self.FEW:
            with suppress(Exception):  # a fault of ours is met where the tree is needed
                self.node()
        return None if self._near is None else self._near(path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One YAML document of a file.

    `parsed` is its tree, None when it is empty or was refused, or what builds the tree when it
    is first needed; then `quick` holds the value, and the offset at which that begins. `lock`
    says why it must stay as it is, byte for byte.
    """

    path: str
    index: int
    span: Span
    parsed: Node | Later | None
    quick: tuple[JSON, int] | None = None
    lock: Lock | None = None

    @property
    def root(self) -> Node | None:
        """Return the tree, None when the document is empty or was refused."""
        return self.parsed.node() if isinstance(self.parsed, Later) else self.parsed

    @property
    def value(self) -> JSON:
        """Return the document as plain JSON."""
        return json_value(self.root) if self.quick is None else self.quick[0]

    @property
    def holds(self) -> bool:
        """Say whether there is anything that could be read."""
        return self.parsed is not None

    @property
    def start(self) -> int:
        """Return the offset at which the root stands, or the document if it has none."""
        if self.quick is not None:
            return self.quick[1]
        return self.root.start if self.root is not None else self.span.start

    def start_of(self, path: FieldPath) -> int | None:
        """Return the offset of a field or the nearest thing above it, None where nothing is."""
        start = self.parsed.start(path) if isinstance(self.parsed, Later) else None
        if start is not None:
            return start
        for length in range(len(path), -1, -1):
            if (node := node_at(self.root, path[:length])) is not None:
                return node.start
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """The text of one file and what was read from it.

    `text` is the decoded content without byte order mark, line ends untouched;
    `bom` says whether the bytes began with one. `path` is relative to the root, with `/`.
    """

    path: str
    text: str
    bom: bool = False
    documents: tuple[Document, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    line_starts: tuple[int, ...] = field(default=(0,), repr=False)

    @property
    def may_be_templated(self) -> bool:
        """Say whether some value may hold a template, or a name to fill in later."""
        return any(mark in self.text for mark in FILLED_IN)

    def position(self, offset: int) -> tuple[int, int]:
        """Return line and column, both from 1, of a code-point offset."""
        from bisect import bisect_right

        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def render(self) -> bytes:
        """Return the exact bytes of the file."""
        return (b"\xef\xbb\xbf" if self.bom else b"") + self.text.encode("utf-8")
