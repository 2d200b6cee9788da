"""No input takes more than linear time to read, however hostile: nothing here may hang.

Steps cannot be counted inside the regular expression engine, so what must not hang runs in a
process of its own: exponential and quadratic searches take hours on these inputs, linear ones
moments, and the limit lies far from both.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TypeGuard

import pytest
import yaml

from kumamigrate.pattern import pattern
from kumamigrate.rewrite.rulebook import rules_folder
from tests.cases import LOADER

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGE = ROOT / "kumamigrate"
HOURS = 100
"""Seconds to wait for what takes moments."""

FUNCTIONS = {"compile", "sub", "match", "search", "fullmatch", "findall", "finditer", "split"}
MADE_IN_FUNCTIONS = {
    "source/reading/find.py": ("_names",),
    "source/reading/sift.py": ("_patterns",),
    "source/reading/nested.py": ("_patterns",),
}
FROM_TABLES = {
    "admit/structure.py",
    "deployment/patches.py",  # asks first how much the pattern repeats
    "deployment/environment.py",  # what the user's settings say
    "model/read.py",
    "rewrite/declarative/steps.py",
    "rewrite/rules/proxy_patch_legacy_names.py",
    "source/reading/embedded.py",  # a word, escaped
    "source/reading/ignorefiles.py",  # what ignore files say; names are short
}
"""Modules that search for what a table says."""


def _child(code: str, *words: str) -> None:
    command = [sys.executable, "-c", code, *words]
    try:
        subprocess.run(command, cwd=ROOT, timeout=HOURS, check=True, capture_output=True)
    except subprocess.TimeoutExpired as late:
        pytest.fail(f"hangs at {(late.stdout or b'').decode().splitlines()[-1:]}")
    except subprocess.CalledProcessError as failed:
        pytest.fail(f"{failed.stdout.decode().splitlines()[-1:]} {failed.stderr.decode()[-2000:]}")


@cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def _calls() -> tuple[tuple[str, ast.Call], ...]:
    return tuple(_each_call())


def _each_call() -> Iterator[tuple[str, ast.Call]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if not re.search(rf"\bre\.|\b{pattern.__name__}\(", text):
            continue  # most modules: not worth a tree
        for node in ast.walk(_parsed(path)):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and isinstance(node.func.value, ast.Name)
                and (node.func.value.id, node.func.attr in FUNCTIONS) == ("re", True)
                and path != PACKAGE / "pattern.py"  # which compiles what others wrote
            ) or _is_late(node):
                yield path.relative_to(PACKAGE).as_posix(), node


def _is_late(node: ast.AST) -> TypeGuard[ast.Call]:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == pattern.__name__
    )


@cache
def _patterns() -> dict[str, set[str]]:
    """Return every regular expression of the package, and how it is asked.

    Some are written out, some made, and some stand in tables.
    """
    found: dict[str, set[str]] = defaultdict(set)
    for _, call in _calls():
        first = call.args[0]
        method = call.func.attr if isinstance(call.func, ast.Attribute) else "compile"
        if isinstance(first, ast.Constant) and method != "compile":
            found[_text(first.value)].add(method)
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE).as_posix()
        source = path.read_text(encoding="utf-8")
        if "re.compile" not in source and "pattern(" not in source:
            continue
        values = vars(import_module(_module(place)))
        for name, value in values.items():
            if isinstance(value, re.Pattern | pattern):
                asked = set(re.findall(rf"\b{name}\.(\w+)\(", source))
                found[_text(value.pattern)] |= asked or {"search"}
        for name in MADE_IN_FUNCTIONS.get(place, ()):
            made = (value for value in values[name]() if isinstance(value, re.Pattern))
            for one in made:
                found[_text(one.pattern)].add("search")
    for path in [*rules_folder().glob("*.yaml"), *PACKAGE.rglob("tables/*.json")]:
        for text in _in_table(yaml.load(path.read_text(encoding="utf-8"), Loader=LOADER)):
            found[text].add("search")
    return found


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value


def _module(place: str) -> str:
    return "kumamigrate." + place.removesuffix(".py").replace("/", ".")


def _in_table(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in ("pattern", "new names") and isinstance(inner, str):
                yield inner
            yield from _in_table(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _in_table(inner)


def test_every_regular_expression_is_known_to_this_test() -> None:
    made = {
        (place, call.lineno)
        for place, call in _calls()
        if not isinstance(call.args[0], ast.Constant)
        and place not in FROM_TABLES | MADE_IN_FUNCTIONS.keys()
        and not _at_the_top(place, call.lineno)
    }
    assert made == set()
    assert len(_patterns()) > 60


def _at_the_top(place: str, line: int) -> bool:
    """Say whether a line belongs to a value that a module gives a name."""
    body = _parsed(PACKAGE / place).body
    named = (node for node in body if isinstance(node, ast.Assign))
    return any(node.lineno <= line <= (node.end_lineno or 0) for node in named)


PUMP = r"""
import json, re, sys
for pattern, methods in json.loads(open(sys.argv[1]).read()).items():
    ways = {m if m in ("fullmatch", "match") else "search" for m in methods}
    flags = (re.VERBOSE,) if "\n" in pattern else (0, re.MULTILINE)
    print(pattern, flush=True)
    compiled = [re.compile(pattern, flag) for flag in flags]
    literal = re.sub(r"\\[AZbBdDsSwW]|\(\?[:!=<>]+|[\[\](){}*+?|^$\\]", " ", pattern)
    letters = {c for c in pattern if not c.isalnum()} | set("aA0 \t\n#:-")
    pumps = letters | {a + b for a in letters for b in "a "}
    for pump in pumps | {word for word in literal.split() if len(word) < 40}:
        for text in (pump * 800, "a" + pump * 800 + "\0!"):
            for one in compiled:
                for way in ways:
                    getattr(one, way)(text)
    for letter in "a0 /\n":  # what grows with the square of a word only shows in a long one
        for way in ways:
            getattr(compiled[0], way)(letter * 150_000)
