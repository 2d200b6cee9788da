"""Removed kinds that roles, CRDs and scripts name: texts that no manifest of Kuma's holds.

They are searched, not read: what is found is a name at a place, and never edited.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.pattern import pattern
from kumamigrate.rewrite.finding import Finding
from kumamigrate.rewrite.view import View

_DOCUMENTS = pattern(r"^---[^\n]*\n", re.MULTILINE)
_KIND = pattern(r"""^[ \t]*["']?kind["']?[ \t]*:[ \t]*["']?(\w+)""", re.MULTILINE)
_COMMAND = pattern(r"\b(kumactl|kubectl)\b([^\n|;&]{0,600})")
_VERBS = frozenset(
    ("get", "delete", "inspect", "describe", "edit", "patch", "wait", "annotate", "label")
)
_WORD = pattern(r"[^\s,]+")
_KIND_WORD = pattern(r"""["']?([a-z][a-z-]*+)(\.kuma\.io)?(?![\w.-])""")
_RESOURCE = pattern(r"(?<![\w./-])([a-z]++)(?:/\w++)?(?![\w.-])")
_CRD = pattern(r"""\bname["']?[ \t]*+:[ \t]*+["']?(\w++)\.kuma\.io\b""")
_GOES_ON = pattern(r"(?<!\\)\\\r?\n")
_LONGEST = 2000
"""Lines longer than that were written by no person."""


@dataclass(frozen=True, slots=True)
class _Named:
    """A name of a removed kind in a text: where, in what (script, role, crd), and which."""

    offset: int
    place: str
    tool: str
    name: str
    kind: str


def plan(view: View) -> Iterator[Finding]:
    """Yield a finding for each name of a removed kind."""
    kinds: Mapping[str, Mapping[str, str]] = view.rule.table["kinds"]
    others = frozenset(view.rule.table["others"])
    for path, data in sorted(view.texts.items()):
        # Asked of every file of a repository, so with as few searches as can be.
        if not (b"ctl" in data or b"Role" in data or b"CustomResourceDefinition" in data):
            continue
        text = data.decode("utf-8", "replace")
        for one in sorted(_named(text, kinds, others), key=lambda one: one.offset):
            yield _finding(view, path, text, one, kinds[one.kind]["now"])


def _finding(view: View, path: str, text: str, one: _Named, now: str) -> Finding:
    table: Mapping[str, Any] = view.rule.table
    instead = f"; {now} takes its place" if " " not in now else ""
    words = {"tool": one.tool, "name": one.name, "now": now, "instead": instead}
    start = text.rfind("\n", 0, one.offset) + 1
    return Finding(
        rule=view.rule.id,
        resource=None,
        message=table["said"][one.place].format(**words),
        action=table["advice"][one.place].format(**words),
        safety=view.rule.safety,
        danger=view.rule.danger,
        file=path,
        line=text.count("\n", 0, one.offset) + 1,
        column=one.offset - start + 1,
    )


def _named(
    text: str, kinds: Mapping[str, Mapping[str, str]], others: frozenset[str]
) -> Iterator[_Named]:
    called = tuple((k, v.get("kumactl", ""), v["plural"]) for k, v in kinds.items())
    names = _names(called, others)
    yield from _in_scripts(text, names)
    if "kuma.io" in text:
        yield from _in_documents(text, names)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Names:
    """What removed kinds are called: by kumactl, in the API of Kubernetes, by kubectl, and by it
    `alone` where nobody else has resources of that name."""

    kumactl: Mapping[str, str]
    plurals: Mapping[str, str]
    kubectl: Mapping[str, str]
    alone: Mapping[str, str]


@cache
def _names(kinds: tuple[tuple[str, str, str], ...], others: frozenset[str]) -> _Names:
    kumactl = {}
    for kind, name, plural in kinds:
        for one in (name, *_many(name)) if name else ():
            kumactl[one] = kind
        kumactl[plural] = kind
    kubectl = {word: kind for kind, _, plural in kinds for word in (kind.lower(), plural)}
    return _Names(
        kumactl=kumactl,
        plurals={plural: kind for kind, _, plural in kinds},
        kubectl=kubectl,
        alone={word: kind for word, kind in kubectl.items() if kind.lower() not in others},
    )


def _many(name: str) -> Iterator[str]:
    """Yield what a list of something is called by kumactl."""
    if name.endswith("y"):
        yield f"{name[:-1]}ies"
    yield f"{name}es" if name.endswith("s") else f"{name}s"


def _in_scripts(text: str, names: _Names) -> Iterator[_Named]:
    if "kumactl" not in text and "kubectl" not in text:
        return
    # A command that goes on in the next line is one line, of the same length.
    text = _GOES_ON.sub(lambda found: " " * len(found[0]), text)
    for found in _COMMAND.finditer(text):
        line = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
        if not line.lstrip().startswith(("#", "//")) and len(line) <= _LONGEST:
            yield from _in_command(found[1], found[2], found.start(2), names)


def _in_command(tool: str, said: str, start: int, names: _Names) -> Iterator[_Named]:
    """Yield the kinds that a command is about: the first words after its verb that are no flags.

    What follows a flag may be its value, or already the kind.
    """
    words = list(_WORD.finditer(said))
    verb = next((i for i, word in enumerate(words) if word[0] in _VERBS), len(words))
    of_flag = False
    for word in words[verb + 1 :]:
        if word[0].startswith("-"):
            of_flag = "=" not in word[0]
            continue
        one = _kind_of(tool, word, start, names)
        if one is not None:
            yield one
        if said[word.end() : word.end() + 1] != "," and (one is not None or not of_flag):
            return
        of_flag = False


def _kind_of(tool: str, word: re.Match[str], start: int, names: _Names) -> _Named | None:
    found = _KIND_WORD.match(word[0])
    if found is None:
        return None
    name, group = found[1], found[2] or ""
    # What other tools of Kubernetes call alike is told apart by the group alone.
    by_tool = names.kumactl if tool == "kumactl" else names.alone
    known = names.kubectl if group else by_tool
    if name not in known:
        return None
    at = start + word.start() + found.start(1)
    return _Named(at, "script", tool, f"{name}{group}", known[name])


def _in_documents(text: str, names: _Names) -> Iterator[_Named]:
    starts = [0, *(found.end() for found in _DOCUMENTS.finditer(text)), len(text)]
    for start, end in pairwise(starts):
        document = text[start:end]
        kind = _KIND.search(document)
        if kind is None or "kuma.io" not in document:
            continue
        if kind[1] in ("ClusterRole", "Role"):
            yield from _in_role(document, start, names)
        elif kind[1] == "CustomResourceDefinition":
            yield from _in_crd(document, start, names)


def _in_role(document: str, start: int, names: _Names) -> Iterator[_Named]:
    for found in _RESOURCE.finditer(document):
        line = document[document.rfind("\n", 0, found.start()) + 1 : found.start()]
        if found[1] in names.plurals and "#" not in line:
            name = found[1]
            yield _Named(start + found.start(), "role", "", name, names.plurals[name])


def _in_crd(document: str, start: int, names: _Names) -> Iterator[_Named]:
    found = _CRD.search(document)
    if found is not None and found[1] in names.plurals:
        name = f"{found[1]}.kuma.io"
        yield _Named(start + found.start(1), "crd", "", name, names.plurals[found[1]])
