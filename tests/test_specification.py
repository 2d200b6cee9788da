"""What code and rules cite stands in docs/specification, under the section that they name."""

from __future__ import annotations

import re
from functools import cache

import pytest

from tests.cases import ROOT

FOLDER = ROOT / "docs" / "specification"
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
CITED = re.compile(
    r"(?<![\w/-])(?P<page>product|world|prover|matcher-notes|matcher|legacy-notes|legacy|catalogue|reports)"
    r"(?P<suffix>\.md)?(?:'s)?[ \n#*\"]*"
    r"(?P<section>§[0-9]+(?:\.[0-9]+)*|\([a-h]\)|[A-Z]{1,2}[0-9]+\b|fact [0-9]+|[Tt]raps? [0-9]+)"
    r"(?: law (?P<law>[0-9]+))?"
)


CITING = (
    ("kumamigrate", "*.py"),
    ("tests", "*.py"),
    ("rules", "*.yaml"),
    ("tools", "*.py"),
    ("bench", "*.py"),
)


@cache
def _citations() -> list[tuple[str, str, str]]:
    found = set()
    for folder, pattern in CITING:
        for path in sorted((ROOT / folder).rglob(pattern)):
            for one in CITED.finditer(path.read_text(encoding="utf-8")):
                if one["suffix"] or one["section"].startswith(("§", "(")):
                    found.add((one["page"], one["section"], one["law"] or ""))
    return sorted(found)


def _stands(page: str, section: str) -> bool:
    text = PAGES[page]
    if section.startswith(("§", "(")):
        return re.search(rf"^#+ {re.escape(section)}(?![.\w])", text, re.MULTILINE) is not None
    kind, _, number = section.partition(" ")
    if kind.lower().startswith("trap"):
        return re.search(rf"^{number}\. ", text.partition("## Traps")[2], re.MULTILINE) is not None
    return re.search(rf"\b{section}\b", text, re.IGNORECASE) is not None


def test_pages_that_are_cited_are_there() -> None:
    assert len(_citations()) > 50
    assert {page for page, _, _ in _citations()} <= PAGES.keys()


@pytest.mark.parametrize("cited", _citations(), ids=" ".join)
def test_a_citation_leads_somewhere(cited: tuple[str, str, str]) -> None:
    page, section, law = cited
    assert _stands(page, section)
    assert not law or f"**Law {law}" in PAGES[page]


@pytest.mark.parametrize("section", ["§9.9", "(z)", "C99", "fact 99", "trap 99"])
def test_what_does_not_stand_there_is_noticed(section: str) -> None:
    assert not _stands("legacy-notes", section)


LAWS = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", (ROOT / "docs" / "laws.md").read_text())


@pytest.mark.parametrize(("file", "test"), LAWS)
def test_every_law_has_its_test(file: str, test: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    assert f"def {test or 'test_'}" in text


def test_there_are_laws() -> None:
    assert len(LAWS) > 20


NAMED = re.findall(r"`((?:\w+/)+\w+\.py)`", (ROOT / "docs" / "glossary.md").read_text())


@pytest.mark.parametrize("named", NAMED)
def test_modules_that_the_glossary_names_are_there(named: str) -> None:
    assert list((ROOT / "kumamigrate").rglob(named))