"""


def test_no_regular_expression_explodes(tmp_path: Path) -> None:
    listed = tmp_path / "patterns.json"
    asked = {pattern: sorted(methods) for pattern, methods in sorted(_patterns().items())}
    listed.write_text(json.dumps(asked), encoding="utf-8")
    _child(PUMP, str(listed))


KUMA = "type: MeshTimeout\nmesh: default\nname: a\nspec:\n  to: []\n"
SIZE = 200_000
HOSTILE = {
    "banner": "#" * 10_000 + "\n" + KUMA,
    "banners": ("#" * 40 + "\n") * 10_000 + KUMA,
    "banner behind the end": KUMA + "...\n" + "#" * SIZE + "\n#!\n%",
    "directives": "%" * SIZE + "\n---\n" + KUMA,
    "blank lines": KUMA + "\n" * SIZE + "x",
    "blank lines in text": KUMA + "text: |\n" + "\n" * SIZE + "  kuma.io/v1alpha1\n",
    "blanks behind a type": KUMA + 'text: "type: Mesh' + " " * SIZE + 'x"\n',
    "openers": KUMA + "# " + "{{" * SIZE + "\n",
    "openers of branches": KUMA + "# " + "{{if " * SIZE + "\n",
    "openers on lines": KUMA + "# {{\n" * (SIZE // 5) + "a: b }}\n",
    "statements": KUMA + "# " + "{% if " * SIZE + "\n",
    "comments of templates": KUMA + "#" + " {#" * SIZE + "\n",
    "branches": "{{ if .a }}\n" * 20_000 + KUMA,
    "many templates": "".join(f"---\n{KUMA}x: {{{{ .a{n} }}}}\n" for n in range(800)),
    "substitutions": KUMA + "x: '" + "${a" * SIZE + "'\n",
    "marks": KUMA + "# kumamigrate: ignore[" * (SIZE // 20) + "\n",
    "comment lines": "#\n" * (SIZE // 2) + KUMA,
    "block scalars": KUMA + "x:\n" + "- |\n" * (SIZE // 40),
    "one long line": KUMA + "x: " + "a " * SIZE + "\n",
    "one long number": KUMA + "x: " + "1" * SIZE + "\n",
    "brackets": KUMA + "x: " + "[" * 10_000,
    "braces": KUMA + "x: " + "{a: " * 10_000,
    "dashes": KUMA + "x:\n " + "- " * 10_000 + "\n",
    "steps": KUMA + "".join(" " * n + "a:\n" for n in range(1_000)),
    "laughs": "a0: &a0 [x]\n"
    + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
    + KUMA,
    "merges": "a0: &a0 {x: y}\n"
    + "".join(f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}\n" for n in range(1, 40))
    + KUMA,
    "aliases": "a: &a x\nb: [" + "*a , " * 20_000 + "]\n" + KUMA,
    "documents": "---\n" * 20_000 + KUMA,
    "refused documents": "---\nkind: [\nmesh: a\n# kuma.io\n" * 2_000,
}

READ = """
import gc, sys
gc.disable()  # a search of all that was read for cycles is a quarter of the time
from pathlib import Path
from kumamigrate.scene.loadfiles import repository_of
from kumamigrate.source.editing.sheet import sheet_of
from kumamigrate.scene.marks import marks_in
for path in sorted(Path(sys.argv[1]).iterdir()):
    print(path.name, flush=True)
    data = path.read_bytes()
    repository = repository_of({"a.yaml": data}, root=Path())
    file = repository.files["a.yaml"]
    assert file.render() == data
    repository.resources, repository.unread, marks_in(file), sheet_of(file)
"""


def test_hostile_text_is_read_in_linear_time(tmp_path: Path) -> None:
    for name, text in HOSTILE.items():
        (tmp_path / name).write_bytes(text.encode())
    _child(READ, str(tmp_path))
