"""Imports go one way: source ← model ← targetref, sourcedest, admit ← universe ← effective ← prove.

Rewrite asks no prover.
Above them scene ← world ← flow, which only report and the commands may ask.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.cases import ROOT

PACKAGE = ROOT / "kumamigrate"
MATCHERS = {"targetref", "sourcedest", "model", "source"}
PROVER = {"prover", "effective", "universe", *MATCHERS}
ALLOWED = {
    "source": {"source"},
    "model": {"model", "source"},
    "targetref": {"targetref", "model", "source"},
    "sourcedest": {"sourcedest", "model", "source"},
    "admit": {"admit", "sourcedest", "model", "source"},
    "deployment": {"deployment", "model", "source"},
    "universe": {"universe", *MATCHERS},
    "effective": {"effective", "universe", *MATCHERS},
    "prover": PROVER,
    "rewrite": {"rewrite", "admit", "effective", *MATCHERS},
    "inventory": {"inventory", "model", "source"},
    "scene": {"scene", "inventory", "rewrite", "admit", *PROVER - {"targetref"}},
    "world": {"world", "scene", "deployment", "inventory", "rewrite", *PROVER - MATCHERS},
}
ALLOWED["world"] |= {"model", "source"}
ALLOWED["flow"] = {"flow", *ALLOWED["world"], *ALLOWED["rewrite"]}
COMMANDS = {"__init__", "__main__", "arguments", "cli", "library"}
COMMANDS |= {"dataclass", "errors", "pattern"}
"""All that stands beside the rooms: the way in, and what every room may raise."""
TEXT_ONLY = {"kumamigrate.source.text", "kumamigrate.source.node", "kumamigrate.source.value"}
"""What layers above the model may see of the source: values, not the reading of text."""
EMBEDDED = {
    "kumamigrate/effective/policies/meshproxypatch.py imports kumamigrate.source.reading.load"
}
"""The value of a MeshProxyPatch is YAML inside YAML; it is compared parsed (matcher-notes §3.9)."""


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def _imports(path: Path) -> frozenset[str]:
    found = set()
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return frozenset(name for name in found if name.startswith("kumamigrate."))


def _dotted(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def _modules(layer: str) -> list[Path]:
    return sorted((PACKAGE / layer).rglob("*.py"))


@pytest.mark.parametrize("layer", sorted(ALLOWED))
def test_layer_imports_only_what_lies_below(layer: str) -> None:
    wrong = {
        f"{path.relative_to(ROOT)} imports {name}"
        for path in _modules(layer)
        for name in _imports(path)
        if name.split(".")[1] not in ALLOWED[layer] | {"errors", "dataclass", "pattern"}
    }
    assert wrong == set()


def test_every_module_has_a_room() -> None:
    assert {path.stem for path in PACKAGE.glob("*.py")} == COMMANDS


MOST_MODULES = 25
"""So many files a reader takes in at one look."""
ONE_RULE_ONE_FILE = "rewrite/rules"
"""Found by the id of a rule, never read from top to bottom."""


def test_no_folder_holds_more_than_a_reader_takes_in() -> None:
    folders = {path.parent for path in PACKAGE.rglob("*.py")} - {PACKAGE / ONE_RULE_ONE_FILE}
    held = {
        str(folder): len({*folder.glob("*.py")} - {folder / "__init__.py"}) for folder in folders
    }
    assert {name: number for name, number in held.items() if number > MOST_MODULES} == {}


def test_the_name_of_a_module_is_said_once() -> None:
    rules = PACKAGE / "rewrite"
    found = [
        path.stem
        for path in PACKAGE.rglob("*.py")
        if path.stem != "__init__" and path.parent not in (rules / "rules", rules / "planners")
    ]
    assert {name for name in found if found.count(name) > 1} == set()


def test_the_name_of_a_class_is_said_once() -> None:
    found = [
        node.name
        for path in PACKAGE.rglob("*.py")
        for node in _tree(path).body
        if isinstance(node, ast.ClassDef)
    ]
    assert {name for name in found if found.count(name) > 1} == set()


def test_modules_do_not_import_each_other_in_circles() -> None:
    modules = {_dotted(path): path for path in sorted(PACKAGE.rglob("*.py"))}
    asked = {
        name: {other for other in _imports(path) if other in modules and other != name}
        for name, path in modules.items()
        if path.stem != "__init__"
    }
    while free := {name for name, below in asked.items() if not below & asked.keys()}:
        asked = {name: below for name, below in asked.items() if name not in free}
    assert asked == {}


@pytest.mark.parametrize(
    "layer", ["targetref", "sourcedest", "admit", "universe", "effective", "prover", "rewrite"]
)
def test_upper_layers_see_values_of_the_source_only(layer: str) -> None:
    wrong = {
        f"{path.relative_to(ROOT)} imports {name}"
        for path in _modules(layer)
        for name in _imports(path)
        if name.startswith("kumamigrate.source.") and name not in TEXT_ONLY
    }
    assert wrong <= EMBEDDED


def test_only_the_source_layer_and_the_rulebook_read_yaml() -> None:
    readers = {
        path.relative_to(PACKAGE).as_posix()
        for path in sorted(PACKAGE.rglob("*.py"))
        if "import yaml" in path.read_text(encoding="utf-8")
    }
    assert {name for name in readers if not name.startswith("source/")} <= {
        "rewrite/rulebook.py",
        "prover/patches.py",
    }


def test_a_reader_finds_the_files_that_the_guides_name() -> None:
    """Where a guide says `room/module.py`, or `module` in the first column of a room's table."""
    lost = []
    for guide in ("CONTRIBUTING.md", "docs/glossary.md", "docs/laws.md"):
        text = (ROOT / guide).read_text(encoding="utf-8")
        for name in re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.py)`", text):
            near = (ROOT, PACKAGE, PACKAGE / "prover")
            lost += [] if any((folder / name).is_file() for folder in near) else [name]
        for room, rows in re.findall(
            r"\| `([a-z/]+)/` \| knows \|\n\|---\|---\|\n((?:\|.*\n)+)", text
        ):
            for name in re.findall(r"`([a-z0-9_/]+)`", "\n".join(_first_cells(rows))):
                there = PACKAGE / room / name
                lost += [] if there.is_dir() or there.with_suffix(".py").is_file() else [name]
    assert lost == []


def _first_cells(rows: str) -> list[str]:
    return [row.split("|")[1] for row in rows.splitlines()]
