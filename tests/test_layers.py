"""Imports go one way: source ← model ← match, legacy, admit ← prove; rewrite asks no prover."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.cases import ROOT

PACKAGE = ROOT / "kumamigrate"
ALLOWED = {
    "source": {"source"},
    "model": {"model", "source"},
    "match": {"match", "model", "source"},
    "legacy": {"legacy", "model", "source"},
    "admit": {"admit", "model", "source"},
    "deployment": {"deployment", "model", "source"},
    "prove": {"prove", "match", "legacy", "model", "source"},
    "rewrite": {"rewrite", "match", "legacy", "admit", "model", "source"},
}
TEXT_ONLY = {"kumamigrate.source.text", "kumamigrate.source.node", "kumamigrate.source.value"}
"""What layers above the model may see of the source: values, not the reading of text."""
EMBEDDED = {"kumamigrate/prove/settings.py imports kumamigrate.source.load"}
"""The value of a MeshProxyPatch is YAML inside YAML; it is compared parsed (matcher-notes §3.9)."""


def _imports(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return {name for name in found if name.startswith("kumamigrate.")}


def _modules(layer: str) -> list[Path]:
    return sorted((PACKAGE / layer).rglob("*.py"))


@pytest.mark.parametrize("layer", sorted(ALLOWED))
def test_layer_imports_only_what_lies_below(layer: str) -> None:
    wrong = {
        f"{path.relative_to(ROOT)} imports {name}"
        for path in _modules(layer)
        for name in _imports(path)
        if name.split(".")[1] not in ALLOWED[layer] | {"errors"}
    }
    assert wrong == set()


@pytest.mark.parametrize("layer", ["match", "legacy", "admit", "prove", "rewrite"])
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
        "prove/patches.py",
    }
